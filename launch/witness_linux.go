package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// witness is a process in the group of this one, with all signals blocked. It tells signals that were sent to the whole group, which the
// application in the same group has got already, from those that only this process got.
type witness struct {
	cmd *exec.Cmd
	in  io.Closer
	got uint64 // by earlier witnesses, and not reported yet; one bit each
}

// newWitness starts one; nil if it cannot.
func newWitness() *witness {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, old unix.Sigset_t
	for k := range all.Val {
		all.Val[k] = ^all.Val[k]
	}
	cmd := exec.Command("/bin/sh", "-c", "read -r over") // ends with this process
	in, err := cmd.StdinPipe()
	if err != nil || unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old) != nil {
		return nil
	}
	err = cmd.Start() // it inherits the mask
	unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	if err != nil {
		return nil
	}
	return &witness{cmd: cmd, in: in}
}

func (w *witness) stop() {
	if w == nil || w.cmd == nil {
		return
	}
	w.in.Close()
	w.cmd.Process.Kill()
	w.cmd.Wait()
}

// sentToGroup reports whether a signal that this process got was sent to the group. Each signal is reported once.
func (w *witness) sentToGroup(s os.Signal) bool {
	if w == nil {
		return false
	}
	// The kernel sends a signal to the processes of a group one by one, and changes no group meanwhile. So this call returns after the
	// last one has it.
	syscall.Setpgid(0, syscall.Getpgrp())
	n, _ := s.(syscall.Signal)
	bit := uint64(1) << (n - 1)
	switch {
	case w.got&bit != 0:
	case w.pending()&bit != 0:
		w.replace()
	default:
		return false
	}
	w.got &^= bit
	return true
}

// forget makes the witness report no signal that was sent up to now.
func (w *witness) forget() {
	if w != nil && w.pending() != 0 {
		w.replace()
		w.got = 0
	}
}

// pending are the signals that the process has got.
func (w *witness) pending() uint64 {
	if w.cmd == nil {
		return 0
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(status), "\nShdPnd:")
	word, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	pending, _ := strconv.ParseUint(word, 16, 64)
	return pending
}

func (w *witness) replace() {
	old := *w
	if next := newWitness(); next != nil {
		*w = *next
	} else {
		*w = witness{}
	}
	w.got = old.got | old.pending()&^w.pending()
	old.stop()
}
