//go:build linux

package job

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"mpitx/catalog"
)

// Once everything is collected, the fronts of the ranks speak over sockets: waiting there costs nothing, where waiting in
// MPI means to ask again and again. A front never hangs, so rank 0's always learns what has become of a back end.

// invitation is what rank 0's front sends to the others, through the back ends.
type invitation struct {
	Addresses []string // of rank 0's front
	Token     [tokenSize]byte
}

const tokenSize = 32

// task is what a back end that serves is to do next. Each has exactly one answer.
type task struct {
	Number   uint64
	Do       string   // link.DoRead, link.DoWrite, link.DoWorkload, link.DoRefresh
	IDs      []string // of variables to read
	Write    Write
	Workload string
}

type answer struct {
	Number   uint64
	Host     string
	Readings []catalog.Reading
	Outcomes []Outcome
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

// listen makes the socket that other ranks' fronts come to: of a job on one node nobody else can reach it.
func listen(oneNode bool) (net.Listener, invitation, error) {
	var inv invitation
	if _, err := rand.Read(inv.Token[:]); err != nil {
		return nil, inv, err
	}
	at := ":0"
	if oneNode {
		at = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, inv, fmt.Errorf("listen for the other ranks: %w", err)
	}
	if oneNode {
		inv.Addresses = []string{l.Addr().String()}
		return l, inv, nil
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() && !n.IP.IsLoopback() {
			inv.Addresses = append(inv.Addresses, net.JoinHostPort(n.IP.String(), port))
		}
	}
	inv.Addresses = append(inv.Addresses, "127.0.0.1:"+port)
	return l, inv, nil
}

// dial accepts an invitation: the first address at which somebody knows the token.
func dial(inv invitation, rank int, host string) (net.Conn, error) {
	var last error
	for _, a := range inv.Addresses {
		c, err := net.DialTimeout("tcp", a, 3*time.Second)
		if err != nil {
			last = err
			continue
		}
		c.SetDeadline(time.Now().Add(3 * time.Second))
		if _, err = c.Write(inv.Token[:]); err == nil {
			err = writeFrame(c, frameHello, pack(hello{Rank: rank, Host: host}))
		}
		var welcome [1]byte
		if err == nil {
			_, err = c.Read(welcome[:])
		}
		if err == nil {
			c.SetDeadline(time.Time{})
			return c, nil
		}
		c.Close()
		last = err
	}
	return nil, fmt.Errorf("reach rank 0's process at %v: %w", inv.Addresses, last)
}
