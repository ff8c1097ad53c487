package binding

import (
	"strings"
	"testing"

	"mpitx/catalog"
)

// wholeNames compares the names from get_info with the indices that the fixture finds by its own names.
func (m *mpi) wholeNames(t *testing.T) {
	t.Helper()
	for k := range must(m.NumCvars())(t) {
		info, err := m.CvarInfo(k)
		if err != nil {
			t.Errorf("control variable %d: %v", k, err)
			continue
		}
		index, err := m.CvarIndex(info.Name)
		if err != nil || index != k {
			t.Errorf("control variable %d is called %q: %v", k, info.Name, err)
		}
	}
	for k := range must(m.NumPvars())(t) {
		info := must(m.PvarInfo(k))(t)
		if index, err := m.PvarIndex(info.Name, info.Class); err != nil || index != k {
			t.Errorf("performance variable %d is called %q: %v", k, info.Name, err)
		}
	}
	for k := range must(m.NumCategories())(t) {
		info := must(m.CategoryInfo(k))(t)
		if index, err := m.CategoryIndex(info.Name); err != nil || index != k {
			t.Errorf("category %d is called %q: %v", k, info.Name, err)
		}
	}
	want(t, "last of the long ones", must(m.CvarInfo(m.cvar("demo_undocumented")))(t).Description, "")
}

func (m *mpi) pvarNames() (names []string) {
	m.t.Helper()
	for k := range must(m.NumPvars())(m.t) {
		names = append(names, must(m.PvarInfo(k))(m.t).Name)
	}
	return names
}

func TestStringsAreWhole(t *testing.T) {
	for _, faults := range []string{"", "short-length", "desc-zero", "unterminated", "unterminated;short-length", "negative-length=demo_[a-km-z]*"} {
		t.Run(faults, func(t *testing.T) {
			child{stage: before, faults: faults}.run(t, func(t *testing.T, m *mpi) {
				for range 2 {
					m.wholeNames(t)
				}
				if faults != "desc-zero" && !strings.HasPrefix(faults, "negative") {
					want(t, "long description", len(must(m.CvarInfo(m.cvar("demo_long_description")))(t).Description), 5000)
				}
			})
		})
	}
}

func TestGrowingLengths(t *testing.T) {
	child{stage: before, faults: "growing-length=demo_long_description"}.run(t, func(t *testing.T, m *mpi) {
		index := m.cvar("demo_long_description")
		_, err := m.CvarInfo(index)
		wantErr(t, "CvarInfo", err, ErrBadString)
		_, err = m.AllocCvar(index, NoObject)
		if err != nil {
			// From the twentieth call on, the library claims no more.
			wantErr(t, "AllocCvar", err, ErrBadString)
		}
		must(m.CvarInfo(m.cvar("demo_lines")))(t)
	})
	t.Run("short", func(t *testing.T) {
		child{stage: before, faults: "growing-length=demo_[a-km-z]*"}.run(t, func(t *testing.T, m *mpi) { m.wholeNames(t) })
	})
}

func TestUnterminatedValues(t *testing.T) {
	child{stage: before, faults: "unterminated-value"}.run(t, func(t *testing.T, m *mpi) {
		h := m.open("demo_type_char")
		v := must(h.Read())(t)
		want(t, "value", v.Text(), "some text"+strings.Repeat("x", 32-len("some text")))
		// It cannot be written back, as there is no room for the terminator.
		wantErr(t, "Write", h.Write(v), ErrInvalid)
		s := m.session()
		p := m.openPvar(s, "demo_last_error", catalog.ClassGeneric)
		want(t, "length", len(must(s.Read(p))(t).Text()), 64)
	})
}

func TestOverrunIsSurvived(t *testing.T) {
	child{stage: before, faults: "overrun"}.run(t, func(t *testing.T, m *mpi) {
		want(t, "value", m.read("demo_type_int").String(), "-1")
		want(t, "value", m.read("demo_cost_model").String(), "1.5e-06,2e-07,0.5,12.5")
	})
}
