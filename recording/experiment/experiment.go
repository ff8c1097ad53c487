// Package experiment compares runs of one program without and with settings: times of calls, traffic, performance variables.
package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mpitx/recording"
	"mpitx/recording/compare"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
	"mpitx/text"
)

// Run is what one run shows. Times are means of a call in nanoseconds; performance variables are sums.
type Run struct {
	calls   map[string]float64 // time of a call
	share   map[string]float64 // of the time in MPI
	traffic map[trafficKey]float64
	pvars   map[string]float64

	algorithms map[string]float64  // the percentage of a function's calls that one served; empty if they are not known
	short      *processor.Shortage // a rank had no core

	incomplete []int // ranks that are left out
}

// trafficKey is a quantity of the messages and data that interception saw.
type trafficKey struct{ what, unit string }

// Read reads a run of the experiment. It fails if the run has no profile.
func Read(run *recording.Run) (m Run, err error) {
	cut, incomplete := completeRanks(run)
	p, err := profile.Read(run, cut)
	if err != nil {
		return m, err
	}
	m = Run{calls: map[string]float64{}, share: map[string]float64{}, traffic: seenTraffic(p), pvars: map[string]float64{}, algorithms: algorithmsOf(p), incomplete: incomplete}
	if list := p.Processor.Shortages(); len(list) > 0 {
		m.short = &list[0]
	}
	total := 0.0
	for _, f := range p.Functions {
		if f.Within != "" || f.Calls == 0 || aside[f.Name] {
			continue
		}
		total += float64(f.Time)
		m.calls[f.Name], m.share[f.Name] = float64(f.Time)/float64(f.Calls), float64(f.Time)
	}
	if len(m.calls) == 0 {
		return m, errors.New("the program makes no MPI calls between MPI_Init and MPI_Finalize; name a program that communicates")
	}
	for name := range m.share {
		m.share[name] /= max(total, 1)
	}
	for _, s := range run.Stats(recording.Options{}) {
		name := s.Variable
		if s.Object != "" {
			name += " (" + s.Object + ")"
		}
		switch {
		case s.Count == 0:
		case s.As == recording.Delta:
			m.pvars[name] += s.Total.Float64()
		default:
			m.pvars[name] = s.Mean
		}
	}
	return m, nil
}

// completeRanks are the ranks of a run that means are of, and those that are left out.
func completeRanks(run *recording.Run) (cut profile.Cut, out []int) {
	for _, r := range run.Ranks {
		if run.Excludes(r) {
			out = append(out, r.Rank)
		} else {
			cut.Ranks = append(cut.Ranks, r.Rank)
		}
	}
	if len(out) == 0 {
		cut.Ranks = nil
	}
	return cut, out
}

// WithoutRanks says in how many runs ranks are left out, because they are incomplete; "" if in none.
func WithoutRanks(sides [2][]Run) string {
	runs := slices.Concat(sides[0], sides[1])
	var ranks []int
	n := 0
	for _, m := range runs {
		if ranks = append(ranks, m.incomplete...); len(m.incomplete) > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	slices.Sort(ranks)
	return fmt.Sprintf("In %d of the %d runs the recording of some ranks is incomplete (%s). They are left out.", n, len(runs), text.Ranks(slices.Compact(ranks)))
}

// seenTraffic is what calls of each function send, with the messages of the calls that the library makes within them, and the part of
// all messages that each pair of ranks exchanges.
func seenTraffic(p *profile.Profile) map[trafficKey]float64 {
	calls, messages, sent := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	for _, f := range p.Functions {
		outer := f.Within
		if outer == "" {
			outer = f.Name
			calls[outer] += f.Calls
		}
		messages[outer] += f.MessagesSent
		sent[outer] += f.Sent()
	}
	out := map[trafficKey]float64{}
	for name, n := range calls {
		out[trafficKey{"messages sent by a call of " + name, ""}] = float64(messages[name]) / float64(max(n, 1))
		out[trafficKey{"bytes sent by a call of " + name, "B"}] = float64(sent[name]) / float64(max(n, 1))
	}
	all := uint64(0)
	for k := range p.Pairs {
		all += p.Pairs[k].Messages()
	}
	for k := range p.Pairs {
		pair := &p.Pairs[k]
		out[trafficKey{fmt.Sprintf("messages from rank %d to %d", pair.Source, pair.Destination), "%"}] = 100 * float64(pair.Messages()) / float64(max(all, 1))
	}
	return out
}

// algorithmsOf is the percentage of each collective function's calls that each algorithm served.
func algorithmsOf(p *profile.Profile) map[string]float64 {
	out, calls := map[string]float64{}, map[string]uint64{}
	if p.Unlearned != "" {
		return out
	}
	for _, a := range p.Algorithms {
		calls[a.Function] += a.Calls
	}
	for _, a := range p.Algorithms {
		out["calls of "+a.Function+" by "+a.Text()] += 100 * float64(a.Calls) / float64(max(calls[a.Function], 1))
	}
	return out
}

// SameAlgorithms reports whether the same algorithms, each for as many of the calls as far as runs agree, served all runs, and they are
// known.
func SameAlgorithms(sides [2][]Run) bool {
	for _, m := range slices.Concat(sides[0], sides[1]) {
		if len(m.algorithms) == 0 || len(m.algorithms) != len(keysOf(sides, func(m Run) map[string]float64 { return m.algorithms })) {
			return false
		}
	}
	return !slices.ContainsFunc(algorithmChanges(sides), func(c Change) bool { return c.Changed })
}

// aside are functions whose time says nothing about a setting of communication.
var aside = map[string]bool{"MPI_Init": true, "MPI_Init_thread": true, "MPI_Finalize": true, "MPI_Abort": true}

// WithoutCores says in how many runs ranks had no core; "" if in none.
func WithoutCores(sides [2][]Run) string {
	runs := slices.Concat(sides[0], sides[1])
	var worst *processor.Shortage
	n := 0
	for _, m := range runs {
		if m.short != nil {
			if n++; worst == nil || m.short.Share > worst.Share {
				worst = m.short
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Ranks had no core for a part of %d of the %d runs. In one, %s. Such times vary with what else runs there.", n, len(runs), worst.Text)
}

// Change is a quantity without and with the settings.
type Change struct {
	What, Unit     string
	Delta          compare.Delta
	By, Low, High  float64 // the change of the medians and its interval, as parts of the base; of times
	Known, Changed bool
	Traffic        bool
	Algorithm      bool // what served collective calls
}

// worthShowing is the least share of the time in MPI of a function that is shown.
const worthShowing = 0.05

// Changes compares the sides: the functions with most of the time, the traffic and the algorithms that differ, and the performance
// variables whose ranges do not overlap.
func Changes(sides [2][]Run) []Change {
	out := timeChanges(sides)
	for _, t := range keysOf(sides, func(m Run) map[trafficKey]float64 { return m.traffic }) {
		d := samplesOf(sides, func(m Run) (float64, bool) { return m.traffic[t], true })
		if clearlyApart(d) {
			out = append(out, Change{What: t.what, Unit: t.unit, Delta: d, Changed: true, Traffic: true})
		}
	}
	out = append(out, algorithmChanges(sides)...)
	for _, name := range keysOf(sides, func(m Run) map[string]float64 { return m.pvars }) {
		d := samplesOf(sides, func(m Run) (float64, bool) { x, ok := m.pvars[name]; return x, ok })
		if clearlyApart(d) {
			out = append(out, Change{What: name, Delta: d, Changed: true})
		}
	}
	return out
}

func algorithmChanges(sides [2][]Run) (out []Change) {
	for _, name := range keysOf(sides, func(m Run) map[string]float64 { return m.algorithms }) {
		d := samplesOf(sides, func(m Run) (float64, bool) { return m.algorithms[name], len(m.algorithms) > 0 })
		if clearlyApart(d) {
			out = append(out, Change{What: name, Unit: "%", Delta: d, Changed: true, Algorithm: true})
		}
	}
	return out
}

func timeChanges(sides [2][]Run) (out []Change) {
	for _, name := range keysOf(sides, func(m Run) map[string]float64 { return m.share }) {
		if !slices.ContainsFunc(slices.Concat(sides[0], sides[1]), func(m Run) bool { return m.share[name] >= worthShowing }) {
			continue
		}
		c := Change{What: name, Unit: "ns", Delta: samplesOf(sides, func(m Run) (float64, bool) { x, ok := m.calls[name]; return x, ok })}
		if _, c.Low, c.High, c.Known = c.Delta.Interval(); c.Known {
			c.By = c.Delta.New.Median()/c.Delta.Base.Median() - 1
			c.Low, c.High = min(c.Low, c.By), max(c.High, c.By) // of runs of two kinds, the medians can be further apart than the pairs
			c.Changed = c.Low > 0 || c.High < 0
		}
		out = append(out, c)
	}
	return out
}

// clearlyApart reports whether the sides are apart by more than the runs of each side differ. Runs of one program with the same
// messages do not differ at all, and runs of a certain time by little. If many numbers differ by chance, some are apart in a few runs.
func clearlyApart(d compare.Delta) bool {
	gap := max(d.New.Min()-d.Base.Max(), d.Base.Min()-d.New.Max())
	return d.Known() && gap > d.Base.Max()-d.Base.Min()+d.New.Max()-d.New.Min()
}

// keysOf are the quantities that any run has, sorted by name.
func keysOf[K comparable](sides [2][]Run, of func(Run) map[K]float64) []K {
	all := map[K]bool{}
	for _, m := range slices.Concat(sides[0], sides[1]) {
		for key := range of(m) {
			all[key] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b K) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// samplesOf returns the numbers of all runs that have a quantity.
func samplesOf(sides [2][]Run, of func(Run) (float64, bool)) (d compare.Delta) {
	for k, to := range []*compare.Sample{&d.Base, &d.New} {
		for _, m := range sides[k] {
			if x, ok := of(m); ok {
				*to = append(*to, x)
			}
		}
	}
	return d
}
