package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// A file gets its name when it is complete. A process that is killed at any moment leaves no empty file, which a second
// attempt would mistake for somebody else's.
func TestPlacedWhole(t *testing.T) {
	dir := t.TempDir()
	empty, stop := make(chan string), make(chan struct{})
	go func() {
		defer close(empty)
		for n := 1; ; {
			name := filepath.Join(dir, numbered("f.csv", n))
			if st, err := os.Stat(name); err == nil && st.Size() == 0 {
				empty <- name
				return
			} else if err == nil {
				n++
				continue
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for n := 1; n <= 1000; n++ {
		path, err := createFile(filepath.Join(dir, "f.csv"), strconv.Itoa(n), numberIt, func(w io.Writer) error {
			_, err := io.WriteString(w, "whole\n")
			return err
		})
		if want := filepath.Join(dir, numbered("f.csv", n)); err != nil || path != want {
			t.Fatalf("%s: %v, want %s", path, err, want)
		}
	}
	close(stop)
	if name, found := <-empty; found {
		t.Errorf("%s was seen empty", name)
	}
}
