package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run whose manifests cannot be read may refer to a memory file: why that is not known is an error, and no other run is named.
func TestRunCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if m, err := leadsTo(filepath.Join(dir, "gone"), 1); m != nil || err != nil {
		t.Errorf("a run that does not exist: %v, %v", m, err)
	}
	if m, err := leadsTo(dir, 1); m != nil || err != nil {
		t.Errorf("an empty run: %v, %v", m, err)
	}
	if err := os.Symlink("loop.mpxm", filepath.Join(dir, "loop.mpxm")); err != nil {
		t.Fatal(err)
	}
	if _, err := leadsTo(dir, 1); err == nil || !strings.Contains(err.Error(), "its run cannot be read: ") {
		t.Errorf("a manifest that cannot be opened: %v", err)
	}
	if begun, err := (Leftover{Path: filepath.Join(dir, "loop.mpxm")}).begun(); begun || err == nil || !strings.Contains(err.Error(), "the memory file cannot be read: ") {
		t.Errorf("a memory file that cannot be opened: %v, %v", begun, err)
	}
}
