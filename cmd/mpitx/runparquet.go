package main

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/export"
	"mpitx/recording"
)

// writeParquet writes the samples of a run as Parquet, through a command of its own that lies beside this one.
func writeParquet(w io.Writer, run *recording.Run, o export.SampleOptions) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	path, looked := besideUs(locate.System(), dir(exe), "mpitx-parquet")
	if path == "" {
		return &locate.Error{What: "write Parquet", Why: "mpitx-parquet is not in " + strings.Join(looked, ", "), Do: "install mpitx as a whole, or use another format"}
	}
	shape := "long"
	if o.Wide {
		shape = "wide"
	}
	cmd := exec.Command(path, run.Dir, strconv.Itoa(int(o.As)), shape)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	return cmd.Run()
}
