package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/progress"
)

type exportOptions struct {
	a *app
	exportFlags
	columnFilter
	trace  bool
	derive []string
}

func newExport(a *app) *cobra.Command {
	o := &exportOptions{a: a, exportFlags: exportFlags{more: []export.Format{formatPerfetto}}}
	cmd := &cobra.Command{
		Use:   "export RUN [GLOB…]",
		Short: "Write the samples or the trace of a run in other formats",
		Long: `Write the samples of a run directory (from mpitx record, or mpitx sample
without --out) as CSV, JSON, NDJSON or Parquet, in order of time over all
ranks. GLOBs choose variables by name.

The trace of a run (from mpitx trace) is written as CSV, NDJSON or Parquet if
the run has no samples, or with --trace. Perfetto files (-o perfetto, or a FILE
that ends in .pftrace) have both; open them at ui.perfetto.dev.

The run may still be recording, or its job may have died: everything sampled so
far is written. With --phase, counters grow only by the steps that end in the
phase.`,
		Example: `  mpitx export run1 -o csv --out samples.csv
  mpitx export run1 -o parquet --wide --out samples.parquet
  mpitx export run1 'mpitx:bytes_*' --nonzero --as rate | head
  mpitx export run1 --rank 0,1 --from 2s --to 2.5s --out part.pftrace`,
		Args: arguments(1, -1, "a run directory"),
		RunE: a.once(o.run),
	}
	o.exportFlags.flags(cmd)
	o.columnFilter.flags(cmd)
	o.cut.flags(cmd)
	cmd.Flags().StringArrayVar(&o.derive, "derive", nil, "in a trace, also events of PERUSE that match this `GLOB`, derived from calls; may be repeated")
	cmd.RegisterFlagCompletionFunc("derive", a.completeNames(catalog.Events))
	cmd.Flags().BoolVar(&o.trace, "trace", false, "write the trace, also if the run has samples")
	return cmd
}

func completeRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func (o *exportOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.exportFlags.parse(); err != nil {
		return err
	}
	if err := o.cut.parse(cmd); err != nil {
		return err
	}
	if err := o.columnFilter.parse(args[1:]); err != nil {
		return err
	}
	if o.out == "" {
		o.out = "-"
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.out == "-" {
		if err := o.a.showable(o.form()); err != nil {
			return err
		}
	}
	run, err := openSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	if err := o.cut.check(run); err != nil {
		return err
	}
	if o.writesTrace(run) {
		return o.writeTrace(cmd, run, args)
	}
	o.exportFlags.phases = o.columnFilter.phases
	if o.exportFlags.during, err = o.columnFilter.during(run, args[0]); err != nil {
		return err
	}
	bar := progress.New("looking for what is not 0")
	o.only, err = o.chosen(run, recording.Options{As: o.as, During: o.exportFlags.during, Progress: bar.Update})
	bar.Clear()
	if err != nil {
		return err
	}
	err = o.write(o.a, run)
	sayUnsampled(o.a, run, args[0])
	reportGaps(o.a, run)
	return err
}

// nameRun ends the messages about a directory that is not a run.
const nameRun = "name a run directory that mpitx record, sample, profile, trace or run wrote"

// openRun opens a run directory for a command.
func openRun(dir string) (*recording.Run, error) {
	run, err := recording.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failf("%s: there is no such directory; %s", dir, nameRun)
	case errors.Is(err, recording.ErrNotARun):
		if st, err := os.Stat(dir); err == nil && !st.IsDir() {
			return nil, failf("%s: not a directory; %s", dir, nameRun)
		}
		if _, err := os.Stat(filepath.Join(dir, launch.RunFile)); err == nil {
			return nil, failf(nothingYet, dir)
		}
		return nil, failf("%s: not a run directory; %s", dir, nameRun)
	case err != nil:
		return nil, failf("%s: cannot read the run: %v", dir, causeOf(err))
	}
	return run, nil
}

const nothingYet = "%s: nothing was recorded yet; if the job is still running, try again in a moment"

// openSamples opens a run that has recorded something.
func openSamples(dir string) (*recording.Run, error) {
	run, err := openRun(dir)
	if err == nil && len(run.Ranks) == 0 && len(run.Damage()) == 0 {
		run.Close()
		return nil, failf(nothingYet, dir)
	}
	return run, err
}

// sayUnsampled names the command for a run that has other things than samples.
func sayUnsampled(a *app, run *recording.Run, dir string) {
	dir = text.Quote(dir)
	switch {
	case hasSamples(run):
	case trace.Has(run):
		a.complain("%s: the run has no samples; write its trace with mpitx export %s --trace, or record both with mpitx trace --pvar GLOB -- ./app", dir, dir)
	case profile.Has(run):
		a.complain("%s: the run has no samples; see its profile with mpitx report %s, or record both with mpitx profile --pvar GLOB -- ./app", dir, dir)
	default:
		a.complain("%s: the run has no samples; record some with mpitx record --pvar GLOB -- ./app", dir)
	}
}

func hasSamples(run *recording.Run) bool {
	return slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return len(r.Columns) > 0 })
}

// reportDamage reports the unreadable parts of a run; it returns whether there are any.
func reportDamage(a *app, run *recording.Run) bool {
	text := recording.DamageText(run.Damage())
	if text != "" {
		a.complain("%s", text)
	}
	return text != ""
}

// reportGaps reports what is missing in a run.
func reportGaps(a *app, run *recording.Run) {
	for _, text := range append(launch.Incomplete(run), launch.Loss(run), launch.Away(run)) {
		if text != "" {
			a.complain("%s", text)
		}
	}
}
