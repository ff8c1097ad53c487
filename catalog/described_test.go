package catalog

import "testing"

// An enumeration that MPICH only describes has names in what people read, with the number that MPI_T takes.
func TestValueText(t *testing.T) {
	v := Variable{Kind: Cvars, Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Type: TypeInt, After: &Reading{Status: StatusOK, Count: 1},
		Description: "Variable to select bcast algorithmauto - Internal algorithm selectionbinomial - Force Binomial Treenb - Force nonblocking algorithm"}
	for family, want := range map[string]string{"mpich": "binomial (1)", "openmpi": "1"} {
		c := &Catalog{Library: Library{Family: family}}
		if got := c.ValueText(&v, NewValue(TypeInt, []byte{1, 0, 0, 0})); got != want {
			t.Errorf("%s: %q, not %q", family, got, want)
		}
	}
}
