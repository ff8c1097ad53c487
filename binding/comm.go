package binding

// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"errors"
	"math"
	"unsafe"
)

// Messages between mpitx's own ranks, on MPI_COMM_WORLD or a duplicate. Nothing here blocks: libraries spin while they wait, and a rank that
// hangs must not stop the others.

// errNoComms is returned outside of MPI_Init and MPI_Finalize.
var errNoComms = errors.New("MPI is not initialized, or already finalized")

// World returns this process's rank in MPI_COMM_WORLD and the number of processes. It fails before MPI_Init and after
// MPI_Finalize, as all routines of communication do.
func (l *Library) World() (rank, size int, err error) {
	if !l.hasComms() {
		return 0, 0, errNoComms
	}
	var r, s C.int
	err = check(C.mt_world(l.t, &r, &s))
	return int(r), int(s), err
}

// ProcessorName is MPI_Get_processor_name. It fails before MPI_Init and after MPI_Finalize.
func (l *Library) ProcessorName() (string, error) {
	if !l.hasComms() {
		return "", errNoComms
	}
	const size = 1024
	p := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(p))
	err := check(C.mt_processor_name(l.t, p, size))
	return C.GoString(p), err
}

// Request is a pending send or receive.
type Request struct {
	l    *Library
	r    C.mpitx_request
	p    unsafe.Pointer
	n    int
	recv bool
	data []byte
	err  error // set after it failed
}

// AnySource makes Probe accept any source.
const AnySource = -1

// Send starts to send a copy of a message on MPI_COMM_WORLD (MPI_Isend). It returns ErrInvalid for more than 2 GiB.
func (l *Library) Send(data []byte, dest, tag int) (*Request, error) {
	return l.SendOn(CommWorld, data, dest, tag)
}

// SendOn is Send on a communicator. It returns ErrInvalid for an object that is not a communicator.
func (l *Library) SendOn(comm Object, data []byte, dest, tag int) (*Request, error) {
	if !l.hasComms() {
		return nil, errNoComms
	}
	if len(data) > math.MaxInt32 || !l.isComm(comm) {
		return nil, ErrInvalid
	}
	r := &Request{l: l, n: len(data)}
	r.p = C.malloc(C.size_t(len(data) + 1))
	copy(unsafe.Slice((*byte)(r.p), len(data)), data)
	if err := check(C.mt_isend(l.t, C.int(comm), r.p, C.int(len(data)), C.int(dest), C.int(tag), &r.r)); err != nil {
		C.free(r.p)
		return nil, err
	}
	return r, nil
}

// Receive starts to receive a message of n bytes on MPI_COMM_WORLD that Probe found (MPI_Irecv).
func (l *Library) Receive(n, source, tag int) (*Request, error) {
	return l.ReceiveOn(CommWorld, n, source, tag)
}

// ReceiveOn is Receive on a communicator.
func (l *Library) ReceiveOn(comm Object, n, source, tag int) (*Request, error) {
	if !l.hasComms() {
		return nil, errNoComms
	}
	if n < 0 || n > math.MaxInt32 || !l.isComm(comm) {
		return nil, ErrInvalid
	}
	r := &Request{l: l, n: n, recv: true}
	r.p = C.malloc(C.size_t(n + 1))
	if err := check(C.mt_irecv(l.t, C.int(comm), r.p, C.int(n), C.int(source), C.int(tag), &r.r)); err != nil {
		C.free(r.p)
		return nil, err
	}
	return r, nil
}

// Probe reports whether a message with a tag has arrived (MPI_Iprobe), its source, and its size in bytes.
func (l *Library) Probe(source, tag int) (ok bool, from, bytes int, err error) {
	if !l.hasComms() {
		return false, 0, 0, errNoComms
	}
	var flag, actual, n C.int
	err = check(C.mt_iprobe(l.t, C.int(CommWorld), C.int(source), C.int(tag), &flag, &actual, &n))
	return flag != 0, int(actual), int(n), err
}

// Done reports whether the request has completed (MPI_Test). It then frees the memory, and Data has a received message. After a
// failure it returns the same error again.
func (r *Request) Done() (bool, error) {
	if r.p == nil {
		return r.err == nil, r.err
	}
	var flag C.int
	if err := check(C.mt_test(r.l.t, &r.r, &flag)); err != nil {
		if r.r == nil { // the library has released it
			C.free(r.p)
			r.p, r.err = nil, err
		}
		return false, err
	}
	if flag == 0 {
		return false, nil
	}
	if r.recv {
		r.data = C.GoBytes(r.p, C.int(r.n))
	}
	C.free(r.p)
	r.p = nil
	return true, nil
}

// isComm reports whether an object is a communicator that exists now.
func (l *Library) isComm(object Object) bool {
	_, duplicate := l.duplicates[object]
	return l.hasComms() && (object == CommWorld || object == CommSelf || duplicate)
}

// Dup is MPI_Comm_dup, for events of PERUSE on duplicates: collective, and possible 13 times in a process. It fails for
// an object that is not a communicator.
func (l *Library) Dup(comm Object) (Object, error) {
	if !l.isComm(comm) {
		return NoObject, errNoComms
	}
	var duplicate C.int
	if err := check(C.mt_comm_dup(l.t, C.int(comm), &duplicate)); err != nil {
		return NoObject, err
	}
	l.duplicates[Object(duplicate)] = struct{}{}
	return Object(duplicate), nil
}

// FreeComm is MPI_Comm_free of a duplicate. It first releases the handles of PERUSE on it, which must not be used
// afterwards. It returns ErrInvalid for a communicator that Dup has not made.
func (l *Library) FreeComm(comm Object) error {
	if _, ok := l.duplicates[comm]; !ok || !l.hasComms() {
		return ErrInvalid
	}
	var released error
	if l.peruse != nil {
		released = l.peruse.releaseAll(comm, ErrPeruseMPIObject)
	}
	delete(l.duplicates, comm)
	object := C.int(comm)
	return errors.Join(released, check(C.mt_comm_free(l.t, &object)))
}

// Data returns the received message.
func (r *Request) Data() []byte { return r.data }
