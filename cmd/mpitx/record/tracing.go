package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/settings"
	"mpitx/text"
)

// tracing records MPI calls, messages and events, each with its times.
type tracing struct {
	*recorder
	on        bool // --trace: calls and messages, too
	functions []string
	events    patterns // of --event
	after     time.Duration
	lasting   time.Duration
	windows   []string
	sync      bool
}

func (o *tracing) flags(cmd *cobra.Command, of string) {
	f := cmd.Flags()
	f.StringArrayVar(&o.functions, "function", nil, of+"only calls of functions that match this `GLOB`, with their messages; may be repeated")
	f.DurationVar(&o.after, "after", 0, of+"record only from this `TIME` after MPI_Init on")
	f.DurationVar(&o.lasting, "for", 0, of+"record for this `TIME`, from MPI_Init or --after on")
	f.StringArrayVar(&o.windows, "window", nil, of+"record only in a `WINDOW`: phase=GLOB, the phases of the program whose names match; may be repeated")
	f.BoolVar(&o.sync, "sync", false, of+"exchange a few messages between nodes right after MPI_Init, which show how far their clocks are apart")
	o.events = patterns{r: o.recorder, flag: "--event"}
	f.StringArrayVar(&o.events.all, "event", nil, "also events of the MPI library that match this `GLOB`; may be repeated")
	cmd.RegisterFlagCompletionFunc("event", o.CompleteNames(catalog.Events))
	cmd.RegisterFlagCompletionFunc("function", completeFunctions)
}

func (o *tracing) configure(cmd *cobra.Command, c *launch.Config) error {
	switch events := len(o.events.all) > 0; {
	case !o.on && !events:
		return needs(cmd, "--trace", "function", "after", "for", "window", "sync")
	case !o.on:
		if err := needs(cmd, "--trace", "function", "sync"); err != nil {
			return err
		}
		asks(c, "functions", "none") // the events alone
	case cmd.Flags().Changed("for") && o.lasting == 0:
		return cli.Usagef("--for 0s: this records nothing; give a longer time, or leave --for out")
	}
	asks(c, "trace", "record")
	if o.sync {
		asks(c, "sync", "1")
	}
	for _, glob := range o.functions {
		if err := matchesFunction(glob); err != nil {
			return cli.Usagef("--function %s: %v", glob, err)
		}
		asks(c, "functions", glob)
	}
	if err := o.addWindow(c); err != nil {
		return err
	}
	for _, glob := range o.events.all {
		if _, err := catalog.ParsePattern(glob); err != nil {
			return cli.Usagef("--event %s: %v", glob, err)
		}
		asks(c, "event", glob)
	}
	if len(o.events.all) > 0 {
		counted, err := settings.CountedEvents(o.Env)
		if err != nil {
			return err
		}
		for _, rule := range counted {
			asks(c, "event_count", rule)
		}
	}
	if !o.quiet && o.on {
		c.Watch = append(c.Watch, o.announceRate)
	}
	return nil
}

// addWindow adds the part of the run that is recorded.
func (o *tracing) addWindow(c *launch.Config) error {
	if o.after < 0 || o.lasting < 0 {
		return cli.Usagef("--after, --for: must not be negative")
	}
	if o.after > 0 {
		asks(c, "after_ns", strconv.FormatInt(int64(o.after), 10))
	}
	if o.lasting > 0 {
		asks(c, "for_ns", strconv.FormatInt(int64(o.lasting), 10))
	}
	for _, w := range o.windows {
		glob, ok := strings.CutPrefix(w, "phase=")
		if !ok || glob == "" {
			return cli.Usagef("--window %s: give it as phase=GLOB", text.Quote(w))
		}
		asks(c, "window", glob)
	}
	return nil
}

func (o *tracing) check(m machine.MPI, first bool) error { return o.refuseEvents(m, first) }

// printSummary says what the trace holds, and what is missing.
func (o *tracing) printSummary(run *recording.Run, t trace.Totals) {
	if !o.on {
		events := uint64(0)
		for _, e := range trace.EventTotals(run, trace.Options{}) {
			if e.Kind != trace.DerivedEvent {
				events += e.Recorded
			}
		}
		o.Complain("%s of the library on %s", text.Count(events, "event"), recordedRanks(run))
		o.tellEvents(run)
		return
	}
	o.Complain("%s and %s on %s; %s from a send to its receive", text.Count(t.Calls, "call"), text.Count(t.Sent, "message"), recordedRanks(run), text.Count(t.Flows, "arrow"))
	switch {
	case t.Calls > 0:
	case len(o.windows) > 0:
		o.Complain("nothing was recorded: no phase of the program matched %s; mpitx profile shows its phases", "--window "+strings.Join(o.windows, " or "))
	case o.after > 0 || o.lasting > 0:
		o.Complain("nothing was recorded: the program ended before --after, or made no MPI call until the end of --for")
	case len(o.functions) > 0:
		o.Complain("nothing was recorded: the program never called %s", strings.Join(o.functions, " or "))
	}
	if t.Ambiguous > 0 {
		o.Complain("%s without an arrow: their order is ambiguous, as threads sent or received at the same time, or events, parts of the run or the outcome of MPI_Cancel are missing", text.Count(t.Ambiguous, "message"))
	}
	if t.Cancelled > 0 {
		o.Complain("%s without an arrow: cancelled by MPI_Cancel", text.Count(t.Cancelled, "message"))
	}
	if t.Unmatched > 0 {
		o.Complain("%s without an arrow: the other side is not in the trace, or is not known", text.Count(t.Unmatched, "message"))
	}
	if t.Unmatched > 0 {
		for _, line := range unreceived(run) {
			o.Complain("%s", line)
		}
	}
	if t.Partitioned > 0 {
		o.Complain("%s without an arrow: of partitioned communication, whose order is not known", text.Count(t.Partitioned, "message"))
	}
	if t.OtherJobs > 0 {
		o.Complain("%s without an arrow: the other side is in another job, or its rank is not known (sessions)", text.Count(t.OtherJobs, "message"))
	}
	for _, line := range clocks.Lines(run.Clocks) {
		o.Complain("%s", line)
	}
	o.tellEvents(run)
}

// tellEvents says which events are missing, and why.
func (o *tracing) tellEvents(run *recording.Run) {
	o.sayLost(run)
	for _, line := range append(trace.Missing(run, o.events.all), runs.GapLines(run, trace.EventGaps(run, nil), o.events.all)...) {
		o.Complain("%s", line)
	}
}

// recordedRanks counts the ranks of a run, and those that are missing or incomplete.
func recordedRanks(run *recording.Run) string {
	size, spawned := 0, 0
	for _, r := range run.Ranks {
		if r.Spawned.First > 0 {
			spawned++
		} else {
			size = max(size, r.Size)
		}
	}
	words := text.Count(len(run.Ranks), "rank")
	if len(run.Ranks)-spawned < size {
		words = fmt.Sprintf("%d of %s", len(run.Ranks), text.Count(size+spawned, "rank"))
	}
	if n := len(run.IncompleteRanks()); n > 0 {
		words += fmt.Sprintf(" (%d incomplete)", n)
	}
	return words
}

// unreceived says which messages of a trace were never received.
func unreceived(run *recording.Run) []string {
	all := trace.Read(run, trace.Options{Flows: true}).Unreceived()
	if len(all) == 0 {
		return nil
	}
	place, done := sites.Places(run)
	defer done()
	trace.Resolve(all, place)
	return runs.UnreceivedLines(all)
}

// sayLost says how many events are missing, and why.
func (o *tracing) sayLost(run *recording.Run) {
	if text := runs.Replaced(run); text != "" {
		o.Complain("%s", text)
	}
	lost, budget := runs.LostEvents(run), slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.Budget > 0 })
	failure, failed := run.EventLoss()
	switch {
	case lost > 0 && failed:
		o.Complain("%s dropped: %s; give a --dir with more room, or --function GLOB", text.Count(lost, "event"), failure.Cause())
	case lost > 0 && budget:
		o.Complain("%s dropped, as --max-size was reached or the buffers were full; give a greater size, --policy last, or --function GLOB", text.Count(lost, "event"))
	case lost > 0:
		o.Complain("%s dropped, as the buffers were full: the disk or the machine was too busy; use --function GLOB, or another --dir", text.Count(lost, "event"))
	}
}
