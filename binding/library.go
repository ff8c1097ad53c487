package binding

// #cgo LDFLAGS: -ldl
// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include <stdlib.h>
// #include <string.h>
// #include <signal.h>
// #include <sys/prctl.h>
// #include <sys/resource.h>
// #include <unistd.h>
// #include "call.h"
//
// typedef const struct mpitx_table *open_fn(void *, char *, size_t);
// static const struct mpitx_table *call_open(void *f, void *libmpi, char *missing, size_t n) {
//     return ((open_fn *)f)(libmpi, missing, n);
// }
//
// // The Go runtime needs its signal handlers and their alternate stack; libraries such as UCX install their own.
// static struct sigaction saved_actions[32];
// static void save_signals(void) { for (int s = 1; s < 32; s++) sigaction(s, NULL, &saved_actions[s]); }
// static void restore_signals(void) {
//     for (int s = 1; s < 32; s++) if (s != SIGKILL && s != SIGSTOP) sigaction(s, &saved_actions[s], NULL);
// }
//
// static void default_crashes(void) {
//     static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
//     for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
//     struct rlimit core;
//     if (getrlimit(RLIMIT_CORE, &core) == 0) { core.rlim_cur = 0; setrlimit(RLIMIT_CORE, &core); }
// }
//
// static int outlive_parent(unsigned seconds) {
//     if (gettid() != getpid() || prctl(PR_SET_PDEATHSIG, 0) != 0) return 0;
//     signal(SIGALRM, SIG_DFL);
//     alarm(seconds);
//     return 1;
// }
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// Library is an MPI library loaded into this process. It cannot be unloaded, which MPI libraries do not survive.
type Library struct {
	t          *C.struct_mpitx_table
	Path       string // of the shared library; "" for the demo library
	name, desc *stringBuffer
	inited     bool
	finalized  bool
	tool       *Interface
	peruse     *Peruse
	duplicates map[Object]struct{} // that Dup made and nobody freed
}

// Load loads the MPI library at libPath, globally for its plug-ins, and binds it through the shim at shimPath, which must be
// built for its family. It locks the calling goroutine to its thread; only that goroutine may use the library.
func Load(shimPath, libPath string) (*Library, error) {
	runtime.LockOSThread()
	// When loaded, UCX would install a SIGSEGV handler that does not use Go's signal stack.
	for _, kv := range [][2]string{{"UCX_ERROR_SIGNALS", ""}, {"UCX_WARN_UNUSED_ENV_VARS", "n"}} {
		if _, set := os.LookupEnv(kv[0]); !set {
			setenv(kv[0], kv[1])
		}
	}
	C.save_signals()
	defer C.restore_signals()
	lib, err := dlopen(libPath, C.RTLD_NOW|C.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load MPI library: %w", err)
	}
	shim, err := dlopen(shimPath, C.RTLD_NOW|C.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load shim: %w", err)
	}
	symbol := C.CString("mpitx_shim_open")
	defer C.free(unsafe.Pointer(symbol))
	open := C.dlsym(shim, symbol)
	if open == nil {
		return nil, fmt.Errorf("load shim: %s is not a shim of mpitx", shimPath)
	}
	missing := (*C.char)(C.calloc(1, 256))
	defer C.free(unsafe.Pointer(missing))
	t := C.call_open(open, lib, missing, 256)
	if t == nil {
		return nil, fmt.Errorf("load MPI library: %s lacks %s, so it is not an MPI-3 library of the shim's family", libPath, C.GoString(missing))
	}
	return newLibrary(t, libPath)
}

// OutliveParent lets this process continue after its parent has exited, until an alarm kills it. It returns false if called
// outside the main thread, to which the parent-death signal belongs.
func OutliveParent(limit time.Duration) bool { return C.outlive_parent(C.uint(limit/time.Second)) != 0 }

// SilenceCrashes restores the default action of crash signals, so that a crash of the library kills this process silently. The Go
// runtime would print the stacks of all goroutines, which do not show the library.
func SilenceCrashes() { C.default_crashes() }

func newLibrary(t *C.struct_mpitx_table, path string) (*Library, error) {
	if t.version != C.MPITX_TABLE_VERSION || uintptr(t.size) != unsafe.Sizeof(*t) {
		return nil, errors.New("load shim: it was built for another version of mpitx; run mpitx setup to rebuild it")
	}
	return &Library{t: t, Path: path, name: newStringBuffer(), desc: newStringBuffer(), duplicates: map[Object]struct{}{}}, nil
}

func dlopen(path string, flags C.int) (unsafe.Pointer, error) {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	h := C.dlopen(p, flags)
	if h == nil {
		return nil, errors.New(C.GoString(C.dlerror()))
	}
	return h, nil
}

// setenv sets a variable for Go and for C code.
func setenv(name, value string) {
	os.Setenv(name, value)
	n, v := C.CString(name), C.CString(value)
	C.setenv(n, v, 1)
	C.free(unsafe.Pointer(n))
	C.free(unsafe.Pointer(v))
}

// Family returns the MPI family that the shim was built for: "openmpi", "mpich", "abi" or "demo".
func (l *Library) Family() string { return C.GoString(l.t.family) }

// Version returns the version of the MPI standard that the library claims (MPI_Get_version). It may be called at any
// time.
func (l *Library) Version() (version, subversion int, err error) {
	var v, s C.int
	err = check(C.mt_get_version(l.t, &v, &s))
	return int(v), int(s), err
}

// VersionText returns the result of MPI_Get_library_version. It may be called at any time.
func (l *Library) VersionText() (string, error) {
	const size = 16384
	p := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(p))
	err := check(C.mt_get_library_version(l.t, p, size))
	return strings.TrimSpace(C.GoString(p)), err
}

// Has reports whether the library has a routine ("MPI_T_event_get_num", "PERUSE_Init").
func (l *Library) Has(routine string) bool {
	p := C.CString(routine)
	defer C.free(unsafe.Pointer(p))
	return C.mt_has(l.t, p) != 0
}

// HasQMPI reports whether QMPI is built in, and not only as stubs.
func (l *Library) HasQMPI() bool { return C.mt_qmpi(l.t) != 0 }

// Init is MPI_Init_thread and returns the thread level provided. Errors on MPI_COMM_WORLD and MPI_COMM_SELF are returned from then
// on. This process keeps its signal handlers.
func (l *Library) Init(required ThreadLevel) (ThreadLevel, error) {
	if l.inited {
		return 0, errors.New("MPI_Init_thread: MPI can be initialized only once in a process")
	}
	if !isLevel(required) {
		return 0, fmt.Errorf("MPI_Init_thread: %w", ErrInvalid)
	}
	C.save_signals()
	defer C.restore_signals()
	var provided C.int
	if err := check(C.mt_init_thread(l.t, C.int(required), &provided)); err != nil {
		return 0, fmt.Errorf("MPI_Init_thread: %w", err)
	}
	l.inited = true
	return ThreadLevel(provided), nil
}

// isLevel reports whether a thread level exists.
func isLevel(level ThreadLevel) bool {
	return level >= C.MPITX_THREAD_SINGLE && level <= C.MPITX_THREAD_MULTIPLE
}

// Finalize is MPI_Finalize. By the standard, the tool information interface remains usable; but some libraries crash if it is
// used afterwards. It releases all handles of PERUSE.
func (l *Library) Finalize() error {
	if !l.inited || l.finalized {
		return errors.New("MPI_Finalize: MPI is not initialized")
	}
	var released error
	if l.peruse != nil {
		released = l.peruse.releaseAll(NoObject, ErrPeruseEventHandle)
	}
	l.finalized = true
	return errors.Join(released, check(C.mt_finalize(l.t)))
}

// Exit ends this process as a C program does, running the exit handlers of C libraries. From 4.1 on, MPICH finalizes PMI in one of
// them, and Hydra kills the other ranks of a process that exits without it.
func Exit(code int) { C.exit(C.int(code)) }

// hasComms reports whether communicators exist now.
func (l *Library) hasComms() bool { return l.inited && !l.finalized }

// InitThread is MPI_T_init_thread (MPI-3.1, section 14.3.4). It adds a reference to the tool information interface and
// returns the thread level provided. A Library has one Interface.
func (l *Library) InitThread(required ThreadLevel) (*Interface, ThreadLevel, error) {
	if !isLevel(required) {
		return nil, 0, fmt.Errorf("MPI_T_init_thread: %w", ErrInvalid)
	}
	if l.tool != nil && l.tool.references == 0 {
		// Use the reference that Finalize kept.
		l.tool.references++
		return l.tool, l.tool.provided, nil
	}
	C.save_signals()
	defer C.restore_signals()
	var provided C.int
	if err := check(C.mt_t_init_thread(l.t, C.int(required), &provided)); err != nil {
		return nil, 0, fmt.Errorf("MPI_T_init_thread: %w", err)
	}
	if l.tool == nil {
		l.tool = &Interface{l: l, t: l.t, sessions: map[*Session]struct{}{}, cvarHandles: map[*CvarHandle]struct{}{},
			registrations: map[*EventRegistration]struct{}{}}
	}
	l.tool.references++
	l.tool.provided = ThreadLevel(provided)
	return l.tool, l.tool.provided, nil
}

// Interface is the initialized MPI tool information interface of a library (section 14.3.4).
type Interface struct {
	l           *Library
	t           *C.struct_mpitx_table
	references  int
	provided    ThreadLevel
	sessions    map[*Session]struct{}
	cvarHandles map[*CvarHandle]struct{}

	registrations map[*EventRegistration]struct{}
}

// Finalize is MPI_T_finalize (MPI-3.1, section 14.3.4): it drops one reference. The last call frees all handles and
// sessions but keeps the library's reference: the last MPI_T_finalize crashes Open MPI 4.1 after MPI_Finalize, and
// makes later calls crash or abort in several releases of MPICH. Without a reference it returns ErrNotInitialized.
func (i *Interface) Finalize() error {
	switch {
	case i.references == 0:
		return ErrNotInitialized
	case i.references > 1:
		i.references--
		return check(C.mt_t_finalize(i.t))
	}
	var errs []error
	for s := range i.sessions {
		errs = append(errs, s.Free())
	}
	for h := range i.cvarHandles {
		errs = append(errs, h.Free())
	}
	for r := range i.registrations {
		errs = append(errs, r.Free(nil))
	}
	i.references = 0
	return errors.Join(errs...)
}

// ready returns an error if the interface has been finalized.
func (i *Interface) ready() error {
	if i.references == 0 {
		return ErrNotInitialized
	}
	return nil
}

// number calls a get_num routine.
func (i *Interface) number(get func(*C.struct_mpitx_table, *C.int) C.int) (int, error) {
	if err := i.ready(); err != nil {
		return 0, err
	}
	var n C.int
	if err := check(get(i.t, &n)); err != nil {
		return 0, err
	}
	return max(0, int(n)), nil
}

// valid checks an index, which the library may not do. It asks for the number each time, as that takes nanoseconds and the number
// may grow.
func (i *Interface) valid(index int, num func() (int, error)) error {
	n, err := num()
	if err != nil {
		return err
	}
	if index < 0 || index >= n {
		return ErrInvalidIndex
	}
	return nil
}

// InitMPI is MPI_Init_thread. The process keeps its signal handlers.
func (r Raw) InitMPI(required ThreadLevel, provided *int32) Error {
	C.save_signals()
	defer C.restore_signals()
	return Error(C.mt_init_thread(r.t, C.int(required), ints(provided)))
}

// InitThread is MPI_T_init_thread (MPI-3.1, section 14.3.4). The process keeps its signal handlers.
func (r Raw) InitThread(required ThreadLevel, provided *int32) Error {
	C.save_signals()
	defer C.restore_signals()
	return Error(C.mt_t_init_thread(r.t, C.int(required), ints(provided)))
}
