//go:build linux

package store

import (
	"os"
	"path/filepath"
	"testing"
)

// The holes of a file are skipped: reading this one would take many minutes.
func TestFindSkipsHoles(t *testing.T) {
	h, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const chunk, end = 1<<40 + 100, 1 << 41
	h.WriteAt([]byte("not a chunk"), 0)
	if _, err := h.WriteAt([]byte(chunkMagic), chunk); err != nil {
		t.Fatal(err)
	}
	if err := h.Truncate(end); err != nil {
		t.Fatal(err)
	}
	if next := nextData(h, 1<<20); next < 1<<39 {
		t.Fatalf("the next data is at %d", next) // before reading it all
	}
	if got := find(h, 1, end); got != chunk {
		t.Errorf("the chunk was found at %d", got)
	}
	if got := find(h, chunk+1, end); got != -1 {
		t.Errorf("another chunk was found at %d", got)
	}
}
