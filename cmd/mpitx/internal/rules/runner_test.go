//go:build cgo && linux

package rules

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
