package binding

// #include "call.h"
// #include "peruse_ring.h"
import "C"

import "errors"

// PeruseHandle is a handle of an event on a communicator (peruse_event_h). Its methods return ErrPeruseEventHandle after Release,
// and ErrPeruseMPIObject after Library.FreeComm of its communicator.
type PeruseHandle struct {
	p      *Peruse
	h      C.mpitx_handle
	object Object
	ring   *PeruseRing
	writer *C.struct_peruse_writer
	active bool
	freed  error // why it cannot be used any more
}

// RegisterComm is PERUSE_Event_comm_register (PERUSE 2.0, section 5.2.7). From Activate on, the library's callbacks write into
// the ring. It returns ErrPeruseEvent for an event that the library does not support, and ErrPeruseComm for an object that is no
// communicator. Open MPI has one handle for each event of a communicator: a second one takes its place. The caller releases the
// handle; FreeComm and Library.Finalize release those that are left.
func (p *Peruse) RegisterComm(event int, comm Object, ring *PeruseRing) (*PeruseHandle, error) {
	if err := p.supports(event); err != nil {
		return nil, err
	}
	if !p.l.isComm(comm) {
		return nil, ErrPeruseComm
	}
	if ring == nil {
		return nil, ErrPeruseParameter
	}
	h := &PeruseHandle{p: p, object: comm, ring: ring}
	if h.writer = ring.writer(h); h.writer == nil {
		return nil, ErrMemory
	}
	if err := check(C.mt_peruse_event_comm_register(p.t, C.int(event), C.int(comm), h.writer, &h.h)); err != nil {
		return nil, err
	}
	p.handles[h] = struct{}{}
	return h, nil
}

func (h *PeruseHandle) usable() error {
	if err := h.p.ready(); err != nil {
		return err
	}
	return h.freed
}

// Activate is PERUSE_Event_activate (PERUSE 2.0, section 5.2.8). A second call does nothing.
func (h *PeruseHandle) Activate() error { return h.setActive(true) }

// Deactivate is PERUSE_Event_deactivate (PERUSE 2.0, section 5.2.9). A second call does nothing.
func (h *PeruseHandle) Deactivate() error { return h.setActive(false) }

func (h *PeruseHandle) setActive(active bool) error {
	if err := h.usable(); err != nil {
		return err
	}
	var rc C.int
	if active {
		rc = C.mt_peruse_event_activate(h.p.t, h.h)
	} else {
		rc = C.mt_peruse_event_deactivate(h.p.t, h.h)
	}
	if err := check(rc); err != nil {
		return err
	}
	h.active = active
	return nil
}

// Release is PERUSE_Event_release (PERUSE 2.0, section 5.2.10). It deactivates the handle first, as Open MPI goes on calling an
// active one. Callbacks that a faulty library calls after that are ignored, and counted by PeruseRing.Late.
func (h *PeruseHandle) Release() error {
	if err := h.usable(); err != nil {
		return err
	}
	var deactivated error
	if h.active {
		deactivated = h.Deactivate()
	}
	C.peruse_writer_close(h.writer)
	err := check(C.mt_peruse_event_release(h.p.t, &h.h))
	if err == nil {
		h.freed = ErrPeruseEventHandle
		delete(h.p.handles, h)
	}
	return errors.Join(deactivated, err)
}

// releaseAll releases the handles of a communicator; NoObject: of all.
func (p *Peruse) releaseAll(comm Object, reason error) error {
	var errs []error
	for h := range p.handles {
		if comm == NoObject || h.object == comm {
			errs = append(errs, h.Release())
			h.freed = reason
		}
	}
	return errors.Join(errs...)
}

// Event is PERUSE_Event_get (PERUSE 2.0, section 5.2.11): the event that the handle was registered for.
func (h *PeruseHandle) Event() (int, error) {
	if err := h.usable(); err != nil {
		return 0, err
	}
	var event C.int
	err := check(C.mt_peruse_event_get(h.p.t, h.h, &event))
	return int(event), err
}

// Object is PERUSE_Event_object_get (PERUSE 2.0, section 5.2.12): the communicator that the handle was registered for. It returns
// ErrNotBindable for a communicator that is not one of mpitx's own.
func (h *PeruseHandle) Object() (Object, error) {
	if err := h.usable(); err != nil {
		return NoObject, err
	}
	var object C.int
	if err := check(C.mt_peruse_event_object_get(h.p.t, h.h, &object)); err != nil {
		return NoObject, err
	}
	if object <= C.MPITX_OBJECT_NONE || object > C.MPITX_OBJECT_LAST {
		return NoObject, ErrNotBindable
	}
	return Object(object), nil
}

// SetCallback is PERUSE_Event_comm_callback_set (PERUSE 2.0, section 5.2.13): callbacks write into another ring from now on. It
// returns ErrPeruseEventHandle if the handle is active.
func (h *PeruseHandle) SetCallback(ring *PeruseRing) error {
	if err := h.usableInactive(); err != nil {
		return err
	}
	if ring == nil {
		return ErrPeruseParameter
	}
	writer := ring.writer(h)
	if writer == nil {
		return ErrMemory
	}
	if err := check(C.mt_peruse_event_comm_callback_set(h.p.t, h.h, writer)); err != nil {
		return err
	}
	h.ring, h.writer = ring, writer
	return nil
}

func (h *PeruseHandle) usableInactive() error {
	if err := h.usable(); err != nil {
		return err
	}
	if h.active {
		return ErrPeruseEventHandle
	}
	return nil
}

// Callback is PERUSE_Event_comm_callback_get (PERUSE 2.0, section 5.2.14): the ring that callbacks write into; nil if the library
// has another callback than this package's. It returns ErrPeruseEventHandle if the handle is active.
func (h *PeruseHandle) Callback() (*PeruseRing, error) {
	if err := h.usableInactive(); err != nil {
		return nil, err
	}
	var writer *C.struct_peruse_writer
	if err := check(C.mt_peruse_event_comm_callback_get(h.p.t, h.h, &writer)); err != nil {
		return nil, err
	}
	if writer == nil || C.peruse_writer_ring(writer) != h.ring.r {
		return nil, nil
	}
	return h.ring, nil
}

// Propagate is PERUSE_Event_propagate (PERUSE 2.0, section 5.2.15): whether the handle also applies to duplicates of its
// communicator that are made from now on. It returns ErrPeruseEventHandle if the handle is active. Open MPI ignores it.
func (h *PeruseHandle) Propagate(mode bool) error {
	if err := h.usableInactive(); err != nil {
		return err
	}
	var m C.int
	if mode {
		m = 1
	}
	return check(C.mt_peruse_event_propagate(h.p.t, h.h, m))
}
