//go:build cgo && linux

package rules

import (
	"testing"
	"time"

	"mpitx/binding"
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

// A condition says the same in Go, in C and in words, and joined conditions say what does not hold.
func TestConditions(t *testing.T) {
	n, limit, failed := named("n1", int32(3)), named("limit1", int32(5)), code{rc: binding.ErrInvalid, c: "rc1", routine: "MPI_T_finalize"}
	for _, test := range []struct{ got, want cond }{
		{n.ge(1), cond{true, "n1 >= 1", "at least 1", "n1 = 3"}},
		{n.ge(limit), cond{false, "n1 >= limit1", "at least 5", "n1 = 3"}},
		{n.below(limit), cond{true, "n1 < limit1", "below 5", "n1 = 3"}},
		{n.is(4), cond{false, "n1 == 4", "n1 = 4", "n1 = 3"}},
		{failed.is(0), cond{false, "rc1 == MPI_SUCCESS", "MPI_T_finalize returns MPI_SUCCESS", "MPI_T_ERR_INVALID"}},
		{n.is(4).as("%d", 4).but("other"), cond{false, "n1 == 4", "4", "other"}},
		{every(n.ge(1), either(n.is(4), n.is(5)), failed.is(0)),
			cond{false, "n1 >= 1 && (n1 == 4 || n1 == 5) && rc1 == MPI_SUCCESS", "n1 = 5, MPI_T_finalize returns MPI_SUCCESS", "n1 = 3, MPI_T_ERR_INVALID"}},
		{either(failed.is(0), every(n.ge(1), n.below(5))), cond{true, "rc1 == MPI_SUCCESS || (n1 >= 1 && n1 < 5)", "", ""}},
	} {
		if test.got != test.want {
			t.Errorf("got  %+v\nwant %+v", test.got, test.want)
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
