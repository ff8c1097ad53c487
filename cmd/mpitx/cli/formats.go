package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/export"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/recording/profile"
)

// errFormats is an error that mpitx-formats printed already.
var errFormats = Exit(ExitFailed)

// The formats that the program mpitx-formats writes: their libraries would slow the start of every command.
const (
	FormatParquet = export.Format("parquet")
	formatPprof   = export.Format("pprof")
	formatHTML    = export.Format("html")
)

// ReportFormats are the formats of the overview of a profile.
var ReportFormats = append(export.ReportFormats[:len(export.ReportFormats):len(export.ReportFormats)], FormatParquet, formatHTML, formatPprof)

// Showable reports, before any work, a format that standard output cannot show because it is a terminal.
func (a *App) Showable(f export.Format) error {
	if f != FormatParquet && f != formatHTML && f != formatPprof && f != FormatPerfetto {
		return nil
	}
	term, err := a.Terminal()
	if err == nil && term.IsTTY {
		err = Usagef("-o %s: a terminal cannot show it; name a file with --out", f)
	}
	return err
}

// writeParquet writes the samples of a run as Parquet. damaged reports whether parts were skipped, which mpitx-formats names.
func writeParquet(w io.Writer, run *recording.Run, o export.SampleOptions, only columns.Set, part RunPart, phases []string) (damaged bool, err error) {
	args := slices.Concat([]string{"samples", run.Dir, strconv.Itoa(int(o.As)), "long", "all"}, part.words(), phases)
	if o.Wide {
		args[3] = "wide"
	}
	var chosen bytes.Buffer
	if only != nil {
		args[4] = "chosen"
		if err := only.Write(&chosen); err != nil {
			return false, err
		}
	}
	return runFormats(w, &chosen, "Parquet", args...)
}

// WriteReport writes a report in any of the ReportFormats.
func WriteReport(w io.Writer, p *profile.Profile, f export.Format, o export.ReportOptions) error {
	if slices.Contains(export.ReportFormats, f) {
		return export.Report(w, p, f, o)
	}
	if f == FormatParquet {
		return WriteRows(w, p.Run.Dir, export.ReportRows(p, cmp.Or(o.Table, export.ReportTables[0])))
	}
	cut, err := json.Marshal(p.Cut)
	if err != nil {
		return err
	}
	return writeFormat(w, f, bytes.NewReader(cut), "report", p.Run.Dir, string(f), o.Run)
}

// WriteRows writes a table about a run as Parquet.
func WriteRows(w io.Writer, dir string, rows *export.Rows) error {
	var b bytes.Buffer
	if err := rows.Encode(&b); err != nil {
		return err
	}
	return writeFormat(w, FormatParquet, &b, "rows", dir)
}

// writeFormat lets mpitx-formats write what it reads from a reader.
func writeFormat(w io.Writer, f export.Format, from io.Reader, args ...string) error {
	_, err := runFormats(w, from, string(f), args...)
	return err
}

// firstError remembers why writing failed.
type firstError struct {
	w   io.Writer
	err error
}

func (f *firstError) Write(p []byte) (n int, err error) {
	if n, err = f.w.Write(p); f.err == nil {
		f.err = err
	}
	return n, err
}

// runFormats runs the program mpitx-formats, which is next to this one or where it is installed.
func runFormats(w io.Writer, stdin io.Reader, what string, args ...string) (damaged bool, err error) {
	exe, err := os.Executable()
	if err != nil {
		return false, err
	}
	path, looked := machine.System().Beside(filepath.Dir(exe), "mpitx-formats")
	if path == "" {
		return false, &machine.Error{What: "write " + what, Why: "mpitx-formats is not in " + strings.Join(looked, ", "), Do: "install mpitx completely, or choose another format"}
	}
	out := &firstError{w: w}
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, out, os.Stderr
	if err = cmd.Run(); out.err != nil {
		return false, out.err // it ended mpitx-formats, too
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == ExitPartial {
		return true, nil
	} else if errors.As(err, &exit) && exit.ExitCode() == ExitFailed {
		return false, errFormats
	}
	return false, err
}
