package record

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export/runs"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/settings"
)

// sampling samples performance variables, at intervals or when conditions become true.
type sampling struct {
	*recorder
	patterns           // of --pvar, or of --sample
	interval, duration time.Duration
	count              int
	probe              string
	noProbe, required  bool      // required: it has to be asked for
	triggers           *triggers // nil: the command has none
}

func newSampling(r *recorder, flag string) *sampling {
	return &sampling{recorder: r, patterns: patterns{r: r, flag: "--" + flag}}
}

func (s *sampling) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.all, s.flag[2:], nil, "sample the variables that match this `GLOB`[:CLASS][@world|@self|@all]; may be repeated")
	f.DurationVar(&s.interval, "interval", 10*time.Millisecond, "take a sample every `TIME`")
	f.DurationVar(&s.duration, "duration", 0, "stop sampling after this `TIME`; with --workload: end the workload")
	f.IntVar(&s.count, "count", 0, "stop sampling after `N` samples")
	cli.Choose(cmd, &s.probe, "probe", "", "start", "`WHEN` to try reading the library's variables in a copy of the process, so that a crash does not end the application: start (in MPI_Init), late (also variables that appear later), none", "start", "late", "none")
	f.BoolVar(&s.noProbe, "no-probe", false, "same as --probe none: a variable that crashes the library ends the application")
	f.BoolVar(&s.quiet, "no-summary", false, "do not print the summary at the end of a run sampled with mpitx:*")
	cmd.RegisterFlagCompletionFunc(s.flag[2:], s.CompleteNames(catalog.Pvars|catalog.Virtual))
}

func (s *sampling) configure(cmd *cobra.Command, c *launch.Config) error {
	if err := s.checkFlags(cmd); err != nil {
		return err
	}
	variables, onDemand := s.all, false
	if s.triggers != nil {
		if s.triggers.samples && len(s.all)+len(s.triggers.variables.all) == 0 {
			return cli.Usagef("--then sample: name the variables to sample with %s, such as %s 'mpitx:*'", s.flag, s.flag)
		}
		onDemand = len(s.all) == 0 || s.triggers.samples && !cmd.Flags().Changed("interval")
		for _, p := range s.triggers.variables.all {
			if !slices.Contains(variables, p) {
				variables = append(variables[:len(variables):len(variables)], p)
			}
		}
	}
	switch {
	case len(variables) == 0:
	case onDemand:
		asks(c, "interval_ns", "0")
	default:
		asks(c, "interval_ns", strconv.FormatInt(int64(s.interval), 10))
	}
	if s.duration > 0 {
		c.Duration = s.duration
		if s.workload == "" { // a workload ends by itself, and its last sample is that of MPI_Finalize
			asks(c, "duration_ns", strconv.FormatInt(int64(s.duration), 10))
		}
	}
	if s.count > 0 {
		asks(c, "count", strconv.Itoa(s.count))
		c.Duration = time.Duration(s.count+1) * s.interval
	}
	for _, p := range variables {
		asks(c, "pvar", p)
	}
	switch {
	case s.noProbe:
		asks(c, "probe", "none")
	case s.probe != "start":
		asks(c, "probe", s.probe)
	}
	return nil
}

func (s *sampling) checkFlags(cmd *cobra.Command) error {
	switch {
	case len(s.all) == 0 && s.required:
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
	for _, p := range s.all {
		if _, err := catalog.ParsePattern(p); err != nil {
			return cli.Usagef("%s %q: %v", s.flag, p, err)
		}
	}
	return nil
}

func (s *sampling) check(m machine.MPI, first bool) error {
	return s.refusePvars(m, first)
}

// explain says how to make the library offer a variable that no rank had, and suggests similar names.
func (s *sampling) explain(m machine.MPI, pattern string, names []string) string {
	known := append(settings.PvarNames(inspect.CachedNames(s.Env, m)), names...)
	flag, warned := s.flag, s.warned[pattern]
	if s.triggers != nil && slices.Contains(s.triggers.variables.all, pattern) && !slices.Contains(s.all, pattern) {
		flag, warned = s.triggers.variables.flag, s.triggers.variables.warned[pattern]
	}
	advice := catalog.DidYouMean(known, globOf(pattern))
	if !warned {
		advice = settings.HowToGet(m, globOf(pattern), s.program.given, advice)
	}
	return flag + " " + pattern + ": no such variable" + advice
}

// kept reports whether a run is worth keeping. It removes a run that is empty and stays empty, and says so.
func (s *sampling) kept(j *launch.Job) bool {
	for range j.Run.Instants(recording.Options{}) {
		return true
	}
	if j.Unrecovered || j.StillRunning || len(j.Run.Damage()) > 0 {
		return true
	}
	s.Complain("nothing was sampled; the empty run directory was removed")
	j.Discard()
	return false
}

// summarize prints one screen about a run that sampled mpitx:*: the share of MPI in the time, the traffic, the
// imbalance between ranks, and the functions that took the most time.
func (s *sampling) summarize(run *recording.Run) {
	if s.quiet {
		return
	}
	term, err := s.ErrTerminal()
	if err != nil {
		return
	}
	if text := runs.Summary(run, term); text != "" {
		s.Out.Flush()
		fmt.Fprint(s.Errs, text)
	}
}
