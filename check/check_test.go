package check

import "testing"

// What a rule allows a library to break leaves its breaches unchecked, but not a crash before its first item.
func TestAllowed(t *testing.T) {
	for _, test := range []struct {
		allowed, item string
		status, want  Status
	}{
		{"", "MPI_T_cvar_read", Violated, Violated},
		{"", Initialization, Crashed, Crashed},
		{"the standard does not require it", "MPI_T_cvar_read", Crashed, Unchecked},
		{"the standard does not require it", Initialization, Crashed, Crashed},
		{"the standard does not require it", Initialization, Hung, Hung},
	} {
		r := &Result{Rule: Rule{Allowed: test.allowed}}
		r.Add(Violation{Status: test.status, Item: test.item})
		if r.Status != test.want || r.Bad != 1 {
			t.Errorf("%+v: %s, %d", test, r.Status, r.Bad)
		}
	}
}
