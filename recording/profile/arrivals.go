package profile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"mpitx/recording"
)

// Arrivals says who came last to the blocking collective calls of one call site and communicator. All its ranks kept the times of the same
// few calls, chosen by chance.
type Arrivals struct {
	Function string    `json:"function"`
	Object   *Object   `json:"-"`
	Stack    []Address `json:"-"`
	Frames   []Frame   `json:"-"` // of Stack, see [Profile.Resolve]

	Observed int `json:"observed"` // calls of which the last one is known
	Unwaited int `json:"unwaited"` // of these, how many in which nobody waited for it

	// Calls that all ranks kept, and of which the last one is unknown.
	Mismatched int `json:"mismatched,omitzero"` // ranks called different functions, or named different roots
	Unordered  int `json:"unordered,omitzero"`  // ranks returned before others came that they had to wait for
	Unclocked  int `json:"unclocked,omitzero"`  // nodes' clocks may differ by more than the ranks

	Waited  time.Duration `json:"-"` // about how long all ranks together waited for others to come, in all calls of the site, and
	Covered uint64        `json:"-"` // in how many calls of ranks; 0: too few calls were observed

	Ranks []Latecomer `json:"ranks"` // that came last and were waited for, the most frequent first

	meetings []meeting
	calls    map[int]uint64 // of this site, by rank
}

// Latecomer is a rank that came last to calls that other ranks waited in.
type Latecomer struct {
	Rank     int `json:"rank"`
	TookPart int `json:"took_part"` // in so many observed calls
	Last     int `json:"last"`      // in so many of them it came last, and was waited for

	AfterSecond Lateness `json:"after_second"` // after the second last, in the calls to which it came last
	AfterFirst  Lateness `json:"after_first"`

	Chance float64 `json:"-"` // part of the calls in which it would be the last one by chance
}

// Lateness is how late a rank came to several calls.
type Lateness struct {
	Mean   time.Duration `json:"mean_ns"`
	Median time.Duration `json:"median_ns"`
	Max    time.Duration `json:"max_ns"`
}

// ArrivalsUnknown says why no arrivals are known; "" if they were recorded.
func (p *Profile) ArrivalsUnknown() string {
	for _, r := range p.Run.Ranks {
		if slices.ContainsFunc(r.Tables, func(t *recording.Table) bool { return t != nil && t.Name == tableArrivals }) {
			return ""
		}
	}
	return "record it again with mpitx profile: an older mpitx recorded it"
}

// arrival is one process at one call.
type arrival struct {
	rank         *recording.Rank
	enter, leave time.Duration
	size         int
	role         uint64
	function     string
	site         *site
}

// The roles of processes in calls with a root, and in those without.
const (
	roleAlike uint64 = iota
	roleRoot
	roleOther
)

// site is a call site of a communicator.
type site struct {
	key      string
	stack    []Address
	function string
	object   *Object // nil: of a rank that is not in the profile
}

// arrivals are the calls that processes kept.
type arrivals struct {
	calls map[uint64][]arrival // by number
	sites map[string]*site
	times map[string]map[int]uint64 // by site and rank: all calls, also those that were not kept
}

// meeting is one call of all ranks of a communicator.
type meeting struct {
	ranks         []int // in order; calls on one communicator share it
	last          int   // nobody: not waited for
	second, first time.Duration
	waited        time.Duration // of all ranks together
}

const nobody = -1

func newArrivals() *arrivals {
	return &arrivals{map[uint64][]arrival{}, map[string]*site{}, map[string]map[int]uint64{}}
}

// count adds calls of a rank, also those that were not kept.
func (x *arrivals) count(function string, o *Object, place string, rank int, calls uint64) {
	if shapeOf(function) == unknownShape {
		return
	}
	key := x.site(function, o, place).key
	if x.times[key] == nil {
		x.times[key] = map[int]uint64{}
	}
	x.times[key][rank] += calls
}

func (x *arrivals) site(function string, o *Object, place string) *site {
	key := function + place
	if o != nil {
		key = fmt.Sprint(o.number, " ", key)
	}
	if x.sites[key] == nil {
		x.sites[key] = &site{key: key, function: function, object: o}
	}
	return x.sites[key]
}

// arrival adds a row of arrivals. objects is nil for a process that is not in the profile.
func (b *builder) arrival(r *Rank, row *row, objects map[uint64]*Object, addresses map[uint64]Address) {
	name, object := cmp.Or(row.text("function"), "unknown"), objects[row.count("object")]
	if object == nil {
		object = objects[0]
	}
	if row.Torn || !b.p.Cut.phase(row.text("phase")) || !b.p.Cut.Function(name) || object != nil && !b.p.Cut.object(object.Text()) {
		return
	}
	stack, place := b.stack(r, row, addresses)
	s := b.arrivals.site(name, object, place)
	s.stack = stack
	number := func(field string, i int) uint64 {
		f := row.fields[field]
		if i >= f.Count {
			return 0
		}
		n, _ := row.Value(f, i).Uint64()
		return n
	}
	at := func(field string, i int) time.Duration {
		f := row.fields[field]
		if i >= f.Count {
			return 0
		}
		t, _ := row.Value(f, i).Int64()
		return time.Duration(t)
	}
	for i := range min(int(row.count("kept")), row.fields["instance"].Count) {
		call := number("instance", i)
		b.arrivals.calls[call] = append(b.arrivals.calls[call], arrival{r.Process, at("enter", i), at("leave", i), int(number("size", i)), number("role", i), name, s})
	}
}

// finishArrivals finds the calls that all ranks kept, and who came last to them.
func (b *builder) finishArrivals() {
	found := map[*site]*Arrivals{}
	members := map[string][]int{}
	between := betweenClocks(b.p.Run)
	for _, number := range slices.Sorted(maps.Keys(b.arrivals.calls)) {
		all := b.arrivals.calls[number]
		slices.SortFunc(all, func(x, y arrival) int { return cmp.Compare(x.rank.Rank, y.rank.Rank) })
		if !complete(all) {
			continue
		}
		s := commonSite(all)
		if s == nil {
			continue
		}
		a := found[s]
		if a == nil {
			a = &Arrivals{Function: s.function, Object: s.object, Stack: s.stack, calls: b.arrivals.times[s.key]}
			found[s] = a
			b.p.Arrivals = append(b.p.Arrivals, a)
		}
		ranks := make([]int, len(all))
		for i := range all {
			ranks[i] = all[i].rank.Rank
		}
		if key := fmt.Sprint(ranks); members[key] != nil {
			ranks = members[key]
		} else {
			members[key] = ranks
		}
		a.judge(all, ranks, between)
	}
	b.p.finishArrivals()
}

// complete reports whether all ranks of a communicator kept a call; they are sorted.
func complete(all []arrival) bool {
	for i := range all {
		if all[i].size != len(all) || i > 0 && all[i-1].rank.Rank == all[i].rank.Rank {
			return false
		}
	}
	return len(all) > 1
}

// commonSite is where most ranks made a call; nil: none of them is in the profile.
func commonSite(all []arrival) (most *site) {
	times := map[*site]int{}
	for i := range all {
		if s := all[i].site; s.object != nil {
			if times[s]++; most == nil || times[s] > times[most] {
				most = s
			}
		}
	}
	return most
}

// shape is who waits for whom in a collective call.
type shape uint8

const (
	unknownShape shape = iota // of a scan, or between neighbours: not all wait for the last one
	allForAll
	fromRoot
	toRoot
)

func shapeOf(function string) shape {
	name := plainName(function)
	switch {
	case !collective(function) || strings.HasPrefix(name, "Neighbor_") || strings.HasSuffix(name, "scan") || strings.HasSuffix(name, "Scan"):
		return unknownShape
	case name == "Bcast" || name == "Scatter" || name == "Scatterv":
		return fromRoot
	case name == "Gather" || name == "Gatherv" || name == "Reduce":
		return toRoot
	}
	return allForAll
}

// judge finds who came last to a call. Those who had to wait prove by their return that they did.
func (a *Arrivals) judge(all []arrival, ranks []int, between func(x, y *recording.Rank) (time.Duration, bool)) {
	shape, root := shapeOf(all[0].function), nobody
	for i := range all {
		rooted := all[i].role != roleAlike
		if plainName(all[i].function) != plainName(all[0].function) || rooted != (shape == fromRoot || shape == toRoot) || all[i].role == roleRoot && root != nobody {
			a.Mismatched++
			return
		}
		if all[i].role == roleRoot {
			root = i
		}
	}
	if shape == unknownShape {
		return
	}
	if root == nobody && shape != allForAll {
		a.Mismatched++
		return
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(all[x].enter, all[y].enter) })
	last, second := order[len(order)-1], order[len(order)-2]
	m := meeting{ranks: ranks, last: all[last].rank.Rank, second: all[last].enter - all[second].enter, first: all[last].enter - all[order[0]].enter}
	for i := range all {
		awaited := awaitedBy(i, shape, root, last)
		unsure, known := between(all[i].rank, all[last].rank)
		further, both := between(all[i].rank, all[awaited].rank)
		switch {
		case i == last:
		case !known || !both || unsure > 0 && unsure >= all[last].enter-all[i].enter:
			a.Unclocked++
			return
		case all[i].leave+further < all[awaited].enter:
			a.Unordered++
			return
		}
		m.waited += max(min(all[awaited].enter, all[i].leave)-all[i].enter, 0)
	}
	if shape == fromRoot && last != root || shape == toRoot && last == root {
		m.last = nobody
	}
	a.meetings = append(a.meetings, m)
}

// awaitedBy is whom a process has to wait for; itself: nobody.
func awaitedBy(i int, s shape, root, last int) int {
	switch {
	case s == allForAll, s == toRoot && i == root:
		return last
	case s == fromRoot:
		return root
	}
	return i
}

// betweenClocks says for two processes by how much their times may differ wrongly; not known: their nodes' clocks are not in step.
func betweenClocks(run *recording.Run) func(x, y *recording.Rank) (time.Duration, bool) {
	type pair [2]*recording.Node
	known := map[pair]time.Duration{}
	if run.Clocks != nil {
		for _, p := range run.Clocks.Pairs {
			if a, b := p.Nodes[0], p.Nodes[1]; p.Known && a >= 0 && b >= 0 && a < len(run.Nodes) && b < len(run.Nodes) {
				known[pair{run.Nodes[a], run.Nodes[b]}], known[pair{run.Nodes[b], run.Nodes[a]}] = p.Error, p.Error
			}
		}
	}
	return func(x, y *recording.Rank) (time.Duration, bool) {
		unsure, ok := known[pair{x.Node, y.Node}]
		return unsure + x.ClockError + y.ClockError, ok || x.Node == y.Node
	}
}

// finishArrivals computes what is said about the calls, and sorts them: those with the most lateness first.
func (p *Profile) finishArrivals() {
	for _, a := range p.Arrivals {
		a.finish()
		if len(p.Cut.Ranks) > 0 {
			a.Ranks = slices.DeleteFunc(a.Ranks, func(l Latecomer) bool { return !slices.Contains(p.Cut.Ranks, l.Rank) })
		}
	}
	p.Arrivals = slices.DeleteFunc(p.Arrivals, func(a *Arrivals) bool { return a.Observed+a.Unknown() == 0 })
	slices.SortStableFunc(p.Arrivals, func(x, y *Arrivals) int {
		return cmp.Or(cmp.Compare(y.late(), x.late()), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Object.number, y.Object.number), slices.CompareFunc(x.Stack, y.Stack, compareAddresses))
	})
}

// Unknown is the number of calls that all ranks kept, and of which the last one is unknown.
func (a *Arrivals) Unknown() int { return a.Mismatched + a.Unordered + a.Unclocked }

// late is how long the most frequent latecomer held up the others in all.
func (a *Arrivals) late() (sum time.Duration) {
	for i := range a.Ranks {
		sum = max(sum, a.held(&a.Ranks[i]))
	}
	return sum
}

// held is for about how long all calls of the site waited for a rank alone: as in the observed calls, of which half were later than that.
func (a *Arrivals) held(l *Latecomer) time.Duration {
	calls := max(float64(a.calls[l.Rank]), float64(l.TookPart))
	return time.Duration(float64(l.AfterSecond.Median) * float64(l.Last) / float64(l.TookPart) * calls)
}

// estimate computes Waited from the observed calls.
func (a *Arrivals) estimate() {
	observed, calls, sum := uint64(0), uint64(0), time.Duration(0)
	for i := range a.meetings {
		observed += uint64(len(a.meetings[i].ranks))
		sum += a.meetings[i].waited
	}
	for _, n := range a.calls {
		calls += n
	}
	calls = max(calls, observed)
	if a.Waited, a.Covered = 0, 0; observed > 0 && (len(a.meetings) >= fewest || observed == calls) && a.ordered() {
		a.Waited, a.Covered = time.Duration(float64(sum)*float64(calls)/float64(observed)), calls
	}
}

// ordered reports whether so few of the calls contradict each other that ranks were matched.
func (a *Arrivals) ordered() bool {
	return a.Mismatched == 0 && float64(a.Unordered) <= mistake*float64(a.Observed)
}

func (a *Arrivals) finish() {
	a.Observed, a.Unwaited, a.Ranks = len(a.meetings), 0, nil
	a.estimate()
	took, chance, late := map[int]int{}, map[int]float64{}, map[int][][2]time.Duration{}
	for i := range a.meetings {
		m := &a.meetings[i]
		for _, r := range m.ranks {
			took[r]++
			chance[r] += 1 / float64(len(m.ranks))
		}
		if m.last == nobody {
			a.Unwaited++
			continue
		}
		late[m.last] = append(late[m.last], [2]time.Duration{m.second, m.first})
	}
	for _, rank := range slices.Sorted(maps.Keys(late)) {
		all := late[rank]
		a.Ranks = append(a.Ranks, Latecomer{rank, took[rank], len(all), lateness(all, 0), lateness(all, 1), chance[rank] / float64(took[rank])})
	}
	slices.SortStableFunc(a.Ranks, func(x, y Latecomer) int { return cmp.Compare(y.Last, x.Last) })
}

func lateness(all [][2]time.Duration, of int) (l Lateness) {
	var sum time.Duration
	times := make([]time.Duration, len(all))
	for i, x := range all {
		times[i] = x[of]
		sum += x[of]
	}
	slices.Sort(times)
	return Lateness{sum / time.Duration(len(all)), times[(len(all)-1)/2], times[len(all)-1]}
}

// merge adds the calls of another site.
func (a *Arrivals) merge(o *Arrivals) {
	a.meetings = append(a.meetings, o.meetings...)
	a.Mismatched, a.Unordered, a.Unclocked = a.Mismatched+o.Mismatched, a.Unordered+o.Unordered, a.Unclocked+o.Unclocked
	calls := map[int]uint64{}
	for _, of := range []map[int]uint64{a.calls, o.calls} {
		for rank, n := range of {
			calls[rank] += n
		}
	}
	a.calls = calls
}

// resolveArrivals finds the sources of call sites, and merges those of one line.
func (p *Profile) resolveArrivals(frames func(Address) []Frame) {
	merged := map[string]*Arrivals{}
	var list []*Arrivals
	for _, a := range p.Arrivals {
		key := fmt.Sprint(a.Object.number, " ", a.Function)
		a.Frames = nil
		for _, at := range a.Stack {
			a.Frames = append(a.Frames, frames(at)...)
		}
		for _, f := range a.Frames {
			key += "\x00" + f.key()
		}
		if same := merged[key]; same != nil {
			same.merge(a)
			continue
		}
		merged[key] = a
		list = append(list, a)
	}
	p.Arrivals = list
	p.finishArrivals()
}

// Place and Where are the call site, as [Function.Place] and [Function.Where] say it.
func (a *Arrivals) Place() string { return a.site().Place() }
func (a *Arrivals) Where() string { return a.site().Where() }

func (a *Arrivals) site() *Function {
	return &Function{Name: a.Function, Stack: a.Stack, Frames: a.Frames}
}

// byChance is the probability that a rank comes last so often by chance, at most.
func (l *Latecomer) byChance() float64 {
	sum := 0.0
	choose := func(k int) float64 {
		n, _ := math.Lgamma(float64(l.TookPart + 1))
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(l.TookPart - k + 1))
		return n - a - b
	}
	for k := l.Last; k <= l.TookPart; k++ {
		sum += math.Exp(choose(k) + float64(k)*math.Log(l.Chance) + float64(l.TookPart-k)*math.Log1p(-l.Chance))
	}
	return min(sum, 1)
}
