package binding

// #include "call.h"
import "C"

import "errors"

// Session is a performance experiment session (MPI_T_pvar_session). Its handles and their values are separate from other sessions'.
type Session struct {
	i       *Interface
	s       C.mpitx_handle
	handles map[*PvarHandle]struct{}
}

// PvarHandle is a handle of a performance variable (MPI_T_pvar_handle). It belongs to one session.
type PvarHandle struct {
	s          *Session
	h          C.mpitx_handle
	value      buffer
	readonly   bool
	continuous bool
	atomic     bool
}

// AllHandles is MPI_T_PVAR_ALL_HANDLES. Start, Stop and Reset apply to all handles of the session; other methods return
// ErrInvalidHandle.
var AllHandles = new(PvarHandle)

// NewSession is MPI_T_pvar_session_create (MPI-3.1, section 14.3.7). The caller frees the session; Interface.Finalize
// frees those that are left.
func (i *Interface) NewSession() (*Session, error) {
	if err := i.ready(); err != nil {
		return nil, err
	}
	s := &Session{i: i, handles: map[*PvarHandle]struct{}{}}
	if err := check(C.mt_pvar_session_create(i.t, &s.s)); err != nil {
		return nil, err
	}
	i.sessions[s] = struct{}{}
	return s, nil
}

func (s *Session) usable() error {
	if err := s.i.ready(); err != nil {
		return err
	}
	if s.s == 0 {
		return ErrInvalidSession
	}
	return nil
}

// Free is MPI_T_pvar_session_free (MPI-3.1, section 14.3.7), after freeing the session's handles. A second Free does
// nothing and returns ErrInvalidSession.
func (s *Session) Free() error {
	if err := s.usable(); err != nil {
		return err
	}
	var errs []error
	for h := range s.handles {
		errs = append(errs, s.FreeHandle(h))
	}
	errs = append(errs, check(C.mt_pvar_session_free(s.i.t, &s.s)))
	s.s = 0
	delete(s.i.sessions, s)
	return errors.Join(errs...)
}

// AllocPvar is MPI_T_pvar_handle_alloc (MPI-3.1, section 14.3.7). Variables bound to a communicator need CommWorld or
// CommSelf, and MPI_Init; for other objects it returns ErrNotBindable. Continuous variables are active from then on.
func (s *Session) AllocPvar(index int, object Object) (*PvarHandle, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	info, err := s.i.PvarInfo(index)
	if err != nil {
		return nil, err
	}
	if object, err = s.i.resolveObject(info.Bind, object); err != nil {
		return nil, err
	}
	h := &PvarHandle{s: s, readonly: info.Readonly, continuous: info.Continuous, atomic: info.Atomic}
	count := C.int(-1)
	if err := check(C.mt_pvar_handle_alloc(s.i.t, s.s, C.int(index), C.int(object), &h.h, &count)); err != nil {
		return nil, err
	}
	if err := h.value.init(info.Datatype, int(count)); err != nil {
		C.mt_pvar_handle_free(s.i.t, s.s, &h.h)
		return nil, err
	}
	s.handles[h] = struct{}{}
	return h, nil
}

// checkHandle returns an error if a handle was freed or belongs to another session.
func (s *Session) checkHandle(h *PvarHandle) error {
	if err := s.usable(); err != nil {
		return err
	}
	if h == nil || h == AllHandles || h.h == 0 || h.s != s {
		return ErrInvalidHandle
	}
	return nil
}

// FreeHandle is MPI_T_pvar_handle_free (MPI-3.1, section 14.3.7). A second call returns ErrInvalidHandle, and so does a
// handle of another session.
func (s *Session) FreeHandle(h *PvarHandle) error {
	if err := s.checkHandle(h); err != nil {
		return err
	}
	err := check(C.mt_pvar_handle_free(s.i.t, s.s, &h.h))
	h.h = 0
	h.value.free()
	delete(s.handles, h)
	return err
}

// resolveHandle resolves a handle for the routines that accept MPI_T_PVAR_ALL_HANDLES.
func (s *Session) resolveHandle(h *PvarHandle) (C.mpitx_handle, error) {
	if h == AllHandles {
		if err := s.usable(); err != nil {
			return 0, err
		}
		if s.i.t.pvar_all_handles == 0 {
			return 0, ErrNotProvided
		}
		return s.i.t.pvar_all_handles, nil
	}
	if err := s.checkHandle(h); err != nil {
		return 0, err
	}
	return h.h, nil
}

// Start is MPI_T_pvar_start (MPI-3.1, section 14.3.7), for one handle or AllHandles. It returns ErrPvarNoStartStop for
// a continuous variable.
func (s *Session) Start(h *PvarHandle) error {
	handle, err := s.resolveHandle(h)
	switch {
	case err != nil:
		return err
	case h.continuous:
		return ErrPvarNoStartStop
	}
	return check(C.mt_pvar_start(s.i.t, s.s, handle))
}

// Stop is MPI_T_pvar_stop (MPI-3.1, section 14.3.7), for one handle or AllHandles. It returns ErrPvarNoStartStop for a
// continuous variable.
func (s *Session) Stop(h *PvarHandle) error {
	handle, err := s.resolveHandle(h)
	switch {
	case err != nil:
		return err
	case h.continuous:
		return ErrPvarNoStartStop
	}
	return check(C.mt_pvar_stop(s.i.t, s.s, handle))
}

// Read is MPI_T_pvar_read (MPI-3.1, section 14.3.7). It returns ErrInvalidHandle for a handle that was freed, or of
// another session.
func (s *Session) Read(h *PvarHandle) (Value, error) {
	if err := s.checkHandle(h); err != nil {
		return Value{}, err
	}
	h.value.clear()
	if err := check(C.mt_pvar_read(s.i.t, s.s, h.h, h.value.p)); err != nil {
		return Value{}, err
	}
	return h.value.get(), nil
}

// Write is MPI_T_pvar_write (MPI-3.1, section 14.3.7). It returns ErrPvarNoWrite for a readonly variable. Libraries
// crash on writes of some variables that they list as writable.
func (s *Session) Write(h *PvarHandle, v Value) error {
	if err := s.checkHandle(h); err != nil {
		return err
	}
	if h.readonly {
		return ErrPvarNoWrite
	}
	if err := h.value.set(v); err != nil {
		return err
	}
	return check(C.mt_pvar_write(s.i.t, s.s, h.h, h.value.p))
}

// Reset is MPI_T_pvar_reset (MPI-3.1, section 14.3.7), for one handle or AllHandles. It returns ErrPvarNoWrite for a
// readonly variable.
func (s *Session) Reset(h *PvarHandle) error {
	handle, err := s.resolveHandle(h)
	switch {
	case err != nil:
		return err
	case h.readonly:
		return ErrPvarNoWrite
	}
	return check(C.mt_pvar_reset(s.i.t, s.s, handle))
}

// ReadReset is MPI_T_pvar_readreset (MPI-3.1, section 14.3.7). It returns ErrPvarNoAtomic if the variable is not
// atomic, and ErrPvarNoWrite if it is readonly.
func (s *Session) ReadReset(h *PvarHandle) (Value, error) {
	if err := s.checkHandle(h); err != nil {
		return Value{}, err
	}
	switch {
	case h.readonly:
		return Value{}, ErrPvarNoWrite
	case !h.atomic:
		return Value{}, ErrPvarNoAtomic
	}
	h.value.clear()
	if err := check(C.mt_pvar_readreset(s.i.t, s.s, h.h, h.value.p)); err != nil {
		return Value{}, err
	}
	return h.value.get(), nil
}

// Count is the number of elements. Many variables bound to a communicator have one for each of its processes.
func (h *PvarHandle) Count() int { return h.value.count }
