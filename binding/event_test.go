package binding

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mpitx/catalog"
)

func (m *mpi) event(name string) int {
	m.t.Helper()
	return must(m.EventIndex(name))(m.t)
}

// listen allocates a registration of an event type with a callback.
func (m *mpi) listen(name string, safety CallbackSafety, f EventFunc) *EventRegistration {
	m.t.Helper()
	r := must(m.AllocEvent(m.event(name), CommWorld, nil))(m.t)
	if err := r.Register(safety, nil, f); err != nil {
		m.t.Fatal(err)
	}
	return r
}

// sendSelf sends bytes to this process, and receives them if receive is set.
func (m *mpi) sendSelf(bytes, tag int, receive bool) {
	m.t.Helper()
	r := must(m.lib.Send(make([]byte, bytes), 0, tag))(m.t)
	want(m.t, "sent", must(r.Done())(m.t), true)
	if receive {
		r := must(m.lib.Receive(bytes, 0, tag))(m.t)
		want(m.t, "received", must(r.Done())(m.t), true)
	}
}

// texts are the texts of values, for comparison.
func texts(values []Value) (out []string) {
	for _, v := range values {
		out = append(out, v.String())
	}
	return out
}

func TestSources(t *testing.T) {
	child{stage: before, env: []string{"FAKEMPI_CLOCK=12.5"}}.run(t, func(t *testing.T, m *mpi) {
		want(t, "sources", must(m.NumSources())(t), 2)
		first := must(m.SourceInfo(0))(t)
		want(t, "source", fmt.Sprint(first), "{demo_progress The progress engine, in the thread that calls MPI. ordered 1000000000 9223372036854775807 map[demo_clock:monotonic]}")
		want(t, "timestamp", must(m.SourceTimestamp(0))(t), 12_500_000_000)
		card := must(m.SourceInfo(1))(t)
		want(t, "order", card.Order, catalog.Unordered)
		want(t, "ticks", card.MaxTicks, 4095)
		want(t, "no hints", card.Hints == nil, true)
		_, err := m.SourceTimestamp(1)
		wantErr(t, "SourceTimestamp", err, ErrNotSupported)
		for _, index := range []int{-1, 2, math.MaxInt32} {
			_, err = m.SourceInfo(index)
			wantErr(t, "SourceInfo", err, ErrInvalidIndex)
			_, err = m.SourceTimestamp(index)
			wantErr(t, "SourceTimestamp", err, ErrInvalidIndex)
		}
		m.initMPI()
		want(t, "after MPI_Init", must(m.NumSources())(t), 3)
	})
}

func TestEventTypes(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		num := must(m.NumEvents())(t)
		want(t, "event types", num, 8)
		for k := range num {
			info := must(m.EventInfo(k))(t)
			want(t, info.Name, m.event(info.Name), k)
		}
		link := must(m.EventInfo(m.event("demo_link_changed")))(t)
		if !slices.Equal(link.Elements, []EventElement{{catalog.TypeChar, 0}, {catalog.TypeDouble, 8}, {catalog.TypeUint16, 16}, {catalog.TypeUnsignedLongLong, 24}}) {
			t.Error(link.Elements)
		}
		want(t, "enumeration", must(m.Enum(link.Enum))(t).Name, "demo_link_elements")
		sent := must(m.EventInfo(m.event("demo_message_sent")))(t)
		want(t, "hints", sent.Hints["demo_rate"], "each message")
		want(t, "verbosity", sent.Verbosity, catalog.VerbosityUserBasic)
		want(t, "bind", sent.Bind, catalog.BindNoObject)
		want(t, "no elements", len(must(m.EventInfo(m.event("demo_wakeup")))(t).Elements), 0)
		want(t, "bind", must(m.EventInfo(m.event("demo_comm_traffic")))(t).Bind, catalog.BindComm)
		_, err := m.EventInfo(num)
		wantErr(t, "EventInfo", err, ErrInvalidIndex)
		_, err = m.EventIndex("demo_nothing")
		wantErr(t, "EventIndex", err, ErrInvalidName)
		_, err = m.AllocEvent(m.event("demo_comm_traffic"), CommWorld, nil)
		wantErr(t, "AllocEvent before MPI_Init", err, ErrNeedsInit)
		names := func(category string) (out []string) {
			for _, k := range must(m.CategoryEvents(m.category(category)))(t) {
				out = append(out, must(m.EventInfo(k))(t).Name)
			}
			return out
		}
		if got := names("demo_transport"); !slices.Equal(got, []string{"demo_link_changed", "demo_interrupt"}) {
			t.Error(got)
		}
	})
}

// TestEvents sees every event once, with its data, its source and its time.
func TestEvents(t *testing.T) {
	child{stage: after, env: []string{"FAKEMPI_CLOCK=12.5"}}.run(t, func(t *testing.T, m *mpi) {
		var queued, taken []string
		var last *Event
		see := func(list *[]string) EventFunc {
			return func(e *Event) {
				values, err := e.Copy()
				tag, readErr := e.Read(1)
				ticks, _ := e.Timestamp()
				source, _ := e.Source()
				*list = append(*list, fmt.Sprint(texts(values), err, tag, readErr, ticks, source, e.Safety))
				last = e
				_, err = e.Read(2)
				wantErr(t, "an element that does not exist", err, ErrInvalid)
			}
		}
		m.listen("demo_unexpected_queued", catalog.SafetyThreadSafe, see(&queued))
		r := m.listen("demo_unexpected_taken", catalog.SafetyMPIRestricted, see(&taken))
		for tag := range 3 {
			m.sendSelf(8, 40+tag, true)
		}
		all := []string{}
		for tag := range 3 {
			all = append(all, fmt.Sprintf("[0 %[1]d] <nil> %[1]d <nil> 12500000000 0 mpi-restricted", 40+tag))
		}
		if !slices.Equal(queued, all) || !slices.Equal(taken, all) {
			t.Errorf("queued %v\ntaken %v\nnot %v", queued, taken, all)
		}
		_, err := last.Read(0)
		wantErr(t, "Read after the callback", err, ErrInvalidHandle)
		_, err = last.Copy()
		wantErr(t, "Copy after the callback", err, ErrInvalidHandle)
		if err := r.Register(catalog.SafetyMPIRestricted, nil, nil); err != nil {
			t.Error(err)
		}
		m.sendSelf(8, 50, true)
		want(t, "after the callback was taken back", len(taken), 3)
	})
}

func TestEventsOfOtherThreads(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		var calls, elsewhere atomic.Int32
		here := syscall.Gettid()
		m.listen("demo_link_changed", catalog.SafetyThreadSafe, func(e *Event) {
			if syscall.Gettid() != here {
				elsewhere.Add(1)
			}
			values, err := e.Copy()
			if state := []string{"d", "u"}[(calls.Add(1))%2]; err != nil || !slices.Equal(texts(values), []string{state, "12.5", "7", fmt.Sprint(calls.Load())}) {
				t.Error(texts(values), err)
			}
			want(t, "safety", e.Safety, catalog.SafetyThreadSafe)
		})
		for range 100 {
			m.sendSelf(1, 1, true)
		}
		want(t, "events", calls.Load(), 100)
		want(t, "in another thread", elsewhere.Load(), 100)
	})
}

func TestDroppedEvents(t *testing.T) {
	child{stage: after, faults: "drop-events=demo_message_sent"}.run(t, func(t *testing.T, m *mpi) {
		calls, dropped := 0, int64(0)
		r := m.listen("demo_message_sent", catalog.SafetyThreadSafe, func(*Event) { calls++ })
		err := r.SetDroppedHandler(func(count int64, source int, safety CallbackSafety) {
			dropped += count
			want(t, "source", source, 0)
			want(t, "safety", safety, catalog.SafetyNone)
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			m.sendSelf(1, 1, true)
		}
		want(t, "calls", calls, 5)
		want(t, "dropped", dropped, 5)
		if err := r.SetDroppedHandler(nil); err != nil {
			t.Error(err)
		}
		for range 10 {
			m.sendSelf(1, 1, true)
		}
		want(t, "dropped without a handler", dropped, 5)
	})
}

func TestFreedRegistrations(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		calls, freed := 0, 0
		r := m.listen("demo_message_sent", catalog.SafetyThreadSafe, func(*Event) { calls++ })
		m.sendSelf(1, 1, true)
		if err := r.Free(func() { freed++ }); err != nil {
			t.Fatal(err)
		}
		want(t, "freed", freed, 1)
		m.sendSelf(1, 1, true)
		want(t, "calls", calls, 1)
		wantErr(t, "Free", r.Free(nil), ErrInvalidHandle)
		wantErr(t, "Register", r.Register(catalog.SafetyNone, nil, func(*Event) {}), ErrInvalidHandle)
		wantErr(t, "SetDroppedHandler", r.SetDroppedHandler(nil), ErrInvalidHandle)
		wantErr(t, "SetHints", r.SetHints(nil), ErrInvalidHandle)
		_, err := r.Hints()
		wantErr(t, "Hints", err, ErrInvalidHandle)
		_, err = r.CallbackHints(catalog.SafetyNone)
		wantErr(t, "CallbackHints", err, ErrInvalidHandle)

		// Freed by its own callback: the library ends it after the callback.
		var own *EventRegistration
		own = m.listen("demo_request_done", catalog.SafetyNone, func(*Event) {
			if err := own.Free(func() { freed++ }); err != nil {
				t.Error(err)
			}
			want(t, "while the callback runs", freed, 1)
		})
		m.sendSelf(1, 1, false)
		want(t, "freed", freed, 2)

		m.listen("demo_message_sent", catalog.SafetyThreadSafe, func(*Event) { calls++ })
		if err := m.Finalize(); err != nil {
			t.Error(err)
		}
		m.sendSelf(1, 1, false)
		want(t, "calls after MPI_T_finalize", calls, 1)
	})
}

func TestLateCallbacks(t *testing.T) {
	child{stage: after, faults: "late-callback=demo_message_sent"}.run(t, func(t *testing.T, m *mpi) {
		calls, freed := 0, 0
		r := m.listen("demo_message_sent", catalog.SafetyThreadSafe, func(*Event) { calls++ })
		m.sendSelf(1, 1, true)
		if err := r.Free(func() { freed++ }); err != nil {
			t.Error(err)
		}
		want(t, "calls", calls, 1)
		want(t, "freed", freed, 1)
	})
}

func TestCallbackLevels(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		calls := map[string]int{}
		count := func(name string) EventFunc { return func(*Event) { calls[name]++ } }
		r := m.listen("demo_message_sent", catalog.SafetyNone, count("none"))
		m.sendSelf(1, 1, true)
		want(t, "a callback that satisfies too little", len(calls), 0)
		for _, l := range []CallbackSafety{catalog.SafetyThreadSafe, catalog.SafetyMPIRestricted} {
			if err := r.Register(l, nil, count(l.String())); err != nil {
				t.Fatal(err)
			}
			m.sendSelf(1, 1, true)
		}
		want(t, "calls", fmt.Sprint(calls), "map[mpi-restricted:1 thread-safe:1]")
		wantErr(t, "a Go function in a signal handler", r.Register(catalog.SafetyAsyncSignalSafe, nil, count("")), ErrInvalid)
		for _, l := range []CallbackSafety{-1, 0, 5, math.MaxInt32} {
			wantErr(t, "Register", r.Register(l, nil, count("")), ErrInvalid)
			wantErr(t, "SetCallbackHints", r.SetCallbackHints(l, nil), ErrInvalid)
		}
	})
}

func TestEventHints(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		r := must(m.AllocEvent(m.event("demo_wakeup"), NoObject, Hints{"demo_buffer": "64", "unknown": "x"}))(t)
		want(t, "hints in use", fmt.Sprint(must(r.Hints())(t)), "map[demo_buffer:64]")
		if err := r.SetHints(Hints{"demo_buffer": "128"}); err != nil {
			t.Error(err)
		}
		want(t, "hints in use", fmt.Sprint(must(r.Hints())(t)), "map[demo_buffer:128]")
		if err := r.Register(catalog.SafetyNone, Hints{"demo_priority": "high"}, func(*Event) {}); err != nil {
			t.Error(err)
		}
		want(t, "hints of the callback", fmt.Sprint(must(r.CallbackHints(catalog.SafetyNone))(t)), "map[demo_priority:high]")
		want(t, "hints of another", must(r.CallbackHints(catalog.SafetyThreadSafe))(t) == nil, true)
		if err := r.SetCallbackHints(catalog.SafetyThreadSafe, Hints{"demo_priority": "low"}); err != nil {
			t.Error(err)
		}
		want(t, "hints of another", fmt.Sprint(must(r.CallbackHints(catalog.SafetyThreadSafe))(t)), "map[demo_priority:low]")
	})
}

// TestBrokenEvents checks that a library's mistakes are errors here.
func TestBrokenEvents(t *testing.T) {
	alloc := func(m *mpi) error {
		_, err := m.AllocEvent(m.event("demo_message_sent"), NoObject, nil)
		return err
	}
	for faults, c := range map[string]struct {
		call func(m *mpi) error
		want error
	}{
		"outside-element=demo_message_sent": {alloc, ErrElementOutside},
		"unknown-type=demo_message_sent":    {alloc, ErrUnknownType},
		"huge-count=demo_message_sent":      {alloc, ErrBadCount},
		"negative-count=demo_message_sent":  {alloc, ErrBadCount},
		"dead-index=demo_message_sent":      {alloc, ErrInvalidIndex},
		"growing-length=demo_message_sent":  {alloc, nil},
		"refuse-safety=demo_message_sent": {func(m *mpi) error {
			r := must(m.AllocEvent(m.event("demo_message_sent"), NoObject, nil))(m.t)
			return r.Register(catalog.SafetyThreadSafe, nil, func(*Event) {})
		}, ErrNotSupported},
		"mpi31": {func(m *mpi) error {
			_, err := m.NumEvents()
			wantErr(m.t, "NumEvents", err, ErrNotProvided)
			_, err = m.NumSources()
			wantErr(m.t, "NumSources", err, ErrNotProvided)
			_, err = m.SourceInfo(0)
			wantErr(m.t, "SourceInfo", err, ErrNotProvided)
			_, err = m.EventInfo(0)
			return err
		}, ErrNotProvided},
	} {
		t.Run(faults, func(t *testing.T) {
			child{stage: before, faults: faults}.run(t, func(t *testing.T, m *mpi) { wantErr(t, faults, c.call(m), c.want) })
		})
	}
}

// TestProbedEvents tries the event types and sources of the demo library in a child.
func TestProbedEvents(t *testing.T) {
	probe := func(m *mpi) Trials {
		o := ProbeOptions{Object: CommWorld, Limit: 10 * time.Second, Events: must(m.NumEvents())(m.t), Sources: must(m.NumSources())(m.t)}
		return must(m.Probe(0, 0, o))(m.t)
	}
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		all := probe(m)
		want(t, "sources", len(all.Sources), 3)
		want(t, "timestamp", all.Sources[0].Reading.Status, catalog.StatusOK)
		want(t, "no timestamp", all.Sources[1].Reading.Reason, "get_timestamp: not supported by this library")
		want(t, "event types", len(all.Events), 9)
		for k, e := range all.Events {
			hints := "map[]"
			if k == m.event("demo_message_sent") {
				hints = "map[demo_buffer:16]"
			}
			want(t, fmt.Sprint("event ", k), fmt.Sprintf("%v %v %v", e.Reading.Status, e.Safeties, e.Hints), "ok [none mpi-restricted thread-safe async-signal-safe] "+hints)
		}
	})
	for faults, text := range map[string]string{
		"crash-get-info=demo_message_sent":   "true false faulty crashes in get_info (SIGSEGV) []",
		"garbage-enum=demo_message_sent":     "false true faulty crashes in enum_get_info (SIGSEGV) []",
		"crash-alloc=demo_message_sent":      "false false faulty crashes in handle_alloc (SIGSEGV) []",
		"hang-register=demo_message_sent":    "false false faulty timed out in register_callback []",
		"refuse-safety=demo_message_sent":    "false false ok  [none mpi-restricted]",
		"crash-event-info=demo_message_sent": "false false ok crashes in handle_get_info (SIGSEGV) [none mpi-restricted thread-safe async-signal-safe]",
		"hang-event-info=demo_message_sent":  "false false ok timed out in handle_get_info [none mpi-restricted thread-safe async-signal-safe]",
		"fail-event-info=demo_message_sent":  "false false ok  [none mpi-restricted thread-safe async-signal-safe]",
		"fail-alloc=demo_message_sent":       "false false error handle_alloc: MPI error class 16 []",
	} {
		t.Run(faults, func(t *testing.T) {
			child{stage: before, faults: faults}.run(t, func(t *testing.T, m *mpi) {
				o := ProbeOptions{Limit: 100 * time.Millisecond, Events: 8}
				all := must(m.Probe(0, 0, o))(t)
				e := all.Events[0]
				want(t, faults, fmt.Sprintf("%v %v %v %v %v", e.Nameless, e.NoEnum, e.Reading.Status, e.Reading.Reason, e.Safeties), text)
				want(t, "the next", all.Events[1].Reading.Status, catalog.StatusOK)
				want(t, "bound to a communicator", all.Events[3].Reading.Status, catalog.StatusUnbound)
			})
		})
	}
}

// TestRealEvents counts the event types of the installed libraries: Open MPI 4.1 lacks the routines, and MPICH has no event types.
func TestRealEvents(t *testing.T) {
	onReal(t, at(after), func(t *testing.T, f family, m *mpi) {
		num, err := m.NumEvents()
		sources, sourceErr := m.NumSources()
		if version, _, _ := m.lib.Version(); version < 4 {
			wantErr(t, "NumEvents", err, ErrNotProvided)
			wantErr(t, "NumSources", sourceErr, ErrNotProvided)
			_, err = m.EventIndex("x")
			wantErr(t, "EventIndex", err, ErrNotProvided)
			return
		}
		if err != nil || sourceErr != nil {
			t.Fatal(err, sourceErr)
		}
		for k := range num {
			info := must(m.EventInfo(k))(t)
			want(t, info.Name, m.event(info.Name), k)
		}
		for k := range sources {
			must(m.SourceInfo(k))(t)
		}
		_, err = m.EventInfo(num)
		wantErr(t, "EventInfo", err, ErrInvalidIndex)
		_, err = m.EventIndex("mpitx_nothing")
		wantErr(t, "EventIndex", err, ErrInvalidName)
	})
}
