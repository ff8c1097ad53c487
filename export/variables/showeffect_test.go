package variables

import (
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/settings/tuning"
)

// Of a variable that the user set, show answers all four parts with their evidence, also what is not known, and names what would help.
// Of other variables it says what is known.
func TestShowEffect(t *testing.T) {
	off := tuning.Condition{Text: "a must be true", Have: "it is false", Met: tuning.No, Source: "the library's description", Fix: []string{"a=true"}}
	for _, test := range []struct {
		name   string
		effect tuning.Effect
		want   string
	}{
		{"set, nothing known", tuning.Effect{Arrived: tuning.Yes, Accepted: tuning.CannotTell, Trial: "no write was tried"}, `
  arrived       yes: the library has this value
  accepted      not known: no write was tried
  is read       not known
  condition     none known
`},
		{"set, not reported", tuning.Effect{Arrived: tuning.CannotTell, Unreported: catalog.WhyUnreported, Accepted: tuning.CannotTell, Trial: "no write was tried"}, `
  arrived       not known: MPICH reports the default of texts, also if it uses another
  accepted      not known: no write was tried
  is read       not known
  condition     none known
`},
		{"set, writes unused", tuning.Effect{Arrived: tuning.Yes, Accepted: tuning.Yes, Trial: "writing back the current value succeeded", Written: catalog.WhyUnused}, `
  arrived       yes: the library has this value
  accepted      yes: writing back the current value succeeded
  if written    no effect: a write changes the text that MPICH reports, not the one that it uses
  is read       not known
  condition     none known
`},
		{"not set, writes unused", tuning.Effect{Written: catalog.WhyUnused}, `
  writable now  yes: writing back the current value succeeded
  if written    no effect: a write changes the text that MPICH reports, not the one that it uses
`},
		{"set, all known", tuning.Effect{Arrived: tuning.No, Have: "7", Accepted: tuning.No, Trial: "the library refuses every write",
			Read: tuning.AtInit, Why: "a rule", Conditions: []tuning.Condition{off}}, `
  arrived       no: the library has 7
  accepted      no: the library refuses every write
  is read       once, in MPI_Init (a rule)
  condition     not met: a must be true; it is false; set a=true too (the library's description)
`},
		{"set, unused", tuning.Effect{Arrived: tuning.CannotTell, Accepted: tuning.Yes, Trial: "writing back the current value succeeded", Unused: true}, `
  arrived       not known
  accepted      yes: writing back the current value succeeded
  is read       not known
  condition     not met: its component must be in use; MPI_Init unloaded it with 1 rank
`},
		{"not set", tuning.Effect{Read: tuning.AtCall, Why: "a rule", Conditions: []tuning.Condition{off}}, `
  writable now  yes: writing back the current value succeeded
  is read       at each call (a rule)
  condition     not met: a must be true; it is false; set a=true too (the library's description)
`},
	} {
		v := &catalog.Variable{Kind: catalog.Cvars, Name: "x", Type: catalog.TypeInt,
			After: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(catalog.TypeInt, []byte{1, 0, 0, 0}), Count: 1, Writable: catalog.WritableYes}}
		var b strings.Builder
		err := Show(&b, &catalog.Catalog{}, []catalog.Entry{v}, ShowOptions{Effect: func(*catalog.Variable) tuning.Effect { return test.effect }})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.TrimPrefix(test.want, "\n")) {
			if !strings.Contains(b.String(), line) {
				t.Errorf("%s: no line %sin:\n%s", test.name, line, b.String())
			}
		}
		for _, label := range []string{"arrived", "accepted", "is read", "condition", "writable"} {
			if strings.Contains(b.String(), "  "+label) != strings.Contains(test.want, "  "+label) {
				t.Errorf("%s: %s in:\n%s", test.name, label, b.String())
			}
		}
	}
}
