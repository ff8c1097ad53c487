package profile

import (
	"sort"
	"time"

	"mpitx/recording"
)

// During returns the part of each rank's time in which one of its threads was in one of the phases, for [recording.Options]. As in a
// profile, the innermost phase counts. [Outside] is the time in which no thread was in a phase. During returns an [UnknownError] if the run
// has no such phase.
func During(run *recording.Run, phases []string) (func(*recording.Rank, time.Duration) bool, error) {
	cut := Cut{Phases: phases}
	known, ranks := map[string]bool{}, map[*recording.Rank]*phasesOfRank{}
	for e := range run.Events(recording.Options{}) {
		name, entered, ok := phaseEvent(e)
		if !ok {
			continue
		}
		known[name] = true
		r := ranks[e.Rank]
		if r == nil {
			r = &phasesOfRank{threads: map[int][]string{}}
			ranks[e.Rank] = r
		}
		r.change(e.Thread, name, entered)
		r.turns = append(r.turns, turn{e.Time, r.within(&cut)})
	}
	if err := cut.check(known, nil, nil, nil); err != nil {
		return nil, err
	}
	return func(rank *recording.Rank, at time.Duration) bool {
		r := ranks[rank]
		if r == nil {
			return cut.phase("")
		}
		i := sort.Search(len(r.turns), func(i int) bool { return r.turns[i].at > at })
		if i == 0 {
			return cut.phase("")
		}
		return r.turns[i-1].within
	}, nil
}

// phasesOfRank are the phases of a rank while its events are read.
type phasesOfRank struct {
	threads map[int][]string // the phases that each thread is in, the innermost last
	turns   []turn
}

// turn is a time from which a rank is in a chosen phase, or is in none.
type turn struct {
	at     time.Duration
	within bool
}

func (r *phasesOfRank) change(thread int, name string, entered bool) {
	in := r.threads[thread]
	if entered {
		r.threads[thread] = append(in, name)
		return
	}
	for i := len(in) - 1; i >= 0; i-- { // not the last one if events were lost
		if in[i] == name {
			r.threads[thread] = in[:i]
			return
		}
	}
}

func (r *phasesOfRank) within(cut *Cut) bool {
	outside := true
	for _, in := range r.threads {
		if n := len(in); n > 0 {
			outside = false
			if cut.phase(in[n-1]) {
				return true
			}
		}
	}
	return outside && cut.phase("")
}

// phaseEvent reads an event of the type phase.
func phaseEvent(e *recording.Event) (name string, entered, ok bool) {
	if e.Type == nil || e.Type.Name != "phase" {
		return "", false, false
	}
	for i := range e.Type.Fields {
		switch f := &e.Type.Fields[i]; f.Name {
		case "phase":
			name, ok = e.FieldValues(f)[0].String(), true
		case "entered":
			n, _ := e.FieldValues(f)[0].Uint64()
			entered = n != 0
		}
	}
	return name, entered, ok
}
