package binding

// #include "peruse_ring.h"
import "C"

import "sync"

// PeruseRing takes what callbacks of PERUSE report. Its memory is allocated at once, in C, and is never released, as a faulty
// library may call back at any time. Its methods may be called in any goroutine.
type PeruseRing struct {
	r       *C.struct_peruse_ring
	lock    sync.Mutex
	handles []*PeruseHandle // by the numbers of their writers
}

// maxRing is the largest capacity of a ring: a gigabyte.
const maxRing = 1 << 23

// NewPeruseRing allocates a ring for at least this number of events, 8,388,608 at most; otherwise it returns ErrInvalid.
func NewPeruseRing(capacity int) (*PeruseRing, error) {
	if capacity < 1 || capacity > maxRing {
		return nil, ErrInvalid
	}
	size := 1
	for size < capacity {
		size *= 2
	}
	r := C.peruse_ring_new(C.uint64_t(size))
	if r == nil {
		return nil, ErrMemory
	}
	return &PeruseRing{r: r}, nil
}

// writer is what the callbacks of a handle get: this ring, and the handle's number in it.
func (r *PeruseRing) writer(h *PeruseHandle) *C.struct_peruse_writer {
	r.lock.Lock()
	defer r.lock.Unlock()
	w := C.peruse_writer_new(r.r, C.int64_t(len(r.handles)))
	if w != nil {
		r.handles = append(r.handles, h)
	}
	return w
}

// PeruseOperation is the kind of operation that a request is for (PERUSE 2.0, section 5.1.2).
type PeruseOperation int

// The operations.
const (
	PeruseSend    PeruseOperation = C.MPITX_PERUSE_SEND
	PeruseRecv    PeruseOperation = C.MPITX_PERUSE_RECV
	PerusePut     PeruseOperation = C.MPITX_PERUSE_PUT
	PeruseGet     PeruseOperation = C.MPITX_PERUSE_GET
	PeruseAcc     PeruseOperation = C.MPITX_PERUSE_ACC
	PeruseIORead  PeruseOperation = C.MPITX_PERUSE_IO_READ
	PeruseIOWrite PeruseOperation = C.MPITX_PERUSE_IO_WRITE
)

// PeruseCall is one call of a callback.
type PeruseCall struct {
	Handle *PeruseHandle
	Time   int64 // ns of the clock CLOCK_MONOTONIC
	// ID is the same in all events of one request, message or search, until its last event; another request may have it then.
	ID     int64
	Comm   uint64  // the library's communicator, only to compare
	Buffer uintptr // 0: none is known
	Count  int
	Type   Datatype // 0: none
	Peer   int      // a rank of the communicator
	Tag    int
	Op     PeruseOperation
}

// Take returns the calls since the last Take, in the order of their arrival.
func (r *PeruseRing) Take() []PeruseCall {
	r.lock.Lock()
	defer r.lock.Unlock()
	var calls []PeruseCall
	var e C.struct_peruse_ring_event
	for C.peruse_ring_take(r.r, &e) != 0 {
		s := &e.spec
		calls = append(calls, PeruseCall{
			Handle: r.handles[e.writer], Time: int64(e.time), ID: int64(e.id), Comm: uint64(s.comm), Buffer: uintptr(s.buf),
			Count: int(s.count), Type: Datatype(s.datatype), Peer: int(s.peer), Tag: int(s.tag), Op: PeruseOperation(s.operation),
		})
	}
	return calls
}

// Late is the number of calls that a faulty library made after Release. They are ignored.
func (r *PeruseRing) Late() uint64 { return uint64(C.peruse_ring_late(r.r)) }

// Dropped is the number of calls that were lost because the ring was full.
func (r *PeruseRing) Dropped() uint64 { return uint64(C.peruse_ring_dropped(r.r)) }
