package settings

import (
	"strings"
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

// Truth values and numbers of MPICH have the same type in MPI_T, but not the same words (measured with 4.0.2, all of them by TestMPICHTypes).
func TestTypesOfMPICH(t *testing.T) {
	for _, c := range []struct{ cvar, takes, refuses string }{
		{"MPIR_CVAR_ENABLE_GPU", "0,1,2, 1,-1,+1,,007", "no,yes,NO,true,1 ,1k,0x1,n"},
		{"MPIR_CVAR_BCAST_MIN_PROCS", "0,8, 8", "no,8kb"},
		{"MPIR_CVAR_ASYNC_PROGRESS", "0,1,yes,NO,on,OFF,true,FALSE", "2,-1, 1,+1,,No,n,y,enabled,01"},
	} {
		takes, want := mpichSyntax(c.cvar)
		if want == "" {
			t.Fatalf("%s has no type", c.cvar)
		}
		for expected, texts := range map[bool]string{true: c.takes, false: c.refuses} {
			for text := range strings.SplitSeq(texts, ",") {
				if takes(text) != expected {
					t.Errorf("%s=%q: %v", c.cvar, text, !expected)
				}
			}
		}
	}
	if _, want := mpichSyntax("MPIR_CVAR_DEBUG_SUMMARY"); want != "" { // a truth value up to 4.2, a number since
		t.Error("a type that depends on the release")
	}
	found := []Influence{{Name: "MPIR_CVAR_ENABLE_GPU", Cvar: "MPIR_CVAR_ENABLE_GPU", Unknown: true, Origin: catalog.Origin{Value: "no"}},
		{Name: "MPIR_CVAR_ASYNC_PROGRESS", Cvar: "MPIR_CVAR_ASYNC_PROGRESS", Unknown: true, Origin: catalog.Origin{Value: "no"}}}
	if Refused(machine.MPICH, found, nil); found[0].Dropped != `"no" is not a value of type int: a whole number without a unit` || found[1].Dropped != "" {
		t.Errorf("without variables: %q, %q", found[0].Dropped, found[1].Dropped)
	}
}
