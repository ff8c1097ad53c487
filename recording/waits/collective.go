package waits

import (
	"cmp"
	"math"
	"slices"
)

// Group is a communicator, window or file: the ranks that take part in its collectives.
type Group struct {
	size     int
	ordered  bool
	member   map[int]int32 // by rank of the run
	ranks    []int         // by member
	made     []int32       // by member: how many collectives it has called
	meetings []int32       // the program's numbers of them
	order    []int32       // members by rank, once all are known
	places   map[int]int   // by rank of the run: its place in scans, its rank in the group; nil: that of its number, if the group is ordered
	ranked   []int32       // if the group is ordered, members by place, once all are known
	place    []int32       // likewise, by member: its place
	table    []int32       // by rank, from the lowest on: members + 1, unless ranks are far apart
	unsure   bool          // calls of ranks do not belong together any more

	neighbors map[int][]int  // by rank of the run: those from which it receives in neighbourhood collectives. Others' are not known
	sides     map[int]uint64 // of an intercommunicator, by rank of the run: which of the two groups it is in
	halves    [2]*Group      // these groups, once all are known
}

// meeting is a collective: the calls of all ranks that belong together.
type meeting struct {
	group    *Group
	function string
	shape    shape
	kind     Kind
	root     int32 // a rank of the run; −1: none, or not known yet
	came     int32
	needs    int32 // how many calls need it
	calls    []Ref // by member; nobody: not there
	last     Ref   // the last one that others wait for
	lower    []Ref // of fromLower, by member: the last one among lower ranks
	done     []Ref // of fromNeighbors, and between two groups, by member: the call that completes it; nobody: none
}

// Group adds a communicator, window or file of some processes; 0: unknown. ordered: ranks have the order of their numbers in the run.
func (p *Program) Group(size int, ordered bool) *Group {
	g := &Group{size: size, ordered: ordered, member: map[int]int32{}}
	p.groups = append(p.groups, g)
	return g
}

// number is a rank's number among the members.
func (g *Group) number(rank int) (m int32, ok bool) {
	m, ok = g.member[rank]
	if !ok && len(g.ranks) < g.size {
		m, ok = int32(len(g.ranks)), true
		g.member[rank] = m
		g.ranks = append(g.ranks, rank)
		g.made = append(g.made, 0)
	}
	return m, ok
}

// lowest is the lowest rank of the members, all of which are known.
func (g *Group) lowest() int { return g.ranks[g.order[0]] }

// close prepares for lowest and find, and for scans.
func (g *Group) close() {
	if len(g.ranks) == 0 {
		return
	}
	g.order = g.byRank()
	if g.ordered {
		g.ranked, g.place = slices.Clone(g.order), make([]int32, len(g.ranks))
		if g.places != nil {
			slices.SortFunc(g.ranked, func(a, b int32) int { return cmp.Compare(g.places[g.ranks[a]], g.places[g.ranks[b]]) })
		}
		for i, m := range g.ranked {
			g.place[m] = int32(i)
		}
	}
	first := g.lowest()
	if n := g.ranks[g.order[len(g.order)-1]] - first + 1; n <= 8*len(g.ranks)+64 {
		g.table = make([]int32, n)
		for m, rank := range g.ranks {
			g.table[rank-first] = int32(m) + 1
		}
	}
}

// find is a rank's number among the members.
func (g *Group) find(rank int) (m int32, ok bool) {
	if len(g.table) == 0 {
		m, ok = g.member[rank]
		return m, ok
	}
	if i := uint(rank - g.lowest()); i < uint(len(g.table)) {
		return g.table[i] - 1, g.table[i] > 0
	}
	return 0, false
}

// Collective says that a call is its rank's next collective of a group. root is a rank of the run; -1: none, or unknown. It returns the
// collective's number, for Completed, if the function does not complete it itself; -1: it does, or it cannot be told from others.
func (p *Program) Collective(of Ref, g *Group, function string, root int) int32 {
	s, how := shapeOf(function)
	m, ok := g.number(p.tracks[of.Track].rank)
	if !ok || g.unsure || p.lossy[p.tracks[of.Track].rank] || s == 0 || (s == fromRoot || s == toRoot) && root < 0 && g.sides == nil || s == fromLower && !g.ordered {
		p.Missing.Undecided++
		return -1
	}
	n := g.made[m]
	g.made[m]++
	for int(n) >= len(g.meetings) {
		x := meeting{group: g, function: function, shape: s, kind: kindOf(function, s), root: int32(root), calls: nobodies(g.size), last: nobody}
		if s == fromNeighbors || g.sides != nil && x.kind != Management {
			x.done = nobodies(g.size)
		}
		g.meetings = append(g.meetings, p.meetings.len())
		p.meetings.add(x)
	}
	x := p.meetings.at(g.meetings[n])
	if g.sides != nil && (x.root < 0 || root < 0) { // only the group without the root names it
		root = max(int(x.root), root)
		x.root = int32(root)
	}
	if x.function != function || x.root != int32(root) {
		g.unsure = true
		p.Missing.Undecided++
		return -1
	}
	x.calls[m] = of
	x.came++
	switch {
	case x.done == nil:
	case how == blocking:
		x.done[m] = of
		return -1
	default:
		return g.meetings[n]
	}
	if how == blocking || how == making {
		x.needs++
		p.at(of).needs = collectiveBit | uint32(g.meetings[n])
		return -1
	}
	p.need(of, Ref{inMeeting, g.meetings[n]}, starts, 0)
	if how == split {
		p.Completed(of, g.meetings[n])
	}
	return g.meetings[n]
}

// Completed says that a call completed a collective, which another one of its rank had started, or that it may wait for the others in it.
func (p *Program) Completed(of Ref, collective int32) {
	x := p.meetings.at(collective)
	if x.done == nil {
		x.needs++
		p.need(of, Ref{inMeeting, collective}, x.kind, 0)
	} else if m, ok := x.group.number(p.tracks[of.Track].rank); ok {
		x.done[m] = of
	}
}

func nobodies(n int) []Ref {
	all := make([]Ref, n)
	for i := range all {
		all[i] = nobody
	}
	return all
}

// Lose says that events of a track are missing.
func (p *Program) Lose(track int32, events uint64) {
	p.Missing.Lost += events
	p.unsure(p.tracks[track].rank)
}

// unsure says that collectives of a rank may be missing, so that later ones cannot be told from one another.
func (p *Program) unsure(rank int) {
	if p.lossy == nil {
		p.lossy = map[int]bool{}
	}
	p.lossy[rank] = true
}

// meet finds who came last to each collective.
func (p *Program) meet() {
	for _, g := range p.groups {
		g.close()
	}
	for i := range p.meetings.len() {
		x := p.meetings.at(i)
		if x.came < int32(x.group.size) {
			p.Missing.Incomplete += uint64(x.came)
			x.shape = 0
			continue
		}
		switch {
		case x.shape == 0:
		case x.shape == fromLower:
			x.lower = p.lower(x)
		case x.shape == fromNeighbors:
			p.link(x)
		case x.done != nil:
			p.between(x)
		default:
			p.findLast(x)
		}
	}
}

// findLast finds the last one that others wait for.
func (p *Program) findLast(x *meeting) {
	latest := int64(math.MinInt64)
	for _, m := range x.group.order {
		if x.shape == toRoot && x.group.ranks[m] == int(x.root) {
			continue
		}
		if begin := p.at(x.calls[m]).begin; begin > latest {
			x.last, latest = x.calls[m], begin
		}
	}
}

// link makes of a neighbourhood collective what each of its members needs: like messages of its neighbours.
func (p *Program) link(x *meeting) {
	x.shape = 0
	for m, rank := range x.group.ranks {
		neighbors, known := x.group.neighbors[rank]
		if !known {
			p.Missing.Undecided++
		}
		for _, other := range neighbors {
			if n, ok := x.group.find(other); ok && other != rank && x.done[m] != nobody {
				p.need(x.done[m], x.calls[n], AtNeighbors, 0)
			}
		}
	}
}

// between makes of a collective of an intercommunicator what the calls of each group need of the other one (MPI-4.1, section 6.2.3).
func (p *Program) between(x *meeting) {
	g, shape := x.group, x.shape
	x.shape = 0
	root, known := g.find(int(x.root))
	if !g.split() || shape != allForAll && !known {
		p.Missing.Undecided += uint64(x.came)
		return
	}
	calls, done, kind := x.calls, x.done, x.kind
	if shape == allForAll {
		for i, half := range g.halves {
			y := meeting{group: half, function: x.function, shape: allForAll, kind: kind, root: -1, came: int32(half.size), calls: make([]Ref, half.size), last: nobody}
			n := p.meetings.len()
			for k, rank := range half.ranks {
				m, _ := g.find(rank)
				y.calls[k] = calls[m]
				p.need(calls[m], Ref{inMeeting, n}, starts, 0)
			}
			p.findLast(&y)
			p.meetings.add(y)
			for _, rank := range g.halves[1-i].ranks {
				if m, _ := g.find(rank); done[m] != nobody {
					p.Completed(done[m], n)
				}
			}
		}
		return
	}
	for m, rank := range g.ranks {
		switch {
		case g.sides[rank] == g.sides[int(x.root)]:
		case shape == fromRoot && done[m] != nobody:
			p.need(done[m], calls[root], kind, 0)
		case shape == toRoot && done[root] != nobody:
			p.need(done[root], calls[m], kind, 0)
		}
	}
}

// split finds the two groups of an intercommunicator, all of whose ranks are known. It returns false if they are not two.
func (g *Group) split() bool {
	if g.halves[0] == nil && len(g.order) > 0 {
		first := g.sides[g.lowest()]
		g.halves = [2]*Group{{member: map[int]int32{}}, {member: map[int]int32{}}}
		for _, m := range g.order {
			half := g.halves[1]
			if g.sides[g.ranks[m]] == first {
				half = g.halves[0]
			}
			half.member[g.ranks[m]] = int32(half.size)
			half.ranks = append(half.ranks, g.ranks[m])
			half.size++
		}
		for _, half := range g.halves {
			half.close()
		}
	}
	return len(g.order) > 0 && g.halves[1].size > 0
}

// byRank are the members in the order of their ranks.
func (g *Group) byRank() []int32 {
	order := make([]int32, len(g.ranks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(g.ranks[a], g.ranks[b]) })
	return order
}

// lower finds for each member the last one among lower ranks.
func (p *Program) lower(x *meeting) []Ref {
	all, latest := make([]Ref, len(x.calls)), nobody
	for _, m := range x.group.ranked {
		all[m] = latest
		if latest == nobody || p.at(x.calls[m]).begin > p.at(latest).begin {
			latest = x.calls[m]
		}
	}
	return all
}

// needed is the call that a rank's call in a collective waits for; nobody: none.
func (p *Program) needed(x *meeting, of Ref) Ref {
	rank := p.tracks[of.Track].rank
	switch x.shape {
	case allForAll:
		return x.last
	case fromRoot:
		if m, ok := x.group.find(int(x.root)); ok && rank != int(x.root) {
			return x.calls[m]
		}
	case toRoot:
		if rank == int(x.root) {
			return x.last
		}
	case fromLower:
		if m, ok := x.group.find(rank); ok {
			return x.lower[m]
		}
	}
	return nobody
}

// with finds the call of a track in a collective that another track's call is in; nobody: it is not in it.
func (p *Program) with(x *meeting, track int32) Ref {
	if m, ok := x.group.find(p.tracks[track].rank); ok && x.shape != 0 && x.calls[m].Track == track {
		return x.calls[m]
	}
	return nobody
}
