package timeline

import (
	"fmt"
	"math"
	"slices"

	"mpitx/recording/trace"
	"mpitx/recording/where"
	"mpitx/text"
)

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
