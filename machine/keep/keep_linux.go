package keep

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// own gives a process its own group, and SIGTERM if this thread ends, unless it is a launcher.
func own(cmd *exec.Cmd, launcher bool) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	if !launcher {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	}
	for _, fd := range []int{1, 2} { // its group is in the background: stty tostop would stop it when it writes
		if t, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil && t.Lflag&unix.TOSTOP != 0 {
			signal.Ignore(syscall.SIGTTOU)
		}
	}
}

// watchScript sends SIGTERM to a launcher if mpitx has died before it wrote a line.
const watchScript = `read -r over <&3 || kill -TERM "$1"`

// Watch sends SIGTERM to a launcher when this process dies, until over is called. PR_SET_PDEATHSIG would send it several times, once for
// each thread of this process that inherits the launcher before it dies, too.
func Watch(launcher int) (over func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", watchScript, "mpitx", strconv.Itoa(launcher))
	cmd.ExtraFiles = []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		w.Close()
		return func() {}
	}
	return func() {
		w.WriteString("over\n")
		w.Close()
		cmd.Wait()
	}
}

// Die ends this process by a signal, so that its parent sees it, without a core file.
func Die(s syscall.Signal) {
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	// Go's handlers would turn the signal into an exit code.
	var byDefault [64]byte // struct sigaction: SIG_DFL, no flags, no mask
	signal.Reset(s)
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second)
}

var jobSignals = []os.Signal{syscall.SIGTSTP, syscall.SIGCONT}

// control stops or continues a group together with this process, as the terminal does with one group.
func control(pid int, s syscall.Signal) bool {
	switch s {
	case syscall.SIGTSTP:
		syscall.Kill(-pid, syscall.SIGTSTP)
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case syscall.SIGCONT:
		syscall.Kill(-pid, syscall.SIGCONT)
	default:
		return false
	}
	return true
}

// Stdin is standard input for a process in a group of its own. From the terminal of this session only the group in the foreground may
// read, so a terminal is copied to a pipe while mpitx is in the foreground. Call started after the process has started.
func Stdin() (in *os.File, started func()) {
	if _, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err != nil {
		return os.Stdin, func() {}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return os.Stdin, func() {}
	}
	return r, func() {
		r.Close()
		go func() {
			defer w.Close()
			io.Copy(w, terminal{})
		}()
	}
}

// terminal reads the terminal as standard input.
type terminal struct{}

func (terminal) Read(p []byte) (int, error) {
	for {
		// Poll first: the shell may put mpitx into the background at any time, and a read there would stop it.
		n, err := unix.Poll([]unix.PollFd{{Fd: 0, Events: unix.POLLIN}}, -1)
		if err == unix.EINTR {
			continue
		}
		if group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); n > 0 && err == nil && group != unix.Getpgrp() {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		n, err = unix.Read(0, p)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
