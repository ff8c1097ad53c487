package variables

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

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine/keep"
	"mpitx/recording/experiment"
)

// measureRun runs a command that records a profile. A signal that ends mpitx ends the run first, and so does the limit, unless it is 0.
// What the command said is shown if it fails.
func measureRun(cmd *exec.Cmd, dir string, limit time.Duration) (m experiment.Run, err error) {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	keeper := keep.Catch(keep.Options{})
	defer keeper.Stop()
	if err := keeper.Start(cmd); err != nil {
		return m, err
	}
	var late atomic.Bool
	if limit > 0 {
		defer time.AfterFunc(limit, func() {
			late.Store(true)
			cmd.Process.Signal(syscall.SIGTERM) // mpitx profile ends its launcher
		}).Stop()
	}
	err = cmd.Wait()
	if passed := keeper.Stop(); passed != 0 {
		return m, cli.EndedBy(passed)
	}
	if late.Load() {
		return m, fmt.Errorf("it took more than ten times as long as those without, and was ended after %v", limit.Round(time.Second))
	}
	if err != nil {
		os.Stderr.WriteString(reasons(said.String(), dir))
		return m, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return m, errors.New("the program did not call MPI_Init; name an MPI program after --")
	}
	one, err := launch.OpenSamples(dir)
	if err != nil {
		return m, err
	}
	defer one.Close()
	return experiment.Read(one)
}

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
