package main

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/recording/profile"
	"mpitx/text"
)

// formatOut are the flags -o and --out, if the ending of the file's name can choose the format.
type formatOut struct {
	format  export.Format // "" means the ending of out
	formats []export.Format
	what    string // "reports"
	outFile
}

func (x *formatOut) flags(cmd *cobra.Command, what string, formats ...export.Format) {
	x.what, x.formats = what, formats
	choose(cmd, &x.format, "output", "o", "", "output `FORMAT`: "+strings.Join(texts(formats), ", ")+" (default: the ending of --out, else table)", formats...)
	x.outFile.flags(cmd)
}

// form is the format chosen by -o or by the file's name.
func (x *formatOut) form() export.Format {
	ending := export.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(x.out), ".")))
	switch ending {
	case "txt", "":
		ending = export.FormatTable
	case "gz", "pb":
		ending = formatPprof // solver.pb.gz
	}
	return cmp.Or(x.format, ending)
}

// checkFormat reports a wrong ending of the file's name.
func (x *formatOut) checkFormat() error {
	if form := x.form(); !slices.Contains(x.formats, form) {
		return usagef("--out %s: .%s is not a format of %s; end the name in .txt, .%s, or choose the format with -o", text.Quote(x.out), form, x.what,
			strings.Join(texts(x.formats), ", ."))
	}
	return nil
}

// check reports, before anything is read, what is wrong with the flags.
func (x *formatOut) check() error {
	if err := x.checkFormat(); err != nil {
		return err
	}
	return x.outFile.check()
}

// reportOut are the flags that say how and where a report is written.
type reportOut struct {
	formatOut

	part string   // part of the temporary file's name, see createFile
	late existing // what happens if the file has come to exist since the check
}

func (x *reportOut) flags(cmd *cobra.Command) { x.formatOut.flags(cmd, "reports", reportFormats...) }

// write writes a report to the file, or else to w, whose terminal the options describe.
func (x *reportOut) write(w io.Writer, p *profile.Profile, o export.ReportOptions) error {
	if !x.named() {
		return writeReport(w, p, x.form(), o)
	}
	o.Terminal = export.Terminal{UTF8: true}
	name, err := createFile(x.out, x.part, x.then(x.late), func(w io.Writer) error { return writeReport(w, p, x.form(), o) })
	x.out = name
	return err
}
