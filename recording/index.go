package recording

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"mpitx/catalog"
	"mpitx/recording/store"
)

// index is the private part of a Run.
type index struct {
	store   *store.Store
	ranks   map[*store.Process]*Rank
	strings map[string]string
	enums   map[string]*catalog.Enum
	start   int64            // CLOCK_REALTIME of time 0
	curves  map[nodeID]Curve // see [Run.SetClocks]
}

// source is the private part of a Rank: what is needed to read its records.
type source struct {
	process    *store.Process
	pairs      []clockPair
	segment    int // of pairs, that was used last
	line       int // of the node's curve, likewise
	bootID     string
	jobStart   int64
	texts      map[uint64][]byte
	names      map[uint64]string
	countersAt uint64
	lasts      []lastValue          // by set
	losses     map[uint16]loss      // after the last event of a chain, by its number
	failed     time.Duration        // when writing to the directory failed, since the job's start; 0: it did not
	undeclared map[store.Chain]bool // tags of samples and events whose declarations were missing
}

// Damage returns the parts that could not be read, each a *[DamageError] or a file system error. Reading samples can add to it.
func (run *Run) Damage() []error { return run.store.Damage() }

// Still reports whether the run does not change any more. Then several goroutines may read events, each those of other ranks.
func (run *Run) Still() bool { return run.store.Still() }

func (x *index) intern(b []byte) string {
	if s, ok := x.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	x.strings[s] = s
	return s
}

// Open reads what a run directory says about its ranks and variables; samples are read later. Damage is not an error: see
// [Run.Damage]. The caller closes the run.
func Open(dir string) (*Run, error) {
	run := newRun(dir)
	var err error
	if run.store, err = store.Open(dir, reader{run}); err != nil {
		return nil, err
	}
	run.ID = run.store.ID
	run.arrange()
	run.ReadExits()
	run.checkStarted()
	run.readClocks()
	run.LeftOut() // for its damage
	return run, nil
}

// OpenHead is [Open] in a time that does not grow with the size of the run. The run has the ranks whose declarations come first in the
// file of each node, as far as they were declared at the start, and those that have not ended. It has no samples, events or rows.
func OpenHead(dir string) (*Run, error) {
	run := newRun(dir)
	var err error
	if run.store, err = store.OpenHead(dir, reader{run}); err != nil {
		return nil, err
	}
	run.ID = run.store.ID
	run.arrange()
	return run, nil
}

func newRun(dir string) *Run {
	return &Run{Dir: dir, index: index{ranks: map[*store.Process]*Rank{}, strings: map[string]string{}, enums: map[string]*catalog.Enum{}}}
}

// Close closes the run's files.
func (run *Run) Close() { run.store.Close() }

// reader receives the store's records.
type reader struct{ run *Run }

func (x reader) Record(p *store.Process, rec *store.Record) error {
	return x.run.metaRecord(x.run.rankOf(p), rec)
}

func (x reader) Refreshed(all map[uint64]*store.Process) {
	for _, p := range all {
		r := x.run.rankOf(p)
		if r.State = p.State; r.Host == "" {
			r.Host, r.PID = p.Host, p.PID
		}
		if p.Counters != nil { // they count on after the end record
			r.Counters.set(p.Counters[:])
		}
	}
}

func (run *Run) rankOf(p *store.Process) *Rank {
	r := run.ranks[p]
	if r == nil {
		r = &Rank{Rank: p.Rank, NsPerTick: 1, source: source{process: p, texts: map[uint64][]byte{}}}
		run.ranks[p] = r
	}
	return r
}

// arrange sorts ranks and nodes.
func (run *Run) arrange() {
	run.Ranks = slices.Collect(maps.Values(run.ranks))
	slices.SortFunc(run.Ranks, func(a, b *Rank) int {
		var ta, tb int64
		if len(a.pairs) > 0 && len(b.pairs) > 0 {
			ta, tb = a.pairs[0].real, b.pairs[0].real
		}
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(ta, tb), cmp.Compare(a.process.Stream, b.process.Stream))
	})
	run.Nodes = nil
	nodes := map[nodeID]*Node{}
	for _, r := range run.Ranks {
		id := nodeID{r.Host, r.bootID}
		n := nodes[id]
		if n == nil {
			n = &Node{Host: r.Host, bootID: r.bootID, curve: run.curves[id]}
			nodes[id] = n
			run.Nodes = append(run.Nodes, n)
		}
		r.Node = n
		n.Ranks = append(n.Ranks, r)
	}
	slices.SortStableFunc(run.Nodes, func(a, b *Node) int { return cmp.Compare(a.Host, b.Host) })
	run.alignAll(run)
}
