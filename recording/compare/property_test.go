package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/recording/profile"
)

// anyInput is a run with any functions, sites, phases, messages and samples.
func anyInput(t *rapid.T, name string) Input {
	below := func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) }
	var inMPI []float64
	for range below(3, "ranks") + 1 {
		inMPI = append(inMPI, float64(below(10, "in MPI")))
	}
	p := job(float64(below(20, "elapsed")), inMPI...)
	for range below(6, "sites") {
		seconds := make([]float64, len(inMPI))
		for i := range seconds {
			seconds[i] = float64(below(5, "seconds"))
		}
		s := spent(p, []string{"MPI_Send", "MPI_Wait", "MPI_Init"}[below(3, "function")], []string{"a", "b", ""}[below(3, "build")], []string{"step", "pack"}[below(2, "symbol")], below(4, "line"),
			uint64(below(100, "calls")), seconds...)
		s.BytesSent = uint64(below(1000, "bytes"))
		p.Total.BytesSent += s.BytesSent
	}
	for _, name := range []string{"", "solve"} {
		if below(2, "phase") == 1 {
			p.Phases = append(p.Phases, &profile.Phase{Name: name, Entered: 1, Efficiency: profile.Efficiency{Elapsed: time.Duration(below(10, "phase's time")) * time.Second}})
		}
	}
	for source := range below(3, "sources") {
		p.Pairs = append(p.Pairs, profile.Pair{Source: source, Destination: below(3, "destination"), MessagesSent: 1, BytesSent: uint64(below(1000, "bytes")), SourceKnown: true})
	}
	in := input(name, p)
	in.Stats = []recording.Stat{}
	for _, variable := range []string{"x", "y"} {
		if below(3, "variable") > 0 {
			v := int64(below(100, "value"))
			in.Stats = append(in.Stats, stat(variable, catalog.ClassCounter, recording.Delta, 4*v, v, v))
		}
	}
	return in
}

func anySide(t *rapid.T, name string) (side []Input) {
	for i := range rapid.IntRange(1, 5).Draw(t, "runs") {
		side = append(side, anyInput(t, fmt.Sprint(name, i)))
	}
	return side
}

func (c *Comparison) all() map[string][]*Item {
	return map[string][]*Item{"run": c.Run, "functions": c.Functions, "sites": c.Sites, "phases": c.Phases, "peers": c.Peers, "ranks": c.Ranks, "variables": c.Variables}
}

// A run compared with itself has not changed.
func TestCompareItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := anySide(t, "a")
		c := Compare(side, side)
		for name, items := range c.all() {
			for _, it := range items {
				if it.Changed() {
					t.Errorf("%s: %s %s changed: %+v", name, it.Name, it.Site, it.Measures)
				}
			}
		}
		if len(c.Findings("")) > 0 || len(c.Differences) > 0 || len(c.Grown(0)) > 0 {
			t.Errorf("%s, %v, %v", texts(c.Findings("")), c.Differences, c.Grown(0))
		}
	})
}

// The changes from a to b are the opposite of those from b to a.
func TestCompareOpposite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anySide(t, "a"), anySide(t, "b")
		there, back := Compare(a, b), Compare(b, a)
		describe := func(c *Comparison, sign float64) (lines []string) {
			for name, items := range c.all() {
				for _, it := range items {
					places := []string{it.Site, it.NewSite}
					if slices.Sort(places); sign < 0 && it.Side != Both {
						it.Side = New - it.Side
					}
					line := fmt.Sprint(name, it.Name, it.Within, places, it.Object, it.Source, it.Destination, it.Side)
					for _, m := range it.Measures {
						line += fmt.Sprint(" ", m.Name, sign*m.Change()+0, m.WithinSpread())
					}
					for _, x := range it.ByRank {
						line += fmt.Sprint(" ", sign*x+0)
					}
					lines = append(lines, line)
				}
			}
			for _, f := range c.Findings("") {
				lines = append(lines, fmt.Sprint("finding", f.Kind, sign*f.Share+0))
			}
			for _, d := range c.Differences {
				if sign < 0 {
					d.Base, d.New = d.New, d.Base
				}
				lines = append(lines, fmt.Sprint("difference", d))
			}
			slices.Sort(lines)
			return lines
		}
		x, y := describe(there, 1), describe(back, -1)
		if !slices.Equal(x, y) {
			t.Errorf("%s\n---\n%s", strings.Join(x, "\n"), strings.Join(y, "\n"))
		}
		for _, items := range there.all() { // every number of a run is in one item
			for _, it := range items {
				for _, m := range it.Measures {
					if m.Known() && it.Name != "x" && it.Name != "y" && (len(m.Base) != len(a) || len(m.New) != len(b)) {
						t.Errorf("%s: %+v", it.Name, m)
					}
				}
			}
		}
	})
}
