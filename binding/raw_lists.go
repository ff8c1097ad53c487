package binding

// #include "call.h"
import "C"

import "unsafe"

// The unchecked routines of categories, events and PERUSE.

// NumCategories is MPI_T_category_get_num.
func (r Raw) NumCategories(num *int32) Error { return Error(C.mt_category_get_num(r.t, ints(num))) }

// CategoryInfo is MPI_T_category_get_info. num are the numbers of control variables, performance variables and categories.
func (r Raw) CategoryInfo(index int32, name []byte, nameLen *int32, desc []byte, descLen *int32, num *[3]int32) Error {
	return Error(C.mt_category_get_info(r.t, C.int(index), chars(name), ints(nameLen), chars(desc), ints(descLen),
		ints(&num[0]), ints(&num[1]), ints(&num[2])))
}

// CategoryIndex is MPI_T_category_get_index. The name ends with a null character.
func (r Raw) CategoryIndex(name []byte, index *int32) Error {
	return Error(C.mt_category_get_index(r.t, chars(name), ints(index)))
}

// CategoryCvars is MPI_T_category_get_cvars.
func (r Raw) CategoryCvars(index, length int32, indices []int32) Error {
	return Error(C.mt_category_get_cvars(r.t, C.int(index), C.int(length), ints(unsafe.SliceData(indices))))
}

// CategoryPvars is MPI_T_category_get_pvars.
func (r Raw) CategoryPvars(index, length int32, indices []int32) Error {
	return Error(C.mt_category_get_pvars(r.t, C.int(index), C.int(length), ints(unsafe.SliceData(indices))))
}

// CategoryCategories is MPI_T_category_get_categories.
func (r Raw) CategoryCategories(index, length int32, indices []int32) Error {
	return Error(C.mt_category_get_categories(r.t, C.int(index), C.int(length), ints(unsafe.SliceData(indices))))
}

// CategoryNumEvents is MPI_T_category_get_num_events, and CategoryEvents MPI_T_category_get_events.
func (r Raw) CategoryNumEvents(index int32, num *int32) Error {
	return Error(C.mt_category_get_num_events(r.t, C.int(index), ints(num)))
}
func (r Raw) CategoryEvents(index, length int32, indices []int32) Error {
	return Error(C.mt_category_get_events(r.t, C.int(index), C.int(length), ints(unsafe.SliceData(indices))))
}

// CategoryChanged is MPI_T_category_changed.
func (r Raw) CategoryChanged(stamp *int32) Error {
	return Error(C.mt_category_changed(r.t, ints(stamp)))
}

// NumSources is MPI_T_source_get_num.
func (r Raw) NumSources(num *int32) Error { return Error(C.mt_source_get_num(r.t, ints(num))) }

// RawSource is what MPI_T_source_get_info returns besides strings.
type RawSource struct {
	Ordering            int32
	TicksPerSecond, Max int64
}

// SourceInfo is MPI_T_source_get_info.
func (r Raw) SourceInfo(index int32, name []byte, nameLen *int32, desc []byte, descLen *int32, out *RawSource) Error {
	var info C.struct_mpitx_source_info
	rc := Error(C.mt_source_get_info(r.t, C.int(index), chars(name), ints(nameLen), chars(desc), ints(descLen), &info))
	*out = RawSource{int32(info.ordering), int64(info.ticks_per_second), int64(info.max_ticks)}
	r.dropInfo(info.info)
	return rc
}

// SourceTimestamp is MPI_T_source_get_timestamp.
func (r Raw) SourceTimestamp(index int32, t *int64) Error {
	return Error(C.mt_source_get_timestamp(r.t, C.int(index), (*C.int64_t)(t)))
}

func (r Raw) dropInfo(info C.uintptr_t) {
	if h := C.mpitx_handle(info); h != 0 {
		C.mt_info_free(r.t, &h)
	}
}

// NumEvents is MPI_T_event_get_num.
func (r Raw) NumEvents(num *int32) Error { return Error(C.mt_event_get_num(r.t, ints(num))) }

// RawEvent is what MPI_T_event_get_info returns besides strings and arrays.
type RawEvent struct {
	Verbosity, Bind, Elements int32
	Enum                      RawHandle
}

// EventInfo is MPI_T_event_get_info; the arrays have the same length. out.Elements is set to the number of elements.
func (r Raw) EventInfo(index int32, name []byte, nameLen *int32, desc []byte, descLen *int32, types []int32, offsets []int64, out *RawEvent) Error {
	info := C.struct_mpitx_event_info{num_elements: C.int(len(types))}
	rc := Error(C.mt_event_get_info(r.t, C.int(index), chars(name), ints(nameLen), chars(desc), ints(descLen),
		ints(unsafe.SliceData(types)), (*C.int64_t)(unsafe.SliceData(offsets)), &info))
	*out = RawEvent{int32(info.verbosity), int32(info.bind), int32(info.num_elements), RawHandle(info.enumtype)}
	r.dropInfo(info.info)
	return rc
}

// EventIndex is MPI_T_event_get_index. The name ends with a null character.
func (r Raw) EventIndex(name []byte, index *int32) Error {
	return Error(C.mt_event_get_index(r.t, chars(name), ints(index)))
}

// AllocEvent is MPI_T_event_handle_alloc, without hints.
func (r Raw) AllocEvent(index int32, object Object, registration *RawHandle) Error {
	return Error(C.mt_event_handle_alloc(r.t, C.int(index), C.int(object), 0, handles(registration)))
}

// FreeEvent is MPI_T_event_handle_free, without a callback.
func (r Raw) FreeEvent(registration RawHandle) Error {
	return Error(C.mt_event_handle_free(r.t, C.mpitx_handle(registration), 0))
}

// EventInfoOf is MPI_T_event_handle_get_info, and SetEventInfo MPI_T_event_handle_set_info.
func (r Raw) EventInfoOf(registration RawHandle, info *RawHandle) Error {
	return Error(C.mt_event_handle_get_info(r.t, C.mpitx_handle(registration), handles(info)))
}
func (r Raw) SetEventInfo(registration, info RawHandle) Error {
	return Error(C.mt_event_handle_set_info(r.t, C.mpitx_handle(registration), C.mpitx_handle(info)))
}

// CallbackInfo is MPI_T_event_callback_get_info, and SetCallbackInfo MPI_T_event_callback_set_info.
func (r Raw) CallbackInfo(registration RawHandle, level int32, info *RawHandle) Error {
	return Error(C.mt_event_callback_get_info(r.t, C.mpitx_handle(registration), C.int(level), handles(info)))
}
func (r Raw) SetCallbackInfo(registration RawHandle, level int32, info RawHandle) Error {
	return Error(C.mt_event_callback_set_info(r.t, C.mpitx_handle(registration), C.int(level), C.mpitx_handle(info)))
}

// InitPeruse is PERUSE_Init.
func (r Raw) InitPeruse() Error { return Error(C.mt_peruse_init(r.t)) }

// PeruseEvent is PERUSE_Query_event. The name ends with a null character.
func (r Raw) PeruseEvent(name []byte, event *int32) Error {
	return Error(C.mt_peruse_query_event(r.t, chars(name), ints(event)))
}

// PeruseEvents is PERUSE_Query_supported_events.
func (r Raw) PeruseEvents() (names []string, events []int32, rc Error) {
	var num C.int
	var cNames **C.char
	var cEvents *C.int
	if rc = Error(C.mt_peruse_query_supported_events(r.t, &num, &cNames, &cEvents)); rc != 0 || num < 0 || num > 1<<16 {
		return nil, nil, rc
	}
	for k := range int(num) {
		names = append(names, C.GoString(unsafe.Slice(cNames, num)[k]))
		events = append(events, int32(unsafe.Slice(cEvents, num)[k]))
	}
	return names, events, rc
}

// PeruseEventName is PERUSE_Query_event_name.
func (r Raw) PeruseEventName(event int32) (name string, rc Error) {
	var p *C.char
	rc = Error(C.mt_peruse_query_event_name(r.t, C.int(event), &p))
	return C.GoString(p), rc
}

// PeruseScope is PERUSE_Query_queue_event_scope.
func (r Raw) PeruseScope(scope *int32) Error {
	return Error(C.mt_peruse_query_queue_event_scope(r.t, ints(scope)))
}
