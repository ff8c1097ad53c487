//go:build linux

package transport

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// marker is memory shared by a back end and its front. It shows which access of which task the back end is in, even if
// that never returns. It costs two stores.
type marker struct{ words *[2]atomic.Uint64 }

const markerSize = 16

// newMarker makes a marker; the file is for the back end.
func newMarker() (marker, *os.File, error) {
	fd, err := unix.MemfdCreate("mpitx", unix.MFD_CLOEXEC)
	if err != nil {
		return marker{}, nil, fmt.Errorf("share memory with the back end: %w", err)
	}
	f := os.NewFile(uintptr(fd), "marker")
	if err = f.Truncate(markerSize); err == nil {
		var m marker
		if m, err = openMarker(fd); err == nil {
			return m, f, nil
		}
	}
	f.Close()
	return marker{}, nil, fmt.Errorf("share memory with the back end: %w", err)
}

func openMarker(fd int) (marker, error) {
	b, err := unix.Mmap(fd, 0, markerSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return marker{}, err
	}
	return marker{(*[2]atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(b)))}, nil
}

// Mark records access k of a task; k < 0 means none.
func (m marker) Mark(task uint64, k int) {
	if m.words != nil {
		m.words[0].Store(task)
		m.words[1].Store(uint64(k + 1))
	}
}

// Where is the last recorded access; k < 0 means none.
func (m marker) Where() (task uint64, k int) {
	if m.words == nil {
		return 0, -1
	}
	return m.words[0].Load(), int(m.words[1].Load()) - 1
}
