package binding

// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include <stdlib.h>
//
// static void unused(int tool_id) { (void)tool_id; }
//
// // Libraries without QMPI have no such routine, or one that returns MPI_ERR_UNSUPPORTED_OPERATION.
// static int has_qmpi(void *lib) {
//     int (*add)(const char *, void (*)(int)) = (int (*)(const char *, void (*)(int)))dlsym(lib, "QMPI_Register_tool_name");
//     return add && add("mpitx", unused) == 0;
// }
//
// // The library initializes the tools of its list when it is first used.
// static int init_tools(void *lib) {
//     int (*init)(int, int *) = (int (*)(int, int *))dlsym(lib, "MPI_T_init_thread");
//     int provided;
//     return init ? init(0, &provided) : -1;
// }
import "C"

import (
	"fmt"
	"runtime"
)

// AskQMPI loads an MPI library and a tool for the library's own QMPI ("": none). It reports each step before it takes it, because a
// tool may crash: "none" if the library has no QMPI, "error" with the reason, "loading", "init", and "done".
func AskQMPI(libPath, tool string, report func(step, text string)) {
	runtime.LockOSThread()
	SilenceCrashes()
	lib, err := dlopen(libPath, C.RTLD_NOW|C.RTLD_GLOBAL)
	if err != nil {
		report("error", err.Error())
		return
	}
	if C.has_qmpi(lib) == 0 {
		report("none", "")
		return
	}
	if tool != "" {
		report("loading", "")
		if _, err := dlopen(tool, C.RTLD_NOW|C.RTLD_GLOBAL); err != nil {
			report("error", err.Error())
			return
		}
		report("init", "")
		if rc := C.init_tools(lib); rc != 0 {
			report("error", fmt.Sprintf("MPI_T_init_thread returns %d", rc))
			return
		}
	}
	report("done", "")
}
