package binding

// #include "call.h"
// #include "watch_names.h"
// #include "event_watch.h"
//
// static void watch_start(const struct mpitx_table *t, int elements, const int64_t *at, const int *size, int sources, const int *ordered) {
//     table = t;
//     memset(&watch, 0, sizeof watch);
//     watch.elements = elements, watch.sources = sources;
//     for (int i = 0; i < elements && i < 64; i++) watch.at[i] = (long)at[i], watch.size[i] = size[i];
//     for (int i = 0; i < sources && i < 16; i++) watch.ordered[i] = ordered[i];
// }
// static void watch_set(mpitx_handle handle, int reads) { watch.handle = handle, watch.reads = reads; }
// static int watch_register(mpitx_handle handle, int level) {
//     if (level > watch.level) watch.level = level;
//     return table->event_register_callback(handle, level, 0, &watch, watch_event);
// }
// static int watch_drops(mpitx_handle handle) { return table->event_set_dropped_handler(handle, &watch, watch_dropped); }
// static int watch_free(mpitx_handle handle) { return table->event_handle_free(handle, &watch, watch_freed); }
// static int watch_note(int k) {
//     const int notes[] = {watch.events, watch.data, watch.times, watch.source, watch.safety, watch.others, watch.drops, watch.empty_drops, watch.frees, watch.late};
//     return notes[k];
// }
import "C"

import (
	_ "embed"
	"unsafe"
)

// EventWatch is the text of the workload and the callbacks of the rules about events, for C programs.
//
//go:embed event_watch.h
var EventWatch string

// WatchNotes are what the callbacks noted (EventWatch).
type WatchNotes struct {
	Events, Data, Times, Source, Safety, Others, Drops, EmptyDrops, Frees, Late int
}

// WatchEvents prepares the callbacks for an event type, whose elements have these displacements and sizes, and for sources that are
// ordered (1) or not (0).
func (r Raw) WatchEvents(at []int64, size, ordered []int32) {
	C.watch_start(r.t, C.int(len(size)), (*C.int64_t)(unsafe.SliceData(at)), (*C.int)(unsafe.Pointer(unsafe.SliceData(size))),
		C.int(len(ordered)), (*C.int)(unsafe.Pointer(unsafe.SliceData(ordered))))
}

// WatchHandle says which registration the callbacks belong to, and whether they read the data of events.
func (r Raw) WatchHandle(h RawHandle, reads bool) {
	n := C.int(0)
	if reads {
		n = 1
	}
	C.watch_set(C.mpitx_handle(h), n)
}

// WatchRegister is MPI_T_event_register_callback, WatchDrops MPI_T_event_set_dropped_handler, and WatchFree MPI_T_event_handle_free, with
// the callbacks of EventWatch.
func (r Raw) WatchRegister(h RawHandle, level int32) Error {
	return Error(C.watch_register(C.mpitx_handle(h), C.int(level)))
}
func (r Raw) WatchDrops(h RawHandle) Error { return Error(C.watch_drops(C.mpitx_handle(h))) }
func (r Raw) WatchFree(h RawHandle) Error  { return Error(C.watch_free(C.mpitx_handle(h))) }

// Work is the workload of EventWatch.
func (r Raw) Work(rank int32) Error { return Error(C.work(C.int(rank))) }

// DupWorld is MPI_Comm_dup of MPI_COMM_WORLD.
func (r Raw) DupWorld() Error {
	var duplicate C.int
	return Error(C.mt_comm_dup(r.t, C.MPITX_OBJECT_COMM_WORLD, &duplicate))
}

// WatchNotes returns what the callbacks noted so far.
func (r Raw) WatchNotes() WatchNotes {
	n := func(k int) int { return int(C.watch_note(C.int(k))) }
	return WatchNotes{n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8), n(9)}
}
