package runs

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/recording/profile"
	"mpitx/text"
)

// columnFilter chooses samples of a run: variables by GLOBs of names and by their values, and the phases of the program.
type columnFilter struct {
	globs   []string
	nonzero bool
	phases  []string

	matchers []*catalog.Matcher // of globs
}

func (f *columnFilter) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.nonzero, "nonzero", false, "only variables with a value other than 0")
	cli.FlagPhase(cmd, &f.phases, "only samples in this `PHASE` of the program, as mpitx profile --pvar records them; - is the time outside of all phases; may be repeated")
	cmd.ValidArgsFunction = completeRunAndNames
}

func (f *columnFilter) parse(globs []string) error {
	f.globs = globs
	for _, g := range globs {
		m, err := (&catalog.Filter{Names: []string{g}}).Compile()
		if err != nil {
			return cli.Usagef("%v", err)
		}
		f.matchers = append(f.matchers, m)
	}
	return nil
}

func matchesKey(m *catalog.Matcher, k columns.Key) bool {
	return m.MatchName(k.Variable) || m.MatchName(k.Variable+":"+k.Class.String())
}

// named are the variables that match the GLOBs, with or without their class; nil if there are no GLOBs. A GLOB without
// a match is an error.
func (f *columnFilter) named(run *recording.Run) (columns.Set, error) {
	if len(f.globs) == 0 {
		return nil, nil
	}
	all, chosen := keysIn(run), columns.Set{}
	for i, m := range f.matchers {
		found := false
		for k := range all {
			if matchesKey(m, k) {
				chosen[k], found = true, true
			}
		}
		if !found {
			return nil, cli.Failf("%s: the run has no such variable%s", f.globs[i], catalog.DidYouMean(variablesIn(all), f.globs[i]))
		}
	}
	return chosen, nil
}

// during is the part of the run in the chosen phases; nil: all of it.
func (f *columnFilter) during(run *recording.Run, dir string) (func(*recording.Rank, time.Duration) bool, error) {
	if len(f.phases) == 0 {
		return nil, nil
	}
	during, err := profile.During(run, f.phases)
	if unknown := new(profile.UnknownError); errors.As(err, &unknown) {
		if len(unknown.Known) == 0 {
			return nil, cli.Failf("%s: the run has no phases; mpitx profile --pvar records them, of programs that name phases", text.Quote(dir))
		}
		return nil, cli.UnknownPart(dir, unknown)
	}
	return during, err
}

// chosen are the named variables. With --nonzero it reads the run and leaves out variables that are always 0.
func (f *columnFilter) chosen(run *recording.Run, o recording.Options) (columns.Set, error) {
	set, err := f.named(run)
	if err != nil || !f.nonzero {
		return set, err
	}
	moved := columns.Set{}
	o.Column = set.Column()
	for _, s := range run.Stats(o) {
		if !s.Zero() {
			moved[columns.Key{Variable: s.Variable, Object: s.Object, Class: s.Class}] = true
		}
	}
	return moved, nil
}

func keysIn(run *recording.Run) columns.Set {
	all := columns.Set{}
	for _, r := range run.Ranks {
		for _, c := range r.Columns {
			if c != nil && c.Variable != "" {
				all[columns.KeyOf(c)] = true
			}
		}
	}
	return all
}

func variablesIn(set columns.Set) []string {
	var names []string
	for k := range set {
		names = append(names, k.Variable)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// completeRunAndNames completes a run directory, then the names of the variables in it.
func completeRunAndNames(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return cli.CompleteRuns(cmd, args, word)
	}
	run, err := recording.Open(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer run.Close()
	return variablesIn(keysIn(run)), cobra.ShellCompDirectiveNoFileComp
}
