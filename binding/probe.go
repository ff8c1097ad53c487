package binding

// #include <stdlib.h>
// #include <string.h>
// #include "probe.h"
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"mpitx/catalog"
)

// ProbeOptions are the options of Probe.
type ProbeOptions struct {
	Object      Object        // the object for variables bound to a communicator; NoObject: they are not opened
	TrialWrites bool          // write each control variable's current value back, in the child only
	Limit       time.Duration // time without progress after which a call counts as hanging; 0: one second
	Total       time.Duration // limit for all variables; 0: one minute
	Categories  int           // number of categories to try
	Sources     int           // number of event sources to try
	Events      int           // number of event types to try
	Exclude     []string      // variables (catalog.Variable.ID) of which only the metadata are read
}

// Trials are the results of a probe, each in the order of the indices.
type Trials struct{ Cvars, Pvars, Categories, Sources, Events []Trial }

// Trial is the result of trying one variable, category, event source or event type.
type Trial struct {
	Dead     bool // the index has become invalid
	Nameless bool // even get_info fails; Reading.Reason says why
	NoEnum   bool // its enumeration must not be queried; Reading.Reason says why
	Reading  catalog.Reading

	Safeties []CallbackSafety // levels with which a callback of an event type can be registered
	Hints    Hints            // of an event type: those of its handles (MPI_T_event_handle_get_info)
}

// WriteTrial is the result of a trial write.
type WriteTrial struct {
	Err      error  // the library's return code; nil: MPI_SUCCESS
	Fault    string // the library crashed or hung, so the variable must not be written
	ReadBack Value  // the value read afterwards, in the child
}

// Excluded is the Reason of a variable in ProbeOptions.Exclude.
const Excluded = "excluded: an earlier access to it ended the MPI process"

const probeData = 64 << 20 // address space, used only as far as values need it

// Probe tries all variables in forked children. It queries, opens, starts and reads each variable and its enumeration, the members
// of categories, and sources with their timestamps, and it registers callbacks of event types. Variables that crash or hang the
// library are reported as faulty, and the probe continues after them. This process itself opens nothing.
func (i *Interface) Probe(cvars, pvars int, o ProbeOptions) (all Trials, err error) {
	if err := i.ready(); err != nil {
		return all, err
	}
	var items []C.struct_mpitx_probe_item
	lists := []struct {
		kind C.int
		num  int
		into *[]Trial
	}{
		{C.MPITX_PROBE_CVAR, cvars, &all.Cvars},
		{C.MPITX_PROBE_PVAR, pvars, &all.Pvars},
		{C.MPITX_PROBE_CATEGORY, o.Categories, &all.Categories},
		{C.MPITX_PROBE_SOURCE, o.Sources, &all.Sources},
		{C.MPITX_PROBE_EVENT, o.Events, &all.Events},
	}
	for _, l := range lists {
		for k := range l.num {
			items = append(items, C.struct_mpitx_probe_item{kind: l.kind, index: C.int(k)})
		}
	}
	trials := make([]Trial, 0, len(items))
	err = i.probe(items, o, func(item *C.struct_mpitx_probe_item, data unsafe.Pointer) {
		trials = append(trials, i.trial(item, data))
	})
	if err != nil {
		return all, err
	}
	for _, l := range lists {
		*l.into, trials = trials[:l.num:l.num], trials[l.num:]
	}
	return all, nil
}

// ProbeWrite tries in a forked child to write a value to a control variable. The library's answer is in the result. An
// error means that the trial itself failed: an index or a value that is not valid, or a child that could not be made.
func (i *Interface) ProbeWrite(index int, count int, v Value, o ProbeOptions) (WriteTrial, error) {
	if err := i.valid(index, i.NumCvars); err != nil {
		return WriteTrial{}, err
	}
	return i.probeWrite(C.struct_mpitx_probe_item{kind: C.MPITX_PROBE_CVAR, index: C.int(index)}, count, v, o)
}

// ProbeChange tries in a forked child to write, reset or readreset a performance variable, with a handle of its own (MPI-3.1, section
// 14.3.7). v is the value to write. Results are those of ProbeWrite.
func (i *Interface) ProbeChange(index int, change catalog.WriteKind, count int, v Value, o ProbeOptions) (WriteTrial, error) {
	if err := i.valid(index, i.NumPvars); err != nil {
		return WriteTrial{}, err
	}
	how := map[catalog.WriteKind]C.int{catalog.WriteValue: C.MPITX_CHANGE_WRITE, catalog.WriteReset: C.MPITX_CHANGE_RESET, catalog.WriteReadReset: C.MPITX_CHANGE_READRESET}
	return i.probeWrite(C.struct_mpitx_probe_item{kind: C.MPITX_PROBE_PVAR, index: C.int(index), change: how[change]}, count, v, o)
}

func (i *Interface) probeWrite(item C.struct_mpitx_probe_item, count int, v Value, o ProbeOptions) (out WriteTrial, err error) {
	if item.change != C.MPITX_CHANGE_RESET && item.change != C.MPITX_CHANGE_READRESET {
		var value buffer
		if err := value.init(v.Type(), count); err != nil {
			return out, err
		}
		defer value.free()
		if err := value.set(v); err != nil {
			return out, err
		}
		item.new_value, item.new_type, item.new_bytes = value.p, C.int(value.typ), C.size_t(value.bytes)
	}
	o.TrialWrites = true
	err = i.probe([]C.struct_mpitx_probe_item{item}, o, func(item *C.struct_mpitx_probe_item, data unsafe.Pointer) {
		switch {
		case item.fault != C.MPITX_FAULT_NONE:
			out.Fault = faultText(item)
		case item.overrun != 0:
			out.Fault = overrunText
		case item.write_rc < 0:
			out.Err = i.unwritten(item)
			if out.Err == nil {
				out.Fault = "the trial ended before the write"
			}
		default:
			out.Err = check(item.write_rc)
			if item.back_rc == C.MPITX_SUCCESS {
				out.ReadBack = probedValue(Datatype(item.datatype), data, item.back_offset, item.back_length)
			}
		}
	})
	return out, err
}

// unwritten returns why a variable was not written.
func (i *Interface) unwritten(item *C.struct_mpitx_probe_item) error {
	switch {
	case item.unbound != 0 && Bind(item.bind) == catalog.BindComm && !i.l.hasComms():
		return ErrNeedsInit
	case item.unbound != 0:
		return ErrNotBindable
	case item.too_large != 0:
		return ErrBadCount
	}
	if err := check(max(item.info_rc, item.alloc_rc, item.read_rc)); err != nil {
		return err
	}
	if Datatype(item.datatype).Size() == 0 {
		return ErrUnknownType
	}
	return nil
}

func (i *Interface) probe(items []C.struct_mpitx_probe_item, o ProbeOptions, each func(*C.struct_mpitx_probe_item, unsafe.Pointer)) error {
	if o.Limit == 0 {
		o.Limit = time.Second
	}
	if o.Total == 0 {
		o.Total = time.Minute
	}
	options := C.struct_mpitx_probe_options{
		object:   C.int(o.Object),
		limit_ms: milliseconds(o.Limit),
		total_ms: milliseconds(o.Total),
	}
	if !i.l.hasComms() {
		options.object = C.MPITX_OBJECT_NONE
	}
	if o.TrialWrites {
		options.trial_writes = 1
	}
	excluded := o.excluded()
	defer excluded.free()
	options.excluded, options.num_excluded = excluded.p, C.int(len(excluded.names))
	p := new(C.struct_mpitx_probe)
	if err := check(C.mpitx_probe_new(p, C.int(len(items)), probeData)); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	defer func() { go C.mpitx_probe_free(p) }() // in the background, as the children's exit takes as long as a hundred variables
	shared := unsafe.Slice(p.items, len(items))
	copy(shared, items)
	if err := check(C.mpitx_probe_run(p, i.t, &options)); err != nil {
		return fmt.Errorf("probe: fork: %w", err)
	}
	for k := range shared {
		each(&shared[k], unsafe.Pointer(p.data))
	}
	runtime.KeepAlive(items)
	return nil
}

// excludedList is ProbeOptions.Exclude in C memory.
type excludedList struct {
	p     *C.struct_mpitx_probe_excluded
	names []*C.char
}

func (o *ProbeOptions) excluded() (l excludedList) {
	if len(o.Exclude) == 0 {
		return l
	}
	l.p = (*C.struct_mpitx_probe_excluded)(C.calloc(C.size_t(2*len(o.Exclude)), C.sizeof_struct_mpitx_probe_excluded))
	all := unsafe.Slice(l.p, 2*len(o.Exclude))
	add := func(name string, class C.int) {
		p := C.CString(name)
		all[len(l.names)] = C.struct_mpitx_probe_excluded{name: p, var_class: class}
		l.names = append(l.names, p)
	}
	for _, id := range o.Exclude {
		add(id, -1)
		if k := strings.LastIndexByte(id, ':'); k >= 0 {
			if class, err := catalog.ParseClass(id[k+1:]); err == nil {
				add(id[:k], C.int(class))
			}
		}
	}
	return l
}

func (l excludedList) free() {
	for _, p := range l.names {
		C.free(unsafe.Pointer(p))
	}
	C.free(unsafe.Pointer(l.p))
}

func milliseconds(d time.Duration) C.int {
	return C.int(min(max(1, d.Milliseconds()), math.MaxInt32))
}

func (i *Interface) trial(item *C.struct_mpitx_probe_item, data unsafe.Pointer) Trial {
	r := catalog.Reading{Count: max(0, int(item.count))}
	failed := func(routine string, rc C.int) Trial {
		r.Status, r.Reason = catalog.StatusError, routine+": "+check(rc).Error()
		return Trial{Reading: r}
	}
	faulty := item.fault != C.MPITX_FAULT_NONE
	if item.kind == C.MPITX_PROBE_CATEGORY && !faulty {
		r.Status = catalog.StatusOK
		if item.overrun != 0 {
			r.Status, r.Reason = catalog.StatusFaulty, "a list of members is longer than its announced number"
		}
		return Trial{Reading: r}
	}
	writing := faulty && item.fault_step == C.MPITX_STEP_WRITE // reading succeeded before
	asking := faulty && item.fault_step == C.MPITX_STEP_HANDLE_INFO
	switch {
	case faulty && !writing && !asking:
		r.Status, r.Reason = catalog.StatusFaulty, faultText(item)
		if item.fault == C.MPITX_FAULT_GIVEN_UP {
			r.Status = catalog.StatusError
		}
		return Trial{Nameless: item.fault_step <= C.MPITX_STEP_INFO, NoEnum: item.fault_step == C.MPITX_STEP_ENUM, Reading: r}
	case item.info_rc == C.MPITX_ERR_INVALID_INDEX || item.info_rc == C.MPITX_ERR_INVALID: // Open MPI returns the latter
		return Trial{Dead: true}
	case item.info_rc != C.MPITX_SUCCESS:
		trial := failed("get_info", item.info_rc)
		trial.Nameless = true
		return trial
	case item.excluded != 0:
		r.Status, r.Reason = catalog.StatusFaulty, Excluded
		return Trial{NoEnum: true, Reading: r}
	case item.kind == C.MPITX_PROBE_SOURCE && item.read_rc != C.MPITX_SUCCESS:
		return failed("get_timestamp", item.read_rc)
	case item.unbound != 0:
		r.Status, r.Reason = catalog.StatusUnbound, i.unboundText(Bind(item.bind))
	case item.alloc_rc != C.MPITX_SUCCESS:
		return failed("handle_alloc", item.alloc_rc)
	case item.kind == C.MPITX_PROBE_SOURCE || item.kind == C.MPITX_PROBE_EVENT:
		r.Status = catalog.StatusOK
		if asking {
			r.Reason = faultText(item)
		}
		t := Trial{Reading: r, Hints: probedHints(data, item.offset, item.length)}
		for s := catalog.SafetyNone; s <= catalog.SafetyAsyncSignalSafe; s++ {
			if item.safeties>>s&1 != 0 {
				t.Safeties = append(t.Safeties, s)
			}
		}
		return t
	case item.too_large != 0 || item.count < -1:
		r.Status, r.Reason = catalog.StatusError, ErrBadCount.Error()
	case item.overrun != 0:
		r.Status, r.Reason = catalog.StatusFaulty, overrunText
	case item.read_rc != C.MPITX_SUCCESS && item.start_rc != C.MPITX_SUCCESS:
		return failed("start", item.start_rc)
	case item.read_rc != C.MPITX_SUCCESS:
		return failed("read", item.read_rc)
	case Datatype(item.datatype).Size() == 0:
		r.Status, r.Reason = catalog.StatusError, ErrUnknownType.Error()
	default:
		r.Status = catalog.StatusOK
		if item.count == -1 {
			r.Count = 1
		}
		r.Value = probedValue(Datatype(item.datatype), data, item.offset, item.length)
		if r.Writable = writable(item, writing); writing {
			r.Reason = faultText(item)
		}
	}
	return Trial{Reading: r}
}

func writable(item *C.struct_mpitx_probe_item, faulty bool) catalog.Writable {
	switch {
	case faulty || item.write_rc == -1:
		return catalog.WritableUnknown
	case item.write_rc == C.MPITX_SUCCESS:
		return catalog.WritableYes
	case item.write_rc == C.MPITX_ERR_CVAR_SET_NOT_NOW:
		return catalog.WritableNotNow
	case item.write_rc == C.MPITX_ERR_CVAR_SET_NEVER:
		return catalog.WritableNever
	}
	return catalog.WritableUnknown
}

func (i *Interface) unboundText(bind Bind) string {
	if bind == catalog.BindComm {
		return ErrNeedsInit.Error()
	}
	return "bound to an MPI object (" + bind.String() + ") that mpitx does not have"
}

func probedValue(t Datatype, data unsafe.Pointer, offset, length C.uint32_t) Value {
	raw := unsafe.Slice((*byte)(unsafe.Add(data, offset)), length)
	return catalog.NewValue(t, littleEndian(raw, t.Size()))
}

// probedHints are texts that end with 0: keys, each with its value.
func probedHints(data unsafe.Pointer, offset, length C.uint32_t) Hints {
	texts := strings.Split(string(unsafe.Slice((*byte)(unsafe.Add(data, offset)), length)), "\x00")
	hints := Hints{}
	for k := 0; k+2 < len(texts); k += 2 {
		hints[texts[k]] = texts[k+1]
	}
	return hints
}

const overrunText = "read writes past the end of the value"

var stepNames = map[C.int]string{
	C.MPITX_STEP_INFO: "get_info", C.MPITX_STEP_ENUM: "enum_get_info", C.MPITX_STEP_MEMBERS: "the query of its members",
	C.MPITX_STEP_TIMESTAMP: "get_timestamp", C.MPITX_STEP_REGISTER: "register_callback", C.MPITX_STEP_HANDLE_INFO: "handle_get_info",
	C.MPITX_STEP_ALLOC: "handle_alloc",
	C.MPITX_STEP_START: "start",
	C.MPITX_STEP_READ:  "read",
	C.MPITX_STEP_WRITE: "write",
	C.MPITX_STEP_RESET: "reset", C.MPITX_STEP_READRESET: "readreset",
}

func faultText(item *C.struct_mpitx_probe_item) string {
	step := stepNames[item.fault_step]
	switch item.fault {
	case C.MPITX_FAULT_TIMEOUT:
		return "timed out in " + step
	case C.MPITX_FAULT_GIVEN_UP:
		return "not tried: the time limit was reached, or too many other variables crashed or hung"
	}
	if item.signal == 0 {
		return "ends the process in " + step
	}
	return fmt.Sprintf("crashes in %s (%s)", step, unix.SignalName(syscall.Signal(item.signal)))
}
