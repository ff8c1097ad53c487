package binding

import (
	"slices"
	"testing"

	"mpitx/catalog"
)

func equal[T comparable](a, b []T) bool { return slices.Equal(a, b) }

func (m *mpi) enumOf(name string) EnumHandle {
	m.t.Helper()
	return must(m.CvarInfo(m.cvar(name)))(m.t).Enum
}

func TestEnum(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		for variable, wanted := range map[string]catalog.Enum{
			"demo_debug_level": {Name: "demo_debug_level", Items: []catalog.Item{{Value: 40, Name: "info"}, {Value: -1, Name: "none"},
				{Value: 100, Name: "max"}, {Value: 0, Name: "error"}, {Value: 20, Name: "warn"}, {Value: 60, Name: "trace"}, {Value: -100, Name: "inherit"}}},
			"demo_transport_flags": {Name: "demo_transport_flags", Flags: true, Items: []catalog.Item{{Value: 1, Name: "send"},
				{Value: 2, Name: "put"}, {Value: 4, Name: "get"}, {Value: 6, Name: "rdma"}, {Value: 16, Name: "inplace"},
				{Value: 64, Name: "atomics"}, {Value: 0x40000000, Name: "gpu"}}},
			"demo_bcast_algorithm": {Name: "demo_algorithm", Items: []catalog.Item{{Value: 0, Name: "auto"}, {Value: 1, Name: "linear"},
				{Value: 2, Name: "binomial"}, {Value: 3, Name: "ring"}}},
			"demo_memory_pool": {Name: "demo_pool", Items: []catalog.Item{{Value: 0, Name: "off"}, {Value: 8, Name: "small"}, {Value: 64, Name: "large"}}},
			"demo_use_rdma":    {Name: "auto_boolean", Items: []catalog.Item{{Value: 0, Name: "false"}, {Value: 1, Name: "true"}, {Value: -1, Name: "auto"}}},
		} {
			h := m.enumOf(variable)
			if h.IsNull() {
				t.Errorf("%s has no enumeration", variable)
				continue
			}
			got := must(m.Enum(h))(t)
			if got.Name != wanted.Name || got.Flags != wanted.Flags || !equal(got.Items, wanted.Items) {
				t.Errorf("%s:\ngot  %+v\nwant %+v", variable, got, wanted)
			}
			num, name, err := m.EnumInfo(h)
			if err != nil || num != len(wanted.Items) || name != wanted.Name {
				t.Error(num, name, err)
			}
			for k, item := range wanted.Items {
				if got := must(m.EnumItem(h, k))(t); got != item {
					t.Errorf("%s: item %d is %+v, want %+v", variable, k, got, item)
				}
			}
			for _, k := range []int{-1, num, 40, 1 << 40} {
				_, err := m.EnumItem(h, k)
				wantErr(t, "item out of range", err, ErrInvalidItem)
			}
		}
		pvar := must(m.PvarInfo(m.pvar("demo_link_state", catalog.ClassState)))(t)
		if got := must(m.EnumItem(pvar.Enum, 0))(t); got != (catalog.Item{Value: -2, Name: "down"}) {
			t.Error(got)
		}
	})
}

func TestEnumNull(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		h := m.enumOf("demo_lines")
		if !h.IsNull() || h != (EnumHandle{}) {
			t.Fatal("demo_lines has an enumeration")
		}
		_, _, err := m.EnumInfo(h)
		wantErr(t, "EnumInfo", err, ErrInvalidHandle)
		_, err = m.EnumItem(h, 0)
		wantErr(t, "EnumItem", err, ErrInvalidHandle)
		_, err = m.Enum(h)
		wantErr(t, "Enum", err, ErrInvalidHandle)
	})
}

func TestEnumFaults(t *testing.T) {
	child{stage: before, faults: "empty-enum=demo_algorithm;fail-enum=boolean;unterminated=demo_debug_level;growing-length=demo_pool"}.run(t, func(t *testing.T, m *mpi) {
		h := m.enumOf("demo_bcast_algorithm")
		e := must(m.Enum(h))(t)
		if e.Name != "demo_algorithm" || len(e.Items) != 0 || e.Flags {
			t.Error(e)
		}
		_, err := m.EnumItem(h, 0)
		wantErr(t, "item of none", err, ErrInvalidItem)
		_, err = m.Enum(m.enumOf("demo_show_settings"))
		wantErr(t, "Enum", err, internalError)
		must(m.CvarInfo(m.cvar("demo_long_description")))(t) // leaves its text in the buffers
		var names []string
		for _, item := range must(m.Enum(m.enumOf("demo_debug_level")))(t).Items {
			names = append(names, item.Name)
		}
		if !equal(names, []string{"info", "none", "max", "error", "warn", "trace", "inherit"}) {
			t.Errorf("unterminated names: %q", names)
		}
		want(t, "items with growing lengths", len(must(m.Enum(m.enumOf("demo_memory_pool")))(t).Items), 3)
	})
}

func TestLooksLikeFlags(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []int
		flags  bool
	}{
		{"none", nil, false},
		{"boolean", []int{0, 1}, false},
		{"auto boolean", []int{0, 1, -1}, false},
		{"counted", []int{0, 1, 2, 3, 4}, false},
		{"counted from one", []int{1, 2, 3}, false},
		{"two bits", []int{1, 2}, false},
		{"levels", []int{-1, 0, 10, 20, 40, 60, 80, 100}, false},
		{"sizes", []int{0, 8, 64}, false},
		{"bits", []int{1, 2, 4}, true},
		{"bits and zero", []int{0, 1, 2, 4, 8}, true},
		{"with a mask", []int{1, 2, 4, 6, 16}, true},
		{"a mask of bits without items", []int{1, 2, 4, 24}, false},
		{"sign bit", []int{1, 2, 4, -1 << 31}, true},
		{"unsorted", []int{16, 1, 4}, true},
		{"repeated", []int{1, 2, 4, 4}, true},
	} {
		var items []catalog.Item
		for _, v := range c.values {
			items = append(items, catalog.Item{Value: v})
		}
		want(t, c.name, looksLikeFlags(items), c.flags)
	}
}
