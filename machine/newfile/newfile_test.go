//go:build linux

package newfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A file gets its name when it is complete. A process that is killed at any moment leaves no empty file, which a second
// attempt would mistake for somebody else's.
func TestPlacedWhole(t *testing.T) {
	t.Parallel()
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
		path, err := Write(filepath.Join(dir, "f.csv"), strconv.Itoa(n), Number, func(w io.Writer) error {
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

// A link or a pipe that another user placed is not followed, with --overwrite neither. Only root can make one here; package owned
// tests the same as an ordinary user.
func TestOverwriteOfAnother(t *testing.T) {
	dir := t.TempDir()
	target, link, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(target, []byte("kept"), 0o600), os.Symlink("target", link), unix.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	want := "kept"
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Lchown(link, 65534, 65534), os.Lchown(pipe, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{link, pipe} {
			_, _, err := Target(path)
			if err == nil {
				t.Errorf("%s was not refused", path)
			}
			if _, err := Write(path, "", Replace, write); err == nil {
				t.Errorf("%s was written", path)
			}
		}
	} else if _, err := Write(link, "", Replace, write); err != nil {
		t.Error(err)
	} else {
		want = "new" // through the user's own link
	}
	if text, _ := os.ReadFile(target); string(text) != want {
		t.Errorf("the target of the link has %q, want %q", text, want)
	}
}

// A link that leads to nothing is followed.
func TestDanglingLink(t *testing.T) {
	for _, then := range []Existing{Keep, Number, Replace} {
		dir := t.TempDir()
		link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
		if err := os.Symlink("target", link); err != nil {
			t.Fatal(err)
		}
		path, err := Write(link, "", then, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err })
		if text, _ := os.ReadFile(target); err != nil || path != link || string(text) != "new" {
			t.Errorf("%v: %s, %v, %q", then, path, err, text)
		}
	}
}
