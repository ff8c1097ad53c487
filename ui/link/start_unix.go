//go:build unix

package link

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group of its own: what is typed at the terminal is not for it, and all of it can be ended.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGTERM) }

func killGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Process.Kill()
}
