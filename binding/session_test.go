package binding

import (
	"testing"
	"time"

	"mpitx/catalog"
)

func TestPvarInfo(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		want(t, "performance variables", must(m.NumPvars())(t), 40)
		for _, c := range []PvarInfo{
			{Name: "demo_queue", Verbosity: catalog.VerbosityUserBasic, Class: catalog.ClassLevel, Datatype: catalog.TypeUnsigned,
				Bind: catalog.BindNoObject, Readonly: true, Continuous: true, Description: "Entries in the send queue now."},
			{Name: "demo_queue", Verbosity: catalog.VerbosityUserDetail, Class: catalog.ClassHighWatermark, Datatype: catalog.TypeUnsigned,
				Bind: catalog.BindNoObject, Continuous: true, Atomic: true, Description: "The longest that the send queue has been."},
			{Name: "demo_cursor", Verbosity: catalog.VerbosityMPIDevDetail, Class: catalog.ClassGeneric, Datatype: catalog.TypeInt,
				Bind: catalog.BindNoObject, Description: "Three numbers that can be written while stopped or started."},
			{Name: "demo_win_epochs", Verbosity: catalog.VerbosityTunerBasic, Class: catalog.ClassCounter, Datatype: catalog.TypeUnsignedLong,
				Bind: catalog.BindWin, Continuous: true, Description: "Epochs of the window."},
		} {
			got := must(m.PvarInfo(m.pvar(c.Name, c.Class)))(t)
			want(t, c.Name, got, c)
		}
		classes := map[Class]bool{}
		for k := range 40 {
			info := must(m.PvarInfo(k))(t)
			want(t, "index of "+info.Name, must(m.PvarIndex(info.Name, info.Class))(t), k)
			classes[info.Class] = true
		}
		want(t, "classes", len(classes), 10)
		for _, c := range []struct {
			name  string
			class Class
		}{{"demo_queue", catalog.ClassTimer}, {"demo_queue", 0}, {"demo_queue", 11}, {"demo_lines", catalog.ClassLevel}} {
			_, err := m.PvarIndex(c.name, c.class)
			wantErr(t, "PvarIndex", err, ErrInvalidName)
		}
		if enum := must(m.PvarInfo(m.pvar("demo_progress_state", catalog.ClassState)))(t).Enum; enum.IsNull() {
			t.Error("no enumeration")
		}
	})
}

// grows waits for a counter to go up.
func grows(t *testing.T, s *Session, h *PvarHandle) Value {
	t.Helper()
	first := must(s.Read(h))(t)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if v := must(s.Read(h))(t); v.Float(0) > first.Float(0) {
			return v
		}
	}
	t.Errorf("stays %v", first)
	return first
}

func stands(t *testing.T, s *Session, h *PvarHandle) Value {
	t.Helper()
	first := must(s.Read(h))(t)
	time.Sleep(30 * time.Millisecond)
	want(t, "stopped", must(s.Read(h))(t), first)
	return first
}

func TestStartStopResetReadWrite(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		s := m.session()
		h := m.openPvar(s, "demo_match_time", catalog.ClassTimer) // 20 million a second
		want(t, "never started", stands(t, s, h).String(), "0")
		wantErr(t, "Start", s.Start(h), nil)
		grows(t, s, h)
		wantErr(t, "Start again", s.Start(h), nil)
		wantErr(t, "Stop", s.Stop(h), nil)
		stands(t, s, h)
		wantErr(t, "Start once more", s.Start(h), nil)
		grows(t, s, h)
		wantErr(t, "Stop", s.Stop(h), nil)
		wantErr(t, "Reset", s.Reset(h), nil)
		want(t, "after reset", must(s.Read(h))(t).String(), "0")
		wantErr(t, "Write", s.Write(h, value(t, catalog.TypeUnsignedLongLong, 1, "12345")), nil)
		want(t, "written", must(s.Read(h))(t).String(), "12345")
		_, err := s.ReadReset(h)
		wantErr(t, "ReadReset of what is not atomic", err, ErrPvarNoAtomic)

		atomic := m.openPvar(s, "demo_energy", catalog.ClassAggregate)
		wantErr(t, "Start", s.Start(atomic), nil)
		grows(t, s, atomic)
		wantErr(t, "Stop", s.Stop(atomic), nil)
		v := must(s.Read(atomic))(t)
		want(t, "ReadReset", must(s.ReadReset(atomic))(t), v)
		want(t, "afterwards", must(s.Read(atomic))(t).String(), "0")

		array := m.openPvar(s, "demo_cursor", catalog.ClassGeneric)
		want(t, "count", array.Count(), 3)
		want(t, "array", must(s.Read(array))(t).String(), "-5,-5,-5")
		wantErr(t, "Write", s.Write(array, value(t, catalog.TypeInt, 3, "1,-2,3")), nil)
		want(t, "array", must(s.Read(array))(t).String(), "1,-2,3")
		for why, v := range map[string]Value{"count": value(t, catalog.TypeInt, 2, "1,2"), "type": value(t, catalog.TypeUnsigned, 3, "1,2,3"), "none": {}} {
			wantErr(t, "wrong "+why, s.Write(array, v), ErrInvalid)
		}
		text := m.openPvar(s, "demo_last_error", catalog.ClassGeneric)
		want(t, "text", must(s.Read(text))(t).Text(), "none so far")
	})
}

// Operations that a variable does not support are refused before the library, which would crash here, is called.
func TestRefusals(t *testing.T) {
	child{stage: before, faults: "crash-start;crash-stop;crash-write;crash-reset;crash-readreset;flags-two"}.run(t, func(t *testing.T, m *mpi) {
		s := m.session()
		h := m.openPvar(s, "demo_queue", catalog.ClassLevel) // readonly, continuous
		wantErr(t, "Start", s.Start(h), ErrPvarNoStartStop)
		wantErr(t, "Stop", s.Stop(h), ErrPvarNoStartStop)
		wantErr(t, "Write", s.Write(h, value(t, catalog.TypeUnsigned, 1, "1")), ErrPvarNoWrite)
		wantErr(t, "Reset", s.Reset(h), ErrPvarNoWrite)
		_, err := s.ReadReset(h)
		wantErr(t, "ReadReset", err, ErrPvarNoWrite)
		_, err = s.ReadReset(m.openPvar(s, "demo_cursor", catalog.ClassGeneric))
		wantErr(t, "ReadReset", err, ErrPvarNoAtomic)
		must(s.Read(h))(t)
	})
}

func TestAllHandles(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		s, other := m.session(), m.session()
		a, b := m.openPvar(s, "demo_match_time", catalog.ClassTimer), m.openPvar(s, "demo_energy", catalog.ClassAggregate)
		apart := m.openPvar(other, "demo_match_time", catalog.ClassTimer)
		m.openPvar(s, "demo_queue", catalog.ClassLevel) // continuous and readonly: skipped
		wantErr(t, "Start", s.Start(AllHandles), nil)
		grows(t, s, a)
		grows(t, s, b)
		wantErr(t, "Stop", s.Stop(AllHandles), nil)
		stands(t, s, a)
		stands(t, s, b)
		wantErr(t, "Reset", s.Reset(AllHandles), nil)
		want(t, "a", must(s.Read(a))(t).String(), "0")
		want(t, "b", must(s.Read(b))(t).String(), "0")
		want(t, "another session", stands(t, other, apart).String(), "0")

		_, err := s.Read(AllHandles)
		wantErr(t, "Read", err, ErrInvalidHandle)
		wantErr(t, "Write", s.Write(AllHandles, value(t, catalog.TypeInt, 1, "1")), ErrInvalidHandle)
		_, err = s.ReadReset(AllHandles)
		wantErr(t, "ReadReset", err, ErrInvalidHandle)
		wantErr(t, "FreeHandle", s.FreeHandle(AllHandles), ErrInvalidHandle)
		for what, call := range map[string]func(*PvarHandle) error{"Start": s.Start, "Stop": s.Stop, "Reset": s.Reset, "FreeHandle": s.FreeHandle} {
			wantErr(t, what+" of nil", call(nil), ErrInvalidHandle)
		}
		wantErr(t, "Free", s.Free(), nil)
		for what, call := range map[string]func(*PvarHandle) error{"Start": s.Start, "Stop": s.Stop, "Reset": s.Reset, "FreeHandle": s.FreeHandle} {
			wantErr(t, what+" in a freed session", call(AllHandles), ErrInvalidSession)
		}
		empty := m.session()
		wantErr(t, "Start of none", empty.Start(AllHandles), nil)
	})
}

// Handles belong to one session, even if the library would accept them in another.
func TestHandlesBelongToTheirSession(t *testing.T) {
	for _, faults := range []string{"", "foreign-session"} {
		t.Run(faults, func(t *testing.T) {
			child{stage: before, faults: faults}.run(t, func(t *testing.T, m *mpi) {
				s, other := m.session(), m.session()
				h := m.openPvar(s, "demo_retries", catalog.ClassCounter)
				_, err := other.Read(h)
				wantErr(t, "Read", err, ErrInvalidHandle)
				wantErr(t, "Write", other.Write(h, value(t, catalog.TypeUnsigned, 1, "1")), ErrInvalidHandle)
				_, err = other.ReadReset(h)
				wantErr(t, "ReadReset", err, ErrInvalidHandle)
				for what, call := range map[string]func(*PvarHandle) error{"Start": other.Start, "Stop": other.Stop, "Reset": other.Reset, "FreeHandle": other.FreeHandle} {
					wantErr(t, what, call(h), ErrInvalidHandle)
				}
				wantErr(t, "the other session's Free", other.Free(), nil)
				wantErr(t, "its own session", s.Start(h), nil)
				must(s.ReadReset(h))(t)
			})
		})
	}
}

func TestSessionsAreSeparate(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		s, other := m.session(), m.session()
		a, b := m.openPvar(s, "demo_match_time", catalog.ClassTimer), m.openPvar(other, "demo_match_time", catalog.ClassTimer)
		wantErr(t, "Start", s.Start(a), nil)
		grows(t, s, a)
		want(t, "the other session's", must(other.Read(b))(t).String(), "0")
		c := m.openPvar(s, "demo_match_time", catalog.ClassTimer)
		want(t, "another handle's", must(s.Read(c))(t).String(), "0")
	})
}

func TestFreeing(t *testing.T) {
	child{stage: before, faults: "no-checks"}.run(t, func(t *testing.T, m *mpi) {
		s := m.session()
		h := m.openPvar(s, "demo_retries", catalog.ClassCounter)
		wantErr(t, "FreeHandle", s.FreeHandle(h), nil)
		wantErr(t, "FreeHandle again", s.FreeHandle(h), ErrInvalidHandle)
		_, err := s.Read(h)
		wantErr(t, "Read", err, ErrInvalidHandle)
		wantErr(t, "Start", s.Start(h), ErrInvalidHandle)

		h = m.openPvar(s, "demo_retries", catalog.ClassCounter)
		wantErr(t, "Free", s.Free(), nil)
		if h.value.p != nil || len(m.sessions) != 0 {
			t.Error("Free leaves handles")
		}
		wantErr(t, "Free again", s.Free(), ErrInvalidSession)
		_, err = s.Read(h)
		wantErr(t, "Read", err, ErrInvalidSession)
		wantErr(t, "FreeHandle", s.FreeHandle(h), ErrInvalidSession)
		_, err = s.AllocPvar(0, NoObject)
		wantErr(t, "AllocPvar", err, ErrInvalidSession)
		for range 9000 { // more than the library's limit
			s := m.session()
			m.openPvar(s, "demo_retries", catalog.ClassCounter)
			wantErr(t, "Free", s.Free(), nil)
		}
	})
}

func TestStartRequired(t *testing.T) {
	child{stage: before, faults: "start-required"}.run(t, func(t *testing.T, m *mpi) {
		s := m.session()
		h := m.openPvar(s, "demo_retries", catalog.ClassCounter)
		_, err := s.Read(h)
		wantErr(t, "Read", err, ErrInvalid)
		wantErr(t, "Start", s.Start(h), nil)
		must(s.Read(h))(t)
	})
}
