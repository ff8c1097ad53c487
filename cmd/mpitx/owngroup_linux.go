package main

import (
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// ownGroup gives a launcher its own process group, so that a signal to the group of mpitx, as a terminal sends it, reaches the launcher
// once, from mpitx. A second signal makes Open MPI's launcher exit at once and leave its processes running. If mpitx
// dies, the launcher gets a signal.
func ownGroup(cmd *exec.Cmd) {
	runtime.LockOSThread()         // if this thread ended, the launcher would take it for the end of mpitx
	signal.Ignore(syscall.SIGTTOU) // inherited by the launcher, which may then write to the terminal from the background
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
