//go:build unix

package link

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command its own process group, so that keys of the terminal do not signal it, and all its processes can be killed.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }

func killGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Process.Kill()
}
