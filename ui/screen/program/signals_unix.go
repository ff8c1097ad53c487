//go:build unix

package program

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

var endSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

func notifyStop(c chan<- os.Signal) { signal.Notify(c, syscall.SIGTSTP) }

func notifyGoOn(c chan<- os.Signal) { signal.Notify(c, syscall.SIGCONT) }

// jobControl says whether a shell watches this job: the nearest ancestor outside of our process group is in our session. Ancestors
// inside of it are wrappers, such as scripts and timeout --foreground.
func jobControl() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := os.Getppid(); pid > 0; pid = parentOf(pid) {
		theirs, err := unix.Getsid(pid)
		if err != nil || theirs != session {
			return false
		}
		if group, err := unix.Getpgid(pid); err != nil || group != unix.Getpgrp() {
			return err == nil
		}
	}
	return false
}

// parentOf is the parent of a process; 0 if it is unknown, as on systems without /proc.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the state, the parent
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// stop stops the process group, wrappers included, or the shell would go on waiting for them. It returns when resumed has news of
// SIGCONT.
func stop(resumed <-chan struct{}) {
	if unix.Kill(0, unix.SIGSTOP) == nil {
		<-resumed
	}
}
