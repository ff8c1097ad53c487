package runs

import (
	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/text"
)

// writesTrace reports whether mpitx export writes the trace of a run, rather than its samples.
func (o *exportOptions) writesTrace(run *recording.Run) bool {
	return o.trace || o.Form() == cli.FormatPerfetto || !run.Sampled() && trace.Has(run)
}

// writeTrace writes the trace of a run. In Perfetto's format, samples come with it.
func (o *exportOptions) writeTrace(cmd *cobra.Command, run *recording.Run, args []string) error {
	dir, form := text.Quote(args[0]), o.Form()
	perfetto := form == cli.FormatPerfetto
	switch {
	case !trace.Has(run) && !(perfetto && run.Sampled() && len(o.derive) == 0):
		return cli.Lacks(run, args[0], "trace", "record one with mpitx trace -- ./app")
	case form == export.FormatJSON:
		return cli.Usagef("-o json: traces are written as perfetto, csv, ndjson or parquet; choose one of these")
	}
	for _, name := range []string{"wide", "nonzero", "phase", "as"} {
		if cmd.Flags().Changed(name) && (!perfetto || name == "wide" || name == "phase") {
			return cli.Usagef("--%s applies to samples, not to a trace; leave it out", name)
		}
	}
	if len(args) > 1 && !perfetto {
		return cli.Usagef("%s: names choose samples, not a part of a trace; use --rank, --from and --to", args[1])
	}
	for _, glob := range o.derive {
		if len(trace.Derivable(run, glob)) == 0 {
			return cli.Usagef("--derive %s: no event of PERUSE that matches can be derived from this run; mpitx list events says which can", glob)
		}
	}
	x := cli.TraceOut{OutFile: o.OutFile, Format: form, Start: o.Start, Part: o.Cut, Derive: o.derive, Samples: recording.Options{As: o.As}}
	if perfetto {
		only, err := o.chosen(run, recording.Options{As: o.As})
		if err != nil {
			return err
		}
		x.Samples.Column = only.Column()
	}
	_, err := x.Write(o.a, run)
	o.reportTraceGaps(run, dir)
	cli.ReportGaps(o.a, run)
	return err
}

// reportTraceGaps reports what is missing in a trace.
func (o *exportOptions) reportTraceGaps(run *recording.Run, dir string) {
	if words := runs.Replaced(run); words != "" {
		o.a.Complain("%s: %s", dir, words)
	}
	if lost := runs.LostEvents(run); lost > 0 { // not those of totals, which are in the chosen part only
		why := ""
		if failure, ok := run.EventLoss(); ok {
			why = ": " + failure.Cause()
		}
		o.a.Complain("%s: %s dropped while the trace was recorded%s", dir, text.Count(lost, "event"), why)
	}
	for _, line := range runs.GapLines(run, trace.EventGaps(run, o.Cut.Rank()), nil) {
		o.a.Complain("%s: %s", dir, line)
	}
}
