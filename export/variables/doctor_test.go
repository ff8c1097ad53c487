package variables

import (
	"testing"

	"mpitx/catalog"
	"mpitx/machine"
)

// One variable "crashes", several "crash".
func TestDoctorFaulty(t *testing.T) {
	const rest = "; mpitx does not; see mpitx list -o wide"
	for _, c := range []struct {
		impl  string
		names []string
		want  string
	}{
		{machine.MPICH, nil, ""},
		{machine.MPICH, []string{"x"}, "1 variable (x) crashes or hangs the library when a tool reads it" + rest},
		{machine.MPICH, []string{"x", "y"}, "2 variables (x, y) crash or hang the library when a tool reads them" + rest},
		{machine.MPICH, []string{"a", "b", "c", "d"}, "4 variables (a, b, c …) crash or hang the library when a tool reads them" + rest},
		{machine.OpenMPI, []string{"mtl_psm2_a"}, "1 variable (mtl_psm2_*) has a known fault of Open MPI when a tool reads it" + rest},
		{machine.OpenMPI, []string{"mtl_psm2_a", "mtl_psm2_b"}, "2 variables (mtl_psm2_*) have a known fault of Open MPI when a tool reads them" + rest},
	} {
		all := &catalog.Catalog{}
		for _, name := range c.names {
			all.Cvars = append(all.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: name, After: &catalog.Reading{Status: catalog.StatusFaulty}})
		}
		if got := faulty(machine.MPI{Impl: c.impl}, all); got != c.want {
			t.Errorf("%q: %s, want %s", c.names, got, c.want)
		}
	}
}
