package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"mpitx/launch"
	"mpitx/machine/keep"
	"mpitx/recording"
)

// MeasureRun runs a command that records a run in a directory. A signal that ends mpitx ends the run first, and so does the limit, unless it
// is 0. What the command said is shown if it fails, or is the text of the error that is a [RunFailed].
func MeasureRun(cmd *exec.Cmd, dir string, limit time.Duration) (*recording.Run, error) {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	keeper := keep.Catch(keep.Options{})
	defer keeper.Stop()
	if err := keeper.Start(cmd); err != nil {
		return nil, err
	}
	var late atomic.Bool
	if limit > 0 {
		defer time.AfterFunc(limit, func() {
			late.Store(true)
			cmd.Process.Signal(syscall.SIGTERM) // mpitx profile ends its launcher
		}).Stop()
	}
	err := cmd.Wait()
	if passed := keeper.Stop(); passed != 0 {
		return nil, EndedBy(passed)
	}
	if late.Load() {
		return nil, &RunFailed{Late: true, How: fmt.Sprintf("it took too long, and was ended after %v", limit.Round(time.Second))}
	}
	if err != nil {
		return nil, &RunFailed{How: err.Error(), Said: reasons(said.String(), dir)}
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, &RunFailed{How: "the program did not call MPI_Init; name an MPI program after --"}
	}
	return launch.OpenSamples(dir)
}

// RunFailed says why a run that was to be measured failed.
type RunFailed struct {
	How, Said string
	Late      bool // it was ended at its limit
}

func (e *RunFailed) Error() string { return e.How }

// reasons is what a failed run said, without mpitx's lines about its recording, which is deleted.
func reasons(said, dir string) (out string) {
	for line := range strings.Lines(said) {
		recording := strings.Contains(line, dir) || strings.Contains(line, " is not sampled: ") || strings.Contains(line, " are not sampled: ")
		if !strings.HasPrefix(line, "mpitx: ") || !recording {
			out += line
		}
	}
	return out
}
