package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mpitx/export"
	"mpitx/recording"
)

// formatParquet is written by a package of its own.
const formatParquet = export.Format("parquet")

// exportFlags choose how samples are written.
type exportFlags struct {
	output, out, as string
	wide            bool

	format    export.Format
	transform recording.Transform
}

func sampleFormats() []string {
	var names []string
	for _, f := range export.SampleFormats {
		names = append(names, string(f))
	}
	return append(names, string(formatParquet))
}

func (x *exportFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&x.output, "output", "o", "", "output format: "+strings.Join(sampleFormats(), ", ")+" (default: as --out ends, else csv)")
	f.StringVar(&x.out, "out", "", "file to write")
	f.StringVar(&x.as, "as", "", "values as raw, delta (since the start) or rate (per second); default: by the variable's class")
	f.BoolVar(&x.wide, "wide", false, "one row for each instant, one column for each variable")
	cmd.MarkFlagFilename("out")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(sampleFormats(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions([]string{"raw", "delta", "rate"}, cobra.ShellCompDirectiveNoFileComp))
}

func (x *exportFlags) parse() error {
	name := x.output
	if name == "" {
		name = strings.TrimPrefix(filepath.Ext(x.out), ".")
		if !isSampleFormat(name) {
			name = string(export.FormatCSV)
		}
	}
	if !isSampleFormat(name) {
		return usagef("-o: %q: must be one of %s", name, strings.Join(sampleFormats(), ", "))
	}
	x.format = export.Format(name)
	var ok bool
	if x.transform, ok = recording.ParseTransform(x.as); !ok {
		return usagef("--as: %q: must be raw, delta or rate", x.as)
	}
	return nil
}

func isSampleFormat(name string) bool {
	for _, f := range sampleFormats() {
		if f == name {
			return true
		}
	}
	return false
}

func (x *exportFlags) extension() string { return string(x.format) }

// write writes the samples of a run to x.out, "-" being standard output.
func (x *exportFlags) write(a *app, run *recording.Run) error {
	bar := newProgress()
	o := export.SampleOptions{Options: recording.Options{As: x.transform, Progress: bar.update}, Wide: x.wide}
	write := func(w io.Writer) error {
		defer bar.clear()
		if x.format == formatParquet {
			return writeParquet(w, run, o)
		}
		return export.Samples(w, run, x.format, o)
	}
	var err error
	if x.out == "-" {
		var term export.Terminal
		if term, err = a.terminal(); err != nil {
			return err
		}
		if o.Terminal = term; term.IsTTY && x.format == formatParquet {
			return usagef("-o parquet: this is no format for a terminal: name a file with --out")
		}
		err = write(a.out)
	} else {
		err = replaceFile(x.out, write)
	}
	for k, damage := range run.Damage() {
		if k == 10 {
			a.complain("and %d more", len(run.Damage())-k)
			break
		}
		a.complain("%v: left out", damage)
	}
	return err
}

type exportOptions struct {
	a *app
	exportFlags
}

func newExport(a *app) *cobra.Command {
	o := &exportOptions{a: a}
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "Write the samples of a run directory in any format",
		Long: `Write the samples of a run directory (of mpitx record, or of mpitx sample without --out) as CSV, JSON, NDJSON or Parquet, in
order of time over all ranks. It works while the job runs, and after it died: everything that was sampled until then is there.`,
		Example: `  mpitx export mpitx-run-20261120-120000-4711 -o csv --out samples.csv
  mpitx export run1 -o parquet --wide --out samples.parquet
  mpitx export run1 --as rate | head`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return done(o.run(args[0])) },
	}
	o.exportFlags.flags(cmd)
	cmd.ValidArgsFunction = completeRuns
	return cmd
}

func completeRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func (o *exportOptions) run(dir string) error {
	if o.a.env.Launcher().Rank > 0 {
		return nil // one is enough
	}
	if err := o.parse(); err != nil {
		return err
	}
	run, err := openRun(dir)
	if err != nil {
		return err
	}
	defer run.Close()
	if o.out == "" {
		o.out = "-"
	}
	if err := o.write(o.a, run); err != nil {
		return err
	}
	if len(run.Damage()) > 0 {
		return &exitError{code: exitPartial}
	}
	return nil
}

// openRun opens a run directory for a command.
func openRun(dir string) (*recording.Run, error) {
	run, err := recording.Open(dir)
	switch {
	case errors.Is(err, recording.ErrNotARun):
		return nil, failf("read run %s: this folder holds no run: name one that mpitx record has made", dir)
	case err != nil:
		return nil, failf("read run: %v", err)
	}
	return run, nil
}

// progress is a bar on standard error, if that is a terminal, for what takes longer than a moment.
type progress struct {
	on           bool
	start, shown time.Time
}

func newProgress() *progress {
	return &progress{on: term.IsTerminal(int(os.Stderr.Fd())), start: time.Now()}
}

func (p *progress) update(done, total uint64) {
	if !p.on || total == 0 {
		return
	}
	now := time.Now()
	if now.Sub(p.start) < time.Second || now.Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = now
	const width = 30
	share := min(float64(done)/float64(total), 1)
	full := int(share * width)
	fmt.Fprintf(os.Stderr, "\rmpitx: exporting [%s%s] %3.0f %%", strings.Repeat("#", full), strings.Repeat("-", width-full), 100*share)
}

func (p *progress) clear() {
	if !p.shown.IsZero() {
		fmt.Fprintf(os.Stderr, "\r%60s\r", "")
		p.shown = time.Time{}
	}
}
