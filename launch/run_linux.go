package launch

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/machine/keep"
)

// become replaces this process by a program; it returns only on failure.
func become(path string, argv, environ []string) error {
	return syscall.Exec(path, argv, environ)
}

// ending is how a process exited.
type ending struct {
	code   int
	signal syscall.Signal // 0 if none
}

// passed are the signals that a parent passes to its child. The terminal sends the signal of its stop key to the whole
// group.
var passed = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGXCPU, syscall.SIGIO, syscall.SIGVTALRM}

// keepLauncher runs a launcher. once: at a second signal it would exit at once, and leave its processes behind. gone
// reports whether these have ended. See supervise for watch.
func keepLauncher(cmd *exec.Cmd, once bool, gone func() bool, watch func(kill func()) func() (int, bool)) (ending, error) {
	k := keep.Catch(keep.Options{Pass: passed, Repeat: !once, Launcher: true, Hold: true, Gone: gone})
	defer k.Stop()
	in, started := keep.Stdin()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stdout, os.Stderr
	if err := k.Start(cmd); err != nil {
		return ending{}, err
	}
	started()
	over := make(chan struct{})
	watched := watch(func() { end(cmd.Process, k.End, over) })
	cmd.Wait()
	close(over)
	if code, killed := watched(); killed {
		return ending{code: code}, nil
	}
	return endingOf(cmd.ProcessState), nil
}

// how is "was killed by SIGTERM"; "": the process exited.
func (e ending) how() string {
	if e.signal == 0 {
		return ""
	}
	return "was killed by " + unix.SignalName(e.signal)
}

func endingOf(s *os.ProcessState) ending {
	ws := s.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return ending{128 + int(ws.Signal()), ws.Signal()}
	}
	return ending{code: ws.ExitStatus()}
}

// supervise runs the application in place of this process, with its descriptors and signals. The child dies with this
// process. Each signal reaches it once: from this process, unless it was sent to the group of both. A launcher signals process
// groups, each led by a rank; there (launched) the child gets its own group, and signals from this process only. Open MPI's launcher ends a job by SIGCONT, SIGTERM and SIGKILL,
// a second apart: warnKilled is called at that SIGTERM, unless it is nil. SIGCONT alone resumes a suspended job.
// watch, unless it is nil, is called after the start with a function that kills the child; its result is called at the end.
func supervise(cmd *exec.Cmd, launched bool, warnKilled func(), watch func(kill func()) func() (int, bool)) (ending, error) {
	runtime.LockOSThread() // the child dies with this thread
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	forward := passed
	if launched && unix.Getpgrp() == os.Getpid() {
		cmd.SysProcAttr.Setpgid = true
		forward = append(forward[:len(forward):len(forward)], syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGTTIN, syscall.SIGTTOU)
	}
	var group *witness
	if !cmd.SysProcAttr.Setpgid {
		group = newWitness()
	}
	signals := make(chan os.Signal, 64)
	keep.Notify(signals, forward...)
	if err := cmd.Start(); err != nil {
		keep.Stop(signals)
		group.stop()
		return ending{}, err
	}
	group.forget() // what came before the application
	over := make(chan struct{})
	watched := func() (int, bool) { return 0, false }
	if watch != nil {
		watched = watch(func() { end(cmd.Process, func() { cmd.Process.Signal(syscall.SIGTERM) }, over) })
	}
	go func() {
		continued := false
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGTERM && continued && warnKilled != nil {
					warnKilled()
					warnKilled = nil
				}
				continued = continued || s == syscall.SIGCONT
				if !group.sentToGroup(s) {
					cmd.Process.Signal(s)
				}
			case <-over: // later signals must not interrupt the writing of samples
				group.stop()
				return
			}
		}
	}()
	cmd.Wait()
	close(over)
	if code, killed := watched(); killed {
		return ending{code: code}, nil
	}
	return endingOf(cmd.ProcessState), nil
}

const termTime = 5 * time.Second

// end asks a process to end, and kills it after a while. A stopped one has to continue to notice it.
func end(p *os.Process, ask func(), over <-chan struct{}) {
	ask()
	p.Signal(syscall.SIGCONT)
	select {
	case <-over:
	case <-time.After(termTime):
		p.Kill()
	}
}

// follow ends this process by the signal that ended the application, so that the parent sees the same status.
func (e ending) follow() {
	if e.signal == 0 {
		return
	}
	keep.Die(e.signal) // the application has dumped core already
}
