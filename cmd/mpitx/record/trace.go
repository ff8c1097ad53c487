package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/text"
)

type traceOptions struct {
	sampling
	cli.TraceOut
	functions []string
	events    []string
	after     time.Duration
	lasting   time.Duration
	windows   []string

	eventFlag sampling // refuses names of --event
}

func NewTrace(a *cli.App) *cobra.Command {
	o := &traceOptions{sampling: sampling{a: a, optional: true}}
	cmd := &cobra.Command{
		Use:   "trace [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Trace the MPI calls and messages of an application",
		Long: `Trace the MPI calls and messages of an unmodified application: each call with
its times, communicator, peer, tag, bytes and call site, each message with its
send and its receive, the phases that the program names, and with --pvar also
samples of performance variables. With --event also events that the MPI library
raises itself, of MPI_T (MPI-4) or PERUSE, if it has any: see mpitx list events.
Of a library without PERUSE, the events that calls show are derived from them.

The trace is written at the end, as FILE or into the run directory. Open a
.pftrace file at ui.perfetto.dev: it shows one process for each rank, one track
for each thread, and an arrow for each message. The run directory stays for
mpitx export, which writes other formats, or a part of the trace.

If the program calls MPI faster than the trace can be written, the newest events
are dropped and counted. With --max-size, the trace ends when the recording has
this size, or keeps the last events (--policy last). The file that is written
from it at the end comes on top.

Under a launcher (mpirun -n 4 mpitx trace -- ./app), each process becomes the
application with mpitx's agent preloaded. With -n, mpitx starts the launcher.
The application keeps its output and exit code.`,
		Example: `  mpirun -n 4 mpitx trace --out app.pftrace -- ./app input
  mpitx trace -n 4 --function 'MPI_*send*' --function 'MPI_*recv*' -- ./app
  mpirun -n 4 mpitx trace --max-size 500M --policy last --dir run1 -- ./app
  mpirun -n 4 mpitx trace --event 'PERUSE_*' --dir run1 -- ./app
  mpitx export run1 -o perfetto --from 2s --to 2.5s --out part.pftrace`,
		RunE: o.run,
	}
	o.sampling.flags(cmd)
	f := cmd.Flags()
	f.Lookup("no-summary").Usage = "do not print the summary at the end"
	f.Lookup("pvar").Usage = "also " + f.Lookup("pvar").Usage
	f.StringArrayVar(&o.functions, "function", nil, "only calls of functions that match this `GLOB`, with their messages; may be repeated")
	f.DurationVar(&o.after, "after", 0, "record only from this `TIME` after MPI_Init on")
	f.DurationVar(&o.lasting, "for", 0, "record for this `TIME`, from MPI_Init or --after on")
	f.StringArrayVar(&o.windows, "window", nil, "record only in a `WINDOW`: phase=GLOB, the phases of the program whose names match; may be repeated")
	f.StringArrayVar(&o.events, "event", nil, "also events of the MPI library that match this `GLOB`; may be repeated")
	cli.Choose(cmd, &o.TraceOut.Format, "output", "o", "", "output `FORMAT`: perfetto, csv, ndjson, parquet (default: the ending of --out, else perfetto)", cli.TraceFormats...)
	o.TraceOut.OutFile.Flags(cmd, append(cli.TraceEndings, cli.Texts(cli.TraceFormats[1:])...)...)
	cmd.RegisterFlagCompletionFunc("event", o.a.CompleteNames(catalog.Events))
	cmd.RegisterFlagCompletionFunc("function", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return virtual.Functions(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func (o *traceOptions) run(cmd *cobra.Command, args []string) error {
	r, err := launch.Start(o.config(cmd, args))
	if err == nil && r.Run != nil {
		err = o.deliver(r)
	}
	o.a.Last = r.End
	return cli.Ended(r.Code, err)
}

func (o *traceOptions) config(cmd *cobra.Command, args []string) (launch.Config, error) {
	c, err := o.sampling.config(cmd, args, o)
	o.Late = cli.NumberIt
	o.eventFlag, c.ExplainEvent = sampling{a: o.a, attachFlags: o.attachFlags, flag: "--event"}, o.explainEvent
	switch {
	case err != nil:
		return c, err
	case o.dir != "" && filepath.Clean(o.Out) == filepath.Clean(o.dir):
		return c, cli.Usagef("--out %s: this is the run directory (--dir); name a file", o.Out)
	case o.Out == "-":
		return c, cli.Usagef("--out -: standard output is the application's; name a file")
	case cmd.Flags().Changed("for") && o.lasting == 0:
		return c, cli.Usagef("--for 0s: this records nothing; give a longer time, or leave --for out")
	}
	add := func(name, value string) { c.Tool = append(c.Tool, launch.NameValue{Name: name, Value: value}) }
	add("trace", "record")
	for _, glob := range o.functions {
		if err := matchesFunction(glob); err != nil {
			return c, cli.Usagef("--function %s: %v", glob, err)
		}
		add("functions", glob)
	}
	if err := o.addWindow(add); err != nil {
		return c, err
	}
	for _, glob := range o.events {
		if _, err := catalog.ParsePattern(glob); err != nil {
			return c, cli.Usagef("--event %s: %v", glob, err)
		}
		add("event", glob)
	}
	if len(o.events) > 0 {
		counted, err := countedEvents(o.a.Env)
		if err != nil {
			return c, err
		}
		for _, rule := range counted {
			add("event_count", rule)
		}
	}
	if !o.quiet {
		c.Watch = o.announceRate
	}
	return c, o.CheckFormat()
}

// addWindow adds the part of the run that is recorded.
func (o *traceOptions) addWindow(add func(name, value string)) error {
	if o.after < 0 || o.lasting < 0 {
		return cli.Usagef("--after, --for: must not be negative")
	}
	if o.after > 0 {
		add("after_ns", strconv.FormatInt(int64(o.after), 10))
	}
	if o.lasting > 0 {
		add("for_ns", strconv.FormatInt(int64(o.lasting), 10))
	}
	for _, w := range o.windows {
		glob, ok := strings.CutPrefix(w, "phase=")
		if !ok || glob == "" {
			return cli.Usagef("--window %s: give it as phase=GLOB", text.Quote(w))
		}
		add("window", glob)
	}
	return nil
}

// Check also checks the file.
func (o *traceOptions) Check(m machine.MPI, first bool) error {
	if err := o.TraceOut.OutFile.Check(); err != nil {
		return err
	}
	if err := o.sampling.Check(m, first); err != nil {
		return err
	}
	return o.unmatchedEvents(m, first)
}

// Promise implements launch.Hooks: the run directory stays.
func (o *traceOptions) Promise(dir string, _ bool) (words string, ok bool) {
	x := o.writeTo(dir)
	return "still writing " + text.Quote(x.Out) + "; if that is cut short, run " + x.Command(dir), true
}

// Summarize implements launch.Hooks. The summary comes with the file.
func (o *traceOptions) Summarize(*recording.Run) {}

// writeTo is where the trace is written, with the file's name filled in.
func (o *traceOptions) writeTo(dir string) cli.TraceOut {
	x := o.TraceOut
	if x.Out == "" {
		x.Out = filepath.Join(dir, "trace."+map[bool]string{true: "pftrace", false: string(x.Form())}[x.Form() == cli.FormatPerfetto])
	}
	return x
}

// deliver writes the trace to its file, and says what it holds.
func (o *traceOptions) deliver(r *launch.Result) error {
	defer r.Run.Close()
	dir := text.Quote(r.Shown)
	if !trace.Has(r.Run) {
		o.a.Complain("%s has no trace: the agent could not start it", dir)
		return nil
	}
	x := o.writeTo(r.Shown)
	x.Temp = fmt.Sprintf("%x", r.Run.ID[:4])
	totals, err := x.Write(o.a, r.Run)
	if err != nil && err != error(cli.ErrDamaged) { // keep the application's exit code
		o.a.Exit(err)
		x.Out = "FILE"
		o.a.Complain("the trace is in %s; write it to another place with %s", dir, x.Command(r.Shown))
		o.sayLost(r.Run)
		return nil
	}
	if o.Out == "" {
		os.Chmod(x.Out, 0o600) // as all files of a run
	}
	if r.StillRunning {
		o.a.Complain("some ranks were still running; after they have ended, mpitx recover %s collects what they left in memory", dir)
	}
	if !o.quiet {
		o.summarize(r.Run, totals)
		for _, line := range append(peruseMissing(r.Run, o.events), cli.GapLines(r.Run, trace.EventGaps(r.Run, nil), o.events)...) {
			o.a.Complain("%s", line)
		}
	}
	switch file := text.Quote(x.Out); {
	case x.Form() == cli.FormatPerfetto:
		o.a.Complain("the trace is in %s; open it at https://ui.perfetto.dev", file)
	default:
		o.a.Complain("the trace is in %s", file)
	}
	o.a.Complain("the run is in %s%s; next: mpitx timeline %s, mpitx report %s queues, mpitx export %s", dir, r.NameSource, dir, dir, dir)
	return err
}

// summarize says what the trace holds, and what is missing.
func (o *traceOptions) summarize(run *recording.Run, t trace.Totals) {
	o.a.Complain("%s and %s on %s; %s from a send to its receive", text.Count(t.Calls, "call"), text.Count(t.Sent, "message"), recordedRanks(run), text.Count(t.Flows, "arrow"))
	switch {
	case t.Calls > 0:
	case len(o.windows) > 0:
		o.a.Complain("nothing was recorded: no phase of the program matched %s; mpitx profile shows its phases", "--window "+strings.Join(o.windows, " or "))
	case o.after > 0 || o.lasting > 0:
		o.a.Complain("nothing was recorded: the program ended before --after, or made no MPI call until the end of --for")
	case len(o.functions) > 0:
		o.a.Complain("nothing was recorded: the program never called %s", strings.Join(o.functions, " or "))
	}
	if t.Ambiguous > 0 {
		o.a.Complain("%s without an arrow: their order is ambiguous, as threads sent or received at the same time, or events, parts of the run or the outcome of MPI_Cancel are missing", text.Count(t.Ambiguous, "message"))
	}
	if t.Cancelled > 0 {
		o.a.Complain("%s without an arrow: cancelled by MPI_Cancel", text.Count(t.Cancelled, "message"))
	}
	if t.Unmatched > 0 {
		o.a.Complain("%s without an arrow: the other side is not in the trace, or is not known", text.Count(t.Unmatched, "message"))
	}
	if t.Unmatched > 0 {
		for _, line := range unreceived(run) {
			o.a.Complain("%s", line)
		}
	}
	if t.Partitioned > 0 {
		o.a.Complain("%s without an arrow: of partitioned communication", text.Count(t.Partitioned, "message"))
	}
	if t.OtherJobs > 0 {
		o.a.Complain("%s without an arrow: the other side is in another job, or its rank is not known (sessions)", text.Count(t.OtherJobs, "message"))
	}
	o.sayLost(run)
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
	return export.UnreceivedLines(all)
}

// sayLost says how many events are missing, and why.
func (o *traceOptions) sayLost(run *recording.Run) {
	if text := cli.Replaced(run); text != "" {
		o.a.Complain("%s", text)
	}
	lost, budget := cli.LostEvents(run), slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.Budget > 0 })
	failure, failed := run.EventLoss()
	switch {
	case lost > 0 && failed:
		o.a.Complain("%s dropped: %s; give a --dir with more room, or --function GLOB", text.Count(lost, "event"), failure.Cause())
	case lost > 0 && budget:
		o.a.Complain("%s dropped, as --max-size was reached or the buffers were full; give a greater size, --policy last, or --function GLOB", text.Count(lost, "event"))
	case lost > 0:
		o.a.Complain("%s dropped, as the buffers were full: the disk or the machine was too busy; use --function GLOB, or another --dir", text.Count(lost, "event"))
	}
}
