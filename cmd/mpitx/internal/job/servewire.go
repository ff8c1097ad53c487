//go:build linux

package job

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"mpitx/catalog"
)

// Once everything is collected, the fronts of the ranks speak over sockets: waiting there costs nothing, where waiting in
// MPI means to ask again and again. A front never hangs, so rank 0's always learns what has become of a back end.

// task is what a back end that serves is to do next. Each has exactly one answer.
type task struct {
	Number   uint64
	Do       string   // link.DoRead, link.DoWrite, link.DoWorkload, link.DoRefresh
	IDs      []string // of variables to read
	Write    catalog.WriteRequest
	Workload string
}

type answer struct {
	Number   uint64
	Host     string
	Readings []catalog.Reading
	Outcomes catalog.Outcomes
	Process  []byte // of link.DoRefresh: a catalog.Process
	Changed  bool   // the library lists other variables or categories than when they were last collected
	Failed   string
}

// place is where a back end is, or was when it died.
type place struct{ Variable, Text string }

// marker is memory that a back end shares with its front: it tells in which access the back end is, also when that never
// returns, and costs two stores.
type marker struct{ words *[2]atomic.Uint64 }

const markerSize = 16

// newMarker makes one; the file is for the back end.
func newMarker() (marker, *os.File, error) {
	fd, err := unix.MemfdCreate("mpitx", unix.MFD_CLOEXEC)
	if err != nil {
		return marker{}, nil, fmt.Errorf("share memory with the back end: %w", err)
	}
	f := os.NewFile(uintptr(fd), "marker")
	if err := f.Truncate(markerSize); err != nil {
		f.Close()
		return marker{}, nil, fmt.Errorf("share memory with the back end: %w", err)
	}
	m, err := openMarker(fd)
	if err != nil {
		f.Close()
	}
	return m, f, err
}

func openMarker(fd int) (marker, error) {
	b, err := unix.Mmap(fd, 0, markerSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return marker{}, fmt.Errorf("share memory with the back end: %w", err)
	}
	return marker{(*[2]atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(b)))}, nil
}

// at notes that variable k of a task is being accessed; k < 0: none.
func (m marker) at(number uint64, k int) {
	if m.words != nil {
		m.words[0].Store(number)
		m.words[1].Store(uint64(k + 1))
	}
}

// where is the variable of a task that is being accessed.
func (m marker) where(tasks map[uint64]task) string {
	if m.words == nil {
		return ""
	}
	t, ok := tasks[m.words[0].Load()]
	k := m.words[1].Load()
	switch {
	case !ok || k == 0:
		return ""
	case t.Do == "write":
		return t.Write.Name
	case k <= uint64(len(t.IDs)):
		return t.IDs[k-1]
	}
	return ""
}

// cancelled are tasks that nobody waits for.
type cancelled struct {
	mu  sync.Mutex
	set map[uint64]bool
}

func (c *cancelled) add(number []byte) {
	if len(number) != 8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set == nil || len(c.set) > 1000 { // answered before they were cancelled
		c.set = map[uint64]bool{}
	}
	c.set[binary.LittleEndian.Uint64(number)] = true
}

func (c *cancelled) has(number uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set[number]
}

// taskNumber is the payload of a frameCancel.
func taskNumber(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
