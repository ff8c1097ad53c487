//go:build cgo && linux

package rules

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/check"
	kept "mpitx/fixtures/check"
	"mpitx/fixtures/need"
	"mpitx/machine"
)

// A violation of each real library, and a crash in MPICH 4.0, which the written programs show without mpitx.
func TestRealPrograms(t *testing.T) {
	env := machine.System()
	for family, names := range map[string][]string{"openmpi": {"strings-truncated-length", "thread-level-kept"}, "mpich": {"strings-truncated-length", "cycle-before-init"}} {
		t.Run(family, func(t *testing.T) {
			need.Commands(t, "mpicc."+family)
			m, err := env.Choose(family)
			if err != nil {
				need.Missing(t, "%s: %v", family, err)
			}
			bin, _ := filepath.Abs("../../bin")
			shim, err := env.Shim(m, bin)
			if err != nil {
				need.Missing(t, "%s: %v", family, err)
			}
			exe, _ := os.Executable()
			lib := &Library{Start: Start{Exe: exe, Shim: shim, Lib: m.Lib, Environ: env.FreeOfLauncher(), Limit: time.Minute}}
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

const document = "../../docs/check.md"

var update = flag.Bool("update", false, "write the tables of docs/check.md")

// documented are the tables of docs/check.md, each with the kept reports of its columns. The first has all rules and their sections, the
// others those that some of the libraries break.
var documented = [][]string{
	{"openmpi-4.1.4", "mpich-4.0.2"},
	{"openmpi-4.1.4", "openmpi-4.1.4-peruse", "openmpi-5.0.7", "openmpi-6.0.0rc2"},
	{"mpich-4.0.2", "mpich-4.0.2-ch4", "mpich-4.2.1", "mpich-5.0.2"},
}

// The tables of docs/check.md have the results that are kept in fixtures/check. Their last column is written by hand.
func TestDocumentedResults(t *testing.T) {
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)(^\\| `[a-z-]+` \\|.*\n)+")
	k := -1
	text := rows.ReplaceAllStringFunc(string(raw), func(old string) string {
		if k++; k >= len(documented) {
			t.Fatalf("another table: %.80s", old)
		}
		return table(t, k, old)
	})
	if k+1 != len(documented) {
		t.Fatalf("%d tables", k+1)
	}
	text = regexp.MustCompile(`\b\d+ rules about`).ReplaceAllString(text, fmt.Sprintf("%d rules about", len(All())))
	switch {
	case text == string(raw):
	case *update:
		if err := os.WriteFile(document, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		want, got := strings.Split(text, "\n"), strings.Split(string(raw), "\n")
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("docs/check.md lacks (go test -update writes it): %s", line)
			}
		}
		for _, line := range got {
			if !slices.Contains(want, line) {
				t.Errorf("docs/check.md has too much (go test -update removes it): %s", line)
			}
		}
	}
}

// table returns the rows of a documented table, with the notes of the old ones.
func table(t *testing.T, k int, old string) (rows string) {
	notes := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(old), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		notes[strings.Trim(cells[0], " `")] = cells[len(cells)-1]
	}
	reports := map[string]*check.Report{}
	for _, name := range documented[k] {
		r, err := kept.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		reports[name] = r
	}
	for _, r := range All() {
		row := fmt.Sprintf("| `%s` |", r.Name)
		broken := map[check.Status]bool{}
		for _, name := range documented[k] {
			one := reports[name].Result(r.Name)
			if one == nil {
				row += " not tested |"
				if k == 0 { // the libraries of the other tables are not everywhere
					t.Errorf("fixtures/check/%s.json: no result of %s; fixtures/lab/lab.sh record-checks writes it", name, r.Name)
				}
				continue
			}
			status := one.Status
			if status == check.NotApplicable {
				status = check.Passed
			}
			broken[status] = true
			row += " " + string(one.Status) + " |"
		}
		if k == 0 {
			row += " " + r.Section + " |"
		} else if len(broken) < 2 {
			continue
		}
		rows += row + cmp.Or(notes[r.Name], "  ") + "|\n"
	}
	return rows
}
