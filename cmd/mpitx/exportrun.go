package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/cmd/internal/columns"
	"mpitx/cmd/internal/progress"
	"mpitx/cmd/mpitx/internal/attach"
	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/export"
	"mpitx/recording"
)

// formatParquet is written by a package of its own.
const formatParquet = export.Format("parquet")

// exportFlags choose how samples are written.
type exportFlags struct {
	out             string
	as              recording.Transform
	wide, overwrite bool
	format          export.Format // "": as out ends

	only columns.Set // what of the run; nil: all
	part string      // names the file while it is written, see createFile
	then existing
}

var sampleFormats = append(export.SampleFormats[:len(export.SampleFormats):len(export.SampleFormats)], formatParquet)

// outName is the value of --out: a second one would leave the first file unwritten.
type outName string

func (n *outName) String() string { return string(*n) }
func (n *outName) Type() string   { return "string" }
func (n *outName) Set(name string) error {
	if *n != "" {
		return fmt.Errorf("there is --out %s already; name one file", origin.Quote(string(*n)))
	}
	*n = outName(name)
	return nil
}

func (x *exportFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	choose(cmd, &x.format, "output", "o", "", "output `FORMAT`: "+strings.Join(texts(sampleFormats), ", ")+" (default: as --out ends; csv if that has no ending)", sampleFormats...)
	f.Var((*outName)(&x.out), "out", "`FILE` to write")
	chooseTransform(cmd, &x.as, "raw, delta (since the start) or rate (per second)")
	f.BoolVar(&x.overwrite, "overwrite", false, "replace the file that --out names, if it is there")
	f.BoolVar(&x.wide, "wide", false, "one row for each instant, one column for each variable")
	cmd.MarkFlagFilename("out")
}

func (x *exportFlags) parse() error {
	ext := strings.TrimPrefix(filepath.Ext(x.out), ".")
	if ext != "" && x.format == "" && !slices.Contains(sampleFormats, export.Format(strings.ToLower(ext))) {
		return usagef("--out %s: .%s is not a format of samples: end the name in .%s, or choose the format with -o", origin.Quote(x.out), ext,
			strings.Join(texts(sampleFormats), ", ."))
	}
	return nil
}

// form is the format that -o or the file's name chooses.
func (x *exportFlags) form() export.Format {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(x.out), "."))
	return cmp.Or(x.format, export.Format(ext), export.FormatCSV)
}

// command is what writes the same export of a run.
func (x *exportFlags) command(dir string) string {
	words := "mpitx export " + origin.Quote(dir)
	if x.format != "" {
		words += " -o " + string(x.format)
	}
	if x.as != recording.Default {
		words += " --as " + x.as.String()
	}
	if x.wide {
		words += " --wide"
	}
	if x.out != "" && x.out != "-" {
		words += " --out " + origin.Quote(x.out)
	}
	return words
}

// check finds out, before there is anything to write, whether the file can be written.
func (x *exportFlags) check() error {
	if x.out == "" || x.out == "-" {
		return nil
	}
	if st, err := os.Stat(x.out); err == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return usagef("--out %s: this is a directory; name a file", x.out)
		}
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(x.out), ".mpitx-*")
	if err != nil {
		return failf("--out %s: %v; name a file that can be written", x.out, causeOf(err))
	}
	f.Close()
	os.Remove(f.Name())
	return nil
}

// errDamaged says that something was left out, of which the user has heard.
var errDamaged = exit(exitPartial)

// write writes the samples of a run to x.out, "-" being standard output. If that file is there, x.out becomes the name of the one
// that was written.
func (x *exportFlags) write(a *app, run *recording.Run) error {
	bar := progress.New("exporting")
	o := export.SampleOptions{Options: recording.Options{As: x.as, Column: x.only.Column(), Progress: bar.Update}, Wide: x.wide}
	x.announce(a, run, o)
	damaged := false
	write := func(w io.Writer) (err error) {
		if x.form() == formatParquet {
			damaged, err = writeParquet(w, run, o, x.only)
			return err
		}
		err = export.Samples(w, run, x.form(), o)
		bar.Clear()
		damaged = tellDamage(a, run)
		return err
	}
	var err error
	if x.out == "-" {
		var term export.Terminal
		if term, err = a.terminal(); err != nil {
			return err
		}
		if o.Terminal = term; term.IsTTY && x.form() == formatParquet {
			return usagef("-o parquet: a terminal cannot show it; name a file with --out")
		}
		if err = write(a.out); err == nil {
			err = a.flush()
		}
	} else {
		then := x.then
		if x.overwrite {
			then = replaceIt
		}
		x.out, err = createFile(x.out, x.part, then, write)
	}
	if err == nil && damaged {
		return errDamaged
	}
	return err
}

// muchExported is announced before it is written.
const muchExported = 1e9

// announce says on a terminal how large a huge export will be.
func (x *exportFlags) announce(a *app, run *recording.Run, o export.SampleOptions) {
	term, err := export.Detect(os.Stderr, a.env.Getenv, a.color)
	if size := export.SampleBytes(run, x.form(), o); err == nil && term.IsTTY && size > muchExported {
		a.complain("the export will have about %s: GLOBs of `mpitx export`, --wide and -o parquet make it smaller", term.Amount(size, "B"))
	}
}

// tellDamage names what could not be read of a run, and tells whether there is such.
func tellDamage(a *app, run *recording.Run) bool {
	for k, damage := range run.Damage() {
		if k == 10 {
			a.complain("and %d more", len(run.Damage())-k)
			break
		}
		a.complain("%v: left out", damage)
	}
	return len(run.Damage()) > 0
}

// tellGaps says what is missing in a run.
func tellGaps(a *app, run *recording.Run) {
	for _, text := range []string{attach.Loss(run), attach.Away(run)} {
		if text != "" {
			a.complain("%s", text)
		}
	}
}

type exportOptions struct {
	a *app
	exportFlags
	columnFilter
}

func newExport(a *app) *cobra.Command {
	o := &exportOptions{a: a}
	cmd := &cobra.Command{
		Use:   "export RUN [GLOB…]",
		Short: "Write the samples of a run directory in any format",
		Long: `Write the samples of a run directory (of mpitx record, or of mpitx sample without --out) as CSV, JSON, NDJSON or Parquet, in
order of time over all ranks. GLOBs choose variables by name. It works while the job runs, and after it died: everything that was
sampled until then is there.`,
		Example: `  mpitx export mpitx-run-20261120-120000-4711 -o csv --out samples.csv
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
	if !o.overwrite && freeName(o.out) != o.out {
		return errExists(o.out)
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
	tellGaps(o.a, run)
	return err
}

// openRun opens a run directory for a command.
func openRun(dir string) (*recording.Run, error) {
	const do = "name the directory of a run, which mpitx record or mpitx sample has made"
	run, err := recording.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failf("%s: there is no such directory; %s", dir, do)
	case errors.Is(err, recording.ErrNotARun):
		if st, err := os.Stat(dir); err == nil && !st.IsDir() {
			return nil, failf("%s: it is not a directory; %s", dir, do)
		}
		return nil, failf("%s: this directory holds no run; %s", dir, do)
	case err != nil:
		return nil, failf("%s: cannot read the run: %v", dir, causeOf(err))
	}
	return run, nil
}

// openSamples opens a run in which there is something.
func openSamples(dir string) (*recording.Run, error) {
	run, err := openRun(dir)
	if err == nil && len(run.Ranks) == 0 && len(run.Damage()) == 0 {
		run.Close()
		return nil, failf("read run %s: nothing was recorded in it so far: if its job still runs, try again in a moment", dir)
	}
	return run, err
}
