package runs

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/recording/profile"
	"mpitx/text"
)

// columnFilter chooses samples of a run: variables by GLOBs of names and by their values, and the phases of the program.
type columnFilter struct {
	columns.Globs
	nonzero bool
	phases  []string
}

func (f *columnFilter) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.nonzero, "nonzero", false, "only variables with a value other than 0")
	cli.FlagPhase(cmd, &f.phases, "only samples in this `PHASE` of the program, as mpitx profile --pvar records them; - is the time outside of all phases; may be repeated")
	cmd.ValidArgsFunction = completeRunAndNames
}

func (f *columnFilter) parse(globs []string) (err error) {
	if f.Globs, err = columns.ParseGlobs(globs); err != nil {
		err = cli.Usagef("%v", err)
	}
	return err
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

// chosen are the variables that match the GLOBs; with --nonzero, those of them that are not always 0, which takes reading the run.
func (f *columnFilter) chosen(run *recording.Run, o recording.Options) (columns.Set, error) {
	set, err := f.In(run)
	if err != nil || !f.nonzero {
		return set, err
	}
	return set.Nonzero(run, o), nil
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
	return columns.Of(run).Variables(), cobra.ShellCompDirectiveNoFileComp
}
