package record

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/profile"
	"mpitx/recording/sites"
	"mpitx/text"
)

// profiling counts MPI calls by function, call site, phase and communicator.
type profiling struct {
	*recorder
	on               bool // --profile
	stack            int
	include, exclude []string
	inner, exact     bool
	resolved         *profile.Profile // with the sources of its call sites
}

// maxStack is the greatest depth of call stacks (PROFILE_STACK_MOST in the agent).
const maxStack = 16

func (o *profiling) flags(cmd *cobra.Command, of string) {
	f := cmd.Flags()
	f.IntVar(&o.stack, "stack", 1, of+"count each call site by `N` frames of its call stack; 0: no call sites, at most "+strconv.Itoa(maxStack))
	f.StringArrayVar(&o.include, "include", nil, of+"only functions that match this `GLOB`; may be repeated")
	f.StringArrayVar(&o.exclude, "exclude", nil, of+"no functions that match this `GLOB`; may be repeated")
	f.BoolVar(&o.inner, "inner", false, of+"also count the calls that the MPI library itself makes")
	f.BoolVar(&o.exact, "exact-times", false, of+"take the time of each call, also of short local ones")
	for _, name := range []string{"include", "exclude"} {
		cmd.RegisterFlagCompletionFunc(name, completeFunctions)
	}
}

func completeFunctions(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return virtual.Functions(), cobra.ShellCompDirectiveNoFileComp
}

func (o *profiling) configure(cmd *cobra.Command, c *launch.Config) error {
	if !o.on {
		return needs(cmd, "--profile", "stack", "include", "exclude", "inner", "exact-times")
	}
	switch {
	case o.maxSize != "" && tooSmall(o.maxSize):
		return cli.Usagef("--max-size %s: a profile takes up to 4M for each rank; give at least that, or leave it out", o.maxSize)
	case o.stack < 0 || o.stack > maxStack:
		return cli.Usagef("--stack: must be between 0 and %d", maxStack)
	}
	asks(c, "profile", "record")
	asks(c, "stack", strconv.Itoa(o.stack))
	if o.inner {
		asks(c, "inner", "1")
	}
	if o.exact {
		asks(c, "exact_times", "1")
	}
	for name, globs := range map[string][]string{"include": o.include, "exclude": o.exclude} {
		for _, glob := range globs {
			if err := matchesFunction(glob); err != nil {
				return cli.Usagef("--%s %s: %v", name, glob, err)
			}
			asks(c, name, glob)
		}
	}
	return nil
}

func (o *profiling) check(machine.MPI, bool) error { return nil }

// tooSmall reports whether the profile of a single rank may not fit.
func tooSmall(size string) bool {
	n, err := cli.ParseSize(size)
	return err == nil && n < 4<<20
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

// report reads the profile of a run, with the sources of its call sites, and how to print it.
func (o *profiling) report(run *recording.Run, term export.Terminal) (*profile.Profile, runs.ReportOptions, error) {
	clocks.CorrectByCollectives(run)
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		return nil, runs.ReportOptions{}, err
	}
	cli.ResolveSites(o.App, p)
	o.resolved = p
	return p, runs.ReportOptions{Terminal: term, Run: text.Quote(shownDir(run.Dir)), Findings: p.Findings(), Tools: launch.Tools(run.Dir),
		Lost: len(launch.Reduced(run))+len(run.IncompleteRanks()) > 0}, nil
}

// summarize prints the report.
func (o *profiling) summarize(run *recording.Run) {
	if o.quiet || !profile.Has(run) {
		return
	}
	term, err := o.ErrTerminal()
	if err != nil {
		return
	}
	p, options, err := o.report(run, term)
	if err != nil {
		return
	}
	var b bytes.Buffer
	if runs.Report(&b, p, export.FormatTable, options) == nil {
		o.Out.Flush()
		fmt.Fprintf(o.Errs, "\n%s\n", b.String())
	}
	o.explainInner(p)
}

// explainInner says why a profile has no calls of the library itself although they were asked for.
func (o *profiling) explainInner(p *profile.Profile) {
	if o.inner && !slices.ContainsFunc(p.Functions, func(f *profile.Function) bool { return f.Within != "" }) {
		o.Complain("--inner: the library made no MPI calls of its own that can be seen: it calls PMPI or its own functions inside of the program's calls")
	}
}

// shownDir is a run directory for messages, without the path if it is in the current directory.
func shownDir(dir string) string {
	if here, err := os.Getwd(); err == nil && filepath.Dir(dir) == here {
		return filepath.Base(dir)
	}
	return dir
}

// keepSites writes the sources of call sites into the run directory, for when the program has been built again.
func (o *profiling) keepSites(run *recording.Run) {
	p := o.resolved
	if p == nil {
		var err error
		if p, err = profile.Read(run, profile.Cut{}); err != nil {
			return
		}
		sites.Resolve(p)
	}
	if err := sites.Keep(p); err != nil {
		o.Complain("the sources of call sites were not kept: %v; report before the program is built again", err)
	}
}
