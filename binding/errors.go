package binding

// #include "shim/mpitx.h"
import "C"

import (
	"errors"
	"fmt"
)

// Error is a return code of the MPI tool information interface (section 14.3.9, Table 14.6) or of PERUSE. Test with errors.Is.
type Error int

// The return codes of Table 14.6, in its order, and MPI-4's additions.
const (
	ErrInvalid         Error = C.MPITX_ERR_INVALID           // MPI_T_ERR_INVALID
	ErrMemory          Error = C.MPITX_ERR_MEMORY            // MPI_T_ERR_MEMORY
	ErrNotInitialized  Error = C.MPITX_ERR_NOT_INITIALIZED   // MPI_T_ERR_NOT_INITIALIZED
	ErrCannotInit      Error = C.MPITX_ERR_CANNOT_INIT       // MPI_T_ERR_CANNOT_INIT
	ErrInvalidIndex    Error = C.MPITX_ERR_INVALID_INDEX     // MPI_T_ERR_INVALID_INDEX
	ErrInvalidItem     Error = C.MPITX_ERR_INVALID_ITEM      // MPI_T_ERR_INVALID_ITEM
	ErrInvalidHandle   Error = C.MPITX_ERR_INVALID_HANDLE    // MPI_T_ERR_INVALID_HANDLE
	ErrOutOfHandles    Error = C.MPITX_ERR_OUT_OF_HANDLES    // MPI_T_ERR_OUT_OF_HANDLES
	ErrOutOfSessions   Error = C.MPITX_ERR_OUT_OF_SESSIONS   // MPI_T_ERR_OUT_OF_SESSIONS
	ErrInvalidSession  Error = C.MPITX_ERR_INVALID_SESSION   // MPI_T_ERR_INVALID_SESSION
	ErrInvalidName     Error = C.MPITX_ERR_INVALID_NAME      // MPI_T_ERR_INVALID_NAME
	ErrCvarSetNotNow   Error = C.MPITX_ERR_CVAR_SET_NOT_NOW  // MPI_T_ERR_CVAR_SET_NOT_NOW
	ErrCvarSetNever    Error = C.MPITX_ERR_CVAR_SET_NEVER    // MPI_T_ERR_CVAR_SET_NEVER
	ErrPvarNoStartStop Error = C.MPITX_ERR_PVAR_NO_STARTSTOP // MPI_T_ERR_PVAR_NO_STARTSTOP
	ErrPvarNoWrite     Error = C.MPITX_ERR_PVAR_NO_WRITE     // MPI_T_ERR_PVAR_NO_WRITE
	ErrPvarNoAtomic    Error = C.MPITX_ERR_PVAR_NO_ATOMIC    // MPI_T_ERR_PVAR_NO_ATOMIC
	ErrNotSupported    Error = C.MPITX_ERR_NOT_SUPPORTED     // MPI_T_ERR_NOT_SUPPORTED (MPI-4)
	ErrNotAccessible   Error = C.MPITX_ERR_NOT_ACCESSIBLE    // MPI_T_ERR_NOT_ACCESSIBLE (MPI-4)
	ErrNotProvided     Error = C.MPITX_ERR_NOT_PROVIDED      // the library does not have this routine
)

// The return codes of PERUSE 2.0 (Appendix D), in its order.
const (
	ErrPeruseInit             Error = C.MPITX_PERUSE_ERR_INIT               // PERUSE_ERR_INIT
	ErrPeruseGeneric          Error = C.MPITX_PERUSE_ERR_GENERIC            // PERUSE_ERR_GENERIC
	ErrPeruseMalloc           Error = C.MPITX_PERUSE_ERR_MALLOC             // PERUSE_ERR_MALLOC
	ErrPeruseEvent            Error = C.MPITX_PERUSE_ERR_EVENT              // PERUSE_ERR_EVENT
	ErrPeruseEventHandle      Error = C.MPITX_PERUSE_ERR_EVENT_HANDLE       // PERUSE_ERR_EVENT_HANDLE
	ErrPeruseParameter        Error = C.MPITX_PERUSE_ERR_PARAMETER          // PERUSE_ERR_PARAMETER
	ErrPeruseMPIInit          Error = C.MPITX_PERUSE_ERR_MPI_INIT           // PERUSE_ERR_MPI_INIT
	ErrPeruseComm             Error = C.MPITX_PERUSE_ERR_COMM               // PERUSE_ERR_COMM
	ErrPeruseMPIObject        Error = C.MPITX_PERUSE_ERR_MPI_OBJECT         // PERUSE_ERR_MPI_OBJECT
	ErrPeruseLock             Error = C.MPITX_PERUSE_ERR_LOCK               // PERUSE_ERR_LOCK
	ErrPeruseUnlock           Error = C.MPITX_PERUSE_ERR_UNLOCK             // PERUSE_ERR_UNLOCK
	ErrPeruseLockNotGrantable Error = C.MPITX_PERUSE_ERR_LOCK_NOT_GRANTABLE // PERUSE_ERR_LOCK_NOT_GRANTABLE
)

var errorTexts = map[Error]string{
	ErrInvalid:         "invalid use or argument",
	ErrMemory:          "out of memory",
	ErrNotInitialized:  "the tool information interface is not initialized",
	ErrCannotInit:      "the tool information interface cannot be initialized in this state",
	ErrInvalidIndex:    "the index is invalid: it was never valid, or the variable or category has been unloaded",
	ErrInvalidItem:     "the enumeration has no item with this index",
	ErrInvalidHandle:   "the handle is invalid",
	ErrOutOfHandles:    "the library has no more handles",
	ErrOutOfSessions:   "the library has no more sessions",
	ErrInvalidSession:  "the session is invalid",
	ErrInvalidName:     "no variable or category has this name",
	ErrCvarSetNotNow:   "cannot be set now",
	ErrCvarSetNever:    "cannot be set until the end of the execution",
	ErrPvarNoStartStop: "cannot be started or stopped",
	ErrPvarNoWrite:     "cannot be written or reset",
	ErrPvarNoAtomic:    "cannot be read and reset atomically",
	ErrNotSupported:    "not supported by this library",
	ErrNotAccessible:   "not accessible from here",
	ErrNotProvided:     "this MPI library does not have the routine",

	ErrPeruseInit:             "PERUSE is not initialized",
	ErrPeruseGeneric:          "an error of PERUSE",
	ErrPeruseMalloc:           "PERUSE is out of memory",
	ErrPeruseEvent:            "PERUSE of this library does not have the event",
	ErrPeruseEventHandle:      "the handle of PERUSE is invalid here: it was released, or it is active",
	ErrPeruseParameter:        "an invalid argument for PERUSE",
	ErrPeruseMPIInit:          "PERUSE exists only between MPI_Init and MPI_Finalize",
	ErrPeruseComm:             "the communicator is invalid",
	ErrPeruseMPIObject:        "the communicator of the handle was freed",
	ErrPeruseLock:             "the lock of PERUSE is held already, or not held",
	ErrPeruseUnlock:           "the lock of PERUSE cannot be released",
	ErrPeruseLockNotGrantable: "the lock of PERUSE cannot be had in this callback",
}

// Errors of this package, found before or after a call of the library.
var (
	// ErrNotBindable: the variable is bound to an object that mpitx does not have.
	ErrNotBindable = errors.New("bound to an MPI object that mpitx does not have")
	// ErrNeedsInit: communicators exist only between MPI_Init and MPI_Finalize.
	ErrNeedsInit = errors.New("bound to a communicator, which exists only between MPI_Init and MPI_Finalize")
	// ErrUnknownType: the datatype's size is unknown, so there is no buffer for it.
	ErrUnknownType = errors.New("unknown datatype")
	// ErrBadCount: the library returned an impossible number of elements.
	ErrBadCount = errors.New("the library returned an impossible number of elements")
	// ErrElementOutside: an element of an event lies where no event's data can be.
	ErrElementOutside = errors.New("an element is outside of the event's data")
	// ErrBadString: the library returned another length for a string in every call.
	ErrBadString = errors.New("the library returned a different length for a string in every call")
)

// Error implements error.
func (e Error) Error() string {
	if s, ok := errorTexts[e]; ok {
		return s
	}
	if name := C.mpitx_error_class(C.int(e)); name != nil {
		return C.GoString(name)
	}
	if e >= C.MPITX_ERR_OTHER {
		return fmt.Sprintf("MPI error class %d", int(e-C.MPITX_ERR_OTHER))
	}
	return fmt.Sprintf("unknown return code %d", int(e))
}

func check(rc C.int) error {
	if rc == C.MPITX_SUCCESS {
		return nil
	}
	return Error(rc)
}
