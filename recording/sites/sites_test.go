package sites

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
)

// solver is the profile of a run whose program does not exist.
func solver(t *testing.T, dir string) *profile.Profile {
	t.Helper()
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What was found once is found again without the program.
func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveSolver(dir); err != nil {
		t.Fatal(err)
	}
	p := solver(t, dir)
	frames := []profile.Frame{{Function: "exchange", File: "/src/halo.h", Line: 31, Inlined: true}, {Function: "step", File: "/src/solver.c", Line: 118}}
	p.Resolve(func(a profile.Address) []profile.Frame {
		if a.Offset == 0x1180 {
			return append([]profile.Frame{}, frames...)
		}
		return nil
	})
	if err := Keep(p); err != nil {
		t.Fatal(err)
	}
	again := solver(t, dir)
	if problems, err := Resolve(again); len(problems) != 2 || err != nil {
		t.Errorf("problems: %v, %v", problems, err) // of other sites
	}
	for i, s := range p.Sites {
		if diff := cmp.Diff(s.Lines(), again.Sites[i].Lines()); diff != "" {
			t.Errorf("%s: %s", s.Name, diff)
		}
	}
	if got := again.Sites[0].Place(); got != "halo.h:31" {
		t.Errorf("%s is at %s", again.Sites[0].Name, got)
	}
	find, done := Places(again.Run) // of the trace of the same program
	if got := find(again.Run.Ranks[0], 0x401180); got != "exchange halo.h:31" {
		t.Errorf("the call is at %s", got)
	}
	if problems, err := done(); len(problems) > 0 || err != nil {
		t.Errorf("problems: %v, %v", problems, err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	flipped := strings.Replace(string(whole), "halo.h", "hblo.h", 1)
	for _, text := range []string{flipped, "", "{", `{"version":2,"places":[{"module":"/home/user/solver","build_id":"1234","offset":4480,"frames":[{"function":"x"}]}]}`} {
		if err := os.WriteFile(filepath.Join(dir, File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		without := solver(t, dir)
		if _, err := Resolve(without); err == nil || !strings.HasPrefix(err.Error(), "sites.json cannot be read: ") || without.Sites[0].Place() != "solver+0x1180" {
			t.Errorf("%q: %s, %v", text, without.Sites[0].Place(), err)
		}
		find, done := Places(without.Run)
		got := find(without.Run.Ranks[0], 0x401180)
		if problems, err := done(); got != "solver+0x1180" || len(problems) != 1 || err == nil || !strings.HasPrefix(err.Error(), "sites.json cannot be read: ") {
			t.Errorf("%q: the call is at %s, %v, %v", text, got, problems, err)
		}
	}
}
