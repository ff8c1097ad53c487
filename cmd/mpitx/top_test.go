//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// screen is a terminal of its own, in tmux.
type screen struct {
	t      testing.TB
	socket string
}

func (s *screen) tmux(args ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	return string(out)
}

// await waits for something to be seen.
func (s *screen) await(what string, seen func(string) bool) string {
	s.t.Helper()
	text := ""
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if text = s.tmux("capture-pane", "-p"); seen(text) {
			return text
		}
	}
	s.t.Fatalf("%s was not seen on\n%s", what, text)
	return ""
}

func (s *screen) sees(texts ...string) string {
	s.t.Helper()
	return s.await(strings.Join(texts, ", "), func(got string) bool {
		for _, text := range texts {
			if !strings.Contains(got, text) {
				return false
			}
		}
		return true
	})
}

// TestTop watches jobs of four ranks as a user does.
func TestTop(t *testing.T) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is not installed: make test installs it")
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) { watch(t, family) })
	}
}

func watch(t *testing.T, family string) {
	bin, _ := build()
	dir, err := os.MkdirTemp(work, "top")
	if err != nil {
		t.Fatal(err)
	}
	launcher := []string{"mpirun." + family, "-n", "4"}
	if family == "openmpi" {
		launcher = append(launcher, "--oversubscribe")
	}
	// The job goes on until it is stopped.
	job := exec.Command(launcher[0], append(launcher[1:], filepath.Join(bin, "mpitx"), "record", "--dir", filepath.Join(dir, "run1"),
		"--pvar", "mpitx:*", "--workload", "pingpong", "--duration", "10m")...)
	job.Env, job.Dir = append(environment(dir, os.TempDir(), bin), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"), dir
	var output strings.Builder
	job.Stdout, job.Stderr = &output, &output
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { job.Wait(); close(ended) }()
	stop := func() {
		job.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			job.Process.Kill()
			<-ended
		}
	}
	defer stop()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(dir, "run1", "*.mpx*")); len(found) >= 4 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no run:\n%s", output.String())
		}
	}
	s := &screen{t, filepath.Join(dir, "tmux")}
	defer s.tmux("kill-server")
	// Without a name: the run that goes on. What stood on the terminal before must stand there afterwards.
	line := fmt.Sprintf("cd %s; echo before; %s top; echo code $?; read go; %s top run1; echo second $?; exec sleep 600", dir, filepath.Join(bin, "mpitx"), filepath.Join(bin, "mpitx"))
	s.tmux("new-session", "-d", "-x", "100", "-y", "30", "env", "-u", "NO_COLOR", "LC_ALL=C.UTF-8", "sh", "-c", line)
	s.sees("run1", "4 running", "mpitx:calls", "ranks over time", "q quit")
	s.tmux("send-keys", "v", "v", "v")
	s.sees("per second", "/s")
	s.tmux("send-keys", "/", "_sent", "Enter")
	s.await("only what is sent", func(got string) bool {
		return strings.Contains(got, "mpitx:bytes_sent") && !strings.Contains(got, "mpitx:calls ")
	})
	s.tmux("send-keys", "Enter")
	first := s.sees("RANK", "RATE/s", "running")
	s.await("a value that moves", func(got string) bool { return rankLine(got) != "" && rankLine(got) != rankLine(first) })
	s.tmux("send-keys", "m")
	s.sees("a rank 0", "d rank 3")
	s.tmux("send-keys", "e", "shown.csv", "Enter")
	s.sees("saved mpitx:messages_sent on 4 ranks to shown.csv")
	if text, _ := os.ReadFile(filepath.Join(dir, "shown.csv")); strings.Count(string(text), "mpitx:messages_sent,counter,,") != 4 {
		t.Errorf("exported:\n%s", text)
	}
	s.tmux("send-keys", "q")
	s.sees("before\ncode 0")
	s.tmux("send-keys", "Enter")
	// Stopped by a signal: the terminal is put back, too.
	s.sees("q quit")
	if pid := strings.TrimSpace(s.child()); pid == "" {
		t.Error("no process")
	} else if out, err := exec.Command("kill", "-TERM", pid).CombinedOutput(); err != nil {
		t.Errorf("kill: %v %s", err, out)
	}
	s.sees("before", "second 143")
	stop()
	// What the job left behind.
	out, err := exec.Command(filepath.Join(bin, "mpitx"), "top", filepath.Join(dir, "run1"), "--once", "--by-rank", "-o", "csv").Output()
	if err != nil || strings.Count(string(out), "mpitx:calls,") != 4 {
		t.Errorf("--once: %v\n%s", err, out)
	}
	damaged(t, filepath.Join(bin, "mpitx"), filepath.Join(dir, "run1"))
}

// damaged overwrites something in the middle of a run: what is whole is printed, and where it is not is told.
func damaged(t *testing.T, mpitx, run string) {
	if out, err := exec.Command(mpitx, "recover", run).CombinedOutput(); err != nil { // what a launcher has killed
		t.Fatalf("recover: %v\n%s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(run, "node-*.mpxr"))
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	at := len(b) / 2
	copy(b[at:], strings.Repeat("?", 4096))
	if err := os.WriteFile(files[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(mpitx, "top", run, "--once", "-o", "csv")
	var errors strings.Builder
	cmd.Stderr = &errors
	out, _ := cmd.Output()
	if cmd.ProcessState.ExitCode() != exitPartial || !strings.Contains(string(out), "mpitx:calls,") {
		t.Errorf("code %d:\n%s%s", cmd.ProcessState.ExitCode(), out, errors.String())
	}
	_, rest, _ := strings.Cut(errors.String(), filepath.Base(files[0])+": damaged at byte ")
	offset := 0
	if fmt.Sscan(rest, &offset); offset < at-1<<20 || offset > at+4096 {
		t.Errorf("overwritten from byte %d on:\n%s", at, errors.String())
	}
}

// rankLine is the line of rank 1.
func rankLine(screen string) string {
	for l := range strings.Lines(screen) {
		if f := strings.Fields(l); len(f) > 3 && f[0] == "1" {
			return l
		}
	}
	return ""
}

// child is the process that runs in the pane's shell.
func (s *screen) child() string {
	shell := strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}"))
	out, _ := os.ReadFile("/proc/" + shell + "/task/" + shell + "/children")
	return string(out)
}
