//go:build cgo && linux

package inspect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mpitx/machine"
)

// A rank whose launcher has ended ends, too, although the library does not notice that and hangs.
func TestLauncherEnds(t *testing.T) {
	hangs := filepath.Join(t.TempDir(), "mpitx")
	if err := os.WriteFile(hangs, []byte("#!/bin/sh\nexec sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	launcher := exec.Command("true")
	if err := launcher.Run(); err != nil {
		t.Fatal(err)
	}
	_, err := Collect(Options{Exe: hangs, Launch: machine.Launch{Rank: 1, Size: 2, PID: launcher.Process.Pid}, Timeout: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "the launcher has ended") {
		t.Errorf("%v", err)
	}
}
