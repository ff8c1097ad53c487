package cli

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/machine/newfile"
	"mpitx/recording/profile"
	"mpitx/text"
)

// FormatOut are the flags -o and --out, if the ending of the file's name can choose the format.
type FormatOut struct {
	Format  export.Format // "" means the ending of out
	formats []export.Format
	what    string // "reports"
	OutFile
}

func (x *FormatOut) Flags(cmd *cobra.Command, what string, formats ...export.Format) {
	x.what, x.formats = what, formats
	Choose(cmd, &x.Format, "output", "o", "", "output `FORMAT`: "+strings.Join(Texts(formats), ", ")+" (default: the ending of --out, else table)", formats...)
	x.OutFile.Flags(cmd)
}

// Form is the format chosen by -o or by the file's name.
func (x *FormatOut) Form() export.Format {
	ending := export.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(x.Out), ".")))
	switch ending {
	case "txt", "":
		ending = export.FormatTable
	case "gz", "pb":
		ending = formatPprof // solver.pb.gz
	}
	return cmp.Or(x.Format, ending)
}

// CheckFormat reports a wrong ending of the file's name.
func (x *FormatOut) CheckFormat() error {
	if form := x.Form(); !slices.Contains(x.formats, form) {
		return Usagef("--out %s: .%s is not a format of %s; end the name in .txt, .%s, or choose the format with -o", text.Quote(x.Out), form, x.what,
			strings.Join(Texts(x.formats), ", ."))
	}
	return nil
}

// Check reports, before anything is read, what is wrong with the flags.
func (x *FormatOut) Check() error {
	if err := x.CheckFormat(); err != nil {
		return err
	}
	return x.OutFile.Check()
}

// ReportOut are the flags that say how and where a report is written.
type ReportOut struct {
	FormatOut

	Part string           // part of the temporary file's name, see createFile
	Late newfile.Existing // what happens if the file has come to exist since the check
}

func (x *ReportOut) Flags(cmd *cobra.Command) { x.FormatOut.Flags(cmd, "reports", ReportFormats...) }

// Write writes a report to the file, or else to w, whose terminal the options describe.
func (x *ReportOut) Write(w io.Writer, p *profile.Profile, o runs.ReportOptions) error {
	if !x.Named() {
		return WriteReport(w, p, x.Form(), o)
	}
	o.Terminal = export.Terminal{UTF8: true}
	name, err := x.write(x.Part, x.Late, func(w io.Writer) error { return WriteReport(w, p, x.Form(), o) })
	x.Out = name
	return err
}
