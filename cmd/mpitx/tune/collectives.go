package tune

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/grids"
	"mpitx/machine/newfile"
	"mpitx/settings"
	"mpitx/settings/decision"
	"mpitx/text"
	"mpitx/tune/grid"
	"mpitx/tune/kernel"
	"mpitx/ui/progress"
)

// collectives is mpitx tune --collectives: a decision file for a machine. Ranks and the MPI are those of the source.
type collectives struct {
	*cli.Source
	On        bool
	Only      []string
	sizes     string
	commSizes []int
	Budget    time.Duration
	Dir       string // of the campaign
	Seed      uint64
	factor    int
	screening int
	extra     int
	limit     time.Duration
}

func (o *collectives) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.On, "collectives", false, "measure the algorithms of collectives on this machine, and write a decision file")
	f.StringVar(&o.sizes, "sizes", "8..1M", "with --collectives: from the least to the greatest `SIZE` of a count argument")
	f.IntVar(&o.factor, "factor", 8, "with --collectives: `N` times a size is the next one of the coarse grid")
	f.IntSliceVar(&o.commSizes, "comm-sizes", nil, "with --collectives: numbers of `RANKS` of communicators (default: those of -n)")
	f.IntVar(&o.screening, "screening", 3, "with --collectives: `N` runs that measure all algorithms")
	f.IntVar(&o.extra, "extra", 3, "with --collectives: `N` runs more than the fewest that can confirm an algorithm")
	f.DurationVar(&o.limit, "each", 200*time.Millisecond, "with --collectives: at most this `TIME` for the repetitions of an operation in a run")
}

// plan checks the flags, and asks the library for its algorithms.
func (o *collectives) plan(cmd *cobra.Command) (p grid.Plan, l *decision.Library, err error) {
	low, high, found := strings.Cut(o.sizes, "..")
	least, err := cli.ParseSize(low)
	greatest := least
	if err == nil && found {
		greatest, err = cli.ParseSize(high)
	}
	switch {
	case err != nil || least < 1 || greatest < least || greatest > 1<<30:
		return p, nil, cli.Usagef("--sizes %s: must be two sizes, such as 8..1M", o.sizes)
	case o.factor < 2:
		return p, nil, cli.Usagef("--factor: must be at least 2")
	case o.screening < 1 || o.extra < 0:
		return p, nil, cli.Usagef("--screening must be at least 1, and --extra not negative")
	case o.Budget < 0 || o.limit <= 0:
		return p, nil, cli.Usagef("--budget and --each must be positive")
	case o.App.Env.Launcher().Name != "":
		return p, nil, cli.Usagef("tune starts its own jobs: run it without a launcher, as mpitx tune --collectives -n 4")
	}
	ranks := max(o.N, 2)
	if len(o.commSizes) == 0 {
		o.commSizes = []int{ranks}
	}
	slices.Sort(o.commSizes)
	o.commSizes = slices.Compact(o.commSizes)
	if o.commSizes[0] < 2 || o.commSizes[len(o.commSizes)-1] > ranks {
		return p, nil, cli.Usagef("--comm-sizes: must be from 2 to the ranks of -n (%d)", ranks)
	}
	c, _, err := (&cli.Source{App: o.App, MPI: o.MPI, Timeout: o.Timeout, N: ranks}).Snapshot(cmd)
	if err != nil {
		return p, nil, err
	}
	if o.Chosen, err = o.App.Env.Choose(o.MPI); err != nil {
		return p, nil, err
	}
	l = decision.Installed(c)
	all, err := grid.Collectives(c, o.Chosen.Impl, l, o.Only)
	if err != nil {
		return p, nil, cli.Usagef("--only: %v", err)
	}
	if len(all) == 0 {
		return p, nil, cli.Failf("%s has no variables that force algorithms of collectives", c.LibraryName())
	}
	p = grid.Plan{Library: c.LibraryName(), Version: cli.Version, Seed: o.Seed, Ranks: ranks, Collectives: all, Sizes: grid.Coarse(least, greatest, int64(o.factor)), CommSizes: o.commSizes,
		Limits: kernel.Limits{Repetitions: kernel.Most, Seconds: o.limit.Seconds(), Precision: 0.02}, Settings: grid.Settings(o.Chosen.Impl), Screening: o.screening, Extra: o.extra, Bisecting: 3}
	p.Host, p.Cores = grid.Host()
	return p, l, nil
}

func (o *collectives) run(cmd *cobra.Command, f export.Format) error {
	term, err := o.App.Terminal()
	if err != nil {
		return err
	}
	plan, library, err := o.plan(cmd)
	if err != nil {
		return err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return cli.Failf("%v", err)
	}
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return cli.Failf("%v", err)
	}
	journal, err := grid.OpenJournal(filepath.Join(o.Dir, "journal"), plan)
	var other grid.OtherPlan
	if errors.As(err, &other) {
		return cli.Failf("--dir %s: %v; name another directory, or remove it", o.Dir, err)
	} else if err != nil {
		return cli.Failf("%v", err)
	}
	defer journal.Close()
	if n := journal.Done(); n > 0 {
		o.App.Complain("%s of an earlier campaign in %s %s not repeated", text.Count(n, "run"), text.Quote(o.Dir), text.Verb(n, "is", "are"))
	}
	result, err := o.measure(plan, journal)
	var signal kernel.Interrupted
	var own *cli.ExitError
	switch {
	case errors.As(err, &signal):
		return cli.EndedBy(signal.Signal)
	case errors.As(err, &own):
		return own
	case err != nil:
		return cli.Failf("%v", err)
	}
	set, err := o.write(result, library)
	if err != nil {
		return cli.Failf("%v", err)
	}
	if err := grids.Write(o.App.Out, result, f, term); err != nil {
		return err
	}
	o.say(result, set)
	return nil
}

func (o *collectives) measure(plan grid.Plan, journal *grid.Journal) (*grid.Result, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	runner := &kernel.Runner{Command: exe, MPI: o.MPI, Ranks: plan.Ranks, Dir: o.Dir, Settings: plan.Settings, Limits: plan.Limits}
	bar := progress.New("measuring")
	defer bar.Clear()
	ended, stop := cli.UntilEnded() // a signal between two runs ends the campaign as one within a run does
	defer stop()
	measure := func(all []kernel.Operation) ([]kernel.Result, error) {
		if ended.Err() != nil {
			return nil, context.Cause(ended)
		}
		return runner.Run(all)
	}
	c := &grid.Campaign{Plan: plan, Measure: measure, Journal: journal, Budget: o.Budget, Step: func(stage string, done, most int) { bar.Update(uint64(done), uint64(max(done, most))) }}
	return c.Run()
}

// write writes the files of the campaign, and returns the settings with which the library uses them.
func (o *collectives) write(r *grid.Result, l *decision.Library) (set []settings.NameValue, err error) {
	put := func(name string, write func(io.Writer) error) {
		if err == nil {
			_, err = newfile.Write(filepath.Join(o.Dir, name), "", newfile.Replace, write)
		}
	}
	put("result.json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(r)
	})
	put("report.html", func(w io.Writer) error { return grids.HTML(w, r) })
	put("result.csv", func(w io.Writer) error { return grids.Write(w, r, export.FormatCSV, export.Terminal{UTF8: true}) })
	if len(r.Choices) == 0 || err != nil {
		return nil, err
	}
	file, err := r.Write(l, o.Dir)
	if err != nil {
		return nil, err
	}
	if file.Name != "" {
		put(file.Name, func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(file.Content)); return err })
	}
	for _, c := range file.Left {
		o.App.Complain("%s on %d ranks: a file for this library cannot say that %s shall be used for some sizes only", c.Function, c.Ranks, c.Algorithm.Text())
	}
	return file.Set, err
}

// say says what to do with the result.
func (o *collectives) say(r *grid.Result, set []settings.NameValue) {
	o.App.Complain("the journal, result.json, result.csv and report.html are in %s", text.Quote(o.Dir))
	if len(set) == 0 && r.Incomplete != "" {
		o.App.Complain("no decision file was written yet: give the same command a greater --budget")
		return
	}
	if len(set) == 0 {
		o.App.Complain("no decision file was written: no algorithm is faster than the library's own choice beyond doubt")
		return
	}
	flags := ""
	for _, s := range set {
		flags += fmt.Sprintf(" --set %s", text.Quote(s.Name+"="+s.Value))
	}
	o.App.Complain("to use it: mpitx run -n %d%s -- ./app", r.Plan.Ranks, flags)
}
