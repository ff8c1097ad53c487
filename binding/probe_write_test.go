package binding

import (
	"errors"
	"testing"
	"time"

	"mpitx/catalog"
)

func TestProbeWrite(t *testing.T) {
	const faults = "ignore-write=demo_type_long;write-other=demo_type_short;crash-write=demo_type_float;abort-alloc=demo_type_double;" +
		"hang-write=demo_type_count;hang-once-write=demo_type_aint;spin-write=demo_type_offset;exit-read=demo_type_byte;die-write=demo_type_int8_t;" +
		"fail-write=demo_type_int16_t;fail-read=demo_type_int32_t;fail-alloc=demo_type_int64_t;fail-get-info=demo_type_uint8_t;" +
		"unknown-type=demo_type_uint16_t;huge-count=demo_type_uint32_t"
	anything := errors.New("any error")
	for _, c := range []struct {
		name, text string
		err        error
		fault      string
		back       string
	}{
		{"demo_type_int", "7", nil, "", "7"},
		{"demo_type_char", "new text", nil, "", "new text"},
		{"demo_type_char", "", nil, "", ""},
		{"demo_eager_thresholds", "1,2,3", nil, "", "1,2,3"},
		{"demo_type_long", "7", nil, "", "-9223372036854775808"}, // the library ignores it
		{"demo_type_short", "7", nil, "", "7"},
		{"demo_type_float", "7", nil, "crashes in write (SIGSEGV)", ""},
		{"demo_type_double", "7", nil, "crashes in handle_alloc (SIGABRT)", ""},
		{"demo_type_count", "7", nil, "timed out in write", ""},
		{"demo_type_aint", "7", nil, "", "7"},
		{"demo_type_offset", "7", nil, "timed out in write", ""},
		{"demo_type_byte", "7", nil, "ends the process in read", ""},
		{"demo_type_int8_t", "7", nil, "ends the process in write", ""},
		{"demo_type_int16_t", "7", internalError, "", ""},
		{"demo_type_int32_t", "7", internalError, "", ""},
		{"demo_type_int64_t", "7", internalError, "", ""},
		{"demo_type_uint8_t", "7", internalError, "", ""},
		{"demo_type_uint16_t", "7", anything, "", ""},
		{"demo_type_uint32_t", "7", ErrBadCount, "", ""},
		{"demo_eager_limit", "-7", ErrInvalid, "", ""},
		{"demo_checkpoint", "7", ErrCvarSetNotNow, "", ""},
		{"demo_uptime", "7", ErrCvarSetNever, "", ""},
		{"demo_version", "7", ErrCvarSetNever, "", ""},
		{"demo_win_limit", "7", ErrNotBindable, "", ""},
		{"demo_comm_priority", "7", ErrNeedsInit, "", ""},
	} {
		t.Run(c.name+"="+c.text, func(t *testing.T) {
			child{stage: before, faults: faults}.run(t, func(t *testing.T, m *mpi) {
				index := m.cvar(c.name)
				typ, count := catalog.TypeInt, 1
				if info, err := m.CvarInfo(index); err == nil && info.Datatype.Size() > 0 {
					typ = info.Datatype
				}
				switch c.name {
				case "demo_type_char":
					count = 32
				case "demo_version":
					count = 64
				case "demo_eager_thresholds":
					count = 3
				}
				got, err := m.ProbeWrite(index, count, value(t, typ, count, c.text), ProbeOptions{Limit: quick, Object: CommWorld})
				if err != nil {
					t.Fatal(err)
				}
				want(t, "fault", got.Fault, c.fault)
				if c.err == anything {
					if got.Err == nil {
						t.Error("no error")
					}
				} else {
					wantErr(t, "answer", got.Err, c.err)
				}
				want(t, "read back", got.ReadBack.String(), c.back)
				if c.err == nil && c.fault == "" && got.ReadBack.Type() != typ {
					t.Errorf("read back as %v", got.ReadBack.Type())
				}
				if h, err := m.AllocCvar(m.cvar("demo_uncategorised"), NoObject); err != nil || must(h.Read())(t).String() != "3" {
					t.Error("a trial write changed something here", err)
				}
				if c.name == "demo_type_int" {
					want(t, "value here", m.read(c.name).String(), "-1")
				}
			})
		})
	}
}

// A value with another type or number of elements than the variable's is not written.
func TestProbeWriteOfWrongType(t *testing.T) {
	child{stage: before, faults: "crash-write"}.run(t, func(t *testing.T, m *mpi) {
		for _, c := range []struct {
			name  string
			count int
			v     Value
		}{
			{"demo_type_int", 1, value(t, catalog.TypeUnsigned, 1, "1")},
			{"demo_type_int", 1, value(t, catalog.TypeDouble, 1, "1")},
			{"demo_type_int", 2, value(t, catalog.TypeInt, 2, "1,2")},
			{"demo_eager_thresholds", 1, value(t, catalog.TypeInt, 1, "1")},
			{"demo_param_files", 8, catalog.NewText("text")},
		} {
			got, err := m.ProbeWrite(m.cvar(c.name), c.count, c.v, ProbeOptions{})
			if err != nil || got.Fault != "" || got.Err != ErrInvalid {
				t.Errorf("%s: %+v, %v", c.name, got, err)
			}
		}
		for _, count := range []int{-5, 2, 1 << 40} {
			_, err := m.ProbeWrite(m.cvar("demo_type_int"), count, value(t, catalog.TypeInt, 1, "1"), ProbeOptions{})
			if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrBadCount) {
				t.Errorf("count %d: %v", count, err)
			}
		}
		_, err := m.ProbeWrite(m.cvar("demo_type_int"), 1, Value{}, ProbeOptions{})
		wantErr(t, "no value", err, ErrUnknownType)
	})
}

func TestProbeWriteToACommunicator(t *testing.T) {
	child{stage: after, ranks: 2}.run(t, func(t *testing.T, m *mpi) {
		got := must(m.ProbeWrite(m.cvar("demo_comm_eager_limit"), 2, value(t, catalog.TypeInt, 2, "5,6"), ProbeOptions{Object: CommWorld}))(t)
		if got.Err != nil || got.Fault != "" || got.ReadBack.String() != "5,6" {
			t.Errorf("%+v", got)
		}
	})
}

// A trial that exceeds the time limit did not succeed.
func TestProbeWriteWithoutTime(t *testing.T) {
	child{stage: before, faults: "slow-read"}.run(t, func(t *testing.T, m *mpi) {
		got, err := m.ProbeWrite(m.cvar("demo_type_int"), 1, value(t, catalog.TypeInt, 1, "1"), ProbeOptions{Total: 100 * time.Millisecond})
		if err == nil && got.Err == nil && got.Fault == "" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("hang", func(t *testing.T) {
		child{stage: before, faults: "hang-write"}.run(t, func(t *testing.T, m *mpi) {
			got, err := m.ProbeWrite(m.cvar("demo_type_int"), 1, value(t, catalog.TypeInt, 1, "1"), ProbeOptions{Limit: quick, Total: quick})
			if err == nil && got.Err == nil && got.Fault == "" {
				t.Errorf("%+v", got)
			}
		})
	})
}
