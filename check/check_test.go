package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

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

// broken is a result with violations of items.
func broken(s Status, items ...string) *Result {
	r := &Result{Status: Passed}
	for _, item := range items {
		r.Add(Violation{Status: s, Item: item})
	}
	return r
}

func report(library string, results ...*Result) *Report {
	return &Report{Schema: Schema, Version: Version, Library: library, Results: results}
}

// A baseline leaves out the items that it has, and those only.
func TestSubtract(t *testing.T) {
	bad := func(rule string, items ...string) *Result {
		r := broken(Violated, items...)
		r.Name = rule
		return r
	}
	failed := &Result{Rule: Rule{Name: "untried"}, Status: Failed}
	base := report("MPI 1", bad("known", "a", "b"), bad("partly", "a"), bad("mended", "a"), failed)
	now := report("MPI 2", bad("known", "b", "a"), bad("partly", "a", "c"), bad("mended"), bad("untried", "x"), bad("new", "x"))
	now.Subtract(base)
	got := ""
	for _, r := range now.Results {
		got += fmt.Sprintf("%s %s %d %v %d; ", r.Name, r.Status, r.Bad, r.BadItems, len(r.Violations))
	}
	if want := "known known 0 [] 0; partly violated 1 [c] 1; mended passed 0 [] 0; untried violated 1 [x] 1; new violated 1 [x] 1; "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !slices.Equal(now.Gone, []string{"mended a"}) {
		t.Errorf("gone: %q", now.Gone)
	}
	if !slices.Equal(now.Known, []string{"known b", "known a", "partly a"}) || !slices.Equal(now.Untested, []string{"untried", "new"}) || now.Baseline != "MPI 1" {
		t.Errorf("known %q, untested %q, baseline %q", now.Known, now.Untested, now.Baseline)
	}
}

// What is left after a baseline was subtracted has its own status, and the calls that were kept for it. A report that was made with a
// baseline is one, too.
func TestSubtractTwice(t *testing.T) {
	run := func(items ...string) *Result {
		r := &Result{Rule: Rule{Name: "rule"}, Status: Passed, Keep: func(item string) bool { return item == "new" }}
		for _, item := range items {
			r.Add(Violation{Status: map[bool]Status{true: Violated, false: Crashed}[item == "new"], Item: item})
		}
		return r
	}
	first, second := report("MPI", run("a", "b", "c", "d")), report("MPI", run("a", "b", "c", "d", "new"))
	second.Subtract(first)
	if r := second.Results[0]; r.Status != Violated || !slices.Equal(r.BadItems, []string{"new"}) || len(r.Violations) != 1 {
		t.Errorf("%+v", r)
	}
	third := report("MPI", run("a", "b", "new"))
	third.Subtract(second)
	if r := third.Results[0]; r.Status != Known || !slices.Equal(third.Gone, []string{"rule c", "rule d"}) {
		t.Errorf("%+v, gone %q", r, third.Gone)
	}
}

// A file that is not a report of this version is refused with the reason.
func TestReadBaseline(t *testing.T) {
	good, _ := json.Marshal(report("MPI 1", &Result{Rule: Rule{Name: "a"}, Status: Passed}))
	text := string(good)
	for _, test := range []struct{ text, want string }{
		{text, ""},
		{strings.Replace(text, `"version":1,`, "", 1), ""}, // by the first mpitx
		{strings.Replace(text, `"version":1`, `"version":2`, 1), "version 2"},
		{text[:len(text)/2], fmt.Sprintf("cut off at byte %d of %d", len(text)/2, len(text)/2)},
		{"", "cut off"},
		{strings.Replace(text, `"items":0`, `"items":"many"`, 1), "it is damaged"},
		{strings.Replace(text, `"rule":"a"`, `"rule":""`, 1), "no rule"},
		{`{"schema":"mpitx.check","version":1,"library":"MPI 1","results":[null]}`, "no rule"},
		{`{"schema":"mpitx.check","version":1,"library":"MPI 1"}`, "no results"},
		{`{"schema":"mpitx.snapshot","version":1}`, "not a report"},
		{`[1]`, "not a report"},
	} {
		r, err := ReadBaseline([]byte(test.text))
		if test.want == "" && (err != nil || r.Result("a") == nil) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%.60s: %v, want %q", test.text, err, test.want)
		}
	}
}

// A crash that happens twice is shown rather than one that happened once.
func TestRepeat(t *testing.T) {
	for _, test := range []struct {
		first, again []string
		want         string // the item that is shown
		ok           bool
	}{
		{[]string{"a", "b"}, []string{"a", "b"}, "a", true},
		{[]string{"once", "a"}, []string{"a"}, "a", true},
		{[]string{"x", "y", "z", "a"}, []string{"a"}, "a", true}, // the first report has no program for it
		{[]string{"a"}, nil, "a", false},
	} {
		r := broken(Crashed, test.first...)
		if ok := r.Repeat(broken(Crashed, test.again...)); ok != test.ok || r.Violations[0].Item != test.want {
			t.Errorf("%q, %q: %t, %s", test.first, test.again, ok, r.Violations[0].Item)
		}
	}
}

func TestSameProduct(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"Open MPI v4.1.4, package: Debian OpenMPI", "Open MPI v5.0.7", true},
		{"MPICH Version: 4.0.2", "MPICH Version: 5.0.2", true},
		{"MPICH Version: 4.0.2", "Open MPI v4.1.4", false},
	} {
		if got := SameProduct(test.a, test.b); got != test.want {
			t.Errorf("%s, %s: %v", test.a, test.b, got)
		}
	}
}

// Crashes that the baseline does not have count only if they happen again.
func TestSteady(t *testing.T) {
	now := broken(Crashed, "a", "b", "c")
	now.Steady(map[string]bool{"a": true}, broken(Crashed, "a", "c"))
	if got := strings.Join(now.BadItems, " "); got != "a c" || now.Status != Crashed || now.Bad != 2 || len(now.Violations) != 2 || now.Items != 3 {
		t.Errorf("%q, %+v", got, now)
	}
}
