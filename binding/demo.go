package binding

// #cgo CFLAGS: -std=gnu11 -I${SRCDIR}/shim
// #include "shim/mpitx.h"
// const struct mpitx_table *fakempi_table(void);
import "C"

import "runtime"

// Demo is the fixture MPI that is compiled into this binary: it needs no MPI installed, and its MPI_T behaves exactly as
// the standard says, unless it is asked to misbehave (fixtures/fakempi). Like Load it locks the goroutine to its thread.
func Demo() (*Library, error) {
	runtime.LockOSThread()
	return newLibrary(C.fakempi_table(), "")
}
