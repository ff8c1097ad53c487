package timeline

import (
	"fmt"

	"mpitx/recording"
	"mpitx/text"
	"mpitx/ui/screen"
)

const about = "A letter in a row is the kind of function that takes most of the cell's time in MPI: a capital if calls take half of the cell or more. " +
	"Calls within other calls, from callbacks, do not count; n and N find them. The wheel of the mouse zooms, a click sets the cursor."

func (m *Model) findings() screen.Findings {
	if m.frame == nil {
		return nil
	}
	return m.frame.findings()
}

func (f *Frame) findings() (all screen.Findings) {
	if f.Broken != "" {
		all.Add("cannot be read any more: "+f.Broken, f.Broken)
	}
	if len(f.Dead) > 0 {
		said := "died: " + text.Ranks(f.Dead)
		if len(f.Deaths.outside) > 0 {
			said += " (" + text.Ranks(f.Deaths.outside) + " outside of MPI)"
		}
		all.Add(said, text.Ranks(f.Dead)+" died before the end of the recording; the trace has everything up to the last complete call")
		for _, words := range f.Deaths.texts {
			all.Add("", words)
		}
	}
	if len(f.Cut) > 0 {
		ranks := text.Ranks(f.Cut)
		all.Add("damaged at the end: "+ranks, ranks+": the end of the recording is damaged or missing, so it is not known how the process ended")
	}
	if len(f.Incomplete) > 0 {
		ranks := text.Ranks(f.Incomplete)
		all.Add("incomplete: "+ranks, ranks+": the recording is incomplete; calls or messages may be missing")
	}
	if f.Lost > 0 {
		all.Add(text.Count(f.Lost, "event")+" lost", fmt.Sprintf("%d events were lost, as the buffers were full (the disk or the machine was too busy) or --max-size was reached; rows show ? there", f.Lost))
	}
	if f.Old > 0 {
		all.Add("", fmt.Sprintf("%d events at the beginning were replaced by newer ones (--policy last); rows show ? there", f.Old))
	}
	if n := len(f.Damage); n > 0 {
		all.Add(fmt.Sprintf("%d damaged: %v", n, f.Damage[0]), recording.DamageText(f.Damage))
	}
	return all
}
