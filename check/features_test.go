package check

import (
	"strings"
	"testing"
)

// tested is a report in which all rules that features rest on have passed, but for some.
func tested(but map[string]Status) *Report {
	r := report("MPI 1")
	for _, n := range needs {
		for _, name := range strings.Fields(n.rules) {
			one := &Result{Rule: Rule{Name: name}, Status: Passed}
			if s, ok := but[name]; ok {
				one.Status = s
			}
			r.Results = append(r.Results, one)
		}
	}
	return r
}

// A feature works if its rules pass, or if mpitx works around those that are violated. Else it works in part, or the library lacks it.
func TestFeatures(t *testing.T) {
	const tries = "mpitx tries each variable in a child process and marks those that fail"
	for _, test := range []struct {
		rule    string
		status  Status
		feature string
		state   string
		why     string
	}{
		{"cvar-count", Passed, "read", "works", ""},
		{"cvar-count", Unchecked, "read", "works", ""},
		{"cvar-count", NotApplicable, "read", "works", ""},
		{"cvar-count", Violated, "read", "works", "mpitx works around violations of cvar-count: it tries each variable in a child process and marks those that fail"},
		{"cvar-count", Crashed, "read", "partly", "cvar-count crashed; " + tries},
		{"cvar-count", Hung, "read", "partly", "cvar-count hung; " + tries},
		{"cvar-count", Failed, "read", "partly", "cvar-count failed; " + tries},
		{"cvar-count", Violated, "write", "works", ""},
		{"peruse-init", Violated, "queues from PERUSE", "partly", "peruse-init"}, // mpitx has no way around it
		{"qmpi-next", Violated, "run --via qmpi", "partly", "qmpi-next"},
		{"peruse-events", NotApplicable, "queues from PERUSE", "no", "the library does not have PERUSE; mpitx report RUN queues derives them from messages"},
		{"peruse-init", NotApplicable, "queues from PERUSE", "works", ""}, // peruse-events says whether there is PERUSE
		{"cvar-count", Crashed, "profile, where, trace, run", "works", "mpitx intercepts the application's calls, with any MPI"},
	} {
		features := FeaturesOf(tested(map[string]Status{test.rule: test.status}))
		if len(features) != len(needs) {
			t.Fatalf("%d features", len(features))
		}
		for _, f := range features {
			if f.Name == test.feature && (f.State != test.state || f.Why != test.why) {
				t.Errorf("%s %s: %s %s %q, want %s %q", test.rule, test.status, f.Name, f.State, f.Why, test.state, test.why)
			}
		}
	}
	if f := FeaturesOf(tested(map[string]Status{"event-handle": NotApplicable, "event-data": Crashed})); f[7].State != "no" || strings.Contains(f[7].Why, "crashed") {
		t.Errorf("%+v", f[7]) // a library without events cannot break their rules
	}
	nothing := map[string]Status{}
	for _, rule := range strings.Fields(needs[2].rules) {
		nothing[rule] = NotApplicable
	}
	nothing["cvar-opens"], nothing["cvar-no-overrun"] = Violated, NotApplicable
	if f := FeaturesOf(tested(nothing)); f[1].State != "no" || f[1].Why != "the library has no control variable that can be read" || f[2].State != "no" || f[2].Why != "the library has nothing that its rules are about" {
		t.Errorf("%+v", f[1:3])
	}
	few := tested(nil)
	few.Results = few.Results[1:]
	if f := FeaturesOf(few); f != nil {
		t.Errorf("a rule was not tested: %v", f)
	}
}
