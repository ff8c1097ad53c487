//go:build cgo && linux

package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// top waits for a run whose job has only created some of its files, and not for a directory with other files.
func TestStarting(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", ".job", "job.json", "seen", "claims", "mpitx-agent-mpich-1.so"} {
		if name != "" {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if run, awaited, err := FindRun(dir); run != nil || err != nil || !strings.Contains(awaited, "nothing was recorded yet") {
			t.Errorf("with %q: waits for %q, error %v", name, awaited, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "job.json")); err != nil {
		t.Fatal(err)
	}
	if _, awaited, err := FindRun(dir); err == nil {
		t.Errorf("without job.json: waits for %q", awaited)
	}
}

// A run that has ended and lost its data is not waited for.
func TestDataGone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"job.json", "ends-node1.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenSamples(dir); err == nil || !strings.Contains(err.Error(), "the job has ended") {
		t.Error(err)
	}
}
