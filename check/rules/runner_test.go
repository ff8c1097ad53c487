//go:build cgo && linux

package rules

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/check"
)

// Rules that are interrupted leave no processes and no files, although the library hangs.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	lib := fixture("hang-t-init")
	lib.Temp = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan []*check.Result)
	go func() {
		ended <- lib.Run(ctx, []check.Rule{find("cvar-names-unique").Rule, find("ranks-variables").Rule, find("get-index").Rule}, 2, func(*check.Result) {})
	}()
	hanging := func() (n int) {
		journals, _ := filepath.Glob(lib.Temp + "/*/journal.*")
		for _, j := range journals {
			if text, _ := os.ReadFile(j); strings.Contains(string(text), "MPI_T_init_thread") {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); hanging() < 3; time.Sleep(10 * time.Millisecond) { // one process, and two ranks
		if time.Now().After(deadline) {
			t.Fatalf("%d processes have begun", hanging())
		}
	}
	cancel()
	select {
	case results := <-ended:
		for _, r := range results {
			if r.Status != check.Failed {
				t.Errorf("%s: %s", r.Name, describe(r))
			}
		}
	case <-time.After(time.Minute / 2):
		t.Fatal("the rules go on")
	}
	if left, _ := os.ReadDir(lib.Temp); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		if text, _ := os.ReadFile(path); strings.Contains(string(text), "FAKEMPI_DIR="+lib.Temp) {
			t.Errorf("%s runs", filepath.Dir(path))
		}
	}
}

// A rule ends after many crashes, and after a few if the library may break it. The result says so.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule, fault string
		most        int
	}{{"info-identical", "crash-get-info", maxCrashes}, {"invalid-handle", "no-checks", maxUnchecked}} {
		r := fixture(test.fault).one(t, test.rule)
		if want := fmt.Sprintf("items after %d crashes were not tested", test.most); r.Bad != test.most || r.Why != want {
			t.Errorf("%s: %d crashes, want %d: %s", test.rule, r.Bad, test.most, describe(r))
		}
	}
}

// A rank that crashes after another has ended is not overlooked.
func TestRankCrashes(t *testing.T) {
	t.Parallel()
	r := fixture("crash-get-info=demo_eager_limit@1").one(t, "ranks-variables")
	if r.Status != check.Crashed || r.Bad != 1 || !strings.Contains(r.Violations[0].Expected, "MPI_T_cvar_get_info(") || !strings.Contains(r.Violations[0].Got, "segmentation fault") {
		t.Errorf("%s", describe(r))
	}
}

// The call that crashed or hung is the last of those that are reported, and the program makes it, also if mpitx only lists by it.
func TestCrashWhileListing(t *testing.T) {
	const fault, call = "crash-get-info=demo_eager_limit", "MPI_T_cvar_get_info("
	object := filepath.Join(t.TempDir(), "fakempi.o")
	cc(t, "-c", "-o", object, "../../fixtures/fakempi/fakempi.c")
	last := func(r *check.Result) string { return r.Violations[0].Called[len(r.Violations[0].Called)-1] }
	for _, name := range []string{"strings-length", "enum-items", "indices-kept", "return-codes", "inactive-index", "cvar-opens", "cvars-across-init"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fixture(fault).one(t, name)
			if r.Status != check.Crashed || !strings.HasPrefix(last(r), call) || !strings.HasPrefix(r.Violations[0].Expected, call) {
				t.Fatal(describe(r))
			}
			reproduce(t, object, fault, r.Rule, r.Violations[0])
		})
	}
	t.Run("hang", func(t *testing.T) { // a child takes as long as this process may
		t.Parallel()
		l := fixture("hang-get-info=demo_eager_limit")
		l.Limit = 3 * time.Second
		if r := l.one(t, "cvar-opens"); r.Status != check.Hung || r.Bad != 1 || !strings.HasPrefix(last(r), call) {
			t.Error(describe(r))
		}
	})
}

// What mpitx cannot do is not the library's fault, and no number takes all memory.
func TestUntestable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rule, fault, why string }{
		{"cvar-opens", "negative-num=cvar", "the library returns -1 as the number of control variables"},
		{"pvar-opens", "huge-num=pvar", "the library returns 2000000000 as the number of performance variables, and mpitx tests at most 100000"},
		{"indices-kept", "huge-num=category", "the library returns 2000000000 as the number of categories, and mpitx tests at most 100000"},
		{"category-members", "huge-members=demo_matching", "the library returns 2000000000 as the number of members of demo_matching, and mpitx tests at most 100000"},
		{"category-order-kept", "huge-members=demo_matching", "the library returns 2000000000 as the number of members of demo_matching, and mpitx tests at most 100000"},
		{"event-hints", "huge-num=event", "the library returns 2000000000 as the number of event types, and mpitx tests at most 100000"},
		{"ranks-enumerations", "huge-enum=demo_debug_level", "the library returns 2000000000 as the number of items of the enumeration of demo_debug_level, and mpitx tests at most 100000"},
	} {
		if r := fixture(test.fault).one(t, test.rule); r.Status != check.Failed || r.Why != test.why {
			t.Errorf("%s: %s", test.fault, describe(r))
		}
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	(&mpi{journal: file}).failed("index out of range")
	if text, _ := os.ReadFile(file.Name()); readJournal(string(text)).failed != "mpitx failed: index out of range" {
		t.Errorf("%q", text)
	}
	starved := fixture("abort-get-info=demo_eager_limit")
	starved.starved.Store(true)
	if r := starved.one(t, "info-identical"); r.Status != check.Failed || !strings.Contains(r.Why, "use a smaller --jobs") {
		t.Error(describe(r))
	}
}

// A rule applies to a library only if there is something to test.
func TestNothingToTest(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"pvar-names-unique", "cvar-opens", "cvar-reads", "pvar-class-type"} {
		if r := fixture("missing=demo*").one(t, rule); r.Status != check.NotApplicable || r.Items != 0 || r.Why == "" {
			t.Errorf("%s: %s", rule, describe(r))
		}
	}
}

// Items are what was tested, each with a name of its own.
func TestItems(t *testing.T) {
	t.Parallel()
	all, fewer := fixture("").one(t, "enum-type"), fixture("dead-index=demo_eager_limit").one(t, "enum-type")
	if fewer.Items != all.Items-1 {
		t.Errorf("%d items, and %d without one", all.Items, fewer.Items)
	}
	if r := fixture("zero-count=demo_*").one(t, "pvar-count"); r.Bad != r.Items {
		t.Error(describe(r))
	}
	if r := fixture("unknown-type=demo_p*").one(t, "pvar-class-type"); !slices.ContainsFunc(r.BadItems, func(item string) bool { return strings.HasPrefix(item, "demo_pool_peak:") }) {
		t.Errorf("%q", r.BadItems)
	}
	if r := fixture("untouched-count=demo_energy").one(t, "pvar-count"); r.Bad != 1 || r.Violations[0].Got != "count1 was not set" {
		t.Error(describe(r))
	}
}

// A library may have few sessions.
func TestFewSessions(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"session-many", "pvar-opens", "pvar-count", "session-independent"} {
		all, few := fixture("").one(t, rule), fixture("few-sessions").one(t, rule)
		if few.Status != check.Passed || few.Items != all.Items {
			t.Errorf("%s, and %d items with more sessions", describe(few), all.Items)
		}
	}
}
