//go:build cgo && linux

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
)

// withPager is an environment with another pager.
func withPager(environ []string, settings ...string) []string {
	kept := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "MPITX_PAGER=") })
	return append(kept, settings...)
}

// Long tables on a terminal go through the user's pager, together with messages.
func TestPager(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	const mark, marks = "| ", "sed 's/^/| /'"
	paged := func(environ []string, args ...string) (bool, string, int) {
		out, p := onTerminal(t, environ, 80, args...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		n := 0
		for _, line := range lines {
			if strings.HasPrefix(line, mark) {
				n++
			}
		}
		if n != 0 && n != len(lines) {
			t.Errorf("%q: a part of the answer went through the pager:\n%s", args, out)
		}
		return n > 0, out, p.code
	}
	with := withPager(environ, "MPITX_PAGER="+marks, "PAGER=false")
	for _, line := range []string{"list demo_e*", "list --tree", "list -n 2 demo_e*", "show demo_rank", "read demo_rank", "doctor --mpi demo"} {
		if is, out, code := paged(with, append([]string{"mpitx"}, strings.Fields(line)...)...); !is || code != 0 {
			t.Errorf("%s: code %d, no pager:\n%s", line, code, out)
		}
	}
	if is, out, _ := paged(withPager(environ, "PAGER="+marks), "mpitx", "list", "demo_e*"); !is {
		t.Errorf("$PAGER is not used:\n%s", out)
	}
	for _, without := range [][]string{{"mpitx", "version"}, {"mpitx", "list", "demo_e*", "--no-pager"}, {"sh", "-c", "mpitx list 'demo_e*' | cat"}, {"sh", "-c", "TERM=dumb mpitx list 'demo_e*'"},
		{"sh", "-c", "MPITX_PAGER= mpitx list 'demo_e*'"}, {"sh", "-c", "MPITX_PAGER=/no/such/pager mpitx list 'demo_e*'"}} {
		if is, out, code := paged(with, without...); is || code != 0 {
			t.Errorf("%q: code %d, through a pager:\n%s", without, code, out)
		}
	}
	if ok, _ := have("mpich"); ok { // less would compete with the launcher for the terminal
		if is, out, code := paged(withPager(with, "MPITX_PAGER="+marks, "MPITX_MPI=mpich"), "mpirun.mpich", "-n", "2", "mpitx", "list", "--search", "bcast"); is || code != 0 {
			t.Errorf("under a launcher: code %d, through a pager:\n%s", code, out)
		}
	}
	is, out, code := paged(with, "mpitx", "list", "demo_rank", "nosuch")
	if _, after, found := strings.Cut(out, "demo_rank"); !is || code != cli.ExitPartial || !found || !strings.Contains(after, mark+"mpitx: nosuch: no variable") {
		t.Errorf("code %d, the message is not after the table:\n%s", code, out)
	}
}

// A pager that the user leaves early is not an error, and messages are still shown. ^C belongs to the pager.
func TestPagerEnds(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if out, p := onTerminal(t, withPager(environ, "MPITX_PAGER=head -n 1"), 80, "mpitx", "list"); p.code != 0 || strings.Count(out, "\n") != 1 || strings.Contains(out, "mpitx:") {
		t.Errorf("code %d:\n%s", p.code, out)
	}
	if out, p := onTerminal(t, withPager(environ, "MPITX_PAGER=true"), 80, "mpitx", "list", "nosuch"); p.code != cli.ExitFailed || !strings.Contains(out, "mpitx: nosuch") {
		t.Errorf("code %d:\n%s", p.code, out)
	}
	file := filepath.Join(t.TempDir(), "s.json") // a live library's front catches ^C anyway
	if out, p := onTerminal(t, environ, 80, "mpitx", "snapshot", "--out", file); p.code != 0 {
		t.Fatal(out)
	}
	slow := withPager(environ, "MPITX_PAGER=trap '' INT; cat; echo SHOWN; read x </dev/tty; echo left by $x")
	out, p := typing(t, slow, 80, []step{{sees: "SHOWN", types: "\x03"}, {sees: "^C", types: "q\n"}}, "mpitx", "list", "demo_e*", "--from", file)
	if p.code != 0 || !strings.Contains(out, "left by q") {
		t.Errorf("code %d: mpitx did not wait for the pager after ^C:\n%s", p.code, out)
	}
}

// On a terminal, messages and doctor wrap at words, except in commands.
func TestWrapping(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	for _, args := range [][]string{{"list", "--comm", "self", "--from", "x.json"}, {"list", "-n", "2", "--category", "nosuch", "--regex", "x"}, {"doctor", "--mpi", "demo"}} {
		wide, _ := onTerminal(t, environ, 500, append([]string{"mpitx"}, args...)...)
		narrow, _ := onTerminal(t, environ, 50, append([]string{"mpitx"}, args...)...)
		for line := range strings.SplitSeq(narrow, "\n") {
			if n := len([]rune(line)); n > 50 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%q: %d columns: %s", args, n, line)
			}
		}
		if !slices.Equal(strings.Fields(wide), strings.Fields(narrow)) {
			t.Errorf("%q: the words are\n%s\nand on a narrow terminal\n%s", args, wide, narrow)
		}
	}
}
