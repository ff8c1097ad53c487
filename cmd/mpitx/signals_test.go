//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whichever signal ends mpitx, its process group or its launcher, and however often it comes, no rank is left. Where plain mpirun ends its
// ranks, the exit code is the same; Open MPI's leaves them running at a second signal within 5 s, and at SIGQUIT and SIGKILL.
func TestSignalsLeaveNoRank(t *testing.T) {
	t.Parallel()
	codes := map[syscall.Signal]int{syscall.SIGTERM: 1, syscall.SIGINT: 1, syscall.SIGHUP: 1, syscall.SIGQUIT: 131, syscall.SIGKILL: 137} // of Open MPI's mpirun
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL}
	targets := []string{"process", "group", "process process", "group group", "process group", "launcher"} // timeout(1) signals process and group
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", "testdata/spin.c")
		cell := 0
		for n, target := range targets {
			for k, when := range []string{"before", "in", "after"} {
				signal := signals[(2*n+k)%len(signals)]
				commands := []string{"run", "profile", "record --pvar mpitx:calls", "trace", "sample --pvar mpitx:calls"}
				command := strings.Fields(commands[cell%len(commands)])
				cell++
				f.Run(when+"/"+target, func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					p := newProcess(f.environ, t.TempDir(), slices.Concat([]string{"mpitx"}, command, []string{"-n", "2", "--", program, when, dir})...)
					if err := p.start(); err != nil {
						t.Fatal(err)
					}
					for deadline := time.Now().Add(hung); ; time.Sleep(10 * time.Millisecond) {
						if ranks, _ := filepath.Glob(filepath.Join(dir, "*")); len(ranks) == 2 {
							break
						}
						if time.Now().After(deadline) {
							p.wait(0)
							t.Fatalf("the ranks did not start: %s", p.output())
						}
					}
					for k, to := range strings.Fields(target) {
						if k > 0 && to != "group" {
							time.Sleep(100 * time.Millisecond) // the first one is on its way
						}
						syscall.Kill(map[string]int{"process": p.cmd.Process.Pid, "group": -p.cmd.Process.Pid, "launcher": launcherOf(p)}[to], signal)
					}
					p.wait(hung)
					if p.failure != "" || f.family == "openmpi" && p.code != codes[signal] && !p.launcherHung {
						t.Errorf("%v: exit code %d, want %d: %s\n%s", signal, p.code, codes[signal], p.failure, p.output())
					}
				})
			}
		}
	})
}

// launcherOf is the launcher that mpitx has started; 0 if it has ended.
func launcherOf(p *process) int {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/task/*/children")
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(word)
			if name := filepath.Base(strings.Fields(cmdline(pid) + " -")[0]); strings.HasPrefix(name, "mpi") {
				return pid
			}
		}
	}
	return 0
}

// With a launcher in a group of its own, mpitx is still one job of a shell: the program reads the terminal, also after fg, stops with
// mpitx, and ends with it.
func TestJobControl(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		program := f.build("mpicc", "testdata/spin.c")
		s := onScreen(f.T, append(f.environ, "PS1=shell: ", "PROGRAM="+program), "cd "+f.dir+"; sh -i")
		s.until("shell:")
		s.keys("mpitx run -n 2 -- $PROGRAM echo | cat", "Enter")
		s.until("ready")
		s.keys("one", "Enter")
		s.until("read one")
		s.keys("C-z")
		s.until("Stopped")
		s.keys("fg", "Enter", "two", "Enter")
		s.until("read two")
		s.keys("C-d") // the end of the program's input
		s.until("read two\nshell:")
		s.keys("clear; mpitx run -n 2 -- $PROGRAM echo", "Enter")
		s.until("ready", "!read ")
		s.keys("C-c")
		s.until("\nshell:")
		s.keys("echo still $((6*7))", "Enter")
		s.until("still 42")
	})
}

// mpitx that waits for a reader of its output, after the application has ended, is ended by a signal.
func TestNoReader(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		pipe := filepath.Join(f.dir, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			f.Fatal(err)
		}
		p := newProcess(f.environ, f.dir, "mpitx", "profile", "-n", "2", "--out", pipe, "--dir", "run", "--", f.build("mpicc", "testdata/spin.c"), "echo", "-")
		p.cmd.Stdin = strings.NewReader("")
		if err := p.start(); err != nil {
			f.Fatal(err)
		}
		time.AfterFunc(hung, p.kill)
		over := func() bool {
			files, _ := filepath.Glob(filepath.Join(f.dir, "run", "node-*.mpxr"))
			return len(files) > 0
		}
		for {
			select {
			case <-p.ended:
				if !over() || p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
					f.Errorf("%v: %s", p.cmd.ProcessState, p.output())
				}
				return
			case <-time.After(50 * time.Millisecond):
			}
			if over() { // the application has ended
				syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM)
			}
		}
	})
}
