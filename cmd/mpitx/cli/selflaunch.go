package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"mpitx/machine/keep"
)

// selfLaunch is the demo MPI's launcher: it starts n processes that find each other in a directory. It returns the
// highest of their exit codes.
func selfLaunch(n int, argv, environ []string, std *Standard) int {
	dir, err := os.MkdirTemp("", "mpitx-demo-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "mpitx: start ranks:", err)
		return ExitFailed
	}
	defer os.RemoveAll(dir)
	var wg sync.WaitGroup
	var mu sync.Mutex
	code := 0
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
		cmd.Stdout, cmd.Stderr = std.stdout(), std.Stderr()
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
			fmt.Fprintln(os.Stderr, "mpitx: start ranks:", err)
			ended(ExitFailed)
			continue
		}
		wg.Go(func() {
			cmd.Wait()
			keeper.Stop()
			c := ExitCode(cmd.ProcessState)
			if !asked.Load() {
				ended(c)
			}
			if rank == 0 && c != ExitDone {
				time.AfterFunc(2*time.Second, end)
			}
		})
	}
	wg.Wait()
	return code
}
