package trace

import (
	"cmp"
	"slices"
	"time"

	"mpitx/recording"
)

// Flows says which messages of a run have their other side in the trace.
type Flows struct {
	Totals Totals

	matched *matched
	chains  map[recording.ChainID]int // by their numbers in matched
}

// Match reads the whole trace of all ranks. It returns nil if goOn, which is called now and then with the time that was reached,
// returns false. The run must not be used by others meanwhile.
func Match(run *recording.Run, goOn func(at time.Duration) bool) *Flows {
	t := &Trace{run: run, objects: Objects(run)}
	t.match(goOn)
	if t.matched == nil {
		return nil
	}
	f := &Flows{Totals: t.Totals, matched: t.matched, chains: map[recording.ChainID]int{}}
	for i, c := range run.EventChains() {
		f.chains[c.ID] = i
	}
	return f
}

// SetFlows gives messages their flows.
func (x *Index) SetFlows(f *Flows) { x.flows = f }

// before is how many messages come before a block, and the chain's number.
func (f *Flows) before(id recording.ChainID, block uint64) (chain int, counted uint64, ok bool) {
	chain, ok = f.chains[id]
	if !ok || chain >= len(f.matched.starts) {
		return 0, 0, false
	}
	all := f.matched.starts[chain]
	i, ok := slices.BinarySearchFunc(all, block, func(s start, b uint64) int { return cmp.Compare(s.block, b) })
	if !ok {
		return 0, 0, false
	}
	return chain, all[i].counted, true
}
