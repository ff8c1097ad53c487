package profile

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/paths"
)

// ErrNone says that a run has no profile.
var ErrNone = errors.New("the run has no profile")

// Has reports whether a run has a profile.
func Has(run *recording.Run) bool {
	for _, r := range run.Ranks {
		if slices.ContainsFunc(r.Tables, func(t *recording.Table) bool { return t != nil && t.Name == tableCalls }) {
			return true
		}
	}
	return false
}

// Read reads the profile of a run as far as it was counted until now. Parts that cannot be read are in the run's Damage.
func Read(run *recording.Run, cut Cut) (*Profile, error) {
	if !Has(run) {
		return nil, ErrNone
	}
	b := &builder{p: &Profile{Run: run, Cut: cut}, functions: map[string]*Function{}, sites: map[string]*Function{},
		phases: map[string]*Phase{}, pairs: map[[2]int]*Pair{}, oneSided: map[[2]int]*Pair{}, sizes: map[Sizes]*Sizes{}, algorithms: algorithms{}, arrivals: newArrivals(), objects: map[string]*Object{},
		phaseNames: map[string]bool{}, objectNames: map[string]bool{}, functionNames: map[string]bool{}, made: map[madeAt]*Unfreed{}, ranks: map[int]bool{}, jobs: readJobs(run)}
	for _, r := range run.Ranks {
		b.ranks[r.Rank] = true
	}
	ours := func(t *recording.Table) bool {
		return needed[t.Name] != nil && !(cut.NoArrivals && t.Name == tableArrivals)
	}
	if err := processes(run, cut.rank, ours, b.process); err != nil {
		return nil, err
	}
	if len(cut.Ranks) > 0 { // a path is between two: both sides say what it is; and all ranks come to a call
		rest := func(r *recording.Rank) bool { return !cut.rank(r) }
		if err := processes(run, rest, func(t *recording.Table) bool { return ours(t) && (t.Name == tablePaths || t.Name == tableArrivals) }, b.further); err != nil {
			return nil, err
		}
	}
	if err := cut.check(b.phaseNames, b.objectNames, b.functionNames, b.ranks); err != nil {
		return nil, err
	}
	b.p.readProcessor()
	b.finish()
	return b.p, nil
}

// builder merges processes into a profile.
type builder struct {
	p                *Profile
	functions, sites map[string]*Function
	phases           map[string]*Phase
	pairs, oneSided  map[[2]int]*Pair
	sizes            map[Sizes]*Sizes
	algorithms       algorithms
	arrivals         *arrivals
	objects          map[string]*Object

	phaseNames, objectNames, functionNames map[string]bool // before the cut
	made                                   map[madeAt]*Unfreed
	jobs                                   *jobs
	ranks                                  map[int]bool
	paths                                  paths.Reader
}

func (b *builder) process(pr *process) {
	r := &Rank{Number: pr.rank.Rank, Process: pr.rank, Threads: pr.threads()}
	b.p.Ranks = append(b.p.Ranks, r)
	from, to := b.p.Run.Span(pr.rank)
	to = pr.lastSign(to)
	main := pr.mainThread()
	phases := b.phaseRows(r, pr, main, from, &to)
	objects := b.readObjects(pr)
	b.addUnfreed(r, pr)
	addresses := map[uint64]Address{}
	for _, c := range pr.calls {
		b.call(r, c, main, objects, phases, addresses)
	}
	if r.Open, r.OpenFor = pr.open(main, to); len(b.p.Cut.Phases) > 0 || b.p.Cut.someCalls() {
		r.Open, r.OpenFor = "", 0
	}
	b.time(r, phases, to-from, main)
	for _, row := range pr.waits {
		b.wait(r, row, addresses)
	}
	for _, row := range pr.peers {
		b.peer(r, row)
	}
	for _, row := range pr.sizes {
		b.size(row)
	}
	for _, row := range pr.algorithms {
		b.algorithm(r, row, objects, addresses)
	}
	for _, row := range pr.arrivals {
		b.arrival(r, row, objects, addresses)
	}
	b.further(&process{paths: pr.paths})
}

// further adds what is needed of a process that is not in the profile.
func (b *builder) further(pr *process) {
	for _, row := range pr.paths {
		b.paths.Add(row.Row)
	}
	for _, row := range pr.arrivals {
		b.arrival(&Rank{Process: pr.rank}, row, nil, map[uint64]Address{})
	}
}

// call adds a row of calls.
func (b *builder) call(r *Rank, c *row, main int, objects map[uint64]*Object, phases map[string]*RankPhase, addresses map[uint64]Address) {
	phase, name, object := c.text("phase"), cmp.Or(c.text("function"), "unknown"), objects[c.count("object")]
	totals, within := c.totals(), c.text("within")
	b.phaseNames[phase], b.functionNames[name] = true, true
	if object == nil {
		object = objects[0]
	}
	if !b.p.Cut.object(object.Text()) || !b.p.Cut.Function(name) {
		return
	}
	if within == "" {
		ph := b.rankPhase(r, phases, phase, main)
		ph.Totals.add(&totals)
		if c.Threads[0] == ph.thread && !Initializes(name) {
			ph.InMPI += totals.Time - min(c.duration("nested"), totals.Time)
			ph.InMPIError = Together(ph.InMPIError, totals.TimeError)
		}
	}
	if !b.p.Cut.phase(phase) {
		return
	}
	key := name + "\x00" + within
	if b.functions[key] == nil {
		b.functions[key] = &Function{Name: name, Within: within}
	}
	histogram := c.histogram()
	histogram.scaled(totals.Untimed)
	b.functions[key].addRow(r, c, &totals, &histogram)
	stack, stackKey := b.stack(r, c, addresses)
	if key += stackKey; b.sites[key] == nil {
		b.sites[key] = &Function{Name: name, Within: within, Stack: stack}
	}
	b.sites[key].addRow(r, c, &totals, &histogram)
	if within == "" {
		b.arrivals.count(name, object, stackKey, r.Number, totals.Calls)
		r.Totals.add(&totals)
		b.p.Total.add(&totals)
		if !Initializes(name) {
			object.Totals.add(&totals)
			addRank(&object.Ranks, r, &totals)
		}
	}
}

func (f *Function) addRow(r *Rank, c *row, totals *Totals, h *Histogram) {
	f.Totals.add(totals)
	addRank(&f.Ranks, r, totals)
	if h.Count() == 0 { // no call has returned
		return
	}
	shortest := c.duration("shortest")
	if f.Durations.tick == 0 || shortest < f.Shortest {
		f.Shortest = shortest
	}
	f.Longest = max(f.Longest, c.duration("longest"))
	f.Durations.add(h)
}

// addRank adds totals of a rank; ranks come in order.
func addRank(list *[]RankTotals, r *Rank, totals *Totals) {
	if n := len(*list); n == 0 || (*list)[n-1].Rank != r {
		*list = append(*list, RankTotals{Rank: r})
	}
	(*list)[len(*list)-1].Totals.add(totals)
}

// stack returns the addresses of a row, and their key.
func (b *builder) stack(r *Rank, c *row, addresses map[uint64]Address) (stack []Address, key string) {
	var text strings.Builder
	f := c.fields["stack"]
	for i := 0; f != nil && i < f.Count; i++ {
		at, _ := c.Value(f, i).Uint64()
		if at == 0 {
			break
		}
		address, known := addresses[at]
		if !known {
			if address = (Address{Offset: at}); r.Process.Module(at) != nil {
				m := r.Process.Module(at)
				address = Address{m.Path, m.BuildID, at - m.Bias}
			}
			addresses[at] = address
		}
		stack = append(stack, address)
		text.WriteString("\x00" + cmp.Or(address.BuildID, address.Path) + "\x00" + strconv.FormatUint(address.Offset, 16))
	}
	b.p.Depth = max(b.p.Depth, len(stack))
	return stack, text.String()
}

// peer adds a row of messages with another process.
func (b *builder) peer(r *Rank, row *row) {
	if phase := row.text("phase"); !b.p.Cut.phase(phase) {
		return
	}
	other, known := b.jobs.find(b.p.Run, r.Process, row.number("job"), row.number("rank"))
	sent := [2]uint64{row.count("messages_sent"), row.count("bytes_sent")}
	received := [2]uint64{row.count("messages_received"), row.count("bytes_received")}
	if !known {
		b.p.Others.add(&Totals{MessagesSent: sent[0], BytesSent: sent[1], MessagesReceived: received[0], BytesReceived: received[1]})
		return
	}
	oneSided := row.count("onesided") != 0
	if sent[0] > 0 {
		pair := b.pair(oneSided, r.Number, other)
		pair.MessagesSent += sent[0]
		pair.BytesSent += sent[1]
	}
	if received[0] > 0 {
		pair := b.pair(oneSided, other, r.Number)
		pair.MessagesReceived += received[0]
		pair.BytesReceived += received[1]
	}
}

func (b *builder) pair(oneSided bool, source, destination int) *Pair {
	key, pairs := [2]int{source, destination}, b.pairs
	if oneSided {
		pairs = b.oneSided
	}
	if pairs[key] == nil {
		pairs[key] = &Pair{Source: source, Destination: destination, OneSided: oneSided}
	}
	return pairs[key]
}

// size adds a histogram of message sizes.
func (b *builder) size(row *row) {
	if !b.p.Cut.phase(row.text("phase")) {
		return
	}
	if !b.p.Cut.Function(cmp.Or(row.text("function"), "unknown")) {
		return
	}
	key := Sizes{Function: cmp.Or(row.text("function"), "unknown"), Received: row.count("received") != 0}
	s := b.sizes[key]
	if s == nil {
		s = &Sizes{Function: key.Function, Received: key.Received}
		b.sizes[key] = s
	}
	f := row.fields["messages"]
	for i := 0; f != nil && i < f.Count; i++ {
		n, _ := row.Value(f, i).Uint64()
		s.Messages[min(i, SizeBuckets-1)] += n
	}
	s.Bytes += row.count("bytes")
}

// finish sorts the lists and computes what needs all ranks.
func (b *builder) finish() {
	p := b.p
	slices.SortStableFunc(p.Ranks, func(x, y *Rank) int { return cmp.Compare(x.Number, y.Number) })
	p.Functions, p.Sites = byTime(b.functions), byTime(b.sites)
	for _, ph := range b.phases {
		if p.Cut.phase(ph.Name) && (ph.Name != "" || len(b.phases) > 1) {
			p.Phases = append(p.Phases, ph)
		}
	}
	slices.SortFunc(p.Phases, func(x, y *Phase) int {
		return cmp.Or(cmp.Compare(x.First, y.First), cmp.Compare(x.Name, y.Name))
	})
	p.Pairs, p.OneSided = b.sorted(b.pairs), b.sorted(b.oneSided)
	p.Sizes = slices.SortedFunc(maps.Values(b.sizes), func(x, y *Sizes) int {
		if x.Received != y.Received {
			return map[bool]int{false: -1, true: 1}[x.Received]
		}
		return cmp.Compare(x.Function, y.Function)
	})
	b.finishObjects()
	b.finishUnfreed()
	b.finishAlgorithms()
	b.finishArrivals()
	p.Paths = b.paths.Paths(p.Run, func(add func(a, b int, messages, bytes uint64)) {
		for i := range p.Pairs {
			add(p.Pairs[i].Source, p.Pairs[i].Destination, p.Pairs[i].Messages(), p.Pairs[i].Bytes())
		}
	})
	p.Paths = slices.DeleteFunc(p.Paths, func(path *paths.Path) bool {
		return len(p.Cut.Ranks) > 0 && !slices.Contains(p.Cut.Ranks, path.A) && !slices.Contains(p.Cut.Ranks, path.B)
	})
	switch {
	case !p.Cut.someCalls():
		p.efficiencies()
	case len(p.Cut.Objects) > 0: // sizes are counted for all communicators together
		p.Sizes = nil
		fallthrough
	default: // and messages between ranks for all functions together
		p.Pairs, p.OneSided, p.Others = nil, nil, Totals{}
	}
}

// sorted lists the traffic between ranks. What an incomplete rank counted is not known to be all.
func (b *builder) sorted(pairs map[[2]int]*Pair) (list []Pair) {
	known := map[int]bool{}
	for _, r := range b.p.Ranks {
		known[r.Number] = r.Incomplete() == ""
	}
	for _, pair := range pairs {
		pair.SourceKnown, pair.DestinationKnown = known[pair.Source], known[pair.Destination]
		list = append(list, *pair)
	}
	slices.SortFunc(list, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(x.Source, y.Source), cmp.Compare(x.Destination, y.Destination))
	})
	return list
}

func byTime(all map[string]*Function) []*Function {
	var list []*Function
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[key])
	}
	sortByTime(list)
	return list
}

func sortByTime(list []*Function) {
	slices.SortStableFunc(list, func(x, y *Function) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Name, y.Name))
	})
}

// rankPhase is a phase of a rank while the rank is read.
func (b *builder) rankPhase(r *Rank, phases map[string]*RankPhase, name string, thread int) *RankPhase {
	if phases[name] == nil {
		phases[name] = &RankPhase{Rank: r, thread: thread}
	}
	return phases[name]
}

// phaseRows reads the phases of a rank: those of its main thread, or else of the thread that spent the most time in each. A phase can
// end after the last clock record.
func (b *builder) phaseRows(r *Rank, pr *process, main int, from time.Duration, to *time.Duration) map[string]*RankPhase {
	phases := map[string]*RankPhase{}
	for _, row := range pr.phases {
		name, elapsed := row.text("phase"), row.duration("self") // calls belong to the innermost phase
		b.phaseNames[name] = true
		thread := row.Threads[0]
		ph := b.rankPhase(r, phases, name, thread)
		ph.Entered += row.count("entered")
		if first, last := row.time("first"), row.time("last"); last > 0 {
			*to = max(*to, last)
			b.phase(name, first, last)
		}
		if thread == main || ph.thread != main && elapsed > ph.Elapsed {
			ph.Elapsed, ph.thread = elapsed, thread
		}
	}
	return phases
}

// phase finds a phase by its name, and extends its time.
func (b *builder) phase(name string, first, last time.Duration) *Phase {
	ph := b.phases[name]
	if ph == nil {
		ph = &Phase{Name: name, First: first, Last: last}
		b.phases[name] = ph
	}
	ph.First, ph.Last = min(ph.First, first), max(ph.Last, last)
	return ph
}

// time ends the reading of a rank: how long it ran, in total and in each phase.
func (b *builder) time(r *Rank, phases map[string]*RankPhase, elapsed time.Duration, main int) {
	var inMPI, named time.Duration
	for name, ph := range phases {
		ph.Elapsed = max(ph.Elapsed, ph.InMPI) // the time in it is only known when it was left
		if ph.thread != main {
			continue
		}
		if inMPI += ph.InMPI; name != "" {
			named += ph.Elapsed
		}
	}
	r.InMPI, inMPI = r.OpenFor, inMPI+r.OpenFor
	elapsed = max(elapsed, inMPI) // the end of a process that died is not known
	if outside := phases[""]; outside != nil {
		outside.Elapsed = max(elapsed-named, outside.InMPI)
	}
	for _, name := range slices.Sorted(maps.Keys(phases)) {
		ph := phases[name]
		if b.p.Cut.phase(name) && (ph.thread == main || len(b.p.Cut.Phases) > 0) {
			r.InMPI += ph.InMPI
			r.InMPIError = Together(r.InMPIError, ph.InMPIError)
			r.Elapsed += ph.Elapsed
		}
		if !b.p.Cut.phase(name) {
			continue
		}
		whole := b.phases[name]
		if whole == nil {
			from, _ := b.p.Run.Span(r.Process)
			whole = b.phase(name, from, from)
		}
		whole.Entered += ph.Entered
		whole.Totals.add(&ph.Totals)
		whole.Ranks = append(whole.Ranks, *ph)
	}
	if len(b.p.Cut.Phases) == 0 {
		r.Elapsed = elapsed
	}
}
