package installed

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/check"
	"mpitx/check/rules"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/machine"
	"mpitx/ui/progress"
)

// maxJobs bounds --jobs: each is a process or two that load an MPI library.
const maxJobs = 256

type checkOptions struct {
	a         *cli.App
	mpi       string
	format    export.Format
	timeout   time.Duration
	jobs      int
	baseline  string
	reproduce string
	list      bool
}

func NewCheck(a *cli.App) *cobra.Command {
	o := &checkOptions{a: a}
	cmd := &cobra.Command{
		Use:         "check [RULE…]",
		Annotations: cli.Paged,
		Short:       "Test the tool interfaces of an MPI against the standard",
		Long: `Test the tool interfaces of an MPI library against the standard, rule by rule.
Each rule runs in a process of its own, which may crash or hang. Report the
violations with the calls that show them, and which features of mpitx work on
this library. RULE is the name of a rule or of a subject, with * for any text;
without it, all rules are tested. --list has the subjects and their rules.

The exit code is 1 if the library violates a rule, crashes or hangs, or a rule
could not be tested, and 2 if nothing could be checked: wrong usage, no such
rule, a baseline that does not fit.`,
		Example: `  mpitx check --mpi openmpi
  mpitx check strings 'pvar-*'
  mpitx check --reproduce strings-truncated-length > violation.c
  mpitx check -o json > known.json
  mpitx check --baseline known.json`,
		RunE: a.OnRank0(func(cmd *cobra.Command, args []string) error { return a.NoVerdict(o.run(cmd, args)) }),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ruleWords(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := cmd.Flags()
	cli.ChooseMPI(cmd, &o.mpi, "check this `MPI`", true)
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", variables.CheckFormats...)
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "a call that takes longer than this `TIME` hangs")
	f.IntVarP(&o.jobs, "jobs", "j", min(8, 2*runtime.NumCPU()), "test this `NUMBER` of rules at the same time, at most 256")
	f.StringVar(&o.baseline, "baseline", "", "report only violations that are not in `FILE`, the output of check -o json")
	f.StringVar(&o.reproduce, "reproduce", "", "write a C program that shows the violation of `RULE` (or RULE=ITEM) without mpitx")
	f.BoolVar(&o.list, "list", false, "list the rules, without a test")
	cmd.RegisterFlagCompletionFunc("reproduce", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ruleWords(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// ruleWords are the names of rules and subjects.
func ruleWords() (words []string) {
	for _, r := range rules.All() {
		if !slices.Contains(words, r.Subject) {
			words = append(words, r.Subject)
		}
		words = append(words, r.Name)
	}
	return words
}

func ruleNames(all []check.Rule) (names []string) {
	for _, r := range all {
		names = append(names, r.Name)
	}
	return names
}

func (o *checkOptions) run(_ *cobra.Command, args []string) error {
	if o.timeout <= 0 {
		return cli.Usagef("--timeout: must be positive")
	}
	if o.jobs <= 0 {
		return cli.Usagef("--jobs: must be positive")
	}
	if o.jobs > maxJobs {
		return cli.Usagef("--jobs: must be at most %d", maxJobs)
	}
	if o.reproduce != "" && (len(args) > 0 || o.baseline != "" || o.format != export.FormatTable || o.list) {
		return cli.Usagef("--reproduce: takes the rule itself, and no other rules, formats or baselines")
	}
	rule, item, one := strings.Cut(o.reproduce, "=")
	if o.reproduce != "" {
		args = []string{rule}
	}
	chosen, err := chosenRules(args)
	if err != nil {
		return err
	}
	if o.reproduce != "" && len(chosen) != 1 {
		return cli.Usagef("--reproduce: %q names %d rules: %s; name one", rule, len(chosen), check.Some(ruleNames(chosen), 6))
	}
	term, err := o.a.Terminal()
	if err != nil {
		return err
	}
	if o.list {
		return variables.CheckRules(o.a.Out, chosen, o.format, term)
	}
	base, err := o.readBaseline()
	if err != nil {
		return err
	}
	lib, m, err := o.library()
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilEnded()
	defer stop()
	if lib.Identify(ctx); base != nil && lib.Version() != "" && !check.SameProduct(base.Library, lib.Version()) {
		return cli.Failf("--baseline: %s is a report of %s, and this library is %s; write one of this library with mpitx check -o json > FILE", o.baseline, base.Library, lib.Version())
	}
	switch {
	case one:
		lib.Keep = func(_, bad string) bool { return bad == item }
	case base != nil:
		known := map[string]map[string]bool{}
		for _, r := range chosen {
			known[r.Name] = base.KnownItems(r.Name)
		}
		lib.Keep = func(rule, item string) bool { return !known[rule][item] }
	}
	report := test(ctx, lib, m, chosen, o.jobs)
	if o.reproduce != "" && item == "" {
		o.repeat(ctx, lib, m, chosen, report)
	}
	if base != nil {
		o.confirm(ctx, lib, m, report, base)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	stop()
	if o.reproduce != "" {
		return o.writeProgram(report, item)
	}
	if base != nil {
		report.Subtract(base)
	}
	if err := variables.Check(o.a.Out, report, o.format, term); err != nil {
		return err
	}
	if report.Bad() || report.Count(check.Failed) > 0 {
		return cli.Exit(cli.ExitFailed)
	}
	return nil
}

// chosenRules returns the rules that the arguments name.
func chosenRules(args []string) ([]check.Rule, error) {
	all := rules.All()
	if len(args) == 0 {
		return all, nil
	}
	wanted := map[string]bool{}
	for _, a := range args {
		if a == "" {
			return nil, cli.Usagef("check: an argument is empty; name a rule or a subject, or leave it out")
		}
		found := false
		for _, r := range all {
			byName, err := filepath.Match(strings.ToLower(a), r.Name)
			if err != nil {
				return nil, cli.Usagef("check: %q is not a pattern; write the name of a rule, with * for any text", a)
			}
			if byName || strings.EqualFold(a, r.Subject) {
				wanted[r.Name], found = true, true
			}
		}
		if !found {
			return nil, cli.Failf("check: no rule or subject is called %q; run mpitx check --list for their names%s", a, catalog.DidYouMean(ruleWords(), a))
		}
	}
	return slices.DeleteFunc(all, func(r check.Rule) bool { return !wanted[r.Name] }), nil
}

func (o *checkOptions) readBaseline() (*check.Report, error) {
	if o.baseline == "" {
		return nil, nil
	}
	raw, err := cli.ReadUpTo(o.baseline, catalog.MaxFileSize+1)
	switch {
	case len(raw) > catalog.MaxFileSize:
		return nil, cli.Failf("--baseline: %s: larger than %d MiB; write one with mpitx check -o json > FILE", o.baseline, catalog.MaxFileSize>>20)
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.Failf("--baseline: %s: there is no such file; write one with mpitx check -o json > FILE", o.baseline)
	case err != nil:
		return nil, cli.Failf("--baseline: %v", err)
	}
	r, err := check.ReadBaseline(raw)
	if err != nil {
		return nil, cli.Failf("--baseline: %s: %v; write one with mpitx check -o json > FILE", o.baseline, err)
	}
	return r, nil
}

// maxTempPath is the length of a directory in which Open MPI can still make sockets, whose paths must be short.
const maxTempPath = 40

// library finds the MPI and what is needed to start processes with it.
func (o *checkOptions) library() (*rules.Library, machine.MPI, error) {
	m, err := o.a.Env.Choose(o.mpi)
	if err != nil {
		return nil, m, err
	}
	c, err := o.a.Collecting(m, o.timeout)
	if err != nil {
		return nil, m, err
	}
	lib := &rules.Library{Start: rules.Start{Exe: c.Exe, Demo: m.Family == machine.Demo, Shim: c.Shim, Lib: m.Lib, Environ: o.a.Env.FreeOfLauncher(), Limit: o.timeout}}
	if dir := os.TempDir(); len(dir) <= maxTempPath {
		lib.Temp = dir
	}
	lib.Launch = func(n int, program []string) ([]string, []string, error) {
		argv, environ, err := o.a.Env.LaunchCommand(m, n, program)
		return argv, append(environ, machine.Quiet(m)...), err
	}
	return lib, m, nil
}

// test tests the rules and shows how far it is.
func test(ctx context.Context, lib *rules.Library, m machine.MPI, chosen []check.Rule, jobs int) *check.Report {
	start, done := time.Now(), uint64(0)
	bar := progress.New("testing rules")
	defer bar.Clear()
	results := lib.Run(ctx, chosen, jobs, func(*check.Result) {
		done++
		bar.Update(done, uint64(len(chosen)))
	})
	r := &check.Report{Schema: check.Schema, Version: check.Version, Library: cmp.Or(lib.Version(), "a library that does not say what it is"), Standard: lib.Standard(), Path: m.Lib, Results: results,
		Seconds: time.Since(start).Seconds()}
	r.Features = check.FeaturesOf(r)
	return r
}

// repeat tests twice again and keeps the crashes that repeat. A crash in freed memory may not, and its program would not show it.
func (o *checkOptions) repeat(ctx context.Context, lib *rules.Library, m machine.MPI, chosen []check.Rule, r *check.Report) {
	if ctx.Err() != nil || len(r.Results) != 1 || r.Results[0].Status != check.Crashed {
		return
	}
	same := true
	for range 2 {
		again := test(ctx, lib, m, chosen, o.jobs).Results[0]
		same = same && (ctx.Err() != nil || r.Results[0].Repeat(again))
	}
	if !same {
		o.a.Complain("--reproduce: the crash did not happen again, so the program may not show it; repeat the command")
	}
}

// confirm tests rules again if they crash on more items than in the baseline, because crashes in freed memory do not always repeat.
func (o *checkOptions) confirm(ctx context.Context, lib *rules.Library, m machine.MPI, r, base *check.Report) {
	for _, one := range r.Results {
		known := base.KnownItems(one.Name)
		if len(known) == 0 || one.Status != check.Crashed {
			continue
		}
		for n := 0; n < 3 && ctx.Err() == nil && slices.ContainsFunc(one.BadItems, func(item string) bool { return !known[item] }); n++ {
			one.Steady(known, test(ctx, lib, m, []check.Rule{one.Rule}, o.jobs).Results[0])
		}
	}
}

// writeProgram writes the program that shows a violation.
func (o *checkOptions) writeProgram(r *check.Report, item string) error {
	one := r.Results[0]
	for _, v := range one.Violations {
		if item == "" || v.Item == item {
			_, err := o.a.Out.WriteString(v.Program)
			return err
		}
	}
	switch {
	case one.Status == check.Failed || one.Status == check.NotApplicable:
		return cli.Failf("--reproduce: %s: %s: %s", one.Name, one.Status, one.Why)
	case item != "" && one.Bad > 0:
		return cli.Failf("--reproduce: %s: no program for %q; there are programs for %s", one.Name, item, check.Some(one.BadItems, 20))
	}
	return cli.Failf("--reproduce: %s: %s keeps this rule, so there is nothing to show", one.Name, r.Library)
}
