//go:build cgo && linux

package rules

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mpitx/check"
	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/fixtures/need"
)

// A violation of each real library, and a crash in MPICH 4.0, which the written programs show without mpitx.
func TestRealPrograms(t *testing.T) {
	env := locate.System()
	for family, names := range map[string][]string{"openmpi": {"strings-truncated-length", "thread-level-kept"}, "mpich": {"strings-truncated-length", "cycle-before-init"}} {
		t.Run(family, func(t *testing.T) {
			need.Commands(t, "mpicc."+family)
			m, err := env.Choose(family)
			if err != nil {
				need.Missing(t, "%s: %v", family, err)
			}
			bin, _ := filepath.Abs("../../../../bin")
			shim, err := env.Shim(m, bin)
			if err != nil {
				need.Missing(t, "%s: %v", family, err)
			}
			exe, _ := os.Executable()
			lib := &Library{Exe: exe, Shim: shim, Lib: m.Lib, Environ: env.FreeOfLauncher(), Limit: time.Minute}
			for _, name := range names {
				r := lib.one(t, name)
				if r.Status == check.Passed && newer(lib.Version()) {
					continue // a release that keeps the rule
				}
				if !r.Status.Bad() || len(r.Violations) == 0 {
					t.Errorf("%s", describe(r))
					continue
				}
				dir := t.TempDir()
				source, program := filepath.Join(dir, "violation.c"), filepath.Join(dir, "violation")
				if err := os.WriteFile(source, []byte(r.Violations[0].Program), 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.CommandContext(t.Context(), "mpicc."+family, "-o", program, source).CombinedOutput(); err != nil {
					t.Fatalf("mpicc.%s: %v\n%s", family, err, out)
				}
				cmd := exec.CommandContext(t.Context(), program)
				cmd.Env = lib.Environ
				if out, err := cmd.CombinedOutput(); err == nil || r.Status == check.Violated && !strings.Contains(string(out), "VIOLATED") {
					t.Errorf("%s: %v\n%s", name, err, out)
				}
			}
		})
	}
}

func newer(version string) bool {
	return !strings.Contains(version, " v4.1.") && !strings.Contains(version, "4.0.2")
}

// The tables of docs/check.md have the results that are kept in fixtures/check: the first all rules, the others those that some of
// the libraries break.
func TestDocumentedResults(t *testing.T) {
	raw, err := os.ReadFile("../../../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	for k, table := range [][]string{
		{"openmpi-4.1.4", "mpich-4.0.2"},
		{"openmpi-4.1.4", "openmpi-4.1.4-peruse", "openmpi-5.0.7", "openmpi-6.0.0rc2"},
		{"mpich-4.0.2", "mpich-4.0.2-ch4", "mpich-4.2.1", "mpich-5.0.2"},
	} {
		for _, r := range All() {
			line := fmt.Sprintf("| `%s` |", r.Name)
			broken := map[check.Status]bool{}
			for _, name := range table {
				one := kept(t, name).Result(r.Name)
				if one == nil {
					t.Errorf("fixtures/check/%s.json: no result of %s", name, r.Name)
					continue
				}
				status := one.Status
				if status == check.NotApplicable {
					status = check.Passed
				}
				broken[status] = true
				line += " " + string(one.Status) + " |"
			}
			if has := strings.Contains(string(raw), "\n"+line); has != (k == 0 || len(broken) > 1) {
				t.Errorf("docs/check.md: %t for %s", has, line)
			}
		}
	}
}

// kept returns a report of fixtures/check.
func kept(t *testing.T, name string) *check.Report {
	t.Helper()
	r := new(check.Report)
	text, err := os.ReadFile("../../../../fixtures/check/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}
