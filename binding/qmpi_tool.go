package binding

// #define _GNU_SOURCE
// #include <stdlib.h>
// #include "qmpi_tool.h"
// #include "shim/mpitx.h"
//
// static void *find(const struct mpitx_table *t, const char *name) { return t->symbol(name); }
// static int add_tool(void *f, const char *name, int which) {
//     static void (*const inits[])(int) = {tool_init_outer, tool_init_inner, tool_init_unlisted};
//     return ((int (*)(const char *, void (*)(int)))f)(name, inits[which]);
// }
// static int call_int(void *f, int *n) { return ((int (*)(int *))f)(n); }
// static int call_next(int id, int number) { tool_any *f; int next; return tool.get_next(id, number, &f, &next); }
// static int call_storage(int id) { int mine; return tool.register_storage(id, &mine); }
// static void wrong(int function, int id) { tool_wrong_function = function, tool_wrong_tool = id; }
// static void note_addresses(void) { tool_wrapper = (tool_any *)tool_wrap_address; }
// static const char *inits(void) { return tool_notes.inits; }
// static const char *all(void) { return tool_notes.all; }
// static const char *outer(void) { return tool_notes.outer; }
// static int tool_number(void) { return tool.all; }
// static int note(int k) {
//     const int notes[] = {tool_notes.refused, tool_notes.numbers, tool_notes.storage, tool_notes.arguments, tool_notes.next, tool_notes.changed, tool_notes.address};
//     return notes[k];
// }
import "C"

import (
	_ "embed"
	"runtime"
	"unsafe"
)

// QMPITools is the text of the tools of the rules about QMPI, for C programs.
//
//go:embed qmpi_tool.h
var QMPITools string

// RawQMPI calls a library's QMPI, with the tools outer, inner and unlisted (QMPITools). There is one in a process.
type RawQMPI struct {
	r     Raw
	draft bool // the routines have the names of the draft, and not MPICH's
}

// Symbol reports whether the library exports a routine of this very name.
func (r Raw) Symbol(name string) bool { return r.symbol(name) != nil }

func (r Raw) symbol(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.find(r.t, c)
}

// QMPI prepares the tools; nil if the library does not have QMPI.
func (l *Library) QMPI() *RawQMPI {
	if !l.HasQMPI() {
		return nil
	}
	q := &RawQMPI{r: l.Raw()}
	q.draft = q.r.Symbol("MPI_Register_tool_name")
	f := func(name string) unsafe.Pointer { return q.r.symbol(name) }
	C.tool_start(f(q.Name("MPI_Register_tool_storage")), f(q.Name("MPI_Register_tool_function")), f(q.Name("MPI_Get_next_tool_function")),
		f(q.Name("MPI_Get_tool_storage")), f(q.Name("MPI_Get_calling_address")), f("QMPI_Query_thread"), f("QMPI_Initialized"), -1, -1)
	return q
}

// Name is the library's name of a routine of the draft.
func (q *RawQMPI) Name(routine string) string {
	if q.draft {
		return routine
	}
	switch routine {
	case "MPI_Register_tool_function":
		return "QMPI_Register_function"
	case "MPI_Get_next_tool_function":
		return "QMPI_Get_function"
	}
	return "Q" + routine
}

// ListTools sets the list of tools that the library initializes.
func (q *RawQMPI) ListTools(list string) { setenv("MPIR_CVAR_QMPI_TOOL_LIST", list) }

func otherCode(rc C.int) Error {
	if rc == 0 {
		return 0
	}
	return Error(C.MPITX_ERR_OTHER + rc)
}

// Register registers a tool by the name, with the initialization of tool which: 0 outer, 1 inner, 2 unlisted.
func (q *RawQMPI) Register(name string, which int) Error {
	return otherCode(C.add_tool(q.r.symbol(q.Name("MPI_Register_tool_name")), C.CString(name), C.int(which))) // the library may keep the name
}

// Wrong makes each tool register a function with a number, or for a tool, that is larger by these.
func (q *RawQMPI) Wrong(function, tool int) { C.wrong(C.int(function), C.int(tool)) }

// NoteAddresses makes the tools ask for the address of each call.
func (q *RawQMPI) NoteAddresses() { C.note_addresses() }

// QueryThread and Initialized are MPI_Query_thread and MPI_Initialized, through the tools; they return the code as it is.
func (q *RawQMPI) QueryThread(level *int32) int {
	return int(C.call_int(q.r.symbol("MPI_Query_thread"), ints(level)))
}
func (q *RawQMPI) Initialized(flag *int32) int {
	return int(C.call_int(q.r.symbol("MPI_Initialized"), ints(flag)))
}

// Next asks for the next function of a tool, and Storage registers storage for one.
func (q *RawQMPI) Next(tool, function int) Error {
	return otherCode(C.call_next(C.int(tool), C.int(function)))
}
func (q *RawQMPI) Storage(tool int) Error { return otherCode(C.call_storage(C.int(tool))) }

// Function is the number of MPI_Query_thread, which a tool has found; below 0 if none did.
func (q *RawQMPI) Function() int { return int(C.tool_number()) }

// ToolNotes are what the tools noted (QMPITools).
type ToolNotes struct {
	Inits, All, Outer                                            string
	Refused, Numbers, Storage, Arguments, Next, Changed, Address int
}

// Notes returns what the tools noted so far.
func (q *RawQMPI) Notes() ToolNotes {
	defer runtime.KeepAlive(q)
	n := func(k int) int { return int(C.note(C.int(k))) }
	return ToolNotes{C.GoString(C.inits()), C.GoString(C.all()), C.GoString(C.outer()), n(0), n(1), n(2), n(3), n(4), n(5), n(6)}
}
