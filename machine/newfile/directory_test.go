package newfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A directory is there with all its files, or not at all.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("empty"), 0o700), os.Mkdir(at("full"), 0o700), os.WriteFile(at("full/file"), nil, 0o600), os.WriteFile(at("file"), []byte("kept"), 0o600)); err != nil {
		t.Fatal(err)
	}
	fill := func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) }
	broken := errors.New("broken")
	never := make(chan os.Signal)
	late := func(name string) func(string) error { // somebody else is faster
		return func(dir string) error {
			return errors.Join(fill(dir), os.Mkdir(at(name), 0o700), os.WriteFile(filepath.Join(at(name), "theirs"), nil, 0o600))
		}
	}
	for _, c := range []struct {
		name string
		fill func(string) error
		want error
	}{
		{"one", fill, nil}, {"two/", fill, nil}, {"empty", fill, nil}, {"full", fill, fs.ErrExist}, {"file", fill, fs.ErrExist}, {"no/directory", fill, fs.ErrNotExist},
		{"failed", func(dir string) error { return errors.Join(fill(dir), broken) }, broken}, {"late", late("late"), fs.ErrExist},
	} {
		if err := Directory(dir+"/"+c.name, never, c.fill); !errors.Is(err, c.want) || err != nil && c.want == nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Stat(at(c.name) + "/new"); (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if text, err := os.ReadFile(at("file")); string(text) != "kept" {
		t.Error("the file is gone", err)
	}
	if st, err := os.Stat(at("empty")); err != nil || st.Mode().Perm() != 0o700 {
		t.Error("the mode has changed", err)
	}

	stop, ended := make(chan os.Signal, 1), make(chan bool)
	err := Directory(at("stopped"), stop, func(dir string) error {
		defer close(ended)
		stop <- syscall.SIGTERM
		for fill(dir) == nil { // until the directory is gone
		}
		return nil
	})
	if s := new(Stopped); !errors.As(err, &s) || s.Signal != syscall.SIGTERM {
		t.Error(err)
	}
	<-ended
	if left, _ := filepath.Glob(at(".*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := os.Stat(at("stopped")); err == nil {
		t.Error("the stopped directory is there")
	}
}
