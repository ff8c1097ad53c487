package timeline

import (
	"fmt"

	"mpitx/recording"
	"mpitx/text"
)

const about = "A letter in a row is the kind of function that takes most of the cell's time in MPI: a capital if calls take half of the cell or more. " +
	"Calls within other calls, from callbacks, do not count; n and N find them. The wheel of the mouse zooms, a click sets the cursor."

func (m *Model) troubles() []string {
	if m.frame == nil {
		return nil
	}
	return m.frame.Troubles()
}

// Troubles is what is wrong with the run, one line each.
func (f *Frame) Troubles() (all []string) {
	if len(f.Dead) > 0 {
		all = append(all, text.Ranks(f.Dead)+" died before the end of the recording; the trace has everything up to the last complete call")
		all = append(all, f.Deaths.texts...)
	}
	if len(f.Cut) > 0 {
		all = append(all, text.Ranks(f.Cut)+": the end of the recording is damaged or missing, so it is not known how the process ended")
	}
	if len(f.Incomplete) > 0 {
		all = append(all, text.Ranks(f.Incomplete)+": the recording is incomplete; calls or messages may be missing")
	}
	if f.Lost > 0 {
		all = append(all, fmt.Sprintf("%d events were lost, as the buffers were full (the disk or the machine was too busy) or --max-size was reached; rows show ? there", f.Lost))
	}
	if f.Old > 0 {
		all = append(all, fmt.Sprintf("%d events at the beginning were replaced by newer ones (--policy last); rows show ? there", f.Old))
	}
	if f.Broken != "" {
		all = append(all, f.Broken)
	}
	if len(f.Damage) > 0 {
		all = append(all, recording.DamageText(f.Damage))
	}
	return all
}
