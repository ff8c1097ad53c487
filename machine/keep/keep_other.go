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

// Die exits with the code that stands for a signal.
func Die(s syscall.Signal) { os.Exit(128 + int(s)) }

var jobSignals []os.Signal

func control(int, syscall.Signal) bool { return false }
