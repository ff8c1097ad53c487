package record

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/sites"
	"mpitx/text"
)

type profileOptions struct {
	sampling
	cli.ReportOut
	stack            int
	include, exclude []string
	inner            bool

	resolved *profile.Profile // with the sources of its call sites
}

// maxStack is the greatest depth of call stacks (PROFILE_STACK_MOST in the agent).
const maxStack = 16

func NewProfile(a *cli.App) *cobra.Command {
	o := &profileOptions{sampling: sampling{a: a, optional: true}}
	cmd := &cobra.Command{
		Use:   "profile [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Profile the MPI calls of an application",
		Long: `Profile the MPI calls of an unmodified MPI application (C, C++, Fortran, Python):
calls, times, messages and bytes of each MPI function, by call site, rank,
communicator and phase. A report is printed on standard error at the end. The
run directory stays for mpitx report, which also work while the
application runs.

Under a launcher (mpirun -n 4 mpitx profile -- ./app), each process becomes the
application with mpitx's agent preloaded. With -n, mpitx starts the launcher.
The application keeps its output and exit code. With --workload, a built-in
program runs instead, and the report goes to standard output.

The call site is the line of the application that called MPI; --stack N adds its
callers. Files and lines need debug information (-g). With --pvar, performance
variables are sampled at the same time (see mpitx sample --help).`,
		Example: `  mpirun -n 4 mpitx profile -- ./app input
  mpitx profile -n 4 --stack 4 --dir run1 -- ./app
  mpirun -n 4 mpitx profile --exclude 'MPI_Comm_*' --out report.json -- ./app`,
		RunE: o.run,
	}
	o.sampling.flags(cmd)
	o.ReportOut.Flags(cmd)
	f := cmd.Flags()
	f.Lookup("no-summary").Usage = "do not print the report at the end"
	f.Lookup("pvar").Usage = "also " + f.Lookup("pvar").Usage
	f.IntVar(&o.stack, "stack", 1, "count each call site by `N` frames of its call stack; 0: no call sites, at most "+strconv.Itoa(maxStack))
	f.StringArrayVar(&o.include, "include", nil, "only functions that match this `GLOB`; may be repeated")
	f.StringArrayVar(&o.exclude, "exclude", nil, "no functions that match this `GLOB`; may be repeated")
	f.BoolVar(&o.inner, "inner", false, "also count the calls that the MPI library itself makes")
	for _, name := range []string{"include", "exclude"} {
		cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return virtual.Functions(), cobra.ShellCompDirectiveNoFileComp
		})
	}
	return cmd
}

func (o *profileOptions) run(cmd *cobra.Command, args []string) error {
	r, err := launch.Start(o.config(cmd, args))
	if err == nil && r.Run != nil {
		err = o.deliver(r)
	}
	o.a.Last = r.End
	return cli.Ended(r.Code, err)
}

// tooSmall reports whether the profile of a single rank may not fit.
func tooSmall(size string) bool {
	n, err := cli.ParseSize(size)
	return err == nil && n < 4<<20
}

func (o *profileOptions) config(cmd *cobra.Command, args []string) (launch.Config, error) {
	c, err := o.sampling.config(cmd, args, o)
	o.Late = cli.NumberIt
	switch {
	case err != nil:
		return c, err
	case o.maxSize != "" && tooSmall(o.maxSize):
		return c, cli.Usagef("--max-size %s: a profile takes up to 4M for each rank; give at least that, or leave it out", o.maxSize)
	case o.stack < 0 || o.stack > maxStack:
		return c, cli.Usagef("--stack: must be between 0 and %d", maxStack)
	case o.dir != "" && filepath.Clean(o.Out) == filepath.Clean(o.dir):
		return c, cli.Usagef("--out %s: this is the run directory (--dir); name a file", o.Out)
	case o.Out == "-" && o.workload == "":
		return c, cli.Usagef("--out -: standard output is the application's; name a file")
	}
	add := func(name, value string) { c.Tool = append(c.Tool, launch.NameValue{Name: name, Value: value}) }
	add("profile", "record")
	add("stack", strconv.Itoa(o.stack))
	if o.inner {
		add("inner", "1")
	}
	for name, globs := range map[string][]string{"include": o.include, "exclude": o.exclude} {
		for _, glob := range globs {
			if err := matchesFunction(glob); err != nil {
				return c, cli.Usagef("--%s %s: %v", name, glob, err)
			}
			add(name, glob)
		}
	}
	if err := o.CheckFormat(); err != nil || o.OutFile.Named() || o.workload == "" {
		return c, err
	}
	return c, o.a.Showable(o.Form())
}

// matchesFunction returns an error for a pattern that matches no function of MPI.
func matchesFunction(glob string) error {
	names := virtual.Functions()
	for _, name := range names {
		if matches, err := path.Match(glob, name); err != nil {
			return fmt.Errorf("not a pattern; use *, ? and [abc]")
		} else if matches {
			return nil
		}
	}
	return fmt.Errorf("no MPI function matches%s", catalog.DidYouMean(names, glob))
}

// Check also checks the file.
func (o *profileOptions) Check(m machine.MPI, first bool) error {
	if err := o.OutFile.Check(); err != nil {
		return err
	}
	return o.sampling.Check(m, first)
}

// Promise implements launch.Hooks: the run directory stays.
func (o *profileOptions) Promise(dir string, _ bool) (words string, ok bool) {
	return "the profile is in " + text.Quote(dir) + "; print it with mpitx report " + text.Quote(dir), true
}

// Summarize prints the report, unless it goes to a file.
func (o *profileOptions) Summarize(run *recording.Run) {
	if o.quiet || !profile.Has(run) {
		return
	}
	if o.toFile() {
		if p, err := profile.Read(run, profile.Cut{}); err == nil {
			o.explainInner(p)
		}
		return
	}
	term, err := o.a.ErrTerminal()
	p, readErr := profile.Read(run, profile.Cut{})
	if err != nil || readErr != nil {
		return
	}
	cli.ResolveSites(o.a, p)
	o.resolved = p
	var b bytes.Buffer
	if export.Report(&b, p, export.FormatTable, export.ReportOptions{Terminal: term, Run: text.Quote(shownDir(run.Dir)), Findings: p.Findings(), Tools: launch.Tools(run.Dir), Lost: len(launch.Reduced(run))+len(run.IncompleteRanks()) > 0}) == nil {
		o.a.Out.Flush()
		fmt.Fprintf(o.a.Errs, "\n%s\n", b.String())
	}
	o.explainInner(p)
}

// explainInner says why a profile has no calls of the library itself although they were asked for.
func (o *profileOptions) explainInner(p *profile.Profile) {
	if o.inner && !slices.ContainsFunc(p.Functions, func(f *profile.Function) bool { return f.Within != "" }) {
		o.a.Complain("--inner: the library made no MPI calls of its own that can be seen: it calls PMPI or its own functions inside of the program's calls")
	}
}

// shownDir is a run directory for messages, without the path if it is in the current directory.
func shownDir(dir string) string {
	if here, err := os.Getwd(); err == nil && filepath.Dir(dir) == here {
		return filepath.Base(dir)
	}
	return dir
}

// toFile reports whether the report is written by deliver.
func (o *profileOptions) toFile() bool { return o.Out != "" || o.workload != "" || o.Format != "" }

// deliver writes the report to its file, and says where the run is.
func (o *profileOptions) deliver(r *launch.Result) error {
	defer r.Run.Close()
	dir := text.Quote(r.Shown)
	if !profile.Has(r.Run) {
		o.a.Complain("%s has no profile: the agent could not start it", dir)
		return nil
	}
	if o.toFile() {
		if err := o.writeReport(r); err != nil {
			return err
		}
	}
	o.keepSites(r.Run)
	if r.StillRunning {
		o.a.Complain("some ranks were still running; mpitx report %s shows what they do; after they have ended, mpitx recover %s collects what they left in memory", dir, dir)
	}
	next := ""
	if len(o.pvars) > 0 {
		next = ", mpitx report " + dir + " samples"
	}
	o.a.Complain("profiled in %s%s; next: mpitx report %s, mpitx report %s matrix%s", dir, r.NameSource, dir, dir, next)
	return nil
}

// keepSites writes the sources of call sites into the run directory, for when the program has been built again.
func (o *profileOptions) keepSites(run *recording.Run) {
	p := o.resolved
	if p == nil {
		var err error
		if p, err = profile.Read(run, profile.Cut{}); err != nil {
			return
		}
		sites.Resolve(p)
	}
	if err := sites.Keep(p); err != nil {
		o.a.Complain("the sources of call sites were not kept: %v; report before the program is built again", err)
	}
}

// writeReport writes the report to --out, to a file in the run directory, or, of a workload, to standard output.
func (o *profileOptions) writeReport(r *launch.Result) error {
	p, err := profile.Read(r.Run, profile.Cut{})
	if err != nil {
		return cli.Failf("%s: %v", text.Quote(r.Shown), err)
	}
	inside := o.Out == "" && o.workload == ""
	if inside {
		o.Out = filepath.Join(r.Shown, "report."+strings.Replace(string(o.Form()), "table", "txt", 1))
	}
	term, err := o.a.Terminal()
	if err != nil {
		return err
	}
	cli.ResolveSites(o.a, p)
	o.resolved = p
	o.Part = fmt.Sprintf("%x", r.Run.ID[:4])
	if err := o.Write(o.a.Out, p, export.ReportOptions{Terminal: term, Run: text.Quote(r.Shown), Findings: p.Findings(), Tools: launch.Tools(r.Run.Dir), Lost: len(launch.Reduced(r.Run))+len(r.Run.IncompleteRanks()) > 0}); err != nil {
		if o.workload == "" { // keep the application's exit code
			o.a.Exit(err)
			return nil
		}
		return err
	}
	if inside {
		os.Chmod(o.Out, 0o600) // as all files of a run
	}
	if o.Out != "" && o.Out != "-" {
		o.a.Complain("the report is in %s", text.Quote(o.Out))
	}
	return nil
}
