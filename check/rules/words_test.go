//go:build cgo && linux

package rules

import (
	"testing"
	"time"
)

// A text that was cut says so.
func TestExcerpt(t *testing.T) {
	for _, test := range []struct{ text, want string }{{"", `""`}, {"abc\x00", `"abc\x00"`}, {"abcde", `"abcd"…`}} {
		if got := excerpt(test.text, 4); got != test.want {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
}

// What a call does not set has no value, in reports and in programs, and thread levels have names.
func TestShown(t *testing.T) {
	set, unset := named("n1", int32(2)), named("n1", int32(untouched))
	for _, test := range []struct {
		arg         arg
		want, print string
	}{
		{set.out(), "n1 = 2", "SHOW(n1);"},
		{unset.out(), "n1 was not set", "SHOW(n1);"},
		{level(set), "n1 = MPI_THREAD_FUNNELED", "SHOW_LEVEL(n1);"},
		{level(unset), "n1 was not set", "SHOW_LEVEL(n1);"},
		{(&buffer{b: []byte("ab\x00#"), c: "name1"}).out(), `name1 = "ab"`, "SHOW_TEXT(name1);"},
		{(&buffer{b: []byte("####"), c: "name1"}).out(), "name1 was not set", "SHOW_TEXT(name1);"},
	} {
		if got := test.arg.show(); got != test.want || test.arg.print != test.print {
			t.Errorf("%q %q, want %q %q", got, test.arg.print, test.want, test.print)
		}
	}
}

// A crash or hang of a trial in a child is told as one of the process itself.
func TestTrialFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"crashes in read (SIGSEGV)": "the process crashed: segmentation fault",
		"timed out in handle_alloc": "no return within 5s",
		"ends the process in read":  "the process ended",
	} {
		m := &mpi{rule: &rule{}, limit: time.Minute}
		m.violationOf(fault)
		if v := readJournal(string(m.pending)).violations; len(v) != 1 || v[0].Got != want {
			t.Errorf("%s: %+v, want %s", fault, v, want)
		}
	}
}
