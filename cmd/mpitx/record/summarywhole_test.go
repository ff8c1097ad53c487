//go:build cgo && linux

package record

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// Text on standard error is whole if it does not go to a terminal, whatever standard output is, and however long it is.
func TestWholeOnStandardError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run1")
	if err := recordingtest.SaveSolver(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var said strings.Builder
	a := &cli.App{Out: bufio.NewWriter(io.Discard), Errs: &said, Std: &cli.Standard{}, Env: &machine.Env{Environ: []string{export.TermVariable + "=width=40,color=1,utf8=1,tty=1", "COLUMNS=40", cli.WidthVariable + "=0"}}}
	o := &profiling{recorder: &recorder{App: a}}
	o.summarize(run)
	for _, part := range []string{"MPI_Wait: solver+0x1180", "RECEIVED", "P95", "MIN AT", "KIND"} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("no %q in\n%s", part, said.String())
		}
	}
	if strings.ContainsAny(said.String(), "…\x1b") {
		t.Errorf("it is cut, or coloured:\n%s", said.String())
	}
	said.Reset()
	long := strings.Repeat("x", 9999)
	a.Complain("%s", long)
	if said.String() != "mpitx: "+long+"\n" {
		t.Errorf("%d characters of %d", said.Len(), len(long))
	}
}
