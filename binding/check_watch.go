package binding

// #include "call.h"
// #include "watch_names.h"
// #include "check_watch.h"
//
// static int watch_reads(const struct mpitx_table *t, mpitx_handle handle, int threads, int times) {
//     table = t;
//     return read_in_threads(handle, threads, times);
// }
// static int watch_error_calls(const struct mpitx_table *t) { return t->watch_errors((mpitx_error_fn *)count_error); }
// static int error_calls(void) { return errors; }
// static int watch_work(const struct mpitx_table *t) {
//     table = t;
//     return work_alone();
// }
import "C"

import _ "embed"

// CheckWatch is the text of the error handler, the threads and the messages of rules, for C programs.
//
//go:embed check_watch.h
var CheckWatch string

// ThreadBytes is the size of a value that ReadInThreads can read.
const ThreadBytes = 1 << 17

// The lists of InfoWithout.
const (
	ListCvars      = C.MPITX_CVARS
	ListPvars      = C.MPITX_PVARS
	ListCategories = C.MPITX_CATEGORIES
)

// ReadInThreads reads a control variable a number of times in one or two other threads, at the same time.
func (r Raw) ReadInThreads(handle RawHandle, threads, times int) Error {
	return Error(C.watch_reads(r.t, C.mpitx_handle(handle), C.int(threads), C.int(times)))
}

// WatchErrors sets an error handler of MPI_COMM_WORLD and MPI_COMM_SELF. ErrorCalls are its calls so far.
func (r Raw) WatchErrors() Error { return Error(C.watch_error_calls(r.t)) }
func (r Raw) ErrorCalls() int    { return int(C.error_calls()) }

// WorkAlone sends messages of this process to itself.
func (r Raw) WorkAlone() Error { return Error(C.watch_work(r.t)) }

// InfoWithout is get_info of a list with null pointers: bit k of without is the argument k after the index.
func (r Raw) InfoWithout(list, index int32, without uint32) Error {
	return Error(C.mt_get_info_without(r.t, C.int(list), C.int(index), C.uint(without)))
}

// PublicNames says whether later calls use MPI_T_x or, as usual, PMPI_T_x.
func (r Raw) PublicNames(on bool) {
	n := C.int(0)
	if on {
		n = 1
	}
	C.mt_public_names(r.t, n)
}
