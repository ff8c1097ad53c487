package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"mpitx/recording/finding"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
)

// coreMeasures are what ranks did outside of MPI: they ran, waited for a core, or slept.
var coreMeasures = []Measure{{Name: "computed_ns", Unit: "ns"}, {Name: "core_wait_ns", Unit: "ns"}, {Name: "slept_ns", Unit: "ns"}}

// knowsCores reports whether all profiles know what ranks did outside of MPI, to within a hundredth of the longest run.
func (c *Comparison) knowsCores() bool {
	const exact = 0.01
	all := slices.Concat(c.Sides[Base], c.Sides[New])
	var longest time.Duration
	for _, in := range all {
		longest = max(longest, in.Profile.Efficiency.Elapsed)
	}
	return len(c.Cut().Phases) == 0 && !slices.ContainsFunc(all, func(in Input) bool {
		return slices.ContainsFunc(in.Profile.Averaged(), func(r *profile.Rank) bool {
			of := r.Processor
			return of == nil || !of.Ran.Known(exact, longest) || !of.Waited.Known(exact, longest) || !of.Slept.Known(exact, longest) ||
				float64(r.Useful()-of.Outside) > exact*float64(longest)
		})
	})
}

func (c *Comparison) withCores(measures []Measure) []Measure {
	measures = withTotals(measures)
	if c.knowsCores() {
		measures = append(measures, coreMeasures...)
	}
	return measures
}

// onCores are the values of coreMeasures, as means over n ranks; none if they are not known.
func (c *Comparison) onCores(n float64, ranks ...*profile.Rank) []float64 {
	if !c.knowsCores() {
		return nil
	}
	var ran, waited, slept time.Duration
	for _, r := range ranks {
		ran, waited, slept = ran+r.Processor.Ran.Least, waited+r.Processor.Waited.Least, slept+r.Processor.Slept.Least
	}
	return []float64{float64(ran) / n, float64(waited) / n, float64(slept) / n}
}

// outsideState is what ranks do outside of MPI.
type outsideState struct {
	measure, kind string
	does, do      string
	one, all      string // what to look at
}

var (
	computing = outsideState{"computed_ns", "computing", "computes", "compute",
		"the work of rank %d", "the program itself, its compiler and the processors: this is not MPI's time"}
	sleeping = outsideState{"slept_ns", "sleep", "sleeps", "sleep",
		"what rank %d waits for there: a timer, a file, or other threads", "what ranks wait for there: timers, files, or other threads"}
	away = outsideState{"useful_ns", "outside of MPI", "is", "are",
		"what rank %d does there", "the program itself and what it waits for: this is not MPI's time"}
)

// outsideStates are those that are known of the runs.
func (f *finder) outsideStates() []outsideState {
	if f.c.Run[0].Measure(computing.measure).Known() {
		return []outsideState{computing, sleeping}
	}
	return []outsideState{away}
}

// delay is by how much missing cores may have changed a time.
func (c *Comparison) delay() (most float64) {
	for _, side := range c.Sides {
		sum := 0.0
		for _, in := range side {
			sum += float64(in.Profile.Processor.Delay())
		}
		most = max(most, sum/float64(max(len(side), 1)))
	}
	return most
}

// sure reports whether a change of time is more than missing cores explain.
func (f *finder) sure(change float64) bool {
	if f.delay < significant*f.length || math.Abs(change)-f.delay >= significant*f.length {
		return true
	}
	f.withheld = true
	return false
}

// cores says on which side ranks had no core.
func (f *finder) cores() []finding.Finding {
	var parts []string
	found := finding.Finding{Kind: "processor", Figures: finding.Figures{}}
	for side, inputs := range f.c.Sides {
		var worst *processor.Shortage
		for _, in := range inputs {
			if list := in.Profile.Processor.Shortages(); len(list) > 0 && (worst == nil || list[0].Share > worst.Share) {
				worst = &list[0]
			}
		}
		if worst != nil {
			parts = append(parts, f.c.names(Side(side))+": "+worst.Text)
			found.Share = max(found.Share, worst.Share)
			found.Figures[Side(side).String()+"_wait_share"] = worst.Share
		}
	}
	if len(parts) == 0 {
		return nil
	}
	found.Text = strings.Join(parts, "; ")
	if m := f.c.Run[0].Measure("core_wait_ns"); f.matters(m.Delta) {
		maps.Copy(found.Figures, figures(m))
		found.Text += fmt.Sprintf("; ranks waited %s for cores (%s a rank)", more(m), arrow(m))
	}
	if f.withheld {
		found.Text += "; whether calls became slower cannot be told"
	}
	return []finding.Finding{found}
}
