//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// However mpitx check is ended while the library hangs, it leaves no processes. It leaves no files unless it is killed.
func TestCheckEnds(t *testing.T) {
	t.Parallel()
	environ := append(testEnvironment(t), "FAKEMPI_FAULTS=hang-t-init")
	for _, end := range []struct {
		signal syscall.Signal
		group  bool
		code   int
	}{{syscall.SIGINT, true, 130}, {syscall.SIGTERM, false, 143}, {syscall.SIGHUP, false, 129}, {syscall.SIGKILL, false, 137}} {
		p := newProcess(environ, t.TempDir(), "mpitx", "check", "names", "ranks-variables", "-j", "12")
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
		var workers []int
		for deadline := time.Now().Add(hung); len(workers) < 13 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			workers = p.backends("check") // of 11 rules about names, and two ranks
		}
		dirs := map[string]bool{}
		for _, pid := range workers {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			for _, kv := range strings.Split(string(text), "\x00") {
				if dir, ok := strings.CutPrefix(kv, "FAKEMPI_DIR=/tmp/mx"); ok {
					dirs["/tmp/mx"+dir] = true
				}
			}
		}
		if len(dirs) != 12 {
			t.Errorf("%v: %d processes in %d directories", end.signal, len(workers), len(dirs))
		}
		pid := p.cmd.Process.Pid
		if end.group {
			pid = -pid
		}
		syscall.Kill(pid, end.signal)
		p.wait(20 * time.Second)
		if p.failure != "" || p.code != end.code || p.stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, want %d: %s\n%s", end.signal, p.code, end.code, p.failure, p.output())
		}
		want := "mpitx: ended by a signal (" + end.signal.String() + ") before there was a result\n"
		if got := p.stderr.String(); end.signal != syscall.SIGKILL && got != want {
			t.Errorf("%v: %q, want %q", end.signal, got, want)
		}
		for dir := range dirs {
			if _, err := os.Stat(dir); err == nil && end.signal != syscall.SIGKILL {
				t.Errorf("%v: %s is left", end.signal, dir)
			}
			os.RemoveAll(dir)
		}
	}
}

// A long test shows its progress on a terminal, and removes it before the report. Each rule takes 0.3 s here.
func TestCheckProgress(t *testing.T) {
	t.Parallel()
	text, p := onTerminal(t, append(testEnvironment(t), "FAKEMPI_FAULTS=slow-t-init", "FAKEMPI_STRICT=1"), 80, "mpitx", "check", "names", "-j", "1")
	bars, report, ok := strings.Cut(text, " \r")
	if p.code != 0 || !ok || !strings.Contains(bars, "mpitx: testing rules [##") || !strings.HasPrefix(report, "mpitx demo library") {
		t.Errorf("exit code %d: %q", p.code, text)
	}
}
