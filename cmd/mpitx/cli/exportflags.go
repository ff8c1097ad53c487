package cli

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/export/parquet"
	"mpitx/export/runs"
	"mpitx/machine/newfile"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/text"
	"mpitx/ui/progress"
)

// ExportFlags choose how samples are written.
type ExportFlags struct {
	OutFile
	As     recording.Transform
	wide   bool
	Start  bool
	format export.Format   // "" means the ending of out
	More   []export.Format // formats besides sampleFormats

	Only   columns.Set                               // the columns to write; nil means all
	During func(*recording.Rank, time.Duration) bool // the part of each rank's time to write; nil means all
	Cut    RunPart                                   // the part of the run to write
	Part   string                                    // part of the temporary file's name, see createFile
	Late   newfile.Existing                          // what happens if the file has come to exist since the check
}

var sampleFormats = append(runs.SampleFormats[:len(runs.SampleFormats):len(runs.SampleFormats)], FormatParquet)

func (x *ExportFlags) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	Choose(cmd, &x.format, "output", "o", "", "output `FORMAT`: "+strings.Join(Texts(x.formats()), ", ")+" (default: the ending of --out, else csv)", x.formats()...)
	x.OutFile.Flags(cmd)
	ChooseTransform(cmd, &x.As)
	f.BoolVar(&x.wide, "wide", false, "write one row per instant and one column per variable")
	f.BoolVar(&x.Start, "with-start", false, "csv, ndjson: add a column start, the wall clock (UTC) of time 0")
}

// formats are those that -o may name.
func (x *ExportFlags) formats() []export.Format { return slices.Concat(sampleFormats, x.More) }

func (x *ExportFlags) Parse() error {
	ext := strings.TrimPrefix(filepath.Ext(x.Out), ".")
	if ext != "" && x.format == "" && !slices.Contains(x.formats(), endingFormat(x.Out)) {
		return Usagef("--out %s: .%s is not a format of samples; end the name in .%s, or choose the format with -o", text.Quote(x.Out), ext,
			strings.Join(Texts(sampleFormats), ", ."))
	}
	if form := x.Form(); x.Start && form != export.FormatCSV && form != export.FormatNDJSON {
		return Usagef("--with-start: %s has the start of the run anyway; leave it out", form)
	}
	return nil
}

// Form is the format chosen by -o or by the file's name.
func (x *ExportFlags) Form() export.Format {
	return cmp.Or(x.format, endingFormat(x.Out), export.FormatCSV)
}

// Command is the mpitx export command that writes the same file.
func (x *ExportFlags) Command(dir string) string {
	words := "mpitx export " + text.Quote(dir)
	if x.format != "" {
		words += " -o " + string(x.format)
	}
	if x.As != recording.Default {
		words += " --as " + x.As.String()
	}
	if x.wide {
		words += " --wide"
	}
	if x.Start {
		words += " --with-start"
	}
	if x.Named() {
		words += " --out " + text.Quote(x.Out)
		if x.overwrite {
			words += " --overwrite"
		}
	}
	return words
}

// Write writes the samples of a run to x.out; "-" is standard output. If x.out exists and may not be replaced, the new
// file gets a number, and x.out becomes its name.
func (x *ExportFlags) Write(a *App, run *recording.Run) error {
	bar := progress.New("exporting")
	o := runs.SampleOptions{Options: recording.Options{As: x.As, Column: x.Only.Column(), During: x.During, Progress: bar.Update, From: x.Cut.From, To: x.Cut.To, Rank: x.Cut.Rank()}, Wide: x.wide, Start: x.Start}
	x.announce(a, run, o)
	damaged, omitted := false, 0
	write := func(w io.Writer) (err error) {
		switch {
		case x.Form() == FormatOpenMetrics:
			omitted, err = runs.OpenMetrics(w, run, o.Options)
		case x.Form() != FormatParquet:
			err = runs.Samples(w, run, x.Form(), o)
		case x.wide:
			err = parquet.WideSamples(w, run, o.Options)
		default:
			err = parquet.Samples(w, run, o.Options)
		}
		bar.Clear()
		damaged = ReportDamage(a, run)
		return err
	}
	var err error
	if x.Out == "-" {
		var term export.Terminal
		if term, err = a.Terminal(); err != nil {
			return err
		}
		o.Terminal = term
		if err = write(a.Out); err == nil {
			err = a.flush()
		}
	} else {
		x.Out, err = x.write(x.Part, x.Late, write)
	}
	if omitted > 0 {
		a.Complain("-o openmetrics: %s left out, as it has %d at most; choose some by name", text.Count(omitted, "variable"), runs.MostMetricVariables)
	}
	if err == nil && damaged {
		return ErrDamaged
	}
	return err
}

// muchExported is the size in bytes from which announce reports an export.
const muchExported = 1e9

// announce reports the size of a huge export on a terminal.
func (x *ExportFlags) announce(a *App, run *recording.Run, o runs.SampleOptions) {
	term, err := a.ErrTerminal()
	if size := runs.SampleBytes(run, x.Form(), o); err == nil && term.IsTTY && size > muchExported {
		a.Complain("the export will take about %s; to make it smaller, choose variables by name, or use --wide or -o parquet", term.Amount(size, "B"))
	}
}
