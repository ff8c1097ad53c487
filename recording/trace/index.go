package trace

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"mpitx/recording"
)

// maxSummaries bounds the blocks whose summary is kept: about 100 MB. Of larger traces, wide windows are estimated from a sample.
const maxSummaries = 300_000

// Index finds the calls of a trace by thread and time without reading all of it: chains of events are read by blocks, and what a block
// holds is kept as a summary. It is not safe for concurrent use.
type Index struct {
	Tracks []*Track // by rank, then by thread

	run       *recording.Run
	reader    *recording.EventReader
	trace     *Trace
	processes processes
	repeats   repeats
	functions []string
	known     map[string]int32
	texts     map[*process][]int32 // functions by text, plus 1
	flows     *Flows               // nil: messages are not matched
	summaries int
	named     []*Object // all of the trace, and nil
	hidden    []*Track  // of ranks that were not chosen
	side      []*Track  // chains with events of other sources only
	phased    bool      // a phase was read
}

// Track is the calls of one thread.
type Track struct {
	Rank   *recording.Rank
	Number int // of the rank's threads, from 0

	chain  *recording.EventChain
	blocks []*block
	order  []int32 // the blocks in the order in which they are sampled
	filled int     // how many of these have a summary, or were tried
}

// CallID identifies a call in an Index.
type CallID struct {
	Track   *Track // nil: no call
	Block   uint64
	Ordinal uint32 // among the calls of the block
}

// NewIndex makes an index of the ranks that rank chooses; nil: all.
func NewIndex(run *recording.Run, rank func(*recording.Rank) bool) *Index {
	x := &Index{run: run, reader: run.EventReader(), known: map[string]int32{}}
	x.arrange(rank)
	return x
}

// Refresh reads what has come since. rank chooses the ranks; nil: all. An error means that the run directory cannot be
// read.
func (x *Index) Refresh(rank func(*recording.Rank) bool) error {
	if err := x.run.Refresh(); err != nil {
		return err
	}
	x.arrange(rank)
	return nil
}

func (x *Index) arrange(rank func(*recording.Rank) bool) {
	x.trace = &Trace{run: x.run, objects: Objects(x.run)}
	x.processes, x.texts = newProcesses(x.trace), map[*process][]int32{}
	x.named = []*Object{nil}
	for _, all := range x.trace.objects {
		for _, o := range all {
			if len(x.named) <= maxNamed && !slices.Contains(x.named, o) {
				x.named = append(x.named, o)
			}
		}
	}
	before := map[recording.ChainID]*Track{}
	for _, t := range slices.Concat(x.Tracks, x.hidden, x.side) {
		before[t.chain.ID] = t
	}
	x.Tracks, x.hidden, x.side = nil, nil, nil
	threads := map[*recording.Rank]int{}
	for _, c := range x.run.EventChains() {
		t := before[c.ID]
		if t == nil {
			t = &Track{Rank: c.Rank, chain: c}
		}
		t.update(x.run.EventBlocks(c))
		switch {
		case len(t.blocks) == 0:
		case !x.hasCalls(t):
			x.side = append(x.side, t)
		default:
			t.Number = threads[t.Rank]
			threads[t.Rank]++
			if rank == nil || rank(t.Rank) {
				x.Tracks = append(x.Tracks, t)
			} else {
				x.hidden = append(x.hidden, t)
			}
		}
	}
}

// block is a block of a track.
type block struct {
	recording.EventBlock
	summary *summary
	calls   bool // it has calls
}

// update takes over the blocks that there are now. The last one may have grown.
func (t *Track) update(now []recording.EventBlock) {
	old := t.blocks
	t.blocks = make([]*block, 0, len(now))
	for i, b := range now {
		for len(old) > 0 && old[0].Sequence < b.Sequence {
			old = old[1:]
		}
		if len(old) > 0 && old[0].Sequence == b.Sequence && i < len(now)-1 && len(old) > 1 {
			t.blocks = append(t.blocks, old[0])
			continue
		}
		t.blocks = append(t.blocks, &block{EventBlock: b})
	}
	if len(t.order) != len(t.blocks) {
		t.order = spread(len(t.blocks))
	}
	t.filled = 0
}

// spread orders numbers so that the first ones are a sample of all, whatever their count.
func spread(n int) []int32 {
	order := make([]int32, 0, n)
	step := 1
	for step < n {
		step *= 2
	}
	for first := true; step > 0; step /= 2 {
		for i := 0; i < n; i += step {
			if first || i/step%2 == 1 {
				order = append(order, int32(i))
			}
		}
		first = false
	}
	return order
}

// hasCalls says whether a chain is a trace's. Other tools have chains of their own for a thread.
func (x *Index) hasCalls(t *Track) bool {
	if t.blocks[0].calls {
		return true
	}
	for i := range min(len(t.blocks), 8) {
		found, other := false, false
		x.scan(t, i, func(i *item) bool {
			found = found || i.kind == kindCall || i.kind == kindMessage || i.kind == kindPhase
			other = other || i.lost == 0 && (i.kind == kindExternal || i.kind == kindOther)
			return !found && !other
		})
		if found || other {
			t.blocks[0].calls = found
			return found
		}
	}
	return false
}

// Functions are the names of functions and phases by their numbers in cells.
func (x *Index) Functions() []string { return x.functions }

// Phased reports whether a block that was read has phases.
func (x *Index) Phased() bool { return x.phased }

func (x *Index) function(p *process, text uint32) int32 {
	all := x.texts[p]
	if int(text) < len(all) && all[text] != 0 {
		return all[text] - 1
	}
	name := p.text(text)
	id, ok := x.known[name]
	if !ok {
		id = int32(len(x.functions))
		x.known[name] = id
		x.functions = append(x.functions, name)
	}
	if name != "" && text < 1<<20 {
		if need := int(text) + 1 - len(all); need > 0 {
			all = append(all, make([]int32, need)...)
		}
		all[text] = id + 1
		x.texts[p] = all
	}
	return id
}

// item is an event, as much of it as summaries need.
type item struct {
	kind       kind
	time       time.Duration // its end
	begin      time.Duration // of a call; of a loss, with time its end
	function   int32         // of a call; the phase; -1: the phase ends
	depth      int
	object     uint32
	ordinal    uint32 // of a call
	thread     int
	lost       uint64
	hasMessage bool
}

// scan yields the events of a block until yield returns false.
func (x *Index) scan(t *Track, index int, yield func(*item) bool) {
	b := t.blocks[index]
	x.reader.Seek(t.chain, b.Sequence)
	p := x.processes.of(t.Rank)
	var i item
	calls := uint32(0)
	for {
		e := x.reader.Next()
		if e == nil || e.Block != b.Sequence {
			return
		}
		i = item{time: e.Time, thread: e.Thread}
		if e.Type == nil {
			i.lost, i.begin, i.time = e.Lost, e.From, e.To
			if !yield(&i) {
				return
			}
			continue
		}
		l := x.repeats.restore(e, p.layout(e.Type)) // blocks begin with chunks
		if l == nil {
			continue
		}
		switch i.kind = l.kind; l.kind {
		case kindCall:
			flags := l.u32(e.Body, fieldFlags)
			i.begin, i.function, i.depth, i.ordinal = min(x.run.TimeAt(e.Rank, l.u64(e.Body, fieldBegin)), e.Time), x.function(p, l.u32(e.Body, fieldFunction)), int(flags>>depthShift&depthMask), calls
			i.object = l.u32(e.Body, fieldObject)
			i.hasMessage = flags&(flagSent|flagReceived) != 0
			calls++
		case kindPhase:
			x.phased = true
			if i.function = -1; l.u32(e.Body, fieldEntered) != 0 {
				i.function = x.function(p, l.u32(e.Body, fieldPhase))
			}
		}
		if !yield(&i) {
			return
		}
	}
}

// find is the index of the last block that begins at a time or before; 0 if none does.
func (t *Track) find(at time.Duration) int {
	after := sort.Search(len(t.blocks), func(i int) bool { return t.blocks[i].First > at })
	return max(after-1, 0)
}

func (t *Track) at(sequence uint64) int {
	i, ok := slices.BinarySearchFunc(t.blocks, sequence, func(b *block, s uint64) int { return cmp.Compare(b.Sequence, s) })
	if !ok {
		return -1
	}
	return i
}
