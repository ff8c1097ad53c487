package binding

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/fixtures/need"
)

// peruseEvents are the events of the fixture MPI: those of the specification, in its order, and its own.
var peruseEvents = []string{
	"PERUSE_COMM_REQ_ACTIVATE", "PERUSE_COMM_REQ_MATCH_UNEX", "PERUSE_COMM_REQ_INSERT_IN_POSTED_Q", "PERUSE_COMM_REQ_REMOVE_FROM_POSTED_Q",
	"PERUSE_COMM_REQ_XFER_BEGIN", "PERUSE_COMM_REQ_XFER_END", "PERUSE_COMM_REQ_COMPLETE", "PERUSE_COMM_REQ_NOTIFY",
	"PERUSE_COMM_MSG_ARRIVED", "PERUSE_COMM_MSG_INSERT_IN_UNEX_Q", "PERUSE_COMM_MSG_REMOVE_FROM_UNEX_Q", "PERUSE_COMM_MSG_MATCH_POSTED_REQ",
	"PERUSE_COMM_SEARCH_POSTED_Q_BEGIN", "PERUSE_COMM_SEARCH_POSTED_Q_END", "PERUSE_COMM_SEARCH_UNEX_QUEUE_BEGIN", "PERUSE_COMM_SEARCH_UNEX_Q_END",
	"DEMO_COMM_REQ_COPIED",
}

func (m *mpi) peruse() *Peruse {
	m.t.Helper()
	return must(m.lib.InitPeruse())(m.t)
}

// watch activates handles of events on a communicator; without names of all that the library lists.
func (m *mpi) watch(comm Object, ring *PeruseRing, names ...string) (handles []*PeruseHandle) {
	m.t.Helper()
	p := m.peruse()
	if len(names) == 0 {
		for _, e := range must(p.SupportedEvents())(m.t) {
			names = append(names, e.Name)
		}
	}
	for _, name := range names {
		h := must(p.RegisterComm(must(p.Event(name))(m.t), comm, ring))(m.t)
		if err := h.Activate(); err != nil {
			m.t.Fatal(err)
		}
		handles = append(handles, h)
	}
	return handles
}

func ring(t *testing.T, capacity int) *PeruseRing {
	t.Helper()
	return must(NewPeruseRing(capacity))(t)
}

// told returns the names of calls, without PERUSE_COMM_.
func (m *mpi) told(calls []PeruseCall) string {
	m.t.Helper()
	var names []string
	for _, c := range calls {
		name := must(m.peruse().EventName(must(c.Handle.Event())(m.t)))(m.t)
		names = append(names, strings.TrimPrefix(name, "PERUSE_COMM_"))
	}
	return strings.Join(names, " ")
}

// exchangeOn sends a message of four bytes to this process on a communicator and receives it, as an unexpected one.
func (m *mpi) exchangeOn(comm Object, tag int) {
	m.t.Helper()
	s, r := must(m.lib.SendOn(comm, []byte("abcd"), 0, tag))(m.t), must(m.lib.ReceiveOn(comm, 4, 0, tag))(m.t)
	for !must(s.Done())(m.t) || !must(r.Done())(m.t) { // real libraries need both
	}
	want(m.t, "message", string(r.Data()), "abcd")
}

func TestPeruseQueries(t *testing.T) {
	child{stage: loaded, env: []string{"DEMO_CVAR_DEMO_LINES=4"}}.run(t, func(t *testing.T, m *mpi) {
		_, err := m.lib.InitPeruse()
		wantErr(t, "before MPI_Init", err, ErrPeruseMPIInit)
		m.initMPI()
		p := m.peruse()
		want(t, "a second PERUSE_Init", m.peruse(), p)
		events := must(p.SupportedEvents())(t)
		var names []string
		for _, e := range events {
			names = append(names, e.Name)
			want(t, e.Name, must(p.Event(e.Name))(t), e.Number)
			want(t, "name", must(p.EventName(e.Number))(t), e.Name)
		}
		if !slices.Equal(names, peruseEvents) {
			t.Errorf("%q", names)
		}
		_, err = p.Event("PERUSE_COMM_NOTHING")
		wantErr(t, "Event", err, ErrPeruseEvent)
		for _, number := range []int{-1, 0, events[0].Number - 1, events[len(events)-1].Number + 1} {
			_, err = p.EventName(number)
			wantErr(t, "EventName", err, ErrPeruseEvent)
			_, err = p.RegisterComm(number, CommWorld, ring(t, 1))
			wantErr(t, "RegisterComm", err, ErrPeruseEvent)
		}
		if env := must(p.Environment())(t); !slices.Contains(env, "DEMO_CVAR_DEMO_LINES=4") {
			t.Errorf("%q", env)
		}
		want(t, "scope", must(p.QueueEventScope())(t), PerusePerComm)
		wantErr(t, "Unlock", p.Unlock(), ErrPeruseLock)
		wantErr(t, "Lock", p.Lock(), nil)
		wantErr(t, "a second Lock", p.Lock(), ErrPeruseLock)
		wantErr(t, "Unlock", p.Unlock(), nil)
		h := m.watch(CommWorld, ring(t, 1), peruseEvents[0])[0]
		wantErr(t, "Finalize", m.lib.Finalize(), nil)
		_, err = m.lib.InitPeruse()
		_, eventsErr := p.SupportedEvents()
		_, eventErr := p.Event("")
		_, nameErr := p.EventName(0)
		_, envErr := p.Environment()
		_, scopeErr := p.QueueEventScope()
		_, registerErr := p.RegisterComm(events[0].Number, CommWorld, nil)
		for _, err := range []error{err, eventsErr, eventErr, nameErr, envErr, scopeErr, registerErr, p.Lock(), p.Unlock(), h.Activate(), h.Release()} {
			wantErr(t, "after MPI_Finalize", err, ErrPeruseMPIInit)
		}
	})
}

func TestPeruseHandles(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		p, first, second := m.peruse(), ring(t, 16), ring(t, 16)
		event := must(p.Event(peruseEvents[0]))(t)
		for _, object := range []Object{NoObject, -1, 3, 99} {
			_, err := p.RegisterComm(event, object, first)
			wantErr(t, "RegisterComm", err, ErrPeruseComm)
		}
		_, err := p.RegisterComm(event, CommWorld, nil)
		wantErr(t, "RegisterComm", err, ErrPeruseParameter)

		h, twin := must(p.RegisterComm(event, CommWorld, first))(t), must(p.RegisterComm(event, CommWorld, second))(t)
		want(t, "event", must(h.Event())(t), event)
		want(t, "object", must(h.Object())(t), CommWorld)
		want(t, "callback", must(h.Callback())(t), first)
		m.exchangeOn(CommWorld, 1)
		want(t, "calls of inactive handles", len(first.Take())+len(second.Take()), 0)
		for range 2 {
			wantErr(t, "Activate", h.Activate(), nil)
		}
		wantErr(t, "SetCallback", h.SetCallback(second), ErrPeruseEventHandle)
		_, err = h.Callback()
		wantErr(t, "Callback", err, ErrPeruseEventHandle)
		wantErr(t, "Propagate", h.Propagate(true), ErrPeruseEventHandle)
		m.exchangeOn(CommWorld, 1)
		want(t, "calls of the active one", len(first.Take()), 2)
		want(t, "calls of the other", len(second.Take()), 0)
		wantErr(t, "Activate", twin.Activate(), nil)
		m.exchangeOn(CommWorld, 1)
		want(t, "calls of both", len(first.Take())*10+len(second.Take()), 22)
		for range 2 {
			wantErr(t, "Deactivate", h.Deactivate(), nil)
		}
		wantErr(t, "SetCallback", h.SetCallback(nil), ErrPeruseParameter)
		wantErr(t, "SetCallback", h.SetCallback(second), nil)
		want(t, "callback", must(h.Callback())(t), second)
		wantErr(t, "Release", twin.Release(), nil)
		wantErr(t, "Activate", h.Activate(), nil)
		m.exchangeOn(CommSelf, 1)
		want(t, "calls of another communicator", len(second.Take()), 0)
		m.exchangeOn(CommWorld, 1)
		calls := second.Take()
		want(t, "calls", len(calls), 2)
		want(t, "handle", calls[0].Handle, h)
		wantErr(t, "Release", h.Release(), nil)
		_, eventErr := h.Event()
		_, objectErr := h.Object()
		_, callbackErr := h.Callback()
		for _, err := range []error{h.Activate(), h.Deactivate(), h.Release(), eventErr, objectErr, callbackErr, h.SetCallback(first), h.Propagate(true)} {
			wantErr(t, "after Release", err, ErrPeruseEventHandle)
		}
	})
}

const (
	sent       = "REQ_ACTIVATE REQ_XFER_BEGIN "
	arrived    = "MSG_ARRIVED SEARCH_POSTED_Q_BEGIN SEARCH_POSTED_Q_END "
	complete   = "REQ_XFER_END REQ_COMPLETE"
	received   = "REQ_XFER_BEGIN DEMO_COMM_REQ_COPIED " + complete
	posting    = "REQ_ACTIVATE SEARCH_UNEX_QUEUE_BEGIN SEARCH_UNEX_Q_END "
	unexpected = posting + "MSG_REMOVE_FROM_UNEX_Q REQ_MATCH_UNEX " + received
	matched    = "MSG_MATCH_POSTED_REQ REQ_REMOVE_FROM_POSTED_Q " + received + " "
)

// TestPeruseEvents sees all events of an unexpected and of an expected message, in their order.
func TestPeruseEvents(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		calls := ring(t, 100)
		m.watch(CommWorld, calls)
		s := must(m.lib.Send([]byte("abcd"), 0, 5))(t)
		want(t, "an unexpected message", m.told(calls.Take()), sent+arrived+"MSG_INSERT_IN_UNEX_Q "+complete)
		want(t, "sent", must(s.Done())(t), true)
		want(t, "its notification", m.told(calls.Take()), "REQ_NOTIFY")
		r := must(m.lib.Receive(8, 0, 5))(t)
		all := calls.Take()
		want(t, "its receive", m.told(all), unexpected)
		c := all[0]
		want(t, "request", fmt.Sprint(c.Count, c.Type, c.Peer, c.Tag, c.Op, c.Buffer != 0), fmt.Sprint(8, catalog.TypeByte, 0, 5, PeruseRecv, true))
		removed := all[3]
		want(t, "message", fmt.Sprint(removed.Count, int(removed.Type), removed.Peer, removed.Tag, removed.Buffer), "0 0 0 5 0")
		want(t, "its completion", all[len(all)-1].ID, c.ID)
		want(t, "its search", all[1].ID == all[2].ID && all[1].ID != c.ID && removed.ID != c.ID, true)
		if !slices.IsSortedFunc(all, func(a, b PeruseCall) int { return int(a.Time - b.Time) }) || all[0].Time == 0 {
			t.Error("times", all)
		}
		want(t, "received", must(r.Done())(t), true)
		calls.Take()

		r = must(m.lib.Receive(4, 0, 6))(t)
		want(t, "a posted receive", m.told(calls.Take()), posting+"REQ_INSERT_IN_POSTED_Q")
		s = must(m.lib.Send([]byte("abcd"), 0, 6))(t)
		want(t, "its message", m.told(calls.Take()), sent+arrived+matched+complete)
		want(t, "done", must(s.Done())(t) && must(r.Done())(t), true)
		want(t, "notifications", m.told(calls.Take()), "REQ_NOTIFY REQ_NOTIFY")
		want(t, "dropped", calls.Dropped(), 0)
	})
}

func TestPeruseRing(t *testing.T) {
	for _, capacity := range []int{0, -1, maxRing + 1} {
		_, err := NewPeruseRing(capacity)
		wantErr(t, "NewPeruseRing", err, ErrInvalid)
	}
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		small := ring(t, 3) // 4 in fact
		m.watch(CommWorld, small, peruseEvents[0])
		for tag := range 3 {
			m.exchangeOn(CommWorld, tag)
		}
		var tags []int
		for _, c := range small.Take() {
			tags = append(tags, c.Tag)
		}
		if !slices.Equal(tags, []int{0, 0, 1, 1}) {
			t.Error("the newest are not dropped", tags)
		}
		want(t, "dropped", small.Dropped(), 2)
		for tag := range 1000 { // around the ring
			m.exchangeOn(CommWorld, tag)
			calls := small.Take()
			if len(calls) != 2 || calls[0].Tag != tag || calls[1].Tag != tag {
				t.Fatal(tag, calls)
			}
		}
		want(t, "dropped", small.Dropped(), 2)
	})
}

func TestPeruseDuplicates(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		p, calls := m.peruse(), ring(t, 64)
		event := must(p.Event(peruseEvents[0]))(t)
		stays, goes := must(p.RegisterComm(event, CommWorld, calls))(t), must(p.RegisterComm(event, CommWorld, calls))(t)
		wantErr(t, "Propagate", goes.Propagate(true), nil)
		wantErr(t, "Activate", stays.Activate(), nil)
		wantErr(t, "Activate", goes.Activate(), nil)
		duplicate := must(m.lib.Dup(CommWorld))(t)
		m.exchangeOn(duplicate, 1)
		for _, c := range calls.Take() {
			if c.Handle != goes || c.Comm == 0 {
				t.Error("a handle that does not propagate was called", c)
			}
		}
		h := must(p.RegisterComm(event, duplicate, calls))(t)
		want(t, "object", must(h.Object())(t), duplicate)
		wantErr(t, "Activate", h.Activate(), nil)
		wantErr(t, "FreeComm", m.lib.FreeComm(duplicate), nil)
		_, err := h.Event()
		for _, err := range []error{err, h.Activate(), h.Release()} {
			wantErr(t, "after FreeComm", err, ErrPeruseMPIObject)
		}
		for _, object := range []Object{duplicate, CommWorld, NoObject} {
			wantErr(t, "FreeComm", m.lib.FreeComm(object), ErrInvalid)
		}
		_, err = p.RegisterComm(event, duplicate, calls)
		wantErr(t, "RegisterComm", err, ErrPeruseComm)
		_, err = m.lib.Dup(duplicate)
		wantErr(t, "Dup", err, errNoComms)
		_, err = m.lib.SendOn(duplicate, nil, 0, 0)
		wantErr(t, "SendOn", err, ErrInvalid)
		_, err = m.lib.ReceiveOn(duplicate, 0, 0, 0)
		wantErr(t, "ReceiveOn", err, ErrInvalid)
		m.exchangeOn(CommWorld, 1)
		want(t, "calls of MPI_COMM_WORLD", len(calls.Take()), 4)
		num := 1 // of the 13 numbers
		for ; num < 20; num++ {
			if _, err = m.lib.Dup(CommSelf); err != nil {
				break
			}
		}
		want(t, "duplicates", num, 13)
	})
}

// TestPeruseFaults breaks the rules one at a time, as real libraries do.
func TestPeruseFaults(t *testing.T) {
	for _, c := range []struct {
		faults string
		body   func(t *testing.T, m *mpi)
	}{
		{"no-peruse", func(t *testing.T, m *mpi) {
			_, err := m.lib.InitPeruse()
			wantErr(t, "InitPeruse", err, ErrNotProvided)
		}},
		{"no-peruse-lock", func(t *testing.T, m *mpi) { // Open MPI
			wantErr(t, "Lock", m.peruse().Lock(), ErrNotProvided)
			wantErr(t, "Unlock", m.peruse().Unlock(), ErrNotProvided)
		}},
		{"fail-peruse-init", func(t *testing.T, m *mpi) {
			_, err := m.lib.InitPeruse()
			want(t, "error", err.Error(), "MPI error class 16")
		}},
		{"negative-count=peruse", func(t *testing.T, m *mpi) {
			_, err := m.peruse().SupportedEvents()
			wantErr(t, "SupportedEvents", err, ErrBadCount)
			_, err = m.peruse().RegisterComm(40, CommWorld, ring(t, 1))
			wantErr(t, "RegisterComm", err, ErrBadCount)
		}},
		{"null-name=PERUSE_COMM_MSG_*", func(t *testing.T, m *mpi) {
			want(t, "events", len(must(m.peruse().SupportedEvents())(t)), len(peruseEvents)-4)
		}},
		{"no-checks", func(t *testing.T, m *mpi) { // it would crash
			_, err := m.peruse().EventName(1)
			wantErr(t, "EventName", err, ErrPeruseEvent)
			h := must(m.peruse().RegisterComm(must(m.peruse().Event(peruseEvents[0]))(t), CommWorld, ring(t, 1)))(t)
			wantErr(t, "Release", h.Release(), nil)
			wantErr(t, "Activate", h.Activate(), ErrPeruseEventHandle)
		}},
		{"untouched-environment", func(t *testing.T, m *mpi) {
			_, err := m.peruse().Environment()
			wantErr(t, "Environment", err, nil)
		}},
		{"global-queues", func(t *testing.T, m *mpi) {
			want(t, "scope", must(m.peruse().QueueEventScope())(t), PeruseGlobal)
		}},
		{"unknown-object", func(t *testing.T, m *mpi) {
			_, err := m.watch(CommWorld, ring(t, 1), peruseEvents[0])[0].Object()
			wantErr(t, "Object", err, ErrNotBindable)
		}},
		{"keep-active", func(t *testing.T, m *mpi) { // Open MPI
			calls := ring(t, 8)
			h := m.watch(CommWorld, calls, peruseEvents[0])[0]
			wantErr(t, "Release", h.Release(), nil)
			m.exchangeOn(CommWorld, 1)
			want(t, "calls", len(calls.Take())+int(calls.Late()), 0)
		}},
		{"late-callback", func(t *testing.T, m *mpi) {
			calls := ring(t, 8)
			h := m.watch(CommWorld, calls, peruseEvents[0])[0]
			wantErr(t, "Release", h.Release(), nil)
			want(t, "calls", len(calls.Take()), 0)
			want(t, "late", calls.Late(), 1)
		}},
		{"drop-events=PERUSE_COMM_REQ_ACTIVATE", func(t *testing.T, m *mpi) {
			calls := ring(t, 8)
			m.watch(CommWorld, calls, peruseEvents[0])
			m.exchangeOn(CommWorld, 1)
			want(t, "calls", len(calls.Take()), 1)
		}},
		{"one-slot", func(t *testing.T, m *mpi) { // Open MPI
			first, second := ring(t, 8), ring(t, 8)
			m.watch(CommWorld, first, peruseEvents[0])
			m.watch(CommWorld, second, peruseEvents[0])
			m.exchangeOn(CommWorld, 1)
			want(t, "calls", len(first.Take())*10+len(second.Take()), 2)
		}},
		{"fail-peruse-activate;fail-peruse-deactivate;fail-peruse-get;fail-peruse-set", func(t *testing.T, m *mpi) {
			p := m.peruse()
			h := must(p.RegisterComm(must(p.Event(peruseEvents[0]))(t), CommWorld, ring(t, 1)))(t)
			_, event := h.Event()
			_, object := h.Object()
			_, callback := h.Callback()
			for _, err := range []error{h.Activate(), h.Deactivate(), event, object, callback, h.SetCallback(ring(t, 1)), h.Propagate(false)} {
				if err == nil || err.Error() != "MPI error class 16" {
					t.Error(err)
				}
			}
		}},
	} {
		t.Run(c.faults, func(t *testing.T) { child{stage: after, faults: c.faults}.run(t, c.body) })
	}
}

// TestPeruseRingThreads writes from several threads and a signal handler at once: nothing is lost without being counted.
func TestPeruseRingThreads(t *testing.T) {
	need.Commands(t, "cc")
	program := filepath.Join(t.TempDir(), "ring")
	if out, err := exec.Command("cc", "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-Ishim", "testdata/ring.c", "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
