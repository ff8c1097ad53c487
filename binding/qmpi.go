package binding

// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include <stdlib.h>
//
// static int examine(void *f, int to, const char *lib, int count, char **tools) {
//     if (f) ((void (*)(int, const char *, int, const char *const (*)[2]))f)(to, lib, count, (const char *const (*)[2])tools);
//     return f != NULL;
// }
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

// ExamineTools loads tools for a library's own QMPI into this process, and initializes them. tools has the path and the name ("": the
// only one) of each. The shim writes what it finds, line by line, because a tool may crash.
func ExamineTools(to int, shimPath, libPath string, tools []string) error {
	runtime.LockOSThread()
	SilenceCrashes()
	shim, err := dlopen(shimPath, C.RTLD_NOW|C.RTLD_GLOBAL) // the tools find its routines before the library's
	if err != nil {
		return err
	}
	texts := (*[1 << 16]*C.char)(C.calloc(C.size_t(len(tools)+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	for k, text := range tools {
		texts[k] = C.CString(text)
	}
	if C.examine(C.dlsym(shim, C.CString("mpitx_shim_qmpi")), C.int(to), C.CString(libPath), C.int(len(tools)/2), &texts[0]) == 0 {
		return errors.New(shimPath + " was built for another version of mpitx")
	}
	return nil
}
