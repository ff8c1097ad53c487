//go:build cgo && linux

package main

import (
	"encoding/csv"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mpitx/export"
)

// acts matches what could act on a terminal, and bytes that are not text.
var acts = regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u202e]|\\x{FFFD}")

// TestHostileNames prints names that act on a terminal: all output escapes them, and CSV in a pipe keeps their tabs.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) == 0 {
		return
	}
	const name = "evil\x1b[2J\x1b]0;owned\x07\r\t\x9b31m\u202eend"
	dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=", "LANG=C.UTF-8", "TERM=xterm", "NO_COLOR=1", "MPITX_PAGER=")
	if out, err := exec.Command("mpicc."+families[0], "-o", filepath.Join(dir, "hostile"), "testdata/hostilenames.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := filepath.Join(dir, "run")
	pipe := func(args ...string) *process {
		t.Helper()
		p := newProcess(environ, dir, append([]string{"mpitx"}, args...)...)
		p.run(hung)
		if p.failure != "" || p.code > 1 {
			t.Fatalf("%q: %s", args, p.output())
		}
		if text := p.stderr.String(); acts.MatchString(text) {
			t.Errorf("%q: messages: %q", args, text)
		}
		return p
	}
	pipe("profile", "-n", "2", "--dir", run, "--", "./hostile")
	for _, command := range []string{"report", "report -o wide", "report -o json", "report RUN communicators", "report RUN communicators -o json",
		"report RUN phases -o ndjson", "report RUN communicators -o csv", "report RUN phases -o csv", "report --comm nosuch", "report --phase nosuch",
		"report RUN matrix", "where", "where -o csv", "where -o json", "compare RUN -o csv", "compare RUN"} {
		args := strings.Fields(strings.ReplaceAll(command, "RUN", run))
		if !strings.HasPrefix(command, "report RUN") {
			args = append(args, run)
		}
		p := pipe(args...)
		csvOf := strings.HasSuffix(command, "-o csv") && !strings.HasPrefix(command, "where")
		text := p.stdout.String()
		if csvOf {
			rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil || !slices.ContainsFunc(rows, func(row []string) bool { return slices.Contains(row, export.Terminal{}.CSV(name)) }) {
				t.Errorf("%s: %v: no cell is the escaped name", command, err)
			}
			text = strings.ReplaceAll(text, "\t", "")
		}
		if acts.MatchString(text) {
			t.Errorf("%s: %q", command, acts.FindString(text))
		}
		text, _ = onTerminal(t, environ, 120, append([]string{"mpitx"}, args...)...)
		if acts.MatchString(text) {
			t.Errorf("%s on a terminal: %q", command, acts.FindString(text))
		}
	}
}
