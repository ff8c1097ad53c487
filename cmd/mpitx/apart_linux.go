package main

import (
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// apart gives a launcher a process group of its own: a signal to ours, as a terminal sends, reaches it once, from us. At the second
// one Open MPI's ends at once, and leaves its processes behind. It is told of our end.
func apart(cmd *exec.Cmd) {
	runtime.LockOSThread()         // whose end would be ours for the launcher
	signal.Ignore(syscall.SIGTTOU) // in the launcher too: from there it may write to the terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
