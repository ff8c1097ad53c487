package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"mpitx/cmd/internal/progress"
	"mpitx/cmd/mpitx/internal/attach"
	"mpitx/recording"
)

type exportOptions struct {
	a *app
	exportFlags
	columnFilter
}

func newExport(a *app) *cobra.Command {
	o := &exportOptions{a: a}
	cmd := &cobra.Command{
		Use:   "export RUN [GLOB…]",
		Short: "Write the samples of a run as CSV, JSON, NDJSON or Parquet",
		Long: `Write the samples of a run directory (from mpitx record, or mpitx sample
without --out) as CSV, JSON, NDJSON or Parquet, in order of time over all
ranks. GLOBs choose variables by name.

The run may still be recording, or its job may have died: everything sampled so
far is written.`,
		Example: `  mpitx export run1 -o csv --out samples.csv
  mpitx export run1 -o parquet --wide --out samples.parquet
  mpitx export run1 'mpitx:bytes_*' --nonzero --as rate | head`,
		Args: arguments(1, -1, "a run directory"),
		RunE: a.once(o.run),
	}
	o.exportFlags.flags(cmd)
	o.columnFilter.flags(cmd)
	return cmd
}

func completeRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func (o *exportOptions) run(_ *cobra.Command, args []string) error {
	if err := o.exportFlags.parse(); err != nil {
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
	bar := progress.New("looking for what is not 0")
	o.only, err = o.chosen(run, o.as, bar.Update)
	bar.Clear()
	if err != nil {
		return err
	}
	err = o.write(o.a, run)
	reportGaps(o.a, run)
	return err
}

// nameRun ends the messages about a directory that is not a run.
const nameRun = "name a run directory that mpitx record, sample, profile or run wrote"

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
		return nil, failf("%s: not a run directory; %s", dir, nameRun)
	case err != nil:
		return nil, failf("%s: cannot read the run: %v", dir, causeOf(err))
	}
	return run, nil
}

// openSamples opens a run that has recorded something.
func openSamples(dir string) (*recording.Run, error) {
	run, err := openRun(dir)
	if err == nil && len(run.Ranks) == 0 && len(run.Damage()) == 0 {
		run.Close()
		return nil, failf("%s: nothing was recorded yet; if the job is still running, try again in a moment", dir)
	}
	return run, err
}

// reportDamage reports the unreadable parts of a run; it returns whether there are any.
func reportDamage(a *app, run *recording.Run) bool {
	for k, damage := range run.Damage() {
		if k == 10 {
			a.complain("and %d more", len(run.Damage())-k)
			break
		}
		a.complain("%v: left out", damage)
	}
	return len(run.Damage()) > 0
}

// reportGaps reports what is missing in a run.
func reportGaps(a *app, run *recording.Run) {
	for _, text := range []string{attach.Loss(run), attach.Away(run)} {
		if text != "" {
			a.complain("%s", text)
		}
	}
}
