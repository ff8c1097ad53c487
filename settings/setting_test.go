package settings

import (
	"testing"

	"mpitx/catalog"
	"mpitx/machine"
)

// What MPICH 4.0.2 takes from its environment (measured): numbers, also after blanks, and words for truth values, which are 0 or 1.
func TestAcceptsOfMPICH(t *testing.T) {
	integer := func(now int64) *catalog.Variable {
		value, err := catalog.ParseValue(&catalog.Variable{Kind: catalog.Cvars, Type: catalog.TypeInt}, nil, 1, map[int64]string{0: "0", 1: "1", 8: "8"}[now])
		if err != nil {
			t.Fatal(err)
		}
		return &catalog.Variable{Kind: catalog.Cvars, Name: "MPIR_CVAR_X", Type: catalog.TypeInt, After: &catalog.Reading{Status: catalog.StatusOK, Value: value, Count: 1}}
	}
	for text, want := range map[string][2]bool{"4": {true, true}, " 4": {true, true}, "+4": {true, true}, "4 ": {false, false}, "0x10": {false, false}, "8kb": {false, false},
		"yes": {false, true}, "OFF": {false, true}, "Yes": {false, false}, "y": {false, false}} {
		for k, now := range []int64{8, 1} {
			if err := Accepts(machine.MPICH, integer(now), nil, 1, text); (err == nil) != want[k] {
				t.Errorf("%q, of a variable that is %d: %v", text, now, err)
			}
		}
	}
}
