package timeline

import (
	"fmt"
	"math"
	"slices"

	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/recording/where"
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

// mostDeaths is how many ranks that died outside of MPI are described one by one.
const mostDeaths = 8

type deaths struct {
	outside []int    // ranks that were not in MPI, while others were
	texts   []string // for people, one each
}

// diedIn says where the ranks that died were. It reads this once the run has ended.
func (f *Feed) diedIn(out *Frame) *deaths {
	if len(out.Dead) == 0 || out.Live {
		return &deaths{}
	}
	if f.deaths == nil {
		f.deaths = f.readDeaths(out.Dead)
	}
	return f.deaths
}

func (f *Feed) readDeaths(dead []int) *deaths {
	d := &deaths{}
	var calls []string // in the order in which they are met
	inside := map[string][]int{}
	known := map[int]bool{}
	for _, p := range where.Read(f.run, nil).Processes {
		if !slices.Contains(dead, p.Rank) || len(p.Threads) == 0 {
			continue
		}
		known[p.Rank] = true
		t := p.Threads[max(slices.IndexFunc(p.Threads, func(t *where.Thread) bool { return t.Inside }), 0)]
		if !t.Inside {
			d.outside = append(d.outside, p.Rank)
			continue
		}
		if inside[t.Call] == nil {
			calls = append(calls, t.Call)
		}
		inside[t.Call] = append(inside[t.Call], p.Rank)
	}
	shown := 0
	for _, rank := range dead {
		left := slices.Contains(d.outside, rank)
		if known[rank] && !left || shown == mostDeaths {
			continue
		}
		shown++
		words := text.Ranks([]int{rank})
		if left {
			words += " was not in MPI when it died"
		}
		if last := f.lastCall(rank); last != "" {
			words += ": its last complete call is " + last
		}
		d.texts = append(d.texts, words)
	}
	if n := len(d.outside) - mostDeaths; n > 0 {
		d.texts = append(d.texts, fmt.Sprintf("%d more ranks were not in MPI when they died", n))
	}
	for _, call := range calls {
		words := " was in " + call + " when it died"
		if len(inside[call]) > 1 {
			words = " were in " + call + " when they died"
		}
		d.texts = append(d.texts, text.Ranks(inside[call])+words)
	}
	if len(calls) == 0 {
		d.outside = nil
	}
	return d
}

func (f *Feed) lastCall(rank int) (text string) {
	end := int64(math.MinInt64)
	for _, t := range f.index.Tracks {
		if t.Rank.Rank != rank {
			continue
		}
		if id, _, ended, ok := f.index.Next(trace.CallID{Track: t}, f.index.End(t)+1, -1, nil); ok && int64(ended) > end {
			if call, ok := f.index.Call(id); ok {
				end, text = int64(ended), fmt.Sprintf("%s, which ended at %s", call.Function, seconds(ended, 1))
			}
		}
	}
	return text
}
