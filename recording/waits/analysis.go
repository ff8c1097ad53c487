package waits

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"mpitx/recording/processor"
)

// Analysis is why the ranks of a program waited.
type Analysis struct {
	Run     time.Duration `json:"run_ns"`     // from the end of MPI_Init to the beginning of MPI_Finalize
	Time    time.Duration `json:"time_ns"`    // of all threads
	InMPI   time.Duration `json:"mpi_ns"`     // of these, in calls
	Waiting time.Duration `json:"waiting_ns"` // of these, waiting
	Threads int           `json:"threads"`
	Ranks   int           `json:"ranks"`

	States     []State    `json:"states"` // the most waiting first
	Rest       []State    `json:"rest"`   // the time in calls that no wait explains: transfer, contention, progress, a missing core
	Causes     []Cause    `json:"causes"` // the most expensive first; costs add up to Waiting
	Path       []Share    `json:"path"`   // the longest first; they add up to Run
	Gains      []Gain     `json:"gains"`
	Parts      []Part     `json:"parts"`
	Efficiency Efficiency `json:"efficiency"`
	Missing    Missing    `json:"missing"`
	Window     *Window    `json:"window,omitempty"` // nil: all of the run

	program *Program
	steps   []step // of the critical path, in the order of time

	Shortages []processor.Shortage `json:"-"` // ranks had no core: see NoCores
	noCore    map[int]noCore       // by rank
}

// At is a place in the program.
type At struct {
	Function string `json:"function"`
	Place    string `json:"place,omitempty"`
	Phase    string `json:"phase,omitempty"`
}

// State is how often calls of a rank at one site waited for one reason.
type State struct {
	Kind Kind `json:"kind"`
	At
	Object  string         `json:"communicator,omitempty"`
	Rank    int            `json:"rank"`
	Calls   uint64         `json:"calls"` // that waited
	Waiting time.Duration  `json:"waiting_ns"`
	Longest time.Duration  `json:"longest_ns"`
	For     int            `json:"for"`                       // the rank that it waited for most
	ForTime time.Duration  `json:"for_ns"`                    // how long
	Began   time.Duration  `json:"longest_at_ns"`             // when the longest wait began, since the job's start
	Callee  string         `json:"for_function"`              // the function in which that rank came, at the longest wait
	NoCore  *time.Duration `json:"no_core_most_ns,omitempty"` // of Rest: for how long the rank may have had no core there; nil: not known
}

// What a region is.
const (
	Computing   = "computation"
	InCall      = "call"
	Unexplained = "unexplained"
)

// Cause is a region that makes others wait.
type Cause struct {
	What string `json:"what"` // Computing: before the call
	At
	Rank   int            `json:"rank"`
	Cost   time.Duration  `json:"cost_ns"`                   // of waiting in all
	Direct time.Duration  `json:"direct_ns"`                 // of waits for this rank itself
	Ranks  []int          `json:"ranks"`                     // that waited for this rank because of it, ascending
	Excess time.Duration  `json:"excess_ns"`                 // what the rank takes longer than the (lower) median of all ranks; 0: it does not
	NoCore *time.Duration `json:"no_core_most_ns,omitempty"` // for how long the rank may have had no core there; nil: not known
}

// Share is a region's part of the critical path.
type Share struct {
	What string `json:"what"`
	At
	Rank  int           `json:"rank"`
	Time  time.Duration `json:"time_ns"`
	Times uint64        `json:"times"` // pieces of the path
}

// Gain is what the run gains at most if a region takes a tenth less time on all ranks.
type Gain struct {
	What string `json:"what"`
	At
	Saved time.Duration `json:"saved_ns"`
}

// Efficiency is the ladder of the POP project: each factor is between 0 and 1, and the product of those below it.
type Efficiency struct {
	Parallel      float64 `json:"parallel"`      // time outside of MPI, mean over ranks, divided by the run time
	LoadBalance   float64 `json:"load_balance"`  // mean of it divided by the longest
	Communication float64 `json:"communication"` // the longest divided by the run time
	Serialisation float64 `json:"serialisation"` // the longest divided by the run time on an ideal network; 0: not known
	Transfer      float64 `json:"transfer"`      // the run time on an ideal network divided by the run time
	Ideal         int64   `json:"ideal_run_ns"`  // the run time on an ideal network
}

// Factor is a factor of the efficiency. Those below it, which are deeper, have it as their product.
type Factor struct {
	Depth int
	Name  string
	Value float64
	Means string // what is divided by what
}

// Factors are those that are known, from the top down.
func (e *Efficiency) Factors() (all []Factor) {
	for _, f := range []Factor{{0, "parallel efficiency", e.Parallel, "time outside of MPI"}, {1, "load balance", e.LoadBalance, "the mean of it to the longest"},
		{1, "communication efficiency", e.Communication, "the longest to the run time"}, {2, "serialisation", e.Serialisation, "the longest to the run time on an ideal network"},
		{2, "transfer", e.Transfer, "the run time on an ideal network to the run time"}} {
		if f.Value > 0 {
			all = append(all, f)
		}
	}
	return all
}

// Waits finds the waits, and draws no conclusions. The program does not change any more.
func (p *Program) Waits() *Analysis {
	p.meet()
	p.settle()
	return &Analysis{program: p, Missing: p.Missing, Window: p.window, States: []State{}, Rest: []State{}, Causes: []Cause{}, Path: []Share{}, Gains: []Gain{}, Parts: []Part{}}
}

// Analyse draws all conclusions. The program does not change any more.
func (p *Program) Analyse() *Analysis {
	a := p.Waits()
	from, to := p.span()
	a.Run = time.Duration(to - from)
	totals := p.states(a)
	p.addCauses(a, totals)
	p.addPath(a)
	p.replays(a, p.efficiency(a))
	return a
}

// Only keeps the rows of some ranks.
func (a *Analysis) Only(has func(rank int) bool) {
	a.States = slices.DeleteFunc(a.States, func(s State) bool { return !has(s.Rank) })
	a.Rest = slices.DeleteFunc(a.Rest, func(s State) bool { return !has(s.Rank) })
	a.Causes = slices.DeleteFunc(a.Causes, func(c Cause) bool { return !has(c.Rank) })
	a.Path = slices.DeleteFunc(a.Path, func(s Share) bool { return !has(s.Rank) })
}

func (p *Program) place(code uint32) At {
	if code == unexplained {
		return At{}
	}
	s := &p.codes[code]
	return At{s.Function, s.Place, s.Phase}
}

func what(r Region) string {
	switch {
	case r.Code == unexplained:
		return Unexplained
	case r.Compute:
		return Computing
	}
	return InCall
}

// states adds up the waits, and returns the time of each region by rank.
func (p *Program) states(a *Analysis) map[int][]int64 {
	var ranks [][]int32 // their tracks
	number := map[int]int{}
	for i := range p.tracks {
		t := &p.tracks[i]
		if t.calls.len() == 0 {
			continue
		}
		a.Threads++
		n, known := number[t.rank]
		if !known {
			n = len(ranks)
			number[t.rank] = n
			ranks = append(ranks, nil)
		}
		ranks[n] = append(ranks[n], int32(i))
	}
	a.Ranks = len(ranks)
	all := make([]rankStates, len(ranks))
	parallel(len(ranks), func(n int) { all[n] = p.statesOf(ranks[n]) })
	totals := map[int][]int64{}
	for i := range all {
		x := &all[i]
		totals[p.tracks[ranks[i][0]].rank] = x.times
		a.States, a.Rest = append(a.States, x.states...), append(a.Rest, x.rest...)
		a.Time, a.InMPI = a.Time+x.time, a.InMPI+x.inMPI
	}
	for i := range a.States {
		a.Waiting += a.States[i].Waiting
	}
	for _, list := range [][]State{a.States, a.Rest} {
		slices.SortFunc(list, func(x, y State) int {
			return cmp.Or(cmp.Compare(y.Waiting, x.Waiting), cmp.Compare(x.Rank, y.Rank), x.At.compare(y.At), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Object, y.Object))
		})
	}
	return totals
}

// longer reports whether a wait is longer than the longest one, or as long and earlier.
func (s *State) longer(d, began time.Duration) bool {
	return d > s.Longest || d == s.Longest && began < s.Began
}

// rankStates are the waits of a rank.
type rankStates struct {
	states, rest []State
	times        []int64 // as in profiles
	time, inMPI  time.Duration
}

func (p *Program) statesOf(tracks []int32) (x rankStates) {
	type sums struct {
		State
		by map[int]int64
	}
	all := map[uint64]*sums{} // by site and kind
	of := func(kind Kind, site uint32) *sums {
		key := uint64(site)<<8 | uint64(kind)
		s := all[key]
		if s == nil {
			s = &sums{State: State{Kind: kind, At: p.place(p.codeOf[site]), Object: p.sites[site].Object, Rank: p.tracks[tracks[0]].rank, For: -1}, by: map[int]int64{}}
			all[key] = s
		}
		return s
	}
	x.times = make([]int64, 2*len(p.codes))
	for _, i := range tracks {
		t := &p.tracks[i]
		x.time += time.Duration(t.end() - t.start)
		before := t.start
		for k := range t.calls.len() {
			c := t.calls.at(k)
			w := p.wait(Ref{i, k})
			length := time.Duration(w.length(c))
			own := time.Duration(w.own(c))
			code := p.codeOf[c.site]
			x.times[2*code+1] += c.begin - before
			x.times[2*code] += int64(own)
			x.inMPI += time.Duration(c.end - c.begin)
			before = c.end
			if own > 0 {
				s := of(None, c.site)
				s.Calls++
				s.Waiting += own
				if began := time.Duration(c.end) - own; s.longer(own, began) {
					s.Longest, s.Began = own, began
				}
			}
			if w.kind == None {
				continue
			}
			s := of(w.kind, c.site)
			s.Calls++
			s.Waiting += length
			s.by[p.tracks[w.on.Track].rank] += int64(length)
			if began := time.Duration(c.begin); s.longer(length, began) {
				s.Longest, s.Began, s.Callee = length, began, p.sites[p.at(w.on).site].Function
			}
		}
	}
	for _, s := range all {
		for rank, length := range s.by {
			if d := time.Duration(length); d > s.ForTime || d == s.ForTime && rank < s.For {
				s.For, s.ForTime = rank, d
			}
		}
		if s.Kind == None {
			x.rest = append(x.rest, s.State)
		} else {
			x.states = append(x.states, s.State)
		}
	}
	return x
}

func (x At) compare(y At) int {
	return cmp.Or(cmp.Compare(x.Function, y.Function), cmp.Compare(x.Place, y.Place), cmp.Compare(x.Phase, y.Phase))
}

func (p *Program) addCauses(a *Analysis, totals map[int][]int64) {
	times := make([]int64, 0, len(totals))
	median := func(region int) int64 { // the lower one
		times = times[:0]
		for _, all := range totals {
			times = append(times, all[region])
		}
		slices.Sort(times)
		return times[(len(times)-1)/2]
	}
	medians := map[int]int64{}
	for r, c := range p.causes() {
		x := Cause{What: what(r), At: p.place(r.Code), Rank: r.Rank, Cost: time.Duration(c.cost), Direct: time.Duration(c.direct)}
		for i, word := range c.ranks {
			for ; word != 0; word &= word - 1 {
				x.Ranks = append(x.Ranks, 64*i+bits.TrailingZeros64(word))
			}
		}
		if r.Code != unexplained {
			region := 2 * int(r.Code)
			if r.Compute {
				region++
			}
			m, known := medians[region]
			if !known {
				m = median(region)
				medians[region] = m
			}
			x.Excess = max(time.Duration(totals[r.Rank][region]-m), 0)
		}
		a.Causes = append(a.Causes, x)
	}
	slices.SortFunc(a.Causes, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.Cost, x.Cost), cmp.Compare(x.Rank, y.Rank), x.At.compare(y.At), cmp.Compare(x.What, y.What))
	})
}

func (p *Program) addPath(a *Analysis) {
	a.steps = p.path()
	shares := map[Region]*Share{}
	for _, s := range a.steps {
		x := shares[s.region]
		if x == nil {
			x = &Share{What: what(s.region), At: p.place(s.region.Code), Rank: s.region.Rank}
			shares[s.region] = x
		}
		x.Time += time.Duration(s.to - s.from)
		x.Times++
	}
	for _, x := range shares {
		a.Path = append(a.Path, *x)
	}
	slices.SortFunc(a.Path, func(x, y Share) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Rank, y.Rank), x.At.compare(y.At), cmp.Compare(x.What, y.What))
	})
}

// efficiency computes the factors, as far as they need no replay. A rank with several threads computes as long as the thread that computes longest.
// It returns for how long the longest rank computes; 0: that is not known.
func (p *Program) efficiency(a *Analysis) int64 {
	computing := map[int]int64{}
	for i := range p.tracks {
		t := &p.tracks[i]
		if t.calls.len() == 0 {
			continue
		}
		outside := t.end() - t.start
		for _, block := range t.calls.blocks {
			for k := range block {
				outside -= block[k].end - block[k].begin
			}
		}
		computing[t.rank] = max(computing[t.rank], outside)
	}
	sum, longest := int64(0), int64(0)
	for _, d := range computing {
		sum, longest = sum+d, max(longest, d)
	}
	if longest == 0 || a.Run == 0 || a.Missing.Paused+a.Missing.Functions > 0 { // what was not recorded would count as computation
		return 0
	}
	e, run := &a.Efficiency, float64(a.Run)
	mean := float64(sum) / float64(len(computing))
	e.Parallel, e.LoadBalance, e.Communication = mean/run, mean/float64(longest), float64(longest)/run
	p.parts(a)
	return longest
}

// mostGains bounds the regions that are tried.
const mostGains = 5

// replays tries an ideal network, and the regions with the longest parts of the critical path. longest is of efficiency.
func (p *Program) replays(a *Analysis, longest int64) {
	parts := map[Region]int64{} // of all ranks
	for _, s := range a.steps {
		parts[Region{s.region.Code, 0, s.region.Compute}] += s.to - s.from
	}
	var regions []Region
	for r := range parts {
		regions = append(regions, r)
	}
	slices.SortFunc(regions, func(x, y Region) int {
		return cmp.Or(cmp.Compare(parts[y], parts[x]), cmp.Compare(x.Code, y.Code), cmp.Compare(what(x), what(y)))
	})
	regions = regions[:min(len(regions), mostGains)]
	took, ok := p.replay(regions, false)
	if ok {
		for i, r := range regions {
			a.Gains = append(a.Gains, Gain{what(r), p.place(r.Code), max(a.Run-time.Duration(took[1+i]), 0)})
		}
	} else {
		took, ok = p.replay(nil, true)
	}
	if e := &a.Efficiency; ok && longest > 0 && took[ideal] > 0 {
		e.Ideal, e.Serialisation, e.Transfer = took[ideal], float64(longest)/float64(took[ideal]), float64(took[ideal])/float64(a.Run)
	}
}
