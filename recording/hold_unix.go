//go:build unix

package recording

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

var held []*os.File // until this process ends, or becomes an application

// Hold says to others that this process goes on to work with a run, whose job may have ended. job is the name of a file in it. Where
// there are no locks, as on some network file systems, it does nothing.
func Hold(dir, job string) {
	f, err := os.Open(filepath.Join(dir, job))
	if err != nil {
		return
	}
	for range 10 { // [Held] has the lock for a moment
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	held = append(held, f)
}

// Held reports whether a process holds a run.
func Held(dir, job string) bool {
	f, err := os.Open(filepath.Join(dir, job))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
