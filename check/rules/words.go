//go:build cgo && linux

package rules

import (
	"fmt"
	"strconv"

	"mpitx/binding"
	"mpitx/catalog"
)

// The standard's constants for the numbers of mpitx's tables.
var codeNames = map[binding.Error]string{
	0: "MPI_SUCCESS", binding.ErrInvalid: "MPI_T_ERR_INVALID", binding.ErrMemory: "MPI_T_ERR_MEMORY",
	binding.ErrNotInitialized: "MPI_T_ERR_NOT_INITIALIZED", binding.ErrCannotInit: "MPI_T_ERR_CANNOT_INIT",
	binding.ErrInvalidIndex: "MPI_T_ERR_INVALID_INDEX", binding.ErrInvalidItem: "MPI_T_ERR_INVALID_ITEM",
	binding.ErrInvalidHandle: "MPI_T_ERR_INVALID_HANDLE", binding.ErrOutOfHandles: "MPI_T_ERR_OUT_OF_HANDLES",
	binding.ErrOutOfSessions: "MPI_T_ERR_OUT_OF_SESSIONS", binding.ErrInvalidSession: "MPI_T_ERR_INVALID_SESSION",
	binding.ErrInvalidName: "MPI_T_ERR_INVALID_NAME", binding.ErrCvarSetNotNow: "MPI_T_ERR_CVAR_SET_NOT_NOW",
	binding.ErrCvarSetNever: "MPI_T_ERR_CVAR_SET_NEVER", binding.ErrPvarNoStartStop: "MPI_T_ERR_PVAR_NO_STARTSTOP",
	binding.ErrPvarNoWrite: "MPI_T_ERR_PVAR_NO_WRITE", binding.ErrPvarNoAtomic: "MPI_T_ERR_PVAR_NO_ATOMIC",
	binding.ErrNotSupported: "MPI_T_ERR_NOT_SUPPORTED", binding.ErrNotAccessible: "MPI_T_ERR_NOT_ACCESSIBLE",
	binding.ErrPeruseInit: "PERUSE_ERR_INIT", binding.ErrPeruseEvent: "PERUSE_ERR_EVENT", binding.ErrPeruseMPIInit: "PERUSE_ERR_MPI_INIT",
	binding.ErrPeruseGeneric: "PERUSE_ERR_GENERIC", binding.ErrPeruseParameter: "PERUSE_ERR_PARAMETER",
	binding.ErrPeruseEventHandle: "PERUSE_ERR_EVENT_HANDLE", binding.ErrPeruseComm: "PERUSE_ERR_COMM", binding.ErrPeruseMPIObject: "PERUSE_ERR_MPI_OBJECT",
	binding.ErrPeruseLock: "PERUSE_ERR_LOCK", binding.ErrPeruseLockNotGrantable: "PERUSE_ERR_LOCK_NOT_GRANTABLE",
}

func codeName(rc binding.Error) string {
	if name, ok := codeNames[rc]; ok {
		return name
	}
	return rc.Error()
}

// excerpt quotes at most so many bytes of a text; … marks the cut.
func excerpt(text string, most int) string {
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(text[:most]) + "…"
}

func threadName(n int32) string {
	if n == untouched {
		return notSet
	}
	if n < 1 || int(n) > len(threadNames) {
		return fmt.Sprintf("unknown(%d)", n)
	}
	return threadNames[n-1]
}

var threadNames = []string{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"}

var classNames = [...]string{"STATE", "LEVEL", "SIZE", "PERCENTAGE", "HIGHWATERMARK", "LOWWATERMARK", "COUNTER", "AGGREGATE", "TIMER", "GENERIC"}

func className(n int32) string {
	if n < 1 || int(n) > len(classNames) {
		return catalog.Class(n).String()
	}
	return "MPI_T_PVAR_CLASS_" + classNames[n-1]
}

var scopeNames = [...]string{"CONSTANT", "READONLY", "LOCAL", "GROUP", "GROUP_EQ", "ALL", "ALL_EQ"}

// typeNames are the constants of the datatypes, in the order of enum mpitx_datatype.
var typeNames = [...]string{"INT", "UNSIGNED", "UNSIGNED_LONG", "UNSIGNED_LONG_LONG", "COUNT", "CHAR", "DOUBLE", "INT32_T", "INT64_T",
	"UINT32_T", "UINT64_T", "C_BOOL", "LONG", "LONG_LONG", "SHORT", "UNSIGNED_SHORT", "SIGNED_CHAR", "UNSIGNED_CHAR", "FLOAT", "INT8_T",
	"INT16_T", "UINT8_T", "UINT16_T", "AINT", "OFFSET", "BYTE"}

// basicTypes are the datatypes that values and elements of events may have.
func basicTypes() (names []string) {
	for k := range typeNames {
		names = append(names, typeName(int32(k+1)))
	}
	return names
}

func typeName(n int32) string {
	if n < 1 || int(n) > len(typeNames) {
		return catalog.Datatype(n).String()
	}
	return "MPI_" + typeNames[n-1]
}

// cTypes are the C types of the datatypes that values have.
var cTypes = map[catalog.Datatype]string{catalog.TypeInt: "int", catalog.TypeUnsigned: "unsigned", catalog.TypeUnsignedLong: "unsigned long",
	catalog.TypeUnsignedLongLong: "unsigned long long", catalog.TypeCount: "MPI_Count", catalog.TypeChar: "char", catalog.TypeDouble: "double"}
