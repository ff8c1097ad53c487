//go:build cgo && linux

package rules

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/check"
	"mpitx/cmd/mpitx/internal/locate"
)

// faults are what each rule must catch in the fixture MPI (fixtures/fakempi/README.md).
var faults = map[string]string{
	"cvar-names-unique":     "double-name=demo_type_*",
	"pvar-names-unique":     "double-name=demo_messages_*",
	"category-names-unique": "double-name=demo_transport*",
	"names-not-empty":       "empty-name=demo_matching",
	"get-index":             "wrong-index=demo_eager_limit",
	"get-index-unknown":     "any-name",
	"info-identical":        "unstable-info=demo_energy",
	"info-constants":        "unknown-scope=demo_eager_limit",
	"datatypes":             "unknown-type=demo_eager_limit",
	"numbers-never-shrink":  "shrink",
	"indices-kept":          "moved-index=demo_eager_limit",
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "backend" && os.Args[2] == Command {
		os.Exit(Worker(os.Args[3:], locate.System().Launcher().Rank))
	}
	os.Exit(m.Run())
}

// fixture is the fixture MPI without the variables that the standard does not allow.
func fixture(faults string) *Library {
	exe, _ := os.Executable()
	l := &Library{Exe: exe, Demo: true, Limit: time.Minute}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "FAKEMPI_") && !strings.HasPrefix(kv, "DEMO_CVAR_") {
			l.Environ = append(l.Environ, kv)
		}
	}
	l.Environ = append(l.Environ, "FAKEMPI_STRICT=1", "FAKEMPI_FAULTS="+faults)
	return l
}

func (l *Library) one(t *testing.T, rule string) *check.Result {
	t.Helper()
	return l.Run(t.Context(), []check.Rule{find(rule).Rule}, 1, func(*check.Result) {})[0]
}

// Each rule passes on the fixture MPI, and catches a fault. The program that shows it does so, too, and finds nothing without the fault.
func TestRules(t *testing.T) {
	object := filepath.Join(t.TempDir(), "fakempi.o")
	cc(t, "-c", "-o", object, "../../../../fixtures/fakempi/fakempi.c")
	for _, r := range All() {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			broken, ok := faults[r.Name]
			if !ok {
				t.Fatal("no fault for this rule")
			}
			if good := fixture("").one(t, r.Name); good.Status != check.Passed || good.Items == 0 {
				t.Errorf("without a fault: %s", describe(good))
			}
			bad := fixture(broken).one(t, r.Name)
			if !bad.Status.Bad() && !(r.Allowed != "" && bad.Status == check.Unchecked) || len(bad.Violations) == 0 {
				t.Fatalf("with %s: %s", broken, describe(bad))
			}
			reproduce(t, object, broken, r, bad.Violations[0])
		})
	}
	for name := range faults {
		if find(name) == nil {
			t.Errorf("a fault for %s, which is not a rule", name)
		}
	}
}

func describe(r *check.Result) string {
	text := fmt.Sprintf("%s %s, %d items", r.Status, r.Why, r.Items)
	for _, v := range r.Violations {
		text += fmt.Sprintf("\n%s %s: expected %s, got %s\n  %s", v.Status, v.Item, v.Expected, v.Got, strings.Join(v.Called, "\n  "))
	}
	return text
}

func cc(t *testing.T, args ...string) {
	t.Helper()
	args = append([]string{"-std=gnu11", "-pthread", "-Wall", "-Werror", "-Wno-unused", "-I../../../../fixtures/fakempi/native"}, args...)
	if out, err := exec.CommandContext(t.Context(), "cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
}

// reproduce compiles a violation's program and runs it with the fault and without.
func reproduce(t *testing.T, object, broken string, r check.Rule, v check.Violation) {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "violation.c"), filepath.Join(dir, "violation")
	if err := os.WriteFile(source, []byte(v.Program), 0o600); err != nil {
		t.Fatal(err)
	}
	cc(t, "-o", program, source, object)
	run := func(faults string) (code int, out string) {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(slices.Clone(fixture(faults).Environ), "FAKEMPI_DIR="+dir)
		raw, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(raw)
	}
	if code, out := run(broken); code == 0 || v.Status == check.Violated && (code != 1 || !strings.Contains(out, "VIOLATED")) {
		t.Errorf("the program does not show the violation: exit code %d\n%s\n%s", code, out, v.Program)
	}
	if code, out := run(""); code != 0 || !strings.Contains(out, "kept") {
		t.Errorf("the program shows a violation where there is none: exit code %d\n%s\n%s", code, out, v.Program)
	}
}
