package tuning_test

import (
	"testing"

	"mpitx/catalog"
	"mpitx/settings/tuning"
)

// Only what MPI_Init kept proves that Open MPI does not use a library.
func TestNotInUse(t *testing.T) {
	with := func(pml string, names ...string) *catalog.Catalog {
		c := &catalog.Catalog{Library: catalog.Library{Family: "openmpi", Text: "Open MPI v4.1.4"}, After: catalog.Stage{Read: true}}
		add := func(name, value string) {
			c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeChar,
				After: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText(value), Count: 1}})
		}
		add("pml", pml)
		for _, name := range names {
			add(name+"_priority", "1")
		}
		return c
	}
	const ob1 = " is not in use here: Open MPI uses pml ob1 with btl self, vader"
	for _, c := range []struct {
		c      *catalog.Catalog
		ucx    string
		fabric string
	}{
		{with("^ucx", "pml_base", "pml_ob1", "btl_self", "btl_vader", "mtl_ofi"), "UCX" + ob1, "libfabric" + ob1}, // mtl ofi is for pml cm
		{with("", "pml_ob1", "btl_self", "btl_vader", "osc_ucx"), "", "libfabric" + ob1},
		{with("", "pml_ob1", "btl_self", "btl_uct"), "", "libfabric is not in use here: Open MPI uses pml ob1 with btl self, uct"},
		{with("", "pml_ob1", "btl_self", "btl_ofi"), "", ""}, // and libfabric may use UCX
		{with("", "pml_ob1", "btl_self", "coll_ucc"), "", "libfabric is not in use here: Open MPI uses pml ob1 with btl self"},
		{with("", "pml_ucx", "btl_self"), "", "libfabric is not in use here: Open MPI uses pml ucx"},
		{with("cm", "pml_cm", "mtl_ofi"), "", ""},
		{with("", "pml_ob1", "pml_ucx", "btl_self"), "", "libfabric is not in use here: Open MPI uses pml ob1 or ucx with btl self"}, // 6.0 keeps all
		{with("ob1", "pml_ob1", "pml_ucx", "btl_self"), "UCX is not in use here: Open MPI uses pml ob1 with btl self", "libfabric is not in use here: Open MPI uses pml ob1 with btl self"},
		{with(""), "", ""},
	} {
		if ucx, fabric := tuning.NotInUse(c.c, "UCX"), tuning.NotInUse(c.c, "libfabric"); ucx != c.ucx || fabric != c.fabric {
			t.Errorf("%q, %q; want %q, %q", ucx, fabric, c.ucx, c.fabric)
		}
	}
	c := with("", "pml_ob1", "btl_self")
	if got := tuning.NotInUse(c, "OpenMP"); got != "" {
		t.Error(got)
	}
	c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: "pml_ucx_priority", Ranks: []catalog.RankReading{{Rank: 1}}}) // another rank uses it
	if got := tuning.NotInUse(c, "UCX"); got != "" {
		t.Error(got)
	}
	c = with("", "pml_ob1", "btl_self")
	c.After.Read = false
	if got := tuning.NotInUse(c, "UCX"); got != "" {
		t.Error(got)
	}
	c = with("", "pml_ob1", "btl_self")
	c.Library.Text = "MPICH Version: 4.0"
	if got := tuning.NotInUse(c, "UCX"); got != "" {
		t.Error(got)
	}
}
