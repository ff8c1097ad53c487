package explorer

import (
	"strings"
	"testing"

	"mpitx/catalog"
)

// The key * shows the variables that users commonly tune, by purpose, with what each is for, and everything again. The details say what the effect
// of a setting depends on.
func TestEssentials(t *testing.T) {
	o := Options{
		Essentials: func(*catalog.Catalog) map[string]Essential {
			return map[string]Essential{"btl_tcp_links": {Place: 2, Purpose: "Which transport", Use: "connections"}, "no_such_variable": {Place: 0, Purpose: "Which transport", Use: "x"},
				"mpi_param_check": {Place: 1, Purpose: "Checking and debugging", Use: "check the arguments"}}
		},
		Effect: func(_ *catalog.Catalog, v *catalog.Variable) []string {
			return []string{"NO EFFECT NOW: " + v.Name + " needs a switch; it is off; set the_switch=1 too",
				"its component is not in use with 4 ranks: MPI_Init unloaded it"}
		},
	}
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), o, 120, 40)
	press(m, "*")
	contains(t, m, "filter: essential=yes", "1 of 2", "PURPOSE", "Checking and debugging", "Which transport")
	if look := onScreen(t, m); strings.Index(look, "mpi_param_check") > strings.Index(look, "btl_tcp_links") { // by purpose, not by name
		t.Error(look)
	}
	press(m, "down")
	contains(t, m, "btl_tcp_links", "purpose: Which transport: connections",
		"NO EFFECT NOW: btl_tcp_links needs a switch; it is off; set the_switch=1 too", "its component is not in use with 4 ranks")
	for i, l := range m.detailView(60, 20) { // what does not take effect comes first, as a warning
		if strings.Contains(l, "NO EFFECT NOW") != (i == 1) && i != 2 {
			t.Errorf("line %d: %s", i, l)
		}
	}
	press(m, "*")
	lacks(t, m, "filter:")
	m = explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	press(m, "*")
	contains(t, m, "mpitx knows no essential variables of this library")
}
