//go:build !linux

package keep

import (
	"os"
	"os/exec"
	"syscall"
)

func own(*exec.Cmd, bool) {}

// Watch does nothing on this system.
func Watch(int) (over func()) { return func() {} }

var jobSignals []os.Signal

func control(int, syscall.Signal) bool { return false }
