package binding

// #cgo CFLAGS: -std=gnu11 -I${SRCDIR}/shim
// #include "shim/mpitx.h"
// const struct mpitx_table *fakempi_table(void);
import "C"

import "runtime"

// Demo returns the fixture MPI, which is compiled into this binary. Its MPI_T behaves exactly as the standard requires, unless
// told to misbehave (fixtures/fakempi). Like Load, it locks the goroutine to its thread.
func Demo() (*Library, error) {
	runtime.LockOSThread()
	return newLibrary(C.fakempi_table(), "")
}
