package preflight

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Before a copy is stored, only the newest build for each library stays, besides those that a job may be about to load.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		"mpitx-agent-mpich-aaaa-1.so": 3 * time.Hour, "mpitx-agent-mpich-aaaa-2.so": 2 * time.Hour, "mpitx-agent-mpich-aaaa-3.so": time.Hour,
		"mpitx-agent-mpich-bbbb-1.so": 5 * time.Hour, "mpitx-agent-mpich-cccc-1.so": 101 * 24 * time.Hour,
		"mpitx-agent-openmpi-aaaa-1.so": time.Minute, "mpitx-agent-openmpi-aaaa-2.so": 2 * time.Minute, "mpitx-agent-openmpi-aaaa-3.so": time.Hour,
		"mpitx-agent-mpich-0011.so": 2 * time.Hour, "mpitx-agent-mpich-2233.so": time.Hour, "names-aaaa": 1000 * time.Hour, // 0011, 2233: named by an older mpitx
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	prune(dir)
	entries, _ := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{"mpitx-agent-mpich-2233.so", "mpitx-agent-mpich-aaaa-3.so", "mpitx-agent-mpich-bbbb-1.so", "mpitx-agent-openmpi-aaaa-1.so", "mpitx-agent-openmpi-aaaa-2.so", "names-aaaa"}
	if !slices.Equal(left, want) {
		t.Error(left)
	}
}
