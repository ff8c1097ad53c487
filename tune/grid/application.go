package grid

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mpitx/machine"
	"mpitx/settings"
	"mpitx/settings/decision"
	"mpitx/tune/kernel"
)

// Choose screens the collectives of an application, each as one place of the grid. The result has choices for the sizes of its calls. It concludes
// nothing: the application itself has to.
func (c *Campaign) Choose(uses []kernel.Use) (*Result, error) {
	c.values, c.dropped = map[Cell]map[int]*values{}, map[drop]string{}
	uses = slices.DeleteFunc(slices.Clone(uses), func(u kernel.Use) bool {
		return !slices.ContainsFunc(c.Collectives, func(o Collective) bool { return o.Function == u.Function })
	})
	for _, u := range uses {
		c.cells = append(c.cells, Cell{u.Function, u.Ranks, u.Bytes})
	}
	screened, err := c.screen()
	if err != nil && !errors.Is(err, errBudget) {
		return nil, err
	}
	r, found := &Result{Plan: c.Plan}, c.candidates(screened)
	for k, u := range uses {
		f := *found[c.cells[k]]
		f.Winner = f.Candidate != ""
		if r.Findings = append(r.Findings, f); f.Winner {
			r.Choices = append(r.Choices, Choice{Function: u.Function, Variable: f.Variable, Ranks: u.Ranks, From: u.From, To: u.To, Algorithm: f.Algorithm, Change: f.Change})
		}
	}
	r.Choices = slices.DeleteFunc(r.Choices, func(o Choice) bool { // rules of such functions serve all sizes
		return slices.ContainsFunc(r.Findings, func(f Finding) bool {
			return f.Sizeless && f.Function == o.Function && f.Ranks == o.Ranks && f.Algorithm != o.Algorithm
		})
	})
	slices.SortFunc(r.Choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), a.Ranks-b.Ranks, cmp.Compare(a.From, b.From))
	})
	return r, nil
}

// Answer makes settings from the choices for an application: a variable for a function with the same choice at all places, and a file of rules for
// the others. The choices of the file are returned.
func (r *Result) Answer(l *decision.Library, dir string) (f File, inFile []Choice, err error) {
	var plain []settings.NameValue
	for _, c := range r.Choices {
		if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Function == c.Function && f.Algorithm != c.Algorithm }) {
			inFile = append(inFile, c)
			continue
		}
		set := settings.NameValue{Name: c.Variable, Value: c.Algorithm.Name}
		if slices.Contains(plain, set) {
			continue
		}
		if plain = append(plain, set); c.Algorithm.Segment > 0 {
			plain = append(plain, settings.NameValue{Name: c.Variable + "_segmentsize", Value: fmt.Sprint(c.Algorithm.Segment)})
		}
	}
	if len(inFile) > 0 {
		of := *r
		of.Choices = inFile
		if f, err = of.Write(l, dir); err != nil {
			return f, nil, err
		}
		inFile = slices.DeleteFunc(inFile, func(c Choice) bool { return slices.Contains(f.Left, c) })
	} else if len(plain) > 0 && l.Family == machine.OpenMPI {
		f.Set = Settings(machine.OpenMPI)
	}
	f.Set = append(f.Set, plain...)
	return f, inFile, nil
}

// Text says in words what choices are for: "allreduce on 4 ranks to 1 kB: ring".
func Text(all []Choice) string {
	var words []string
	for k := 0; k < len(all); k++ {
		c := all[k]
		for k+1 < len(all) && all[k+1].Function == c.Function && all[k+1].Ranks == c.Ranks && all[k+1].Algorithm == c.Algorithm && all[k+1].From == c.To+1 {
			k++
			c.To = all[k].To
		}
		upTo := " to " + SizeText(c.To)
		if c.To == math.MaxInt64 {
			upTo = " and more"
		}
		words = append(words, fmt.Sprintf("%s on %d ranks, %s%s bytes: %s", c.Function, c.Ranks, SizeText(c.From), upTo, c.Algorithm.Text()))
	}
	return strings.Join(words, "; ")
}
