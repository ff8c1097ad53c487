package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"mpitx/machine"
	"mpitx/machine/keep"
)

// Ranks starts n ranks of a program with the launcher of an MPI, without the agent, and waits for them. code is the launcher's exit code,
// 128 and the number of a signal that ended it. err is the first failure to write what they print, or to start them.
func Ranks(e *machine.Env, m machine.MPI, n int, program, variables []string, stdout, stderr io.Writer) (code int, err error) {
	keeper := keep.Catch(keep.Options{Launcher: true})
	defer keeper.Stop()
	argv, environ, err := e.LaunchCommand(m, n, program)
	if err != nil {
		return 0, err
	}
	environ = append(environ, variables...)
	out := &relay{to: stdout}
	if argv[0] == machine.SelfLaunch {
		if code, err = selfLaunch(n, argv[2:], environ, out, stderr); err == nil {
			err = out.err
		}
		return code, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = environ
	cmd.Stdout, cmd.Stderr = out, stderr
	cmd.WaitDelay = 5 * time.Second // for processes that outlive the launcher
	if err := keeper.Start(cmd); err != nil {
		return 0, startFailed(argv[0], err)
	}
	cmd.Wait()
	code = ExitCode(cmd.ProcessState)
	if passed := keeper.Stop(); passed != 0 { // Hydra exits with 0 then
		return 128 + int(passed), nil
	}
	return code, out.err
}

// relay passes a launcher's output on. After a failed write it still reads: launchers crash on a closed pipe, or hide
// the failure.
type relay struct {
	mu  sync.Mutex
	to  io.Writer
	err error
}

func (r *relay) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.to.Write(p)
	}
	return len(p), nil
}

// ExitCode is a process's exit code, or 128 and the number of the signal that ended it.
func ExitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// selfLaunch is the demo MPI's launcher: it starts n processes that find each other in a directory. It returns the
// highest of their exit codes.
func selfLaunch(n int, argv, environ []string, stdout, stderr io.Writer) (code int, err error) {
	dir, err := os.MkdirTemp("", "mpitx-demo-")
	if err != nil {
		return 0, startFailed("ranks", err)
	}
	defer os.RemoveAll(dir)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ended := func(c int) {
		mu.Lock()
		code = max(code, c)
		mu.Unlock()
	}
	// After rank 0 has failed, the other ranks are ended, as launchers do.
	ctx, end := context.WithCancel(context.Background())
	defer end()
	stopped := make(chan os.Signal, 1)
	keep.Endings(stopped)
	defer keep.Stop(stopped)
start:
	for rank := range n {
		select {
		case s := <-stopped:
			number, _ := s.(syscall.Signal)
			ended(128 + int(number))
			break start
		case <-ctx.Done():
			break start
		default:
		}
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(environ[:len(environ):len(environ)], fmt.Sprintf("FAKEMPI_RANK=%d", rank), fmt.Sprintf("FAKEMPI_SIZE=%d", n), "FAKEMPI_DIR="+dir)
		cmd.Stdout, cmd.Stderr = stdout, stderr
		if rank == 0 {
			cmd.Stdin = os.Stdin
		}
		var asked atomic.Bool // to exit, so its exit code does not count
		cmd.Cancel = func() error {
			asked.Store(true)
			return cmd.Process.Signal(syscall.SIGTERM)
		}
		cmd.WaitDelay = 2 * time.Second // and then SIGKILL
		keeper := keep.Catch(keep.Options{})
		if err := keeper.Start(cmd); err != nil {
			keeper.Stop()
			end()
			wg.Wait()
			return 0, startFailed(argv[0], err)
		}
		wg.Go(func() {
			cmd.Wait()
			keeper.Stop()
			c := ExitCode(cmd.ProcessState)
			if !asked.Load() {
				ended(c)
			}
			if rank == 0 && c != 0 {
				time.AfterFunc(2*time.Second, end)
			}
		})
	}
	wg.Wait()
	return code, nil
}
