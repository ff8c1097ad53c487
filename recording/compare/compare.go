package compare

import (
	"cmp"
	"math"
	"slices"
	"time"

	"mpitx/recording"
	"mpitx/recording/profile"
)

// Input is a run to compare.
type Input struct {
	Name    string // how the user names it
	Run     *recording.Run
	Profile *profile.Profile // with resolved sites; nil: the run has none
	Stats   []recording.Stat // of its samples; nil: the run has none

	Settings map[string]string // environment variables that set MPI; nil: they are not known
	Tools    []string          // QMPI tools that calls passed through
}

// Elapsed is the run time of a profile, of samples the time that the longest rank was recorded.
func (in *Input) Elapsed() (d time.Duration) {
	if in.Profile != nil {
		return in.Profile.Efficiency.Elapsed
	}
	for _, r := range in.Run.Ranks {
		from, to := in.Run.Span(r)
		d = max(d, to-from)
	}
	return d
}

// Side is one of the two sides; Both in an [Item] that is on both.
type Side int

// The sides.
const (
	Base Side = iota
	New
	Both
)

func (s Side) String() string { return [...]string{"base", "new", "both"}[s] }

// Comparison is what differs between two sides.
type Comparison struct {
	Sides       [2][]Input
	Differences []Difference // of what was run, and how
	Profiles    bool         // all runs have a profile
	Samples     bool         // all runs have samples
	SameRanks   []int        // the ranks of all profiles, if they have the same ones
	excluded    map[int]bool // ranks that are incomplete in one of the runs, and in no item and no mean

	Run       []*Item // one, with the quantities of the whole run
	Functions []*Item
	Sites     []*Item
	Phases    []*Item
	Peers     []*Item // messages from rank to rank
	OneSided  []*Item // likewise operations on windows
	Ranks     []*Item
	Variables []*Item // by relative change, because their units differ
}

// Item is something that has quantities: a function, a call site, a phase, a pair of ranks, a variable. Lists are sorted by the absolute
// change of the first measure.
type Item struct {
	Name   string // of a function, phase or variable
	Within string // see [profile.Function]

	Site, NewSite       string // the place in the program; NewSite is "" if it is the same
	Object              string // of a variable
	Class               string // likewise
	Source, Destination int    // of messages; a rank's number is its Source

	Side     Side // where it is
	Measures []Measure
	ByRank   []float64 // changes of the first measure on each of SameRanks; of functions and sites

	seen  [2]bool
	ranks [2]map[int]float64
}

// Measure is a quantity with its name in documents and its unit: "ns", "B", "s", "part" (of 1), or "" for numbers.
type Measure struct {
	Name, Unit string
	Delta
}

// Measure returns a quantity by name; an empty one if there is none.
func (it *Item) Measure(name string) Measure {
	for _, m := range it.Measures {
		if m.Name == name {
			return m
		}
	}
	return Measure{Name: name}
}

// Changed reports whether any quantity changed.
func (it *Item) Changed() bool {
	return it.Side != Both || slices.ContainsFunc(it.Measures, func(m Measure) bool { return m.Change() != 0 })
}

// Notable reports whether an item changed by enough to be on a summary: its time by a thousandth of the run time, or calls or bytes if
// both sides have the same ranks.
func (c *Comparison) Notable(it *Item) bool {
	if it.Side != Both || len(c.Run) == 0 || it.Measures[0].Unit != "ns" || it == c.Run[0] {
		return it.Changed()
	}
	run := c.Run[0].Measures[0]
	return math.Abs(it.Measures[0].Change()) >= max(run.Base.Mean(), run.New.Mean())/1000 || c.SameRanks != nil &&
		slices.ContainsFunc(it.Measures, func(m Measure) bool { return m.Unit == "B" && m.Change() != 0 || m.Name == "calls" && m.Change() != 0 })
}

// Compare compares runs. Each side has at least one.
func Compare(base, with []Input) *Comparison {
	c := &Comparison{Sides: [2][]Input{base, with}}
	all := append(slices.Clone(base), with...)
	c.Profiles = !slices.ContainsFunc(all, func(in Input) bool { return in.Profile == nil })
	c.Samples = !slices.ContainsFunc(all, func(in Input) bool { return in.Stats == nil })
	if c.Profiles {
		c.excluded = map[int]bool{}
		for _, in := range all {
			for _, r := range in.Profile.Ranks {
				if in.Profile.Excludes(r) {
					c.excluded[r.Number] = true
				}
			}
		}
		c.SameRanks = sameRanks(all, c.excluded)
		c.profiles()
	}
	if c.Samples {
		c.variables()
	}
	c.Differences = c.differences()
	return c
}

// Cut is the part of the runs that their profiles are about.
func (c *Comparison) Cut() profile.Cut {
	if p := c.Sides[Base][0].Profile; p != nil {
		return p.Cut
	}
	return profile.Cut{}
}

// sameRanks returns the ranks of the profiles if they all have the same ones, without those that are incomplete in one of them.
func sameRanks(all []Input, excluded map[int]bool) (same []int) {
	for i, in := range all {
		var ranks []int
		for _, r := range in.Profile.Ranks {
			if !excluded[r.Number] {
				ranks = append(ranks, r.Number)
			}
		}
		if i > 0 && !slices.Equal(ranks, same) {
			return nil
		}
		same = ranks
	}
	return same
}

// each calls f for each run.
func (c *Comparison) each(f func(at place, in *Input)) {
	for side := range c.Sides {
		for i := range c.Sides[side] {
			f(place{Side(side), i}, &c.Sides[side][i])
		}
	}
}

// place is a run of a side.
type place struct {
	side Side
	run  int
}

// table collects items with the same measures.
type table struct {
	c        *Comparison
	measures []Measure
	items    map[string]*Item
	list     []*Item
}

func (c *Comparison) table(measures ...Measure) *table {
	return &table{c: c, measures: measures, items: map[string]*Item{}}
}

// add adds the numbers of an item in a run, one for each measure. Numbers for equal keys are summed. Items that a run does not have
// count as 0 in it.
func (t *table) add(at place, key string, fresh Item, numbers ...float64) *Item {
	it := t.items[key]
	if it == nil {
		it = &fresh
		it.Measures = slices.Clone(t.measures)
		for i := range it.Measures {
			it.Measures[i].Base, it.Measures[i].New = make(Sample, len(t.c.Sides[Base])), make(Sample, len(t.c.Sides[New]))
		}
		it.ranks = [2]map[int]float64{{}, {}}
		t.items[key] = it
		t.list = append(t.list, it)
	}
	it.seen[at.side] = true
	for i, x := range numbers {
		sample := it.Measures[i].Base
		if at.side == New {
			sample = it.Measures[i].New
		}
		sample[at.run] += x
	}
	return it
}

// unsure adds the error of an estimate to a measure of a run.
func (it *Item) unsure(at place, name string, failure float64) {
	for i := range it.Measures {
		m := &it.Measures[i]
		if m.Name != name {
			continue
		}
		if at.side == Base {
			m.BaseError = math.Hypot(m.BaseError, failure/float64(len(m.Base)))
		} else {
			m.NewError = math.Hypot(m.NewError, failure/float64(len(m.New)))
		}
	}
}

// finish returns the items, sorted.
func (t *table) finish() []*Item {
	for _, it := range t.list {
		it.setSide()
		for _, r := range t.c.SameRanks {
			if len(it.ranks[Base])+len(it.ranks[New]) > 0 {
				it.ByRank = append(it.ByRank, it.ranks[New][r]/float64(len(t.c.Sides[New]))-it.ranks[Base][r]/float64(len(t.c.Sides[Base])))
			}
		}
	}
	slices.SortStableFunc(t.list, func(a, b *Item) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Measures[0].Change()), math.Abs(a.Measures[0].Change())),
			cmp.Compare(b.greatest(), a.greatest()), a.compareNames(b))
	})
	return t.list
}

func (it *Item) setSide() {
	it.Side = Both
	if it.seen[Base] != it.seen[New] {
		it.Side = Base
		if it.seen[New] {
			it.Side = New
		}
	}
}

// greatest is the first measure on the side where it is greater.
func (it *Item) greatest() float64 {
	return max(it.Measures[0].Base.Mean(), it.Measures[0].New.Mean())
}

func (it *Item) compareNames(o *Item) int {
	return cmp.Or(cmp.Compare(it.Name, o.Name), cmp.Compare(it.Within, o.Within), cmp.Compare(it.Site, o.Site), cmp.Compare(it.Object, o.Object),
		cmp.Compare(it.Source, o.Source), cmp.Compare(it.Destination, o.Destination))
}
