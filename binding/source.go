package binding

// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"unsafe"
)

// SourceInfo is what MPI_T_source_get_info returns.
type SourceInfo struct {
	Name           string
	Description    string
	Order          SourceOrder
	TicksPerSecond int64 // of its timestamps
	MaxTicks       int64 // its timestamps start again from 0 after this one
	Hints          Hints
}

// Hints are the keys and values of an MPI_Info object. nil is MPI_INFO_NULL.
type Hints map[string]string

// NumSources is MPI_T_source_get_num (MPI-4.0, section 15.3.8): the number of event sources, whose indices are 0 to this number
// minus one. The number may grow, and an index never changes. It returns ErrNotProvided if the library is older. Only the
// library's goroutine may call it.
func (i *Interface) NumSources() (int, error) {
	return i.number(func(t *C.struct_mpitx_table, n *C.int) C.int { return C.mt_source_get_num(t, n) })
}

// SourceInfo is MPI_T_source_get_info (MPI-4.0, section 15.3.8) with complete strings. It returns ErrInvalidIndex for an index
// that does not exist, and ErrNotProvided if the library is older. Only the library's goroutine may call it.
func (i *Interface) SourceInfo(index int) (SourceInfo, error) {
	if err := i.valid(index, i.NumSources); err != nil {
		return SourceInfo{}, err
	}
	var info C.struct_mpitx_source_info
	err := i.l.wholeStrings(func(p [2]*C.char, n *[2]C.int) C.int {
		i.freeInfo(info.info)
		info = C.struct_mpitx_source_info{}
		return C.mt_source_get_info(i.t, C.int(index), p[0], &n[0], p[1], &n[1], &info)
	})
	hints := i.takeInfo(info.info)
	if err != nil {
		return SourceInfo{}, err
	}
	return SourceInfo{i.l.name.String(), i.l.desc.String(), SourceOrder(info.ordering), int64(info.ticks_per_second), int64(info.max_ticks), hints}, nil
}

// SourceTimestamp is MPI_T_source_get_timestamp (MPI-4.0, section 15.3.8): the source's time now, in ticks. It returns
// ErrNotSupported if the source has timestamps only in events, ErrInvalidIndex for an index that does not exist, and
// ErrNotProvided if the library is older. Only the library's goroutine may call it; a callback has Event.Timestamp.
func (i *Interface) SourceTimestamp(index int) (int64, error) {
	if err := i.valid(index, i.NumSources); err != nil {
		return 0, err
	}
	var ticks C.int64_t
	if err := check(C.mt_source_get_timestamp(i.t, C.int(index), &ticks)); err != nil {
		return 0, err
	}
	return int64(ticks), nil
}

// newInfo makes an info object, which the caller frees; 0, MPI_INFO_NULL, for nil.
func (i *Interface) newInfo(hints Hints) (C.mpitx_handle, error) {
	if hints == nil {
		return 0, nil
	}
	var info C.mpitx_handle
	if err := check(C.mt_info_create(i.t, &info)); err != nil {
		return 0, err
	}
	for key, value := range hints {
		k, v := C.CString(key), C.CString(value)
		err := check(C.mt_info_set(i.t, info, k, v))
		C.free(unsafe.Pointer(k))
		C.free(unsafe.Pointer(v))
		if err != nil {
			i.freeInfo(info)
			return 0, err
		}
	}
	return info, nil
}

func (i *Interface) freeInfo(info C.mpitx_handle) {
	if info != 0 {
		C.mt_info_free(i.t, &info)
	}
}

// takeInfo returns the contents of an info object of the library and frees it. Keys that cannot be read are left out.
func (i *Interface) takeInfo(info C.mpitx_handle) Hints {
	if info == 0 {
		return nil
	}
	defer i.freeInfo(info)
	const most = 1 << 10
	key, value := (*C.char)(C.calloc(1, C.MPITX_INFO_KEY)), (*C.char)(C.calloc(1, C.MPITX_INFO_VALUE))
	defer C.free(unsafe.Pointer(key))
	defer C.free(unsafe.Pointer(value))
	var num C.int
	if C.mt_info_get_nkeys(i.t, info, &num) != C.MPITX_SUCCESS {
		return nil
	}
	hints := Hints{}
	for n := range min(num, most) {
		var found C.int
		if C.mt_info_get_nthkey(i.t, info, n, key) == C.MPITX_SUCCESS && C.mt_info_get(i.t, info, key, value, &found) == C.MPITX_SUCCESS && found != 0 {
			hints[C.GoString(key)] = C.GoString(value)
		}
	}
	return hints
}
