//go:build unix

package campaign

import (
	"errors"
	"os"
	"syscall"
)

// held reports whether another process has locked a file; else this one does. Where there are no locks, nothing is held.
func held(f *os.File) bool {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
