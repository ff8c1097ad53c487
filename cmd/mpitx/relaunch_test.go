package main

import (
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/cmd/mpitx/internal/locate"
)

func TestWithoutRanks(t *testing.T) {
	list := newList(&app{env: &locate.Env{}})
	if err := list.ParseFlags(nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ given, want string }{
		{"list -n 4 cvars", "list cvars"},
		{"list -n4 cvars", "list cvars"},
		{"list -n=4 cvars", "list cvars"},
		{"list --ranks 4 cvars", "list cvars"},
		{"list --ranks=4 cvars", "list cvars"},
		{"list --regex -n -n 4", "list --regex -n"},
		{"list --regex=-n -n 4", "list --regex=-n"},
		{"list -n 2 --regex --ranks=3", "list --regex --ranks=3"},
		{"list --category -n4 -n 4 x", "list --category -n4 x"},
		{"list -o -n -n 2", "list -o -n"},
		{"list -ocsv -n 2", "list -ocsv"},
		{"list --set -n 2 cvars", "list --set cvars"},
		{"list --set=false -n 2", "list --set=false"},
		{"list -n 2 -- -n 3", "list -- -n 3"},
		{"list -n", "list"},
	} {
		if got := withoutRanks(list.Flags(), strings.Fields(c.given)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %q, want %q", c.given, got, c.want)
		}
	}
}

// A signal that comes before the launcher has started ends the launcher.
func TestSignalBeforeStart(t *testing.T) {
	signals := catchSignals()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); len(signals.signals) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the signal did not arrive")
		}
	}
	cmd := exec.Command("sleep", "600")
	if err := signals.start(cmd); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got := signals.stop(); got != syscall.SIGTERM {
		t.Errorf("passed %v", got)
	}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGTERM {
		t.Errorf("the launcher ended with %v", cmd.ProcessState)
	}
	if got := signals.stop(); got != 0 {
		t.Errorf("stopped twice: %v", got)
	}
}

func TestStopWithoutStart(t *testing.T) {
	signals := catchSignals()
	if err := signals.start(exec.Command("/nonexistent")); err == nil {
		t.Fatal("started")
	}
	if got := signals.stop(); got != 0 {
		t.Errorf("passed %v", got)
	}
}
