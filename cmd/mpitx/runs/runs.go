package runs

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording/runlist"
	"mpitx/text"
)

type runsOptions struct {
	a          *cli.App
	format     export.Format
	clean, dry bool
	older      string
	keep       int
}

func NewRuns(a *cli.App) *cobra.Command {
	o := &runsOptions{a: a}
	cmd := &cobra.Command{
		Use:         "runs [DIR]",
		Annotations: cli.Paged,
		Short:       "List the runs in a directory, and remove old ones",
		Long: `List the run directories in DIR, the newest first: the program, when it started,
its ranks, what was recorded, the size of the files, and the state. Without DIR,
they are those in the current directory, or in $MPITX_DIR. Symbolic links are not
followed.

States are:

  starting   the job runs and has recorded nothing so far
  running    the job runs
  away       ranks on other nodes may still run
  ended      the job has ended
  failed     a process exited with another code than 0
  died       a process was killed, or could not finish its recording
  empty      the job has ended, and nothing was recorded
  damaged    the beginning of its files cannot be read

--clean removes runs that have ended, and says which: those older than an age
(--older-than), all but the newest ones (--keep), or, with both, those that are
older and not among the newest. It asks nothing; --dry-run only says what would
be removed. Runs that may still be running are never removed, and neither are
directories that are not runs, or that have files which mpitx did not write. The
memory files of dead processes on this machine are removed with their run.`,
		Example: `  mpitx runs
  mpitx runs /scratch/runs -o csv
  mpitx runs --clean --keep 10 --dry-run
  mpitx runs --clean --older-than 30d`,
		Args: cli.Arguments(0, 1, "a directory with runs"),
		RunE: a.OnRank0(o.run),
	}
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", runs.RunListFormats...)
	f := cmd.Flags()
	f.BoolVar(&o.clean, "clean", false, "remove runs that have ended, by age or number")
	f.StringVar(&o.older, "older-than", "", "with --clean: only runs that started before this `AGE`, such as 12h, 30d or 8w")
	f.IntVar(&o.keep, "keep", 0, "with --clean: not the `N` newest runs")
	f.BoolVar(&o.dry, "dry-run", false, "with --clean: only say what would be removed")
	for _, name := range []string{"older-than", "keep"} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	cmd.ValidArgsFunction = cli.CompleteRuns
	return cmd
}

func (o *runsOptions) run(cmd *cobra.Command, args []string) error {
	rule := runlist.Rule{Keep: o.keep, Dry: o.dry}
	var err error
	byAge, byNumber := cmd.Flags().Changed("older-than"), cmd.Flags().Changed("keep")
	for _, name := range []string{"older-than", "keep", "dry-run"} {
		if !o.clean && cmd.Flags().Changed(name) {
			return cli.Usagef("--%s belongs to --clean; add that", name)
		}
	}
	switch {
	case o.clean && !byAge && !byNumber:
		return cli.Usagef("--clean: say which runs: --older-than AGE, --keep N, or both")
	case o.keep < 0:
		return cli.Usagef("--keep: must not be negative")
	case byAge:
		if rule.Older, err = parseAge(o.older); err != nil {
			return err
		}
	}
	term, err := o.a.Terminal()
	if err != nil {
		return err
	}
	dir := o.a.RunsDir()
	if len(args) > 0 {
		dir = args[0]
	}
	all, err := runlist.List(dir)
	if err != nil {
		return cli.Failf("%s: %v", text.Quote(dir), err)
	}
	if o.clean {
		return o.cleanUp(all, rule, term)
	}
	if len(all) == 0 {
		o.a.Complain("%s: there is no run in this directory", text.Quote(dir))
	}
	if len(all) == 0 && o.people() {
		return nil
	}
	return runs.RunList(o.a.Out, all, o.format, term)
}

// cleanUp removes the runs that the rule chooses, and says which.
func (o *runsOptions) cleanUp(all []*runlist.Run, rule runlist.Rule, term export.Terminal) error {
	cleaned := runlist.Clean(all, rule, time.Now())
	if len(cleaned) > 0 || !o.people() {
		if err := runs.CleanedRuns(o.a.Out, cleaned, o.dry, o.format, term); err != nil {
			return err
		}
	}
	o.a.Complain("%s", runs.CleanedText(cleaned, o.dry, term))
	for _, c := range cleaned {
		if c.Failed {
			return cli.Exit(cli.ExitPartial)
		}
	}
	return nil
}

func (o *runsOptions) people() bool {
	return o.format == export.FormatTable || o.format == export.FormatWide
}

// parseAge reads an age: a number and s, m, h, d or w.
func parseAge(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		letter string
		length time.Duration
	}{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", day}, {"w", 7 * day}} {
		digits, is := strings.CutSuffix(s, unit.letter)
		if n, err := strconv.ParseFloat(digits, 64); is && err == nil && n >= 0 && n*float64(unit.length) < 1<<62 {
			return time.Duration(n * float64(unit.length)), nil
		}
	}
	return 0, cli.Usagef("--older-than %s: must be an age such as 12h, 30d or 8w", text.Quote(s))
}
