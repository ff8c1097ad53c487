package binding

// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"runtime/cgo"
	"sync/atomic"
	"unsafe"

	"mpitx/catalog"
)

// EventRegistration is a registration handle of an event type (MPI_T_event_registration). Its methods are for the library's
// goroutine only. They return ErrInvalidHandle after Free.
type EventRegistration struct {
	i     *Interface
	h     C.mpitx_handle
	info  EventInfo
	bytes int // of an event's data
	freed func()
	ended atomic.Bool // the library must not call its functions any more
}

// EventFunc is the callback of an event. It gets the event, which is valid only until the function returns. The library calls it
// inside of MPI calls, and maybe in threads of its own, several at once; Event.Safety says what it must satisfy.
type EventFunc func(*Event)

// DroppedFunc is the handler of dropped events: the library could not deliver count events of a source since the last call.
type DroppedFunc func(count int64, source int, safety CallbackSafety)

// AllocEvent is MPI_T_event_handle_alloc (MPI-4.0, section 15.3.8). Event types bound to a communicator need CommWorld or
// CommSelf, and MPI_Init; for other objects it returns ErrNotBindable. It returns ErrBadCount, ErrElementOutside or ErrUnknownType if
// an event's data could not be read. The caller frees the registration; Interface.Finalize frees those that are left.
func (i *Interface) AllocEvent(index int, object Object, hints Hints) (*EventRegistration, error) {
	info, err := i.EventInfo(index)
	if err != nil {
		return nil, err
	}
	r := &EventRegistration{i: i, info: info}
	if r.bytes, err = info.Bytes(); err != nil {
		return nil, err
	}
	if object, err = i.resolveObject(info.Bind, object); err != nil {
		return nil, err
	}
	err = i.withInfo(hints, func(info C.mpitx_handle) C.int {
		return C.mt_event_handle_alloc(i.t, C.int(index), C.int(object), info, &r.h)
	})
	if err != nil {
		return nil, err
	}
	i.registrations[r] = struct{}{}
	return r, nil
}

// withInfo calls a routine with hints.
func (i *Interface) withInfo(hints Hints, call func(info C.mpitx_handle) C.int) error {
	info, err := i.newInfo(hints)
	if err != nil {
		return err
	}
	defer i.freeInfo(info)
	return check(call(info))
}

func (r *EventRegistration) usable() error {
	if err := r.i.ready(); err != nil {
		return err
	}
	if r.h == 0 {
		return ErrInvalidHandle
	}
	return nil
}

// Info returns what EventInfo returned when the registration was allocated.
func (r *EventRegistration) Info() EventInfo { return r.info }

// SetHints is MPI_T_event_handle_set_info (MPI-4.0, section 15.3.8).
func (r *EventRegistration) SetHints(hints Hints) error {
	if err := r.usable(); err != nil {
		return err
	}
	return r.i.withInfo(hints, func(info C.mpitx_handle) C.int { return C.mt_event_handle_set_info(r.i.t, r.h, info) })
}

// Hints is MPI_T_event_handle_get_info (MPI-4.0, section 15.3.8): the hints that the library uses.
func (r *EventRegistration) Hints() (Hints, error) {
	if err := r.usable(); err != nil {
		return nil, err
	}
	var info C.mpitx_handle
	err := check(C.mt_event_handle_get_info(r.i.t, r.h, &info))
	return r.i.takeInfo(info), err
}

// Free is MPI_T_event_handle_free (MPI-4.0, section 15.3.8). The library calls f, which may be nil, after the last callback of the
// registration has returned: during Free, or later, if a callback runs in another thread or calls Free itself. Callbacks that a
// faulty library calls after that are ignored. A second Free does nothing and returns ErrInvalidHandle.
func (r *EventRegistration) Free(f func()) error {
	if err := r.usable(); err != nil {
		return err
	}
	h := r.h
	r.h, r.freed = 0, f
	delete(r.i.registrations, r)
	return check(C.mt_event_handle_free(r.i.t, h, C.uintptr_t(cgo.NewHandle(r))))
}

// Register is MPI_T_event_register_callback (MPI-4.0, section 15.3.8): the library calls f for each event if f satisfies its
// requirement then; of several callbacks it calls the one with the least level that does. A callback that is registered with the
// same level before is replaced; nil takes it back. Go functions cannot run in signal handlers, so SafetyAsyncSignalSafe returns
// ErrInvalid. It returns ErrNotSupported for a level that the library does not support.
func (r *EventRegistration) Register(safety CallbackSafety, hints Hints, f EventFunc) error {
	if err := r.usableAt(safety); err != nil {
		return err
	}
	if safety > catalog.SafetyThreadSafe && f != nil {
		return ErrInvalid
	}
	var id cgo.Handle
	if f != nil {
		id = cgo.NewHandle(&eventCallback{r, f})
	}
	return r.i.withInfo(hints, func(info C.mpitx_handle) C.int {
		return C.mt_event_register_callback(r.i.t, r.h, C.int(safety), info, C.uintptr_t(id))
	})
}

// SetCallbackHints is MPI_T_event_callback_set_info (MPI-4.0, section 15.3.8).
func (r *EventRegistration) SetCallbackHints(safety CallbackSafety, hints Hints) error {
	if err := r.usableAt(safety); err != nil {
		return err
	}
	return r.i.withInfo(hints, func(info C.mpitx_handle) C.int { return C.mt_event_callback_set_info(r.i.t, r.h, C.int(safety), info) })
}

// CallbackHints is MPI_T_event_callback_get_info (MPI-4.0, section 15.3.8): the hints that the library uses for a level's callback.
func (r *EventRegistration) CallbackHints(safety CallbackSafety) (Hints, error) {
	if err := r.usableAt(safety); err != nil {
		return nil, err
	}
	var info C.mpitx_handle
	err := check(C.mt_event_callback_get_info(r.i.t, r.h, C.int(safety), &info))
	return r.i.takeInfo(info), err
}

// usableAt also checks a level, with which libraries index a table.
func (r *EventRegistration) usableAt(safety CallbackSafety) error {
	if safety < catalog.SafetyNone || safety > catalog.SafetyAsyncSignalSafe {
		return ErrInvalid
	}
	return r.usable()
}

// SetDroppedHandler is MPI_T_event_set_dropped_handler (MPI-4.0, section 15.3.8): the library calls f if it dropped events of this
// registration. nil takes the handler back.
func (r *EventRegistration) SetDroppedHandler(f DroppedFunc) error {
	if err := r.usable(); err != nil {
		return err
	}
	var id cgo.Handle
	if f != nil {
		id = cgo.NewHandle(&droppedHandler{r, f})
	}
	return check(C.mt_event_set_dropped_handler(r.i.t, r.h, C.uintptr_t(id)))
}

// Callbacks as C sees them. Their handles are never deleted: a faulty library may call them after the registration has ended.
type eventCallback struct {
	r *EventRegistration
	f EventFunc
}

type droppedHandler struct {
	r *EventRegistration
	f DroppedFunc
}

//export mpitxEvent
func mpitxEvent(id C.uintptr_t, instance C.mpitx_handle, safety C.int) {
	c := cgo.Handle(id).Value().(*eventCallback)
	if c.r.ended.Load() {
		return
	}
	e := &Event{Safety: CallbackSafety(safety), r: c.r, h: instance}
	c.f(e)
	e.h = 0
}

//export mpitxDropped
func mpitxDropped(id C.uintptr_t, count C.int64_t, source, safety C.int) {
	if h := cgo.Handle(id).Value().(*droppedHandler); !h.r.ended.Load() {
		h.f(int64(count), int(source), CallbackSafety(safety))
	}
}

//export mpitxFreed
func mpitxFreed(id C.uintptr_t) {
	r := cgo.Handle(id).Value().(*EventRegistration)
	if !r.ended.Swap(true) && r.freed != nil {
		r.freed()
	}
}

// Event is one event (MPI_T_event_instance). Only the callback that gets it may use it, in its own thread, until it returns;
// afterwards the methods return ErrInvalidHandle.
type Event struct {
	Safety CallbackSafety // what the callback must satisfy now
	r      *EventRegistration
	h      C.mpitx_handle
}

func (e *Event) usable() error {
	if e.h == 0 {
		return ErrInvalidHandle
	}
	return nil
}

// Read is MPI_T_event_read (MPI-4.0, section 15.3.8): one element of the event's data. It returns ErrInvalid for an element that
// does not exist.
func (e *Event) Read(element int) (Value, error) {
	if err := e.usable(); err != nil {
		return Value{}, err
	}
	if element < 0 || element >= len(e.r.info.Elements) {
		return Value{}, ErrInvalid
	}
	var b buffer
	if err := b.init(e.r.info.Elements[element].Type, 1); err != nil {
		return Value{}, err
	}
	defer b.free()
	if err := check(C.mt_event_read(e.r.i.t, e.h, C.int(element), b.p)); err != nil {
		return Value{}, err
	}
	return b.get(), nil
}

// Copy is MPI_T_event_copy (MPI-4.0, section 15.3.8): all elements of the event's data, in their order.
func (e *Event) Copy() ([]Value, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	p := C.calloc(1, C.size_t(e.r.bytes+eventBytesSlack))
	if p == nil {
		return nil, ErrMemory
	}
	defer C.free(p)
	if err := check(C.mt_event_copy(e.r.i.t, e.h, p)); err != nil {
		return nil, err
	}
	data := unsafe.Slice((*byte)(p), e.r.bytes)
	var values []Value
	for _, x := range e.r.info.Elements {
		size := x.Type.Size()
		values = append(values, catalog.NewValue(x.Type, littleEndian(data[x.Displacement:x.Displacement+int64(size)], size)))
	}
	return values, nil
}

// Timestamp is MPI_T_event_get_timestamp (MPI-4.0, section 15.3.8): when the library observed the event, in ticks of its source.
func (e *Event) Timestamp() (int64, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	var ticks C.int64_t
	err := check(C.mt_event_get_timestamp(e.r.i.t, e.h, &ticks))
	return int64(ticks), err
}

// Source is MPI_T_event_get_source (MPI-4.0, section 15.3.8): the index of the event's source.
func (e *Event) Source() (int, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	var source C.int
	err := check(C.mt_event_get_source(e.r.i.t, e.h, &source))
	return int(source), err
}
