package binding

// #include <stdlib.h>
// #include "call.h"
// #include "probe.h"
import "C"

import (
	"strings"
	"unsafe"

	"mpitx/catalog"
)

// CvarInfo is what MPI_T_cvar_get_info returns.
type CvarInfo struct {
	Name        string
	Verbosity   Verbosity
	Datatype    Datatype
	Enum        EnumHandle // the standard allows it with MPI_INT only; libraries use it with others too
	Description string
	Bind        Bind
	Scope       Scope
}

// NumCvars is MPI_T_cvar_get_num (MPI-3.1, section 14.3.6). The number may grow. An unloaded variable keeps its index,
// which becomes invalid.
func (i *Interface) NumCvars() (int, error) {
	return i.number(func(t *C.struct_mpitx_table, n *C.int) C.int { return C.mt_cvar_get_num(t, n) })
}

// CvarInfo is MPI_T_cvar_get_info (MPI-3.1, section 14.3.6) with complete strings. It returns ErrInvalidIndex if the
// variable never existed or has been unloaded.
func (i *Interface) CvarInfo(index int) (CvarInfo, error) {
	if err := i.valid(index, i.NumCvars); err != nil {
		return CvarInfo{}, err
	}
	var info C.struct_mpitx_cvar_info
	err := i.l.wholeStrings(func(p [2]*C.char, n *[2]C.int) C.int {
		return C.mt_cvar_get_info(i.t, C.int(index), p[0], &n[0], p[1], &n[1], &info)
	})
	if err != nil {
		return CvarInfo{}, err
	}
	return CvarInfo{
		Name:        i.l.name.String(),
		Verbosity:   Verbosity(info.verbosity),
		Datatype:    Datatype(info.datatype),
		Enum:        EnumHandle{C.mpitx_handle(info.enumtype)},
		Description: i.l.desc.String(),
		Bind:        Bind(info.bind),
		Scope:       Scope(info.scope),
	}, nil
}

// CvarIndex is MPI_T_cvar_get_index (MPI-3.1, section 14.3.6). It returns ErrInvalidName if no variable has this name
// now, and ErrNotProvided if the library is older than MPI-3.1.
func (i *Interface) CvarIndex(name string) (int, error) {
	if err := i.ready(); err != nil {
		return 0, err
	}
	return indexOf(name, func(p *C.char, index *C.int) C.int { return C.mt_cvar_get_index(i.t, p, index) })
}

// indexOf calls a get_index routine. It rejects null characters, at which C would end the name.
func indexOf(name string, get func(*C.char, *C.int) C.int) (int, error) {
	if strings.IndexByte(name, 0) >= 0 {
		return 0, ErrInvalidName
	}
	p := C.CString(name)
	defer C.free(unsafe.Pointer(p))
	var index C.int
	if err := check(get(p, &index)); err != nil {
		return 0, err
	}
	return int(index), nil
}

// CvarHandle is a handle of a control variable (MPI_T_cvar_handle) with memory for its value.
type CvarHandle struct {
	i     *Interface
	h     C.mpitx_handle
	value buffer
}

// AllocCvar is MPI_T_cvar_handle_alloc (MPI-3.1, section 14.3.6). Variables bound to a communicator need CommWorld or
// CommSelf, and MPI_Init; for other objects it returns ErrNotBindable. The caller frees the handle; Interface.Finalize
// frees those that are left.
func (i *Interface) AllocCvar(index int, object Object) (*CvarHandle, error) {
	info, err := i.CvarInfo(index)
	if err != nil {
		return nil, err
	}
	if object, err = i.resolveObject(info.Bind, object); err != nil {
		return nil, err
	}
	h := &CvarHandle{i: i}
	count := C.int(-1)
	if err := check(C.mt_cvar_handle_alloc(i.t, C.int(index), C.int(object), &h.h, &count)); err != nil {
		return nil, err
	}
	if err := h.value.init(info.Datatype, int(count)); err != nil {
		C.mt_cvar_handle_free(i.t, &h.h)
		return nil, err
	}
	i.cvarHandles[h] = struct{}{}
	return h, nil
}

// resolveObject returns the object to bind a variable to.
func (i *Interface) resolveObject(bind Bind, object Object) (Object, error) {
	switch {
	case bind == catalog.BindNoObject:
		return NoObject, nil
	case bind != catalog.BindComm || object != CommWorld && object != CommSelf:
		return NoObject, ErrNotBindable
	case !i.l.hasComms():
		return NoObject, ErrNeedsInit
	}
	return object, nil
}

// Free is MPI_T_cvar_handle_free (MPI-3.1, section 14.3.6). A second Free does nothing and returns ErrInvalidHandle.
func (h *CvarHandle) Free() error {
	if err := h.usable(); err != nil {
		return err
	}
	err := check(C.mt_cvar_handle_free(h.i.t, &h.h))
	h.h = 0
	h.value.free()
	delete(h.i.cvarHandles, h)
	return err
}

func (h *CvarHandle) usable() error {
	if err := h.i.ready(); err != nil {
		return err
	}
	if h.h == 0 {
		return ErrInvalidHandle
	}
	return nil
}

// Count is the number of elements; for MPI_CHAR the size of the buffer, including the terminating null.
func (h *CvarHandle) Count() int { return h.value.count }

// Read is MPI_T_cvar_read (MPI-3.1, section 14.3.6). It returns ErrInvalidHandle after Free.
func (h *CvarHandle) Read() (Value, error) {
	if err := h.usable(); err != nil {
		return Value{}, err
	}
	h.value.clear()
	if err := check(C.mt_cvar_read(h.i.t, h.h, h.value.p)); err != nil {
		return Value{}, err
	}
	return h.value.get(), nil
}

// Write is MPI_T_cvar_write (MPI-3.1, section 14.3.6). It returns ErrInvalid for a value of another type or number of
// elements, and the library's ErrCvarSetNotNow or ErrCvarSetNever if the variable cannot be set.
func (h *CvarHandle) Write(v Value) error {
	if err := h.usable(); err != nil {
		return err
	}
	if err := h.value.set(v); err != nil {
		return err
	}
	return check(C.mt_cvar_write(h.i.t, h.h, h.value.p))
}
