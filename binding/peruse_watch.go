package binding

// #include "call.h"
// #include "watch_names.h"
// #define PERUSE_LOCKS
// #define PERUSE_WATCHES 512
// #define PERUSE_OF_WORLD(spec) of_world(spec)
// static uint64_t world; // the library's handle, learnt from the first callback
// static int of_world(const struct mpitx_peruse_spec *spec) {
//     if (world == 0) world = spec->comm;
//     return spec->comm == world;
// }
// #include "peruse_watch.h"
//
// static int first = -4; // of the four handles; a library may still call the callbacks of older ones
// static void peruse_start(const struct mpitx_table *t) {
//     table = t;
//     first = (first + 4) % PERUSE_WATCHES;
//     memset(peruse_watch + first, 0, 4 * sizeof *peruse_watch);
//     memset(&peruse_ids, 0, sizeof peruse_ids);
// }
// static struct peruse_watch *peruse_watch_of(int k) { return &peruse_watch[first + k]; }
// static int peruse_register(int k, int event, int object, int callback) {
//     struct peruse_watch *it = peruse_watch_of(k);
//     it->event = event;
//     return table->peruse_event_comm_register(event, object, callback ? peruse_called : NULL, it, &it->handle);
// }
// static int peruse_callback_set(int k, int other) {
//     return table->peruse_event_comm_callback_set(peruse_watch_of(k)->handle, peruse_called, peruse_watch_of(other));
// }
// static void peruse_marks(int k, int request, int lock, int begins, int ends) {
//     struct peruse_watch *it = peruse_watch_of(k);
//     it->request = request, it->lock = lock, it->begins = begins, it->ends = ends;
// }
// // The shim's own release would hide what the library does after it. The shim's handle points to the library's.
// static int peruse_release(mpitx_handle *handle) {
//     int (*release)(void **) = (int (*)(void **))table->symbol("PERUSE_Event_release");
//     if (!release || *handle == 0) return table->peruse_event_release(handle);
//     void *native = *(void **)*handle;
//     int rc = release(&native);
//     if (!native) *handle = 0;
//     return rc == 0 ? MPITX_SUCCESS : MPITX_ERR_OTHER + rc;
// }
// static int peruse_ids_twice(void) { return peruse_ids.twice; }
// static int peruse_ids_unknown(void) { return peruse_ids.unknown; }
import "C"

import (
	_ "embed"
	"unsafe"
)

// PeruseWatch is the text of the workload and the callback of the rules about PERUSE, for C programs.
//
//go:embed peruse_watch.h
var PeruseWatch string

// PeruseMessages is the number of messages that PeruseWatch sends before their receives, and of those that it sends after them.
const PeruseMessages = C.PERUSE_MESSAGES

// PeruseWatcher has the four handles of PeruseWatch, by number, and calls the library's routines for them without checks.
type PeruseWatcher struct{ t *C.struct_mpitx_table }

// PeruseNotes are what the callbacks of a handle noted (PeruseWatch).
type PeruseNotes struct{ Calls, Receives, Others, Wrong, Refused int }

// PeruseMarks say what the callbacks of a handle look at (PeruseWatch).
type PeruseMarks struct{ Request, Lock, Begins, Ends bool }

// PeruseWatcher returns handles that nobody has registered.
func (r Raw) PeruseWatcher() PeruseWatcher {
	C.peruse_start(r.t)
	return PeruseWatcher(r)
}

// Register is PERUSE_Event_comm_register; without the callback if it is false.
func (w PeruseWatcher) Register(k int, event int32, comm Object, callback bool) Error {
	return Error(C.peruse_register(C.int(k), C.int(event), C.int(comm), flag(callback)))
}

// SetCallback is PERUSE_Event_comm_callback_set: the callback notes what it sees as handle other does.
func (w PeruseWatcher) SetCallback(k, other int) Error {
	return Error(C.peruse_callback_set(C.int(k), C.int(other)))
}

// Mark says what the callback looks at.
func (w PeruseWatcher) Mark(k int, m PeruseMarks) {
	C.peruse_marks(C.int(k), flag(m.Request), flag(m.Lock), flag(m.Begins), flag(m.Ends))
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// Notes returns what the callbacks noted so far.
func (w PeruseWatcher) Notes(k int) PeruseNotes {
	it := C.peruse_watch_of(C.int(k))
	return PeruseNotes{int(it.calls), int(it.receives), int(it.others), int(it.wrong), int(it.refused)}
}

// Identifiers returns how often an identifier began while it was in use, and ended while it was not.
func (w PeruseWatcher) Identifiers() (twice, unknown int) {
	return int(C.peruse_ids_twice()), int(C.peruse_ids_unknown())
}

// Work is the workload of PeruseWatch.
func (w PeruseWatcher) Work(comm Object) Error { return Error(C.peruse_work(C.int(comm))) }

func handleOf(k int) *C.mpitx_handle { return &C.peruse_watch_of(C.int(k)).handle }

// Null reports whether a handle is PERUSE_EVENT_HANDLE_NULL.
func (w PeruseWatcher) Null(k int) bool { return *handleOf(k) == 0 }

// Activate is PERUSE_Event_activate.
func (w PeruseWatcher) Activate(k int) Error {
	return Error(C.mt_peruse_event_activate(w.t, *handleOf(k)))
}

// Deactivate is PERUSE_Event_deactivate.
func (w PeruseWatcher) Deactivate(k int) Error {
	return Error(C.mt_peruse_event_deactivate(w.t, *handleOf(k)))
}

// Release is PERUSE_Event_release.
func (w PeruseWatcher) Release(k int) Error {
	return Error(C.peruse_release(handleOf(k)))
}

// Event is PERUSE_Event_get.
func (w PeruseWatcher) Event(k int, event *int32) Error {
	return Error(C.mt_peruse_event_get(w.t, *handleOf(k), ints(event)))
}

// Object is PERUSE_Event_object_get.
func (w PeruseWatcher) Object(k int, object *int32) Error {
	return Error(C.mt_peruse_event_object_get(w.t, *handleOf(k), ints(object)))
}

// Propagate is PERUSE_Event_propagate.
func (w PeruseWatcher) Propagate(k int, mode bool) Error {
	return Error(C.mt_peruse_event_propagate(w.t, *handleOf(k), flag(mode)))
}

// PeruseLock is PERUSE_Lock.
func (r Raw) PeruseLock() Error { return Error(C.mt_peruse_lock(r.t)) }

// PeruseUnlock is PERUSE_Unlock.
func (r Raw) PeruseUnlock() Error { return Error(C.mt_peruse_unlock(r.t)) }

// PeruseEnvironment is PERUSE_Query_environment. num stays as it is if the library does not set it.
func (r Raw) PeruseEnvironment(num *int32) (all []string, rc Error) {
	var env **C.char
	if rc = Error(C.mt_peruse_query_environment(r.t, ints(num), &env)); rc != 0 || *num <= 0 || *num > 1<<16 || env == nil {
		return nil, rc
	}
	for _, p := range unsafe.Slice(env, *num) {
		all = append(all, C.GoString(p))
	}
	return all, rc
}

// Dup is MPI_Comm_dup.
func (r Raw) Dup(comm Object, duplicate *int32) Error {
	return Error(C.mt_comm_dup(r.t, C.int(comm), ints(duplicate)))
}
