package binding

// #include <stdlib.h>
// #include <string.h>
// #include "call.h"
import "C"

import (
	"math"
	"slices"
	"unsafe"
)

// Peruse is PERUSE 2.0 of a library (Library.InitPeruse). Its methods, and those of its handles, are for the library's goroutine
// only. A library without PERUSE, or without one of its routines, returns ErrNotProvided. After MPI_Finalize they return
// ErrPeruseMPIInit.
type Peruse struct {
	l       *Library
	t       *C.struct_mpitx_table
	events  []PeruseEvent // nil: not asked for yet
	handles map[*PeruseHandle]struct{}
}

// PeruseEvent is an event that a library supports. Its number, the event descriptor, differs between libraries.
type PeruseEvent struct {
	Name   string
	Number int
}

// PeruseScope is the scope of events of the queues of posted receives and unexpected messages (PERUSE 2.0, section 5.2.6).
type PeruseScope int

// The scopes. Other numbers of a library are kept.
const (
	PerusePerComm   PeruseScope = C.MPITX_PERUSE_PER_COMM
	PerusePerTag    PeruseScope = C.MPITX_PERUSE_PER_TAG
	PerusePerSource PeruseScope = C.MPITX_PERUSE_PER_SOURCE
	PeruseGlobal    PeruseScope = C.MPITX_PERUSE_GLOBAL
)

// What a library may list at most. Open MPI lists 18 events.
const (
	maxPeruseEvents = 4096
	maxPeruseText   = 1 << 20
)

// InitPeruse is PERUSE_Init (PERUSE 2.0, section 5.2.1). It returns ErrPeruseMPIInit before MPI_Init and after MPI_Finalize.
// Further calls return the same Peruse.
func (l *Library) InitPeruse() (*Peruse, error) {
	if !l.Has("PERUSE_Init") {
		return nil, ErrNotProvided
	}
	if !l.hasComms() {
		return nil, ErrPeruseMPIInit
	}
	if err := check(C.mt_peruse_init(l.t)); err != nil {
		return nil, err
	}
	if l.peruse == nil {
		l.peruse = &Peruse{l: l, t: l.t, handles: map[*PeruseHandle]struct{}{}}
	}
	return l.peruse, nil
}

func (p *Peruse) ready() error {
	if !p.l.hasComms() {
		return ErrPeruseMPIInit
	}
	return nil
}

// SupportedEvents is PERUSE_Query_supported_events (PERUSE 2.0, section 5.2.2): all events, with those that only this library has.
// It asks the library once. Events without a name are left out. It returns ErrBadCount for an impossible number of events.
func (p *Peruse) SupportedEvents() ([]PeruseEvent, error) {
	if err := p.ready(); err != nil || p.events != nil {
		return slices.Clone(p.events), err
	}
	var n C.int
	var names **C.char
	var numbers *C.int
	if err := check(C.mt_peruse_query_supported_events(p.t, &n, &names, &numbers)); err != nil {
		return nil, err
	}
	if n < 0 || n > maxPeruseEvents || n > 0 && (names == nil || numbers == nil) {
		return nil, ErrBadCount
	}
	p.events = []PeruseEvent{}
	for i, name := range unsafe.Slice(names, n) {
		if name != nil {
			p.events = append(p.events, PeruseEvent{goText(name), int(unsafe.Slice(numbers, n)[i])})
		}
	}
	return slices.Clone(p.events), nil
}

// goText copies a text of the library, whose end may be missing.
func goText(p *C.char) string { return C.GoStringN(p, C.int(C.strnlen(p, maxPeruseText))) }

// Event is PERUSE_Query_event (PERUSE 2.0, section 5.2.3): the number of an event. It returns ErrPeruseEvent if the library does not
// support it.
func (p *Peruse) Event(name string) (int, error) {
	if err := p.ready(); err != nil {
		return 0, err
	}
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var number C.int
	err := check(C.mt_peruse_query_event(p.t, text, &number))
	return int(number), err
}

// EventName is PERUSE_Query_event_name (PERUSE 2.0, section 5.2.4). It returns ErrPeruseEvent for a number that is not one of
// SupportedEvents.
func (p *Peruse) EventName(event int) (string, error) {
	if err := p.supports(event); err != nil {
		return "", err
	}
	var name *C.char
	if err := check(C.mt_peruse_query_event_name(p.t, C.int(event), &name)); err != nil || name == nil {
		return "", err
	}
	return goText(name), nil
}

// supports checks an event, as Open MPI looks others up in a table without one.
func (p *Peruse) supports(event int) error {
	events, err := p.SupportedEvents()
	if err == nil && !slices.ContainsFunc(events, func(e PeruseEvent) bool { return e.Number == event }) {
		err = ErrPeruseEvent
	}
	return err
}

// Environment is PERUSE_Query_environment (PERUSE 2.0, section 5.2.5): the environment variables that affect the library, each as
// NAME=value. It returns ErrBadCount for an impossible number of them.
func (p *Peruse) Environment() ([]string, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	var n C.int
	var env **C.char
	if err := check(C.mt_peruse_query_environment(p.t, &n, &env)); err != nil {
		return nil, err
	}
	if n < 0 || n > math.MaxUint16 || n > 0 && env == nil {
		return nil, ErrBadCount
	}
	var all []string
	for _, text := range unsafe.Slice(env, n) {
		if text != nil {
			all = append(all, goText(text))
		}
	}
	return all, nil
}

// QueueEventScope is PERUSE_Query_queue_event_scope (PERUSE 2.0, section 5.2.6).
func (p *Peruse) QueueEventScope() (PeruseScope, error) {
	if err := p.ready(); err != nil {
		return 0, err
	}
	var scope C.int
	err := check(C.mt_peruse_query_queue_event_scope(p.t, &scope))
	return PeruseScope(scope), err
}

// Lock is PERUSE_Lock (PERUSE 2.0, section 5.2.16), which excludes callbacks that take the same lock in other threads.
func (p *Peruse) Lock() error {
	if err := p.ready(); err != nil {
		return err
	}
	return check(C.mt_peruse_lock(p.t))
}

// Unlock is PERUSE_Unlock (PERUSE 2.0, section 5.2.17). Without a Lock before it, it returns ErrPeruseLock.
func (p *Peruse) Unlock() error {
	if err := p.ready(); err != nil {
		return err
	}
	return check(C.mt_peruse_unlock(p.t))
}
