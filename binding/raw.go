package binding

// #include "call.h"
import "C"

import "unsafe"

// Raw calls the library's routines without the checks of this package, for the rules that test a library (mpitx check). Return codes,
// lengths and handles are the library's own. A null slice or pointer is passed as a null pointer. Nothing protects this process:
// a library may crash on what the standard says it rejects.
type Raw struct{ t *C.struct_mpitx_table }

// RawHandle is a handle, session, enumeration, registration or info object; 0 is its null.
type RawHandle uintptr

// RawCvar and RawPvar are the numbers that get_info returns, in the order of their tables.
type (
	RawCvar struct {
		Verbosity, Datatype, Bind, Scope int32
		Enum                             RawHandle
	}
	RawPvar struct {
		Verbosity, Class, Datatype, Bind, Readonly, Continuous, Atomic int32
		Enum                                                           RawHandle
	}
)

// Raw returns the unchecked routines.
func (l *Library) Raw() Raw { return Raw{l.t} }

// AllHandles is MPI_T_PVAR_ALL_HANDLES; 0 if the library does not have it.
func (r Raw) AllHandles() RawHandle { return RawHandle(r.t.pvar_all_handles) }

func chars(b []byte) *C.char               { return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))) }
func ints(p *int32) *C.int                 { return (*C.int)(unsafe.Pointer(p)) }
func anything(b []byte) unsafe.Pointer     { return unsafe.Pointer(unsafe.SliceData(b)) }
func handles(h *RawHandle) *C.mpitx_handle { return (*C.mpitx_handle)(unsafe.Pointer(h)) }

// FinalizeMPI is MPI_Finalize.
func (r Raw) FinalizeMPI() Error { return Error(C.mt_finalize(r.t)) }

// QueryThread is MPI_Query_thread.
func (r Raw) QueryThread(provided *int32) Error { return Error(C.mt_query_thread(r.t, ints(provided))) }

// World returns the rank and size of MPI_COMM_WORLD.
func (r Raw) World(rank, size *int32) Error { return Error(C.mt_world(r.t, ints(rank), ints(size))) }

// Finalize is MPI_T_finalize.
func (r Raw) Finalize() Error { return Error(C.mt_t_finalize(r.t)) }

// EnumInfo is MPI_T_enum_get_info.
func (r Raw) EnumInfo(e RawHandle, num *int32, name []byte, nameLen *int32) Error {
	return Error(C.mt_enum_get_info(r.t, C.mpitx_handle(e), ints(num), chars(name), ints(nameLen)))
}

// EnumItem is MPI_T_enum_get_item.
func (r Raw) EnumItem(e RawHandle, index int32, value *int32, name []byte, nameLen *int32) Error {
	return Error(C.mt_enum_get_item(r.t, C.mpitx_handle(e), C.int(index), ints(value), chars(name), ints(nameLen)))
}

// NumCvars is MPI_T_cvar_get_num.
func (r Raw) NumCvars(num *int32) Error { return Error(C.mt_cvar_get_num(r.t, ints(num))) }

// CvarInfo is MPI_T_cvar_get_info.
func (r Raw) CvarInfo(index int32, name []byte, nameLen *int32, desc []byte, descLen *int32, out *RawCvar) Error {
	var info C.struct_mpitx_cvar_info
	rc := Error(C.mt_cvar_get_info(r.t, C.int(index), chars(name), ints(nameLen), chars(desc), ints(descLen), &info))
	*out = RawCvar{int32(info.verbosity), int32(info.datatype), int32(info.bind), int32(info.scope), RawHandle(info.enumtype)}
	return rc
}

// CvarIndex is MPI_T_cvar_get_index. The name ends with a null character.
func (r Raw) CvarIndex(name []byte, index *int32) Error {
	return Error(C.mt_cvar_get_index(r.t, chars(name), ints(index)))
}

// AllocCvar is MPI_T_cvar_handle_alloc.
func (r Raw) AllocCvar(index int32, object Object, handle *RawHandle, count *int32) Error {
	return Error(C.mt_cvar_handle_alloc(r.t, C.int(index), C.int(object), handles(handle), ints(count)))
}

// FreeCvar is MPI_T_cvar_handle_free.
func (r Raw) FreeCvar(handle *RawHandle) Error {
	return Error(C.mt_cvar_handle_free(r.t, handles(handle)))
}

// ReadCvar is MPI_T_cvar_read.
func (r Raw) ReadCvar(handle RawHandle, buf []byte) Error {
	return Error(C.mt_cvar_read(r.t, C.mpitx_handle(handle), anything(buf)))
}

// WriteCvar is MPI_T_cvar_write.
func (r Raw) WriteCvar(handle RawHandle, buf []byte) Error {
	return Error(C.mt_cvar_write(r.t, C.mpitx_handle(handle), anything(buf)))
}

// NumPvars is MPI_T_pvar_get_num.
func (r Raw) NumPvars(num *int32) Error { return Error(C.mt_pvar_get_num(r.t, ints(num))) }

// PvarInfo is MPI_T_pvar_get_info.
func (r Raw) PvarInfo(index int32, name []byte, nameLen *int32, desc []byte, descLen *int32, out *RawPvar) Error {
	var info C.struct_mpitx_pvar_info
	rc := Error(C.mt_pvar_get_info(r.t, C.int(index), chars(name), ints(nameLen), chars(desc), ints(descLen), &info))
	*out = RawPvar{int32(info.verbosity), int32(info.var_class), int32(info.datatype), int32(info.bind),
		int32(info.readonly), int32(info.continuous), int32(info.atomic), RawHandle(info.enumtype)}
	return rc
}

// PvarIndex is MPI_T_pvar_get_index. The name ends with a null character.
func (r Raw) PvarIndex(name []byte, class int32, index *int32) Error {
	return Error(C.mt_pvar_get_index(r.t, chars(name), C.int(class), ints(index)))
}

// CreateSession is MPI_T_pvar_session_create.
func (r Raw) CreateSession(s *RawHandle) Error {
	return Error(C.mt_pvar_session_create(r.t, handles(s)))
}

// FreeSession is MPI_T_pvar_session_free.
func (r Raw) FreeSession(s *RawHandle) Error { return Error(C.mt_pvar_session_free(r.t, handles(s))) }

// AllocPvar is MPI_T_pvar_handle_alloc.
func (r Raw) AllocPvar(s RawHandle, index int32, object Object, handle *RawHandle, count *int32) Error {
	return Error(C.mt_pvar_handle_alloc(r.t, C.mpitx_handle(s), C.int(index), C.int(object), handles(handle), ints(count)))
}

// FreePvar is MPI_T_pvar_handle_free.
func (r Raw) FreePvar(s RawHandle, handle *RawHandle) Error {
	return Error(C.mt_pvar_handle_free(r.t, C.mpitx_handle(s), handles(handle)))
}

// StartPvar is MPI_T_pvar_start.
func (r Raw) StartPvar(s, h RawHandle) Error {
	return Error(C.mt_pvar_start(r.t, C.mpitx_handle(s), C.mpitx_handle(h)))
}

// StopPvar is MPI_T_pvar_stop.
func (r Raw) StopPvar(s, h RawHandle) Error {
	return Error(C.mt_pvar_stop(r.t, C.mpitx_handle(s), C.mpitx_handle(h)))
}

// ReadPvar is MPI_T_pvar_read.
func (r Raw) ReadPvar(s, h RawHandle, buf []byte) Error {
	return Error(C.mt_pvar_read(r.t, C.mpitx_handle(s), C.mpitx_handle(h), anything(buf)))
}

// WritePvar is MPI_T_pvar_write.
func (r Raw) WritePvar(s, h RawHandle, buf []byte) Error {
	return Error(C.mt_pvar_write(r.t, C.mpitx_handle(s), C.mpitx_handle(h), anything(buf)))
}

// ResetPvar is MPI_T_pvar_reset.
func (r Raw) ResetPvar(s, h RawHandle) Error {
	return Error(C.mt_pvar_reset(r.t, C.mpitx_handle(s), C.mpitx_handle(h)))
}

// ReadResetPvar is MPI_T_pvar_readreset.
func (r Raw) ReadResetPvar(s, h RawHandle, buf []byte) Error {
	return Error(C.mt_pvar_readreset(r.t, C.mpitx_handle(s), C.mpitx_handle(h), anything(buf)))
}

// Adopt returns the interface that Raw.InitThread initialized, for Probe.
func (l *Library) Adopt() *Interface {
	if l.tool == nil {
		l.tool = &Interface{l: l, t: l.t, references: 1, sessions: map[*Session]struct{}{}, cvarHandles: map[*CvarHandle]struct{}{},
			registrations: map[*EventRegistration]struct{}{}}
	}
	return l.tool
}

// AdoptMPI notes that Raw.InitMPI initialized MPI, so that Probe may bind communicators.
func (l *Library) AdoptMPI() { l.inited = true }
