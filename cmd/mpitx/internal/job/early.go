//go:build cgo && linux

package job

// extern int early_pid, early_to, early_from;
import "C"

import (
	"os"
	"syscall"
)

// earlyChild is the back end of the stage after MPI_Init that early.c has started and nobody has given a request yet, once; nil where
// there is none. It is a child of our first thread, which Go keeps.
func earlyChild() *child {
	pid := int(C.early_pid)
	if C.early_pid = -1; pid < 0 {
		return nil
	}
	pipe := func(fd C.int) *os.File {
		syscall.SetNonblock(int(fd), true) // as os.Pipe makes them
		return os.NewFile(uintptr(fd), "pipe")
	}
	c := newChild(After)
	c.pid, c.in, c.out = pid, pipe(C.early_from), pipe(C.early_to)
	return c
}
