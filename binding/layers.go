package binding

// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include "layers.h"
import "C"

import "runtime"

// AskLayers loads an MPI library and some of its components, and writes to standard output what the UCX and libfabric that they use
// say of their settings. A component that cannot be loaded is left out.
func AskLayers(libPath string, components []string) error {
	runtime.LockOSThread()
	SilenceCrashes()
	if _, err := dlopen(libPath, C.RTLD_LAZY|C.RTLD_GLOBAL); err != nil {
		return err
	}
	for _, c := range components {
		dlopen(c, C.RTLD_LAZY)
	}
	C.layers_settings()
	return nil
}
