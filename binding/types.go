package binding

// #include "shim/mpitx.h"
import "C"

import "mpitx/catalog"

// The vocabulary of section 14.3 is defined in catalog. Numbers that are in no table of the standard are kept and printed as
// "unknown(17)".
type (
	Verbosity   = catalog.Verbosity   // Table 14.2
	Bind        = catalog.Bind        // Table 14.3
	Scope       = catalog.Scope       // Table 14.5
	Class       = catalog.Class       // section 14.3.7
	ThreadLevel = catalog.ThreadLevel // MPI_THREAD_SINGLE …
	Datatype    = catalog.Datatype    // Table 14.4 and more
	Value       = catalog.Value

	CallbackSafety = catalog.CallbackSafety // MPI-4.0, section 15.3.8
	SourceOrder    = catalog.SourceOrder    // MPI-4.0, section 15.3.8
)

// Object is the object that a handle is bound to: one of mpitx's own communicators, these or a duplicate (Library.Dup).
type Object int

// The objects.
const (
	NoObject  Object = C.MPITX_OBJECT_NONE
	CommWorld Object = C.MPITX_OBJECT_COMM_WORLD // MPI_COMM_WORLD
	CommSelf  Object = C.MPITX_OBJECT_COMM_SELF  // MPI_COMM_SELF
	Nowhere   Object = C.MPITX_OBJECT_NOWHERE    // an address that must not be followed, for Raw
)
