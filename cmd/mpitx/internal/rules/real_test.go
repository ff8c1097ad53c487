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

// The table of docs/check.md has the results that are kept in fixtures/check.
func TestDocumentedResults(t *testing.T) {
	raw, err := os.ReadFile("../../../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	columns := []string{"openmpi-4.1.4", "mpich-4.0.2"} // of the table
	kept := make([]check.Report, len(columns))
	for k, name := range columns {
		text, err := os.ReadFile("../../../../fixtures/check/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &kept[k]); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range All() {
		line := fmt.Sprintf("| `%s` |", r.Name)
		for k := range kept {
			one := kept[k].Result(r.Name)
			if one == nil {
				t.Errorf("fixtures/check/%s.json: no result of %s", columns[k], r.Name)
				continue
			}
			line += " " + string(one.Status) + " |"
		}
		if !strings.Contains(string(raw), line) {
			t.Errorf("docs/check.md lacks %s", line)
		}
	}
}
