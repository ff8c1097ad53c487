//go:build linux

package transport

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/fixtures/need"
)

func TestTail(t *testing.T) {
	w := &tail{}
	for k := range 2000 {
		fmt.Fprintf(w, "line %d\n", k)
	}
	s := w.String()
	if len(s) > 4096 || !strings.HasSuffix(s, "line 1999") {
		t.Errorf("%d bytes, ending in %q", len(s), s[max(0, len(s)-20):])
	}
}

// script makes an executable that acts as a back end.
func script(t *testing.T, text string) string {
	t.Helper()
	path := t.TempDir() + "/backend"
	if err := need.Executable(path, []byte("#!/bin/sh\n"+text)); err != nil {
		t.Fatal(err)
	}
	return path
}

func quiet(exe string) Spec {
	return Spec{Exe: exe, Environ: os.Environ(), Name: "before", Quiet: true}
}

func events(t *testing.T, from <-chan Event) (all []Event) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e := <-from:
			all = append(all, e)
			if e.Kind == 0 {
				return all
			}
		case <-late:
			t.Fatal("the end of the child did not come")
		}
	}
}

// The end of a child is described by its exit code or signal, its phase and its last output.
func TestDeath(t *testing.T) {
	for text, want := range map[string]string{
		"exit 7":                          "exited with code 7",
		"kill -SEGV $$":                   "was killed by SIGSEGV",
		"kill -KILL $$":                   "was killed by SIGKILL",
		"echo something is wrong; exit 1": "something is wrong",
		"echo on the other >&2; exit 1":   "on the other",
	} {
		ch := make(chan Event, 10)
		c, err := Start(quiet(script(t, text)), ch)
		if err != nil {
			t.Fatal(err)
		}
		all := events(t, ch)
		if got := c.Death(all[len(all)-1].Status); !strings.Contains(got, want) || !strings.Contains(got, "in: starting") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Frames arrive in order, then the end. Garbage ends the reading, but not the front.
func TestChildFrames(t *testing.T) {
	ch := make(chan Event, 10)
	if _, err := Start(quiet(script(t, `printf 'p\005\000\000\000phasex\000\000\000\000p\377\377\377\377rubbish' >/proc/self/fd/$3`)), ch); err != nil {
		t.Fatal(err)
	}
	all := events(t, ch)
	if len(all) != 3 || all[0].Kind != 'p' || string(all[0].Payload) != "phase" || all[1].Kind != 'x' || all[2].Kind != 0 {
		t.Errorf("%+v", all)
	}
}

// A child gets the request first, whatever is sent to it at the same time.
func TestRequestFirst(t *testing.T) {
	exe := script(t, "head -c 1; exit 1")
	for range 20 {
		ch := make(chan Event, 10)
		c, err := Start(quiet(exe), ch)
		if err != nil {
			t.Fatal(err)
		}
		c.Send(FrameBefore, []byte("b"))
		events(t, ch)
		if c.noise.String() != string(rune(FrameRequest)) {
			t.Fatalf("the first byte is %q, want %q", &c.noise, FrameRequest)
		}
	}
}

// A child dies with this process, not with the thread that started it.
func TestParent(t *testing.T) {
	fifo := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ch := make(chan Event, 10)
	thread := make(chan int)
	var begin func()
	begin = func() {
		runtime.LockOSThread() // and the thread ends with this goroutine
		if unix.Gettid() == os.Getpid() {
			go begin() // in another one: the first does not end
			select {}
		}
		if _, err := Start(quiet(script(t, "read line <"+fifo+"; exit 7")), ch); err != nil {
			t.Error(err)
		}
		thread <- unix.Gettid()
	}
	go begin()
	task := fmt.Sprintf("/proc/self/task/%d", <-thread)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(task); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the thread has not ended")
		}
	}
	fmt.Fprintln(w, "go on")
	all := events(t, ch)
	if s := all[len(all)-1].Status; s.ExitStatus() != 7 {
		t.Errorf("the child ended with %v", s)
	}
}

func TestStartFails(t *testing.T) {
	before := descriptors(t)
	for range 20 {
		if _, err := Start(Spec{Exe: "/nonexistent", Name: "after"}, make(chan Event, 1)); err == nil || !strings.Contains(err.Error(), "/nonexistent") {
			t.Fatalf("%v", err)
		}
	}
	runtime.GC()
	if after := descriptors(t); after > before+10 {
		t.Errorf("%d descriptors are open, %d before", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A child inherits only its own descriptors, although launchers leave theirs open.
func TestChildDescriptors(t *testing.T) {
	ch := make(chan Event, 10)
	c, err := Start(quiet(script(t, "set -- /proc/$$/fd/*; echo $#; exit 1")), ch)
	if err != nil {
		t.Fatal(err)
	}
	events(t, ch)
	inherited := 0 // inherited by this process
	all, _ := os.ReadDir("/proc/self/fd")
	for _, e := range all {
		fd, _ := strconv.Atoi(e.Name())
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			inherited++
		}
	}
	var n int
	fmt.Sscan(c.noise.String(), &n)
	if n < 4 || n > inherited+3 { // ours, the script, the listed directory
		t.Errorf("%d descriptors in the child, %d inherited: %s", n, inherited, &c.noise)
	}
}
