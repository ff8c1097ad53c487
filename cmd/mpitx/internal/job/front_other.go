//go:build !linux

package job

import (
	"fmt"
	"io"
	"os"
)

type front struct{}

// Collect answers with an error: MPI libraries are read on Linux only.
func Collect(Options) (*Job, error) {
	return nil, &Error{Text: "read the MPI library: mpitx reads live MPI libraries on Linux only: use a snapshot (--from FILE)"}
}

// Finish returns the code to exit with.
func (j *Job) Finish(code int) int { return code }

// Settle does nothing here.
func (j *Job) Settle(int) {}

// Serve answers with an error.
func Serve(Options, io.Reader, io.Writer) int {
	fmt.Fprintln(os.Stderr, "mpitx: serve: mpitx reads live MPI libraries on Linux only: use a snapshot (--from FILE)")
	return 2
}
