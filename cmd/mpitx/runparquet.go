package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"mpitx/cmd/internal/columns"
	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/export"
	"mpitx/recording"
)

// errParquet is an error that mpitx-parquet printed already.
var errParquet = exit(exitFailed)

// writeParquet writes the samples of a run as Parquet with the program mpitx-parquet next to this one. damaged reports
// whether parts were skipped, which that program names.
func writeParquet(w io.Writer, run *recording.Run, o export.SampleOptions, only columns.Set) (damaged bool, err error) {
	exe, err := os.Executable()
	if err != nil {
		return false, err
	}
	path, looked := locate.System().Beside(filepath.Dir(exe), "mpitx-parquet")
	if path == "" {
		return false, &locate.Error{What: "write Parquet", Why: "mpitx-parquet is not in " + strings.Join(looked, ", "), Do: "install mpitx completely, or choose another format"}
	}
	shape := "long"
	if o.Wide {
		shape = "wide"
	}
	cmd := exec.Command(path, run.Dir, strconv.Itoa(int(o.As)), shape)
	if only != nil {
		var chosen bytes.Buffer
		if err := only.Write(&chosen); err != nil {
			return false, err
		}
		cmd.Args, cmd.Stdin = append(cmd.Args, "chosen"), &chosen
	}
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitPartial {
		return true, nil
	} else if errors.As(err, &exit) && exit.ExitCode() == exitFailed {
		return false, errParquet
	}
	return false, err
}
