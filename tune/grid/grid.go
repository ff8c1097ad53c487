// Package grid finds out which algorithms of collectives are faster than those that a library chooses itself: for sizes of messages and of
// communicators. It decides what to measure, and what that says; package kernel measures.
//
// Screening measures each algorithm that can be forced at a coarse grid of sizes, in some runs, and names one candidate for each place of the grid.
// Algorithms that can cut messages into segments are then measured with some sizes of segments, if they are among the fast ones. Screening
// concludes nothing. Confirming measures candidates against the library's own choice in new runs; only these conclude, with one error level
// for all places together. Where neighbors differ, bisecting finds the size at which the choice changes.
package grid

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mpitx/settings"
	"mpitx/tune/kernel"
	"mpitx/tune/stats"
)

// Alpha is the probability with which a table of a library that has the best algorithms already differs from the library's own choice.
const Alpha = 0.05

// Algorithm is one that a control variable can force.
type Algorithm struct {
	Name    string `json:"name"`
	Value   int64  `json:"value"`
	Segment int64  `json:"segment,omitzero"` // it cuts messages into segments of so many bytes; 0: as the library does without being told
}

// Text is "ring"; "pipeline/8k" with segments.
func (a Algorithm) Text() string {
	if a.Segment == 0 {
		return a.Name
	}
	return a.Name + "/" + SizeText(a.Segment)
}

// SizeText writes a size as --sizes reads it: 64, 4k, 1M.
func SizeText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dM", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dk", n>>10)
	}
	return fmt.Sprint(n)
}

// Collective is an operation and its algorithms.
type Collective struct {
	Function   string      `json:"function"`
	Variable   string      `json:"variable"`
	Algorithms []Algorithm `json:"algorithms"`
	Sizeless   bool        `json:"sizeless,omitzero"` // rules for it cannot depend on the size of messages
}

// Plan is all that decides a campaign but what the runs measure.
type Plan struct {
	Library     string               `json:"library"` // "Open MPI 4.1.4"
	Host        string               `json:"host"`
	Cores       int                  `json:"cores"`
	Version     string               `json:"mpitx"`
	Seed        uint64               `json:"seed"`
	Ranks       int                  `json:"ranks"` // of the job
	Collectives []Collective         `json:"collectives"`
	Sizes       []int64              `json:"sizes"`              // of the coarse grid, in increasing order: see kernel.Operation
	CommSizes   []int                `json:"communicator_sizes"` // likewise
	Limits      kernel.Limits        `json:"limits"`
	Settings    []settings.NameValue `json:"settings"` // of all runs
	Screening   int                  `json:"screening_runs"`
	Extra       int                  `json:"extra_runs"`     // of confirming, in addition to the fewest that can conclude
	Bisecting   int                  `json:"bisecting_runs"` // of each step
}

// Cell is a place of the grid.
type Cell struct {
	Function string `json:"function"`
	Ranks    int    `json:"ranks"` // of the communicator
	Bytes    int64  `json:"bytes"`
}

// Own stands for the library's own choice where an algorithm is counted.
const Own = -1

// Measured is what all runs measured of an algorithm in a cell.
type Measured struct {
	Name     string  `json:"name"`    // see [Algorithm.Text]; "": the library's own choice
	Median   float64 `json:"time_ns"` // the median over runs of the medians over repetitions
	Runs     int     `json:"runs"`
	N        int     `json:"repetitions"`
	Outliers int     `json:"outliers"`
	Missed   int     `json:"missed"`
	Barrier  bool    `json:"barrier,omitzero"` // some runs had no common start times
	Ran      string  `json:"ran,omitempty"`    // the algorithm that served the calls, as the profile says
	Failed   string  `json:"failed,omitempty"` // why it was not measured
}

// Finding is what is known of a cell.
type Finding struct {
	Cell
	Own       Measured   `json:"own"`
	Tried     []Measured `json:"tried"`
	Candidate string     `json:"candidate,omitempty"` // that screening named
	Change    float64    `json:"change"`              // of the time with the candidate, as a part of that of the library's own choice: -0.3 is 30 % less
	Low       float64    `json:"low"`                 // the interval of the change
	High      float64    `json:"high"`
	Confirmed int        `json:"confirming_runs"`
	Winner    bool       `json:"winner"`                  // the interval is apart from zero
	Needed    int        `json:"needed_runs,omitzero"`    // about so many runs would show a change of this size; 0: more than 64, or not known
	Coarse    bool       `json:"coarse"`                  // a place of the coarse grid
	Algorithm Algorithm  `json:"chosen_number,omitzero"`  // of a winner
	Variable  string     `json:"variable,omitempty"`      // that forces it
	Sizeless  bool       `json:"sizeless,omitzero"`       // see [Collective]
	Left      string     `json:"not_confirmed,omitempty"` // why the candidate was not confirmed
}

// Choice is a part of the decision table: calls of these sizes shall use this algorithm. Sizes are as in kernel.Operation. For all other calls the
// library decides.
type Choice struct {
	Function  string    `json:"function"`
	Variable  string    `json:"variable"`
	Ranks     int       `json:"ranks"`
	From      int64     `json:"from_bytes"`
	To        int64     `json:"to_bytes"`
	Algorithm Algorithm `json:"algorithm"`
	Change    float64   `json:"change"` // the least of its cells
}

// Result is what a campaign found.
type Result struct {
	Plan       Plan          `json:"plan"`
	Findings   []Finding     `json:"findings"`
	Choices    []Choice      `json:"choices"`
	Runs       int           `json:"runs"`
	Seconds    float64       `json:"seconds"`
	Incomplete string        `json:"incomplete,omitempty"` // what the budget left out
	Crowded    bool          `json:"crowded"`              // ranks shared cores
	Dropped    []DroppedOnce `json:"dropped"`
}

// DroppedOnce is an algorithm that could not be measured.
type DroppedOnce struct {
	Cell             // Bytes is -1 if it holds for all sizes
	Algorithm string `json:"algorithm"`
	Why       string `json:"why"`
}

// Coarse are sizes from low to high, each so many times the one before.
func Coarse(low, high, factor int64) (sizes []int64) {
	for n := low; n < high; n *= factor {
		sizes = append(sizes, n)
	}
	return append(sizes, high)
}

// best is the algorithm with the least median of the logarithms of ratios to the library's own choice, if that is clearly below zero.
func best(ratios map[int][]float64, runs int) (algorithm int, ok bool) {
	least := math.Log(0.98) // less is not worth a run
	for k, all := range ratios {
		if 2*len(all) <= runs { // some may have had no time for it
			continue
		}
		if m := stats.Median(all); m < least || m == least && ok && k < algorithm {
			algorithm, least, ok = k, m, true
		}
	}
	return algorithm, ok
}

// confirmingRuns is how many runs can confirm so many candidates, and the error of each interval: Alpha on the side of gains.
func (p *Plan) confirmingRuns(candidates int) (runs int, alpha float64) {
	alpha = 2 * Alpha / float64(max(candidates, 1))
	return stats.Fewest(alpha) + p.Extra, alpha
}

// middle is a size between two others, a multiple of 4 if they are; ok is false if they are so near that it does not matter.
func middle(low, high int64) (m int64, ok bool) {
	if float64(high) <= 1.25*float64(low) || high-low <= 4 {
		return 0, false
	}
	m = int64(math.Sqrt(float64(max(low, 1)) * float64(high)))
	if m >= 8 {
		m = (m + 2) / 4 * 4
	}
	return m, low < m && m < high
}

// boundary is where the choice changes, between two sizes.
type boundary struct {
	function     string
	ranks        int
	low, high    int64 // below is chosen up to low, above from high
	below, above int
}

// side says whether the choice below the boundary is the better one at its middle: from logarithms of ratios to the library's own choice, by
// algorithm. Where it is one of the library's own and another one, that has to be faster in each run.
func (b *boundary) side(ratios map[int][]float64, runs int) (below bool) {
	faster := func(k int) bool {
		return len(ratios[k]) >= runs && slices.Max(ratios[k]) < 0
	}
	switch {
	case b.above == Own:
		return faster(b.below)
	case b.below == Own:
		return !faster(b.above)
	case len(ratios[b.below]) < runs || len(ratios[b.above]) < runs:
		return len(ratios[b.below]) >= runs
	}
	return stats.Median(ratios[b.below]) <= stats.Median(ratios[b.above])
}

// choices makes the table of the winners of coarse cells and of the boundaries between them.
func choices(findings []Finding, boundaries []*boundary) (all []Choice) {
	type place struct {
		function string
		ranks    int
	}
	var last *Choice
	var before *Finding
	different := map[place]bool{} // has more than one choice
	for k := range findings {
		f := &findings[k]
		if !f.Coarse {
			continue
		}
		if before != nil && (before.Function != f.Function || before.Ranks != f.Ranks) {
			before, last = nil, nil
		}
		if before != nil && (before.Winner != f.Winner || before.Algorithm != f.Algorithm) {
			different[place{f.Function, f.Ranks}] = true
		}
		var at *boundary
		for _, b := range boundaries {
			if before != nil && b.function == f.Function && b.ranks == f.Ranks && before.Bytes <= b.low && b.high <= f.Bytes {
				at = b
			}
		}
		if last != nil && at != nil && last.To == before.Bytes {
			if last.To = at.low; f.Winner {
				last.To = at.high - 1
			}
		}
		switch {
		case !f.Winner:
			last = nil
		case last != nil && last.Algorithm == f.Algorithm:
			last.To, last.Change = f.Bytes, max(last.Change, f.Change)
		default:
			from := f.Bytes
			if at != nil {
				from = at.high
			}
			all = append(all, Choice{Function: f.Function, Variable: f.Variable, Ranks: f.Ranks, From: from, To: f.Bytes, Algorithm: f.Algorithm, Change: f.Change})
			last = &all[len(all)-1]
		}
		before = f
	}
	sizeless := map[string]bool{}
	for _, f := range findings {
		sizeless[f.Function] = f.Sizeless
	}
	return slices.DeleteFunc(all, func(c Choice) bool { return sizeless[c.Function] && different[place{c.Function, c.Ranks}] })
}

// sortFindings sorts by function, as in the plan, communicator and size.
func (p *Plan) sortFindings(all []Finding) {
	order := map[string]int{}
	for k, c := range p.Collectives {
		order[c.Function] = k
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(order[a.Function]-order[b.Function], a.Ranks-b.Ranks, cmp.Compare(a.Bytes, b.Bytes))
	})
}
