package attach

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// become replaces this process by a program; it returns only where that fails.
func become(path string, argv, environ []string) error {
	return syscall.Exec(path, argv, environ)
}

// ending is how a process ended.
type ending struct {
	code   int
	signal syscall.Signal // 0: none
}

// passed are the signals that a parent hands to its child. Those of the terminal's stop key go to the whole group anyway.
var passed = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGXCPU, syscall.SIGIO, syscall.SIGVTALRM}

// supervise runs a command as if it were this process: with its descriptors and its signals. The child dies with us. A
// launcher signals process groups, of which each rank leads one: there (launched) the child gets a group of its own, so that
// each signal reaches it once, from us. Open MPI's launcher announces with SIGCONT that it will kill everything in a second:
// then condemned is called, where it is not nil.
func supervise(cmd *exec.Cmd, launched bool, condemned func()) (ending, error) {
	runtime.LockOSThread() // the child dies with this thread
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	forward := passed
	if launched && unix.Getpgrp() == os.Getpid() {
		cmd.SysProcAttr.Setpgid = true
		forward = append(forward[:len(forward):len(forward)], syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGTTIN, syscall.SIGTTOU)
	}
	signals := make(chan os.Signal, 64)
	for _, s := range forward {
		if !signal.Ignored(s) { // what is ignored here, the child ignores
			signal.Notify(signals, s)
		}
	}
	if err := cmd.Start(); err != nil {
		signal.Stop(signals)
		return ending{}, err
	}
	over := make(chan struct{})
	go func() {
		stopped := false
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGCONT && !stopped && condemned != nil {
					condemned()
					condemned = nil
				}
				if s == syscall.SIGTSTP || s == syscall.SIGCONT {
					stopped = s == syscall.SIGTSTP
				}
				if !fromTerminal(s, cmd.SysProcAttr.Setpgid) {
					cmd.Process.Signal(s)
				}
			case <-over: // and what comes now must not keep us from writing what was recorded
				return
			}
		}
	}()
	cmd.Wait()
	close(over)
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return ending{128 + int(ws.Signal()), ws.Signal()}, nil
	}
	return ending{code: ws.ExitStatus()}, nil
}

// fromTerminal tells whether a signal comes from the keys of a terminal in whose foreground we are: then the child has it
// already.
func fromTerminal(s os.Signal, ownGroup bool) bool {
	if ownGroup || s != syscall.SIGINT && s != syscall.SIGQUIT && s != syscall.SIGWINCH {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// follow ends this process by the signal that ended the application, if one did: who waits for us sees the same.
func (e ending) follow() {
	if e.signal == 0 {
		return
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // the application has made its core dump
	// Go's own handlers would make an exit code of it.
	var byDefault [64]byte // struct sigaction: SIG_DFL, no flags, no mask
	signal.Reset(e.signal)
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(e.signal), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	syscall.Kill(os.Getpid(), e.signal)
	time.Sleep(time.Second)
}
