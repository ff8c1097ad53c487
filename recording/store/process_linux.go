package store

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// running reports whether the process of a manifest may still run. It returns true if that cannot be known because the
// process is in another PID namespace, such as a container's.
func running(m *manifest) bool {
	var ns syscall.Stat_t
	if syscall.Stat("/proc/self/ns/pid", &ns) == nil && m.pidNamespace != 0 && ns.Ino != m.pidNamespace {
		return true
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(m.pid) + "/stat")
	if err != nil {
		return false
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // from the third field of proc(5) stat
	if len(fields) < 20 || m.pidStart == 0 {
		return true
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	dead := fields[0][0] == 'Z' || fields[0][0] == 'X'
	return !dead && (err != nil || start == m.pidStart)
}

var bootID = sync.OnceValue(func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
})

// Here reports whether a machine with this boot ID is this one, and was not booted since.
func Here(boot string) bool { return boot != "" && boot == bootID() }

// onOtherMachine reports whether a manifest's process ran on another machine, or on this one before its last boot. Its process ID
// means nothing here.
func onOtherMachine(m *manifest) bool {
	return m.bootID != "" && bootID() != "" && m.bootID != bootID()
}

// lockFile locks a file as the agent does before it appends. It returns false if that fails for half a second.
func lockFile(h *os.File) bool {
	const setLock = 37 // F_OFD_SETLK
	for range 50 {
		err := syscall.FcntlFlock(h.Fd(), setLock, &syscall.Flock_t{Type: syscall.F_WRLCK})
		if err == nil {
			return true
		}
		if err != syscall.EAGAIN && err != syscall.EACCES {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// nextData returns the next offset of a file that is not in a hole.
func nextData(h *os.File, at int64) int64 {
	const seekData = 3
	next, err := h.Seek(at, seekData)
	switch {
	case err == nil:
		return next
	case errors.Is(err, syscall.ENXIO):
		return math.MaxInt64
	}
	return at
}
