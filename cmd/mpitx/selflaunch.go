package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// selfLaunch is the launcher of the demo MPI, which has none: it starts n processes that find each other in a directory.
// It returns the highest of their exit codes.
func selfLaunch(n int, argv, environ []string, limit time.Duration) int {
	dir, err := os.MkdirTemp("", "mpitx-demo-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "mpitx: start ranks:", err)
		return exitFailed
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
	over := make(chan struct{}) // closes when rank 0 has failed: as launchers do, the others are ended then
	stopped := make(chan os.Signal, 1)
	notifyEndings(stopped)
	defer signal.Stop(stopped)
start:
	for rank := range n {
		select {
		case s := <-stopped:
			number, _ := s.(syscall.Signal)
			ended(128 + int(number))
			break start
		case <-over:
			break start
		default:
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(environ[:len(environ):len(environ)], fmt.Sprintf("FAKEMPI_RANK=%d", rank), fmt.Sprintf("FAKEMPI_SIZE=%d", n), "FAKEMPI_DIR="+dir)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if rank == 0 {
			cmd.Stdin = os.Stdin
		}
		cmd.WaitDelay = limit
		signals := catchSignals()
		if err := signals.start(cmd); err != nil {
			signals.stop()
			fmt.Fprintln(os.Stderr, "mpitx: start ranks:", err)
			ended(exitFailed)
			continue
		}
		gone := make(chan struct{})
		var told atomic.Bool // to end: its exit code says nothing about the job
		wg.Go(func() {
			cmd.Wait()
			signals.stop()
			close(gone)
			c := exitCode(cmd.ProcessState)
			if !told.Load() {
				ended(c)
			}
			if rank == 0 && c != exitDone {
				close(over)
			}
		})
		go func() {
			select {
			case <-gone:
				return
			case <-over:
			}
			for _, s := range []os.Signal{syscall.SIGTERM, os.Kill} {
				select {
				case <-gone:
					return
				case <-time.After(2 * time.Second):
					told.Store(true)
					cmd.Process.Signal(s)
				}
			}
		}()
	}
	wg.Wait()
	return code
}
