package tuning

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The explorer and verify say all four parts of an answer about a setting, also what is not known, and what would help.
func TestLines(t *testing.T) {
	switchOff := Condition{Text: "a must be true", Have: "it is false", Met: No, Source: "x", Fix: []string{"a=true"}}
	for _, test := range []struct {
		name   string
		effect Effect
		want   []string
	}{
		{"nothing is known", Effect{}, nil},
		{"not set", Effect{Read: AtCall, Conditions: []Condition{switchOff}},
			[]string{"is read at each call", "NO EFFECT NOW: a must be true; it is false; set a=true too"}},
		{"several fixes, or none", Effect{Conditions: []Condition{
			{Text: "a or b must be 1", Have: "they are 0 and 0", Met: No, Fix: []string{"a=1", "b=1"}},
			{Text: "c must be other than 0", Have: "it is 0", Met: No},
			{Text: "d must be 1", Have: "it is 1", Met: Yes, Fix: []string{"d=1"}}}},
			[]string{"NO EFFECT NOW: a or b must be 1; they are 0 and 0; set a=1 or b=1 too", "NO EFFECT NOW: c must be other than 0; it is 0",
				"condition met: d must be 1; it is 1"}},
		{"set, and nothing is known", Effect{Arrived: Yes, Accepted: CannotTell, Trial: "no write was tried"},
			[]string{"accepted after MPI_Init: not known: no write was tried", "is read: not known", "condition: none known"}},
		{"of a component that is not in use", Effect{Arrived: No, Asked: "1", Have: "2", Accepted: No, Trial: "never", Read: AtInit, Unused: true},
			[]string{"set to 1, but the library has 2", "accepted after MPI_Init: no: never", "is read once, in MPI_Init",
				"its component is not in use with 2 ranks: MPI_Init unloaded it"}},
	} {
		if diff := cmp.Diff(test.want, test.effect.Lines(2)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
