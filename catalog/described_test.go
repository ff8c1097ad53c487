package catalog

import (
	"strings"
	"testing"
)

// An enumeration that MPICH only describes has names in what people read, with the number that MPI_T takes.
func TestValueText(t *testing.T) {
	v := Variable{Kind: Cvars, Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Type: TypeInt, After: &Reading{Status: StatusOK, Count: 1},
		Description: "Variable to select bcast algorithmauto - Internal algorithm selectionbinomial - Force Binomial Treenb - Force nonblocking algorithm"}
	for family, want := range map[string]string{"mpich": "binomial (1)", "openmpi": "1"} {
		c := &Catalog{Library: Library{Family: family}}
		item, _, _ := strings.Cut(want, " ")
		if more := c.WithItems(&v); family == "openmpi" && len(more.Items) > 0 || family == "mpich" && more.Items[1].Name != item {
			t.Errorf("%s: items %v", family, more.Items)
		}
		if got := c.ItemOf(&v, NewValue(TypeInt, []byte{1, 0, 0, 0})); got != strings.TrimSuffix(item, "1") {
			t.Errorf("%s: item %q", family, got)
		}
		if got := c.ValueText(&v, NewValue(TypeInt, []byte{1, 0, 0, 0})); got != want {
			t.Errorf("%s: %q, not %q", family, got, want)
		}
	}
}
