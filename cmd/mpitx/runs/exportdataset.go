package runs

import (
	"fmt"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export/parquet"
	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/progress"
)

// checkPartition reports, before anything is read, what does not go with --partition.
func (o *exportOptions) checkPartition(cmd *cobra.Command) error {
	switch {
	case o.Form() != cli.FormatParquet:
		return cli.Usagef("--partition writes Parquet files; add -o parquet")
	case !o.Named():
		return cli.Usagef("--partition writes a directory; name it with --out DIR")
	}
	for _, x := range [][2]string{{"wide", "the samples of a data set have one row per value"}, {"phase", "it chooses samples alone"},
		{"trace", "a data set has the trace and the samples"}, {"derive", "a data set has recorded events only"}} {
		if cmd.Flags().Changed(x[0]) {
			return cli.Usagef("--%s does not go with --partition: %s; leave it out", x[0], x[1])
		}
	}
	return o.CheckDirectory()
}

// writeDataset writes the trace and the samples of a run as a directory of Parquet files.
func (o *exportOptions) writeDataset(run *recording.Run, dir string) error {
	traced := trace.Has(run)
	if !traced {
		if err := cli.Unsampled(run, dir); err != nil {
			return err
		}
	}
	clocks.Correct(run)
	only, err := o.chosen(run, recording.Options{As: o.As})
	if err != nil {
		return err
	}
	find, done := sites.Places(run)
	bar := progress.New("exporting")
	part := trace.Options{From: o.Cut.From, To: o.Cut.To, Rank: o.Cut.Rank()}
	x := parquet.DatasetOptions{Trace: runs.TraceOptions{Options: part, Site: find}, Progress: bar.Update,
		Samples: recording.Options{As: o.As, Column: only.Column(), From: o.Cut.From, To: o.Cut.To, Rank: o.Cut.Rank()}}
	var n parquet.Written
	damaged := false
	err = o.CreateDirectory(func(to string) (err error) {
		n, err = parquet.Dataset(to, run, x)
		bar.Clear()
		damaged = cli.ReportDamage(o.a, run)
		return err
	})
	unread := cli.ReportSites(o.a, run, "export", done)
	if err != nil {
		return err
	}
	tables := text.Count(n.Samples, "sample")
	switch {
	case !traced:
		tables += "; the run has no trace"
	case run.Sampled():
		tables = fmt.Sprintf("%s and %s", tracedTables(&n), tables)
	default:
		tables = tracedTables(&n) + "; the run has no samples"
	}
	o.a.Complain("%s: %s: %s", text.Quote(o.Out), text.Count(n.Files, "file"), tables)
	for _, line := range runs.MissingWaits(n.Missing) {
		o.a.Complain("%s: %s", text.Quote(dir), line)
	}
	if traced {
		o.reportTraceGaps(run, text.Quote(dir))
	}
	cli.ReportGaps(o.a, run)
	if damaged {
		return cli.ErrDamaged
	}
	return unread
}

func tracedTables(n *parquet.Written) string {
	return fmt.Sprintf("%s, %s of messages, %s, %s", text.Count(n.Calls, "call"), text.Count(n.Messages, "end"), text.Count(n.Events, "event"), text.Count(n.Waits, "wait"))
}
