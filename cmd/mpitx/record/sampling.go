package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/settings"
)

// sampling is the part that sample and record share.
type sampling struct {
	a *cli.App
	attachFlags
	pvars              []string
	interval, duration time.Duration
	count              int
	probe              string
	noProbe, quiet     bool
	optional           bool // --pvar need not be given

	flag   string          // with the patterns; "": --pvar
	words  []string        // suggested together with names
	warned map[string]bool // patterns that the user was warned of
}

func (s *sampling) flags(cmd *cobra.Command) {
	s.attachFlags.flags(cmd, s.a)
	f := cmd.Flags()
	f.StringArrayVar(&s.pvars, "pvar", nil, "sample the variables that match this `GLOB`[:CLASS][@world|@self|@all]; may be repeated")
	f.DurationVar(&s.interval, "interval", 10*time.Millisecond, "take a sample every `TIME`")
	f.DurationVar(&s.duration, "duration", 0, "stop sampling after this `TIME`; with --workload: end the workload")
	f.IntVar(&s.count, "count", 0, "stop sampling after `N` samples")
	cli.Choose(cmd, &s.probe, "probe", "", "start", "`WHEN` to try reading the library's variables in a copy of the process, so that a crash does not end the application: start (in MPI_Init), late (also variables that appear later), none", "start", "late", "none")
	f.BoolVar(&s.noProbe, "no-probe", false, "same as --probe none: a variable that crashes the library ends the application")
	f.BoolVar(&s.quiet, "no-summary", false, "do not print the summary at the end of a run sampled with mpitx:*")
	cmd.RegisterFlagCompletionFunc("pvar", s.a.CompleteNames(catalog.Pvars|catalog.Virtual))
}

// config checks everything that does not depend on the machine.
func (s *sampling) config(cmd *cobra.Command, args []string, hooks launch.Hooks) (launch.Config, error) {
	if err := s.check(cmd); err != nil {
		return launch.Config{Env: s.a.Env}, err
	}
	var tool []launch.NameValue
	add := func(name, value string) { tool = append(tool, launch.NameValue{Name: name, Value: value}) }
	lasting := time.Second
	if len(s.pvars) > 0 {
		add("interval_ns", strconv.FormatInt(int64(s.interval), 10))
	}
	if s.duration > 0 {
		lasting = s.duration
		if s.workload == "" { // a workload ends by itself, and its last sample is that of MPI_Finalize
			add("duration_ns", strconv.FormatInt(int64(s.duration), 10))
		}
	}
	if s.count > 0 {
		add("count", strconv.Itoa(s.count))
		lasting = time.Duration(s.count+1) * s.interval
	}
	for _, p := range s.pvars {
		add("pvar", p)
	}
	switch {
	case s.noProbe:
		add("probe", "none")
	case s.probe != "start":
		add("probe", s.probe)
	}
	c, err := s.attachFlags.config(cmd, args, s.a, tool)
	c.Duration, c.Hooks = lasting, hooks
	return c, err
}

func (s *sampling) check(cmd *cobra.Command) error {
	switch {
	case len(s.pvars) == 0 && !s.optional:
		return cli.Usagef("--pvar: name the variables to sample; `mpitx list pvars` lists those of the library, and 'mpitx:*' works with any MPI")
	case s.interval < time.Microsecond:
		return cli.Usagef("--interval: %s: must be at least 1µs", s.interval)
	case s.duration < 0 || cmd.Flags().Changed("duration") && s.duration == 0:
		return cli.Usagef("--duration: must be positive")
	case s.count < 0 || cmd.Flags().Changed("count") && s.count == 0:
		return cli.Usagef("--count: must be at least 1")
	case s.duration > 0 && s.count > 0:
		return cli.Usagef("--duration and --count both say when to stop; leave one out")
	case s.noProbe && cmd.Flags().Changed("probe") && s.probe != "none":
		return cli.Usagef("--no-probe is --probe none, which contradicts --probe %s; leave one out", s.probe)
	}
	for _, p := range s.pvars {
		if _, err := catalog.ParsePattern(p); err != nil {
			return cli.Usagef("--pvar %q: %v", p, err)
		}
	}
	return nil
}

// globOf is a pattern without its communicator.
func globOf(pattern string) string {
	if k := strings.LastIndexByte(pattern, '@'); k >= 0 {
		return pattern[:k]
	}
	return pattern
}

// Check checks the settings and --pvar.
func (s *sampling) Check(m machine.MPI, first bool) error {
	if first {
		s.warn(s.a, m)
	}
	return s.unmatched(m, first)
}

// Names are the names in the cache.
func (s *sampling) Names(m machine.MPI) []string { return inspect.CachedNames(s.a.Env, m) }

// Unmatched explains how to make the library offer such a variable, and suggests similar names.
func (s *sampling) Unmatched(m machine.MPI, pattern string, names []string) string {
	near := catalog.DidYouMean(append(pvarNames(s.Names(m)), names...), globOf(pattern))
	if s.warned[pattern] {
		return near
	}
	return settings.HowToGet(m, globOf(pattern), s.given, near)
}

// kept reports whether a run is worth keeping. It removes a run that is empty and stays empty, and says so.
func (s *sampling) kept(r *launch.Result) bool {
	for range r.Run.Instants(recording.Options{}) {
		return true
	}
	if r.Unrecovered || r.StillRunning || len(r.Run.Damage()) > 0 {
		return true
	}
	s.a.Complain("nothing was sampled; the empty run directory was removed")
	r.Discard()
	return false
}

// Summarize prints one screen about a run that sampled mpitx:*: the share of MPI in the time, the traffic, the
// imbalance between ranks, and the functions that took the most time.
func (o *sampling) Summarize(run *recording.Run) {
	if o.quiet {
		return
	}
	term, err := o.a.ErrTerminal()
	if err != nil {
		return
	}
	if text := export.Summary(run, term); text != "" {
		o.a.Out.Flush()
		fmt.Fprint(o.a.Errs, text)
	}
}
