package runs

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/recording/compare"
	"mpitx/recording/profile"
	"mpitx/recording/sites"
	"mpitx/text"
	"mpitx/ui/progress"
)

type compareOptions struct {
	a         *cli.App
	runs      [2]sideRuns
	table     string
	pvars     []string
	failAbove float64
	cli.FormatOut
	cli.ProfileCut
	globs columns.Globs // pvars

	said   map[string]bool // messages about call sites
	unread bool            // a file that is needed cannot be read
}

func NewCompare(a *cli.App) *cobra.Command {
	o := &compareOptions{a: a, said: map[string]bool{}}
	cmd := &cobra.Command{
		Use:         "compare RUN1 RUN2 | --base RUN… --new RUN…",
		Annotations: cli.Paged,
		Short:       "Compare runs: what became slower or larger",
		Long: `Compare two run directories, or several on each side: what became slower or
larger from the base (RUN1) to the new one (RUN2). Profiles (mpitx profile) are
compared by function, call site, phase and pair of ranks, samples (mpitx record,
mpitx sample --dir) by variable. The runs may still be in progress, or their
jobs may have died.

Times of functions and call sites are means over ranks; calls and bytes are sums
over ranks. Tables are sorted by absolute change, variables by relative change.

With several runs on a side, numbers are the means of its runs. A change is
within the spread, and marked with ~, if the ranges of both sides overlap, or,
with four or more runs on each side, if the Mann-Whitney test gives p ≥ 0.05.
Such changes are not findings.

Call sites match by function, file and line. If the program is another build in
which lines have moved, they match by the function they are in, in order.
Addresses match only within one build.

--fail-above PERCENT makes scripts fail: the exit code is 1 if the run time, or
the time in a function, grew by more than PERCENT of the base's run time, beyond
the spread; for runs without profiles, if a variable (--pvar) grew by more than
PERCENT of its base.`,
		Example: `  mpitx compare run1 run2
  mpitx compare --base old1 old2 old3 --new new1 new2 new3
  mpitx compare run1 run2 --phase solve --table sites
  mpitx compare run1 run2 --fail-above 5 -o json --out compare.json`,
		Args: func(cmd *cobra.Command, args []string) error { return o.arrange(args) },
		RunE: a.OnRank0(o.run),
	}
	f := cmd.Flags()
	for side, name := range []string{"base", "new"} {
		o.runs[side].flags = f
		f.Var(&o.runs[side], name, "the runs that follow are those of this side: "+[...]string{"before", "after"}[side]+" the change")
	}
	f.Lookup("base").Usage = "this `RUN` and those after it are the base"
	f.Lookup("new").Usage = "this `RUN` and those after it are compared with the base"
	cli.Choose(cmd, &o.table, "table", "", "", "print this `TABLE` with all rows: "+strings.Join(runs.CompareTables, ", "), runs.CompareTables...)
	o.FormatOut.Flags(cmd, "comparisons", runs.CompareFormats...)
	o.ProfileCut.Flags(cmd, a)
	f.StringArrayVar(&o.pvars, "pvar", nil, "of samples, only variables that match this `GLOB`; may be repeated")
	f.Float64Var(&o.failAbove, "fail-above", 0, "exit with 1 if something grew by more than `PERCENT`, see above")
	cmd.RegisterFlagCompletionFunc("pvar", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("fail-above", cobra.NoFileCompletions)
	runs := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	cmd.ValidArgsFunction = runs
	cmd.RegisterFlagCompletionFunc("base", runs)
	cmd.RegisterFlagCompletionFunc("new", runs)
	return cmd
}

// sideRuns is the value of --base and --new: a run. Arguments after it belong to the same side.
type sideRuns struct {
	flags *pflag.FlagSet
	first []string
	at    []int // how many arguments came before each
	dirs  []string
}

func (s *sideRuns) Type() string   { return "string" }
func (s *sideRuns) String() string { return strings.Join(s.first, ",") }
func (s *sideRuns) Set(dir string) error {
	s.first, s.at = append(s.first, dir), append(s.at, s.flags.NArg())
	return nil
}

// arrange divides the arguments between the sides.
func (o *compareOptions) arrange(args []string) error {
	if slices.Contains(args, "") {
		return cli.Usagef("compare: an argument is empty; name run directories")
	}
	base, with := &o.runs[compare.Base], &o.runs[compare.New]
	if len(base.first)+len(with.first) == 0 {
		if len(args) != 2 {
			return cli.Usagef("compare: name two run directories, or several with --base RUN… --new RUN…; see mpitx help compare")
		}
		base.dirs, with.dirs = args[:1], args[1:]
		return nil
	}
	side := base // also of runs before the first flag
	for i := 0; i <= len(args); i++ {
		for _, s := range []*sideRuns{base, with} {
			for k, at := range s.at {
				if at == i {
					side = s
					s.dirs = append(s.dirs, s.first[k])
				}
			}
		}
		if i < len(args) {
			side.dirs = append(side.dirs, args[i])
		}
	}
	if len(base.dirs) == 0 || len(with.dirs) == 0 {
		return cli.Usagef("compare: one side has no run; name runs for both: --base RUN… --new RUN…")
	}
	return nil
}

// command is the command line that compares the same runs.
func (o *compareOptions) command() string {
	quoted := func(side compare.Side) (all []string) {
		for _, dir := range o.runs[side].dirs {
			all = append(all, text.Quote(dir))
		}
		return all
	}
	base, with := quoted(compare.Base), quoted(compare.New)
	if len(base) == 1 && len(with) == 1 {
		return "mpitx compare " + base[0] + " " + with[0]
	}
	return "mpitx compare --base " + strings.Join(base, " ") + " --new " + strings.Join(with, " ")
}

func (o *compareOptions) run(_ *cobra.Command, _ []string) error {
	if err := cmp.Or(o.ProfileCut.Parse(), o.parsePvars(), o.Check()); err != nil {
		return err
	}
	if o.failAbove < 0 {
		return cli.Usagef("--fail-above: must not be negative")
	}
	term, err := o.a.Terminal()
	if err != nil {
		return err
	}
	var inputs [2][]compare.Input
	var last error
	for side := range o.runs {
		for _, dir := range o.runs[side].dirs {
			in, err := o.open(dir)
			if err != nil {
				return err
			}
			defer in.Run.Close()
			inputs[side] = append(inputs[side], in)
		}
	}
	if err := o.comparable(inputs); err != nil {
		return err
	}
	c := compare.Compare(inputs[compare.Base], inputs[compare.New])
	if err := o.write(c, term); err != nil {
		return err
	}
	for _, in := range slices.Concat(inputs[:]...) {
		last = cmp.Or(cli.Partial(o.a, in.Run), last)
	}
	if last == nil && o.failAbove > 0 {
		last = o.grown(c)
	}
	if last == nil && o.unread {
		last = cli.Exit(cli.ExitPartial)
	}
	return last
}

func (o *compareOptions) write(c *compare.Comparison, term export.Terminal) error {
	options := runs.CompareOptions{Terminal: term, Table: o.table, Findings: c.Findings(o.command())}
	if !o.Named() {
		return runs.Compare(o.a.Out, c, o.Form(), options)
	}
	options.Terminal = export.Terminal{UTF8: true}
	return o.Create(func(w io.Writer) error { return runs.Compare(w, c, o.Form(), options) })
}

// open reads a run: its profile, its samples, or both.
func (o *compareOptions) open(dir string) (compare.Input, error) {
	in := compare.Input{Name: text.Quote(dir)}
	run, err := launch.OpenSamples(dir)
	if err != nil {
		return in, err
	}
	if cli.ReportJob(o.a, dir) != nil {
		o.unread = true
	}
	in.Run, in.Settings, in.Tools = run, launch.Settings(dir), launch.Tools(dir)
	parts := len(o.Cut.Phases)+len(o.Cut.Objects) > 0 // samples have none
	if profile.Has(run) || parts {
		if in.Profile, err = o.Read(run, dir); err == nil {
			problems, unread := sites.Resolve(in.Profile)
			for _, problem := range problems {
				o.unread = o.unread || problem.Unreadable
				o.sayOnce(problem.String() + cli.SitesAdvice(problem, "compare"))
			}
			if unread != nil {
				o.unread = true
				o.sayOnce(in.Name + ": " + unread.Error() + "; call sites are looked up in the programs as they are now")
			}
		}
	}
	if err == nil && !parts && run.Sampled() {
		bar := progress.New("summing up " + in.Name)
		in.Stats = append([]recording.Stat{}, run.Stats(recording.Options{Column: o.chosen, Rank: o.onRank, Progress: bar.Update})...)
		bar.Clear()
	}
	if err == nil && in.Profile == nil && len(in.Stats) == 0 && cli.ReportDamage(o.a, run) {
		err = cli.ErrDamaged
	}
	if err != nil {
		run.Close()
	}
	return in, err
}

func (o *compareOptions) parsePvars() (err error) {
	if o.globs, err = columns.ParseGlobs(o.pvars); err != nil {
		err = cli.Usagef("--pvar: %v", err)
	}
	return err
}

// chosen reports whether a variable is compared.
func (o *compareOptions) chosen(c *recording.Column) bool { return o.globs.Has(columns.KeyOf(c)) }

func (o *compareOptions) onRank(r *recording.Rank) bool {
	return len(o.Cut.Ranks) == 0 || slices.Contains(o.Cut.Ranks, r.Rank)
}

func (o *compareOptions) sayOnce(text string) {
	if !o.said[text] {
		o.said[text] = true
		o.a.Complain("%s", text)
	}
}

// comparable reports runs that have nothing to compare.
func (o *compareOptions) comparable(inputs [2][]compare.Input) error {
	var profiled, sampled, neither []string
	all := slices.Concat(inputs[:]...)
	for _, in := range all {
		if in.Profile != nil {
			profiled = append(profiled, in.Name)
		}
		if in.Stats != nil {
			sampled = append(sampled, in.Name)
		}
		if in.Profile == nil && in.Stats == nil {
			neither = append(neither, in.Name)
		}
	}
	switch {
	case len(o.pvars) > 0 && !slices.ContainsFunc(all, func(in compare.Input) bool { return len(in.Stats) > 0 }):
		return cli.Failf("--pvar %s: no run has such a variable", strings.Join(o.pvars, " "))
	case len(neither) > 0:
		return cli.Failf("%s: the run has neither a profile nor samples; record it with mpitx profile or mpitx record", neither[0])
	case len(profiled) < len(all) && len(sampled) < len(all):
		return cli.Failf("%s: the run has a profile and no samples, and another has samples and no profile; record all runs with mpitx profile, or all with mpitx record", profiled[0])
	case len(profiled) < len(all) && len(profiled) > 0:
		o.a.Complain("only samples are compared: %s has a profile, and not all runs have one", profiled[0])
	case len(sampled) < len(all) && len(sampled) > 0:
		o.a.Complain("only profiles are compared: %s has samples, and not all runs have some", sampled[0])
	}
	return nil
}

// grown fails if something grew by more than the limit.
func (o *compareOptions) grown(c *compare.Comparison) error {
	all := c.Grown(o.failAbove / 100)
	if len(all) == 0 {
		return nil
	}
	more := ""
	if len(all) > cli.MostNamed {
		more = ", and more"
	}
	return cli.Failf("--fail-above %g: grew: %s%s", o.failAbove, strings.Join(all[:min(len(all), cli.MostNamed)], ", "), more)
}
