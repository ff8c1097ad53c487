//go:build unix

package program

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

var endSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

func notifyStop(c chan<- os.Signal) { signal.Notify(c, syscall.SIGTSTP) }

func notifyGoOn(c chan<- os.Signal) { signal.Notify(c, syscall.SIGCONT) }

// jobControl says whether our parent is a shell that watches its jobs: in this session, and not in this job.
func jobControl() bool {
	parent := os.Getppid()
	session, err := unix.Getsid(parent)
	own, ownErr := unix.Getsid(0)
	group, groupErr := unix.Getpgid(parent)
	return err == nil && ownErr == nil && groupErr == nil && session == own && group != unix.Getpgrp()
}

// stop returns when somebody has let the program go on.
func stop() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	if unix.Kill(os.Getpid(), unix.SIGSTOP) == nil {
		<-on
	}
}
