//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/recording/recordingtest"
)

// TestPlacesOfTraces reads traces of a program whose file is not there: they have addresses, and stderr says why.
func TestPlacesOfTraces(t *testing.T) {
	t.Parallel()
	environ, dir := testEnvironment(t), t.TempDir()
	run := filepath.Join(dir, "run")
	if err := recordingtest.SaveTrace(run, 10); err != nil {
		t.Fatal(err)
	}
	said := func(code int, words ...string) string {
		p := newProcess(environ, dir, append([]string{"mpitx"}, words...)...)
		p.run(hung)
		if p.code != code || !strings.Contains(p.stderr.String(), "call sites in /home/user/app have no file and line: not found; "+words[0]+" where the file is as it was") {
			t.Errorf("exit code %d, want %d: %s", p.code, code, p.output())
		}
		return p.stderr.String()
	}
	commands := [][]string{{"report", "run", "waits"}, {"report", "run", "queues"}, {"export", "run", "--trace"}, {"export", "run", "-o", "perfetto", "--out", "t.pftrace", "--overwrite"},
		{"export", "run", "-o", "parquet", "--partition", "--out", "dataset"}}
	for _, words := range commands {
		if all := said(0, words...); strings.Contains(all, "sites.json") {
			t.Errorf("%v: %s", words, all)
		}
	}
	if err := os.Mkdir(filepath.Join(run, "sites.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "dataset")); err != nil {
		t.Fatal(err)
	}
	for _, words := range commands {
		if all := said(3, words...); !strings.Contains(all, "mpitx: run: sites.json cannot be read: it is not a file; call sites are looked up in the programs as they are now") {
			t.Errorf("%v: %s", words, all)
		}
	}
}
