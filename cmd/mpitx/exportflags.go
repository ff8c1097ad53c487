package main

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/text"
	"mpitx/ui/progress"
)

// exportFlags choose how samples are written.
type exportFlags struct {
	outFile
	as     recording.Transform
	wide   bool
	format export.Format   // "" means the ending of out
	more   []export.Format // formats besides sampleFormats

	only   columns.Set                               // the columns to write; nil means all
	phases []string                                  // the phases to write; nil means all of the run
	during func(*recording.Rank, time.Duration) bool // the same
	cut    runPart                                   // the part of the run to write
	part   string                                    // part of the temporary file's name, see createFile
	late   existing                                  // what happens if the file has come to exist since the check
}

var sampleFormats = append(export.SampleFormats[:len(export.SampleFormats):len(export.SampleFormats)], formatParquet)

func (x *exportFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	choose(cmd, &x.format, "output", "o", "", "output `FORMAT`: "+strings.Join(texts(x.formats()), ", ")+" (default: the ending of --out, else csv)", x.formats()...)
	x.outFile.flags(cmd)
	chooseTransform(cmd, &x.as)
	f.BoolVar(&x.wide, "wide", false, "write one row per instant and one column per variable")
}

// formats are those that -o may name.
func (x *exportFlags) formats() []export.Format { return slices.Concat(sampleFormats, x.more) }

func (x *exportFlags) parse() error {
	ext := strings.TrimPrefix(filepath.Ext(x.out), ".")
	if ext != "" && x.format == "" && !slices.Contains(x.formats(), endingFormat(x.out)) {
		return usagef("--out %s: .%s is not a format of samples; end the name in .%s, or choose the format with -o", text.Quote(x.out), ext,
			strings.Join(texts(sampleFormats), ", ."))
	}
	return nil
}

// form is the format chosen by -o or by the file's name.
func (x *exportFlags) form() export.Format {
	return cmp.Or(x.format, endingFormat(x.out), export.FormatCSV)
}

// command is the mpitx export command that writes the same file.
func (x *exportFlags) command(dir string) string {
	words := "mpitx export " + text.Quote(dir)
	if x.format != "" {
		words += " -o " + string(x.format)
	}
	if x.as != recording.Default {
		words += " --as " + x.as.String()
	}
	if x.wide {
		words += " --wide"
	}
	if x.named() {
		words += " --out " + text.Quote(x.out)
		if x.overwrite {
			words += " --overwrite"
		}
	}
	return words
}

// errDamaged is returned if damaged parts were skipped; they were reported already.
var errDamaged = exit(exitPartial)

// write writes the samples of a run to x.out; "-" is standard output. If x.out exists and may not be replaced, the new
// file gets a number, and x.out becomes its name.
func (x *exportFlags) write(a *app, run *recording.Run) error {
	bar := progress.New("exporting")
	o := export.SampleOptions{Options: recording.Options{As: x.as, Column: x.only.Column(), During: x.during, Progress: bar.Update, From: x.cut.from, To: x.cut.to, Rank: x.cut.rank()}, Wide: x.wide}
	x.announce(a, run, o)
	damaged := false
	write := func(w io.Writer) (err error) {
		if x.form() == formatParquet {
			damaged, err = writeParquet(w, run, o, x.only, x.cut, x.phases)
			return err
		}
		err = export.Samples(w, run, x.form(), o)
		bar.Clear()
		damaged = reportDamage(a, run)
		return err
	}
	var err error
	if x.out == "-" {
		var term export.Terminal
		if term, err = a.terminal(); err != nil {
			return err
		}
		o.Terminal = term
		if err = write(a.out); err == nil {
			err = a.flush()
		}
	} else {
		x.out, err = createFile(x.out, x.part, x.then(x.late), write)
	}
	if err == nil && damaged {
		return errDamaged
	}
	return err
}

// muchExported is the size in bytes from which announce reports an export.
const muchExported = 1e9

// announce reports the size of a huge export on a terminal.
func (x *exportFlags) announce(a *app, run *recording.Run, o export.SampleOptions) {
	term, err := a.errTerminal()
	if size := export.SampleBytes(run, x.form(), o); err == nil && term.IsTTY && size > muchExported {
		a.complain("the export will take about %s; to make it smaller, choose variables by name, or use --wide or -o parquet", term.Amount(size, "B"))
	}
}
