package main

import (
	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/text"
)

// writesTrace reports whether mpitx export writes the trace of a run, rather than its samples.
func (o *exportOptions) writesTrace(run *recording.Run) bool {
	return o.trace || o.form() == formatPerfetto || !hasSamples(run) && trace.Has(run)
}

// writeTrace writes the trace of a run. In Perfetto's format, samples come with it.
func (o *exportOptions) writeTrace(cmd *cobra.Command, run *recording.Run, args []string) error {
	dir, form := text.Quote(args[0]), o.form()
	perfetto := form == formatPerfetto
	switch {
	case !trace.Has(run) && !(perfetto && hasSamples(run)):
		if reportDamage(o.a, run) {
			return errDamaged
		}
		return failf("%s: the run has no trace; record one with mpitx trace -- ./app", dir)
	case form == export.FormatJSON:
		return usagef("-o json: traces are written as perfetto, csv, ndjson or parquet; choose one of these")
	}
	for _, name := range []string{"wide", "nonzero", "phase", "as"} {
		if cmd.Flags().Changed(name) && (!perfetto || name == "wide" || name == "phase") {
			return usagef("--%s applies to samples, not to a trace; leave it out", name)
		}
	}
	if len(args) > 1 && !perfetto {
		return usagef("%s: names choose samples, not a part of a trace; use --rank, --from and --to", args[1])
	}
	for _, glob := range o.derive {
		if len(trace.Derivable(run, glob)) == 0 {
			return usagef("--derive %s: no event of PERUSE that matches can be derived from this run; mpitx list events says which can", glob)
		}
	}
	x := traceOut{outFile: o.outFile, format: form, part: o.cut, derive: o.derive, samples: recording.Options{As: o.as}}
	if perfetto {
		only, err := o.chosen(run, recording.Options{As: o.as})
		if err != nil {
			return err
		}
		x.samples.Column = only.Column()
	}
	_, err := x.write(o.a, run)
	if words := replaced(run); words != "" {
		o.a.complain("%s: %s", dir, words)
	}
	if lost := lostEvents(run); lost > 0 { // not those of totals, which are in the chosen part only
		why := ""
		if failure, ok := run.EventLoss(); ok {
			why = ": " + failure.Cause()
		}
		o.a.complain("%s: %s dropped while the trace was recorded%s", dir, count(lost, "event"), why)
	}
	for _, line := range gapLines(run, trace.EventGaps(run, o.cut.rank()), nil) {
		o.a.complain("%s: %s", dir, line)
	}
	reportGaps(o.a, run)
	return err
}
