//go:build cgo && linux

package rules

import (
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
	"mpitx/machine"
)

// faults are what each rule must catch in the fixture MPI, one at a time (fixtures/fakempi/README.md).
var faults = map[string]string{
	"cvar-names-unique":        "double-name=demo_type_*",
	"pvar-names-unique":        "double-name=demo_messages_*",
	"category-names-unique":    "double-name=demo_transport*",
	"names-not-empty":          "empty-name=demo_matching",
	"get-index":                "wrong-index=demo_eager_limit",
	"get-index-unknown":        "any-name index-prefix index-case index-empty",
	"info-identical":           "unstable-info=demo_energy",
	"info-constants":           "unknown-scope=demo_eager_limit",
	"datatypes":                "unknown-type=demo_eager_limit",
	"numbers-never-shrink":     "shrink shrink=event shrink=source negative-num=cvar",
	"indices-kept":             "moved-index=demo_eager_limit",
	"strings-length":           "negative-length=demo_eager_limit",
	"strings-exact":            "unterminated=demo_eager_limit",
	"strings-truncated":        "full-buffer=demo_eager_limit",
	"strings-truncated-length": "short-length=demo_eager_limit short-length=binomial",
	"strings-no-length":        "ignores-length=demo_eager_limit",
	"strings-no-description":   "desc-zero=demo_eager_limit desc-zero=demo_message_sent desc-zero=demo_progress",
	"enum-not-empty":           "empty-enum",
	"enum-names-unique":        "double-enum",
	"enum-items":               "unstable-item double-item",
	"enum-values-unique":       "double-value",
	"enum-type":                "differ-type=demo_debug_level",
	"enum-current-value":       "stray-value=demo_debug_level",
	"enum-item-range":          "any-item",
	"cvar-opens":               "crash-read=demo_eager_limit invalid-alloc=demo_eager_limit",
	"cvar-reads":               "fail-read=demo_eager_limit",
	"cvar-count":               "zero-count=demo_eager_limit",
	"cvar-string-end":          "unterminated-value",
	"cvar-no-overrun":          "overrun=demo_eager_limit",
	"cvar-handle-null":         "keep-handle",
	"write-readonly":           "write-anything",
	"write-outcome":            "fail-write=demo_eager_limit",
	"write-never":              "never-before=demo_eager_limit",
	"write-arrives":            "ignore-write=demo_eager_limit short-write=demo_type_char short-write=demo_eager_thresholds ignore-write=demo_type_char",
	"pvar-opens":               "crash-alloc=demo_energy",
	"pvar-class-type":          "unknown-type=demo_energy",
	"pvar-flags":               "flags-two=demo_energy",
	"pvar-count":               "zero-count=demo_energy",
	"pvar-starting-value":      "timer-offset=demo_match_time",
	"pvar-non-negative":        "timer-offset=demo_wait_time",
	"pvar-monotonic":           "backwards=demo_interrupts",
	"pvar-stopped":             "never-stops=demo_energy",
	"pvar-read-stopped":        "start-required=demo_energy",
	"pvar-start-stop":          "fail-stop=demo_energy",
	"pvar-reset":               "fail-reset=demo_energy high-start=demo_pool_peak",
	"pvar-write":               "write-anything=demo_wait_time",
	"pvar-readreset":           "fail-readreset=demo_energy readreset-keeps=demo_energy",
	"pvar-handle-null":         "keep-handle",
	"session-independent":      "shared-session=demo_energy",
	"session-foreign-handle":   "foreign-session",
	"session-null":             "keep-handle",
	"session-many":             "fail-session",
	"all-handles":              "fail-reset=demo_energy",
	"all-handles-started":      "all-handles-nothing=demo_energy",
	"all-handles-refused":      "read-all write-all",
	"category-members":         "growing-members=demo_transport",
	"category-short-list":      "long-list=demo_transport",
	"category-indices":         "bad-member=demo_transport",
	"category-no-cycles":       "cyclic-category",
	"category-changed":         "changing-stamp",
	"category-changed-by-init": "constant-stamp",
	"category-order-kept":      "reversed-members=demo_transport",
	"not-initialized":          "always-initialized",
	"not-initialized-after":    "always-initialized",
	"init-counts":              "forget-count",
	"finalize-too-often":       "always-initialized",
	"init-again":               "once-only",
	"cycle-before-init":        "crash-reinit",
	"cycle-after-init":         "once-only",
	"cycle-nested":             "forget-count/after",
	"numbers-kept-by-cycle":    "cycle-shrinks",
	"pvars-before-mpi-init":    "crash-alloc=demo_energy/before",
	"use-after-mpi-finalize":   "ends-with-mpi",
	"finalize-after-mpi":       "crash-t-finalize",
	"finalize-before-mpi":      "fail-t-finalize",
	"init-after-mpi-finalize":  "fail-t-init/after",
	"strings-kept":             "lost-strings",
	"strings-kept-after-mpi":   "lost-strings",
	"cvars-across-init":        "crash-read=demo_eager_limit/after",
	"thread-level-kept":        "raises-thread",
	"thread-provided":          "bad-thread",
	"invalid-index":            "no-checks wrong-code",
	"invalid-category-index":   "no-checks wrong-code",
	"invalid-handle":           "no-checks wrong-handle-code",
	"invalid-session":          "no-checks wrong-handle-code",
	"inactive-index":           "forget-inactive",
	"return-codes":             "fail-reset=demo_energy fail-read=demo_eager_limit fail-write=demo_eager_limit fail-start=demo_energy fail-get-info=demo_transport fail-members=demo_transport fail-enum fail-alloc=demo_message_sent",
	"ranks-variables":          "differ-scope=demo_eager_limit@1 missing-enum=demo_debug_level@1",
	"ranks-enumerations":       "empty-enum@1",
	"ranks-categories":         "missing=demo_eager_limit@1",
	"pvar-write-arrives":       "ignore-write=demo_energy",
	"pvar-write-session":       "shared-session=demo_energy",
	"use-before-mpi-init":      "crash-read=demo_eager_limit/before",
	"ranks-events":             "differ-desc=demo_message_sent@1",
	"event-info-identical":     "unstable-info=demo_message_sent unstable-info=demo_progress",
	"event-invalid-index":      "no-checks wrong-code",
	"peruse-before-init":       "wrong-code",
	"event-names-unique":       "double-name=demo_*",
	"event-get-index":          "wrong-index=demo_message_sent any-name",
	"event-elements":           "unknown-type=demo_message_sent overlapping-elements=demo_message_sent",
	"event-handle":             "fail-alloc=demo_message_sent",
	"source-info":              "unknown-order=demo_progress",
	"source-clock":             "clock-backwards=demo_progress",
	"event-callback":           "fail-register=demo_message_sent",
	"event-data":               "differ-copy=demo_message_sent",
	"event-source":             "wrong-source=demo_message_sent",
	"event-timestamps":         "clock-backwards=demo_progress",
	"event-safety":             "wrong-safety=demo_message_sent",
	"event-dropped":            "empty-drops=demo_message_sent",
	"event-free":               "no-free=demo_message_sent",
	"qmpi-register":            "fail-qmpi-register",
	"qmpi-init":                "reversed-tools",
	"qmpi-numbers":             "same-tool-id",
	"qmpi-storage":             "shared-storage",
	"qmpi-order":               "skip-tools",
	"qmpi-arguments":           "lost-result",
	"qmpi-next":                "unstable-next",
	"qmpi-address":             "wrong-caller",
	"qmpi-name-shift":          "no-name-shift=QMPI_Initialized",
	"qmpi-name-twice":          "any-name",
	"qmpi-unknown-function":    "no-checks",
	"qmpi-unknown-tool":        "no-checks",
	"peruse-init":              "fail-peruse-init",
	"peruse-events":            "wrong-event",
	"peruse-unknown-event":     "any-name",
	"peruse-environment":       "untouched-environment",
	"peruse-scope":             "unknown-scope=peruse",
	"peruse-register":          "fail-peruse-register unknown-object",
	"peruse-arguments":         "no-checks",
	"peruse-activation":        "inactive-callback drop-events=PERUSE_COMM_REQ_ACTIVATE",
	"peruse-two-handles":       "one-slot",
	"peruse-callback":          "wrong-spec",
	"peruse-identifiers":       "same-id=PERUSE_COMM_REQ_ACTIVATE same-id=PERUSE_COMM_SEARCH_UNEX_Q_END",
	"peruse-release":           "keep-active late-callback",
	"peruse-callback-set":      "fail-peruse-set no-callback-set",
	"peruse-active-handle":     "active-set",
	"peruse-propagate":         "no-propagate always-propagates",
	"peruse-lock":              "fail-peruse-lock",
	"peruse-lock-in-callback":  "refuse-lock",
	"source-names-unique":      "double-name=demo_*",
	"event-hints":              "fail-event-info",
	"event-invalid-handle":     "no-checks wrong-handle-code",
	"category-events":          "extra-event=demo_matching long-list=demo_matching",
	"freed-handle":             "no-checks wrong-handle-code",
	"profiling-answers":        "differ-name=cvar",
	"cvar-constant":            "lost-strings=demo_version",
	"profiling-names":          "no-name-shift=PMPI_T_cvar_read no-name-shift=MPI_T_cvar_read",
	"cvar-handle-kept":         "stale-handle",
	"pvar-no-overrun":          "overrun=demo_energy",
	"pvar-reset-runs":          "reset-stops=demo_energy",
	"pvar-start-keeps":         "start-resets=demo_energy",
	"thread-reads":             "one-thread thread-unsafe",
	"init-twice":               "reinit-resets",
	"category-members-once":    "duplicate-member=demo_transport",
	"category-changed-rises":   "falling-stamp",
	"error-handlers":           "calls-handlers",
	"object-ignored":           "follows-object",
	"null-out":                 "null-crash",
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "backend" && os.Args[2] == Command {
		os.Exit(Worker(os.Args[3:], machine.System().Launcher().Rank))
	}
	os.Exit(m.Run())
}

// fixture is the fixture MPI without the variables that the standard does not allow.
func fixture(faults string) *Library {
	exe, _ := os.Executable()
	l := &Library{Start: Start{Exe: exe, Demo: true, Limit: time.Minute}}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "FAKEMPI_") && !strings.HasPrefix(kv, "DEMO_CVAR_") {
			l.Environ = append(l.Environ, kv)
		}
	}
	l.Environ = append(l.Environ, "FAKEMPI_STRICT=1", "FAKEMPI_FAULTS="+faults)
	if strings.HasPrefix(faults, "backwards") { // at a fixed time, so that the counter does not rise faster than it falls
		l.Environ = append(l.Environ, "FAKEMPI_CLOCK=100")
	}
	return l
}

func (l *Library) one(t *testing.T, rule string) *check.Result {
	t.Helper()
	return l.Run(t.Context(), []check.Rule{find(rule).Rule}, 1, func(*check.Result) {})[0]
}

// sections are the forms of sections: the standard's chapters 12 and 14, PERUSE 2.0, the draft of QMPI, and manual pages for MPI-4's events.
var sections = func() *regexp.Regexp {
	list := func(one string) string { return one + "((, | and | to )" + one + ")*" }
	return regexp.MustCompile(`^(MPI-3\.1, ` + list(`((Tables?|section) )?1[24]\.\d+(\.\d+)?`) + `|PERUSE 2\.0, ` + list(`5\.\d+(\.\d+)?`) + `|QMPI draft, 15\.2\.\d|` + list(`MPI_T_[a-z_]+\(3\)`) + `)$`)
}()

// Each rule passes on the fixture MPI, and catches a fault. The program that shows it does so, too, and finds nothing without the fault.
func TestRules(t *testing.T) {
	object := filepath.Join(t.TempDir(), "fakempi.o")
	cc(t, "-c", "-o", object, "../../fixtures/fakempi/fakempi.c")
	for _, r := range All() {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			if !sections.MatchString(r.Section) {
				t.Errorf("the section %s is not in a form that readers can look up", r.Section)
			}
			if faults[r.Name] == "" {
				t.Fatal("no fault for this rule")
			}
			if good := fixture("").one(t, r.Name); good.Status != check.Passed || good.Items == 0 {
				t.Errorf("without a fault: %s", describe(good))
			}
			for _, broken := range strings.Fields(faults[r.Name]) {
				bad := fixture(broken).one(t, r.Name)
				if !bad.Status.Bad() && !(r.Allowed != "" && bad.Status == check.Unchecked) || len(bad.Violations) == 0 {
					t.Fatalf("with %s: %s", broken, describe(bad))
				}
				if k := slices.IndexFunc(bad.BadItems, func(item string) bool { return strings.Contains(item, ", ") }); k >= 0 {
					t.Errorf("the item %q has what separates items in reports", bad.BadItems[k])
				}
				reproduce(t, object, broken, r, bad.Violations[0])
			}
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
	args = append([]string{"-std=gnu11", "-pthread", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable", "-I../../fixtures/fakempi/native"}, args...)
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
		job, err := os.MkdirTemp("/tmp", "mx")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(job)
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(slices.Clone(fixture(faults).Environ), "FAKEMPI_DIR="+job)
		if strings.Contains(v.Program, "mpirun -n 2") {
			lib := fixture(faults)
			other := exec.CommandContext(t.Context(), program)
			other.Env = append(lib.Environ, lib.demoRank(job, 1, 2)...)
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			defer other.Wait()
			cmd.Env = append(fixture(faults).Environ, lib.demoRank(job, 0, 2)...)
		}
		raw, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(raw)
	}
	wantCode, word := 1, "VIOLATED: "
	if r.Allowed != "" {
		wantCode, word = 0, "unchecked, which the standard allows: "
	}
	if code, out := run(broken); v.Status != check.Violated && code == 0 || v.Status == check.Violated && (code != wantCode || !strings.Contains(out, word)) {
		t.Errorf("the program does not show the violation: exit code %d\n%s\n%s", code, out, v.Program)
	}
	if code, out := run(""); code != 0 || !strings.Contains(out, "kept") {
		t.Errorf("the program shows a violation where there is none: exit code %d\n%s\n%s", code, out, v.Program)
	}
}
