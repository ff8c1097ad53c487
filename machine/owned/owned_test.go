//go:build unix

package owned

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// As root, files are given to another user. An ordinary user cannot do that, and becomes another one, to whom this user's files are foreign.
const nobody = 65534

// other makes what make makes, as another user.
func other(t *testing.T, path string, make func() error) {
	t.Helper()
	if err := make(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		self = func() int { return os.Geteuid() + 1 }
		t.Cleanup(func() { self = os.Geteuid })
	} else if err := os.Lchown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
}

func directory(t *testing.T, mode os.FileMode, path ...string) string {
	t.Helper()
	dir := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, mode)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDirectory(t *testing.T) {
	top := t.TempDir()
	for mode, ok := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o777: false, 0o777 | os.ModeSticky: false} {
		dir := directory(t, mode, top, "own")
		if _, err := Directory(dir); (err == nil) != ok {
			t.Errorf("a directory of mode %v: %v", mode, err)
		}
	}
	for mode, ok := range map[os.FileMode]bool{0o755: true, 0o775: false, 0o777: false, 0o777 | os.ModeSticky: true} {
		directory(t, mode, top, "shared")
		if _, err := Directory(directory(t, 0o700, top, "shared", "own")); (err == nil) != ok {
			t.Errorf("within a directory of mode %v: %v", mode, err)
		}
	}
	if err := os.Symlink("own", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	directory(t, 0o700, top, "own")
	if real, err := Directory(filepath.Join(top, "link")); err != nil || filepath.Base(real) != "own" {
		t.Errorf("a link of this user: %s, %v", real, err)
	}
	foreign := filepath.Join(directory(t, 0o777|os.ModeSticky, top, "shared"), "foreign")
	other(t, foreign, func() error { return os.Mkdir(foreign, 0o755) })
	var another *Error
	if _, err := Directory(foreign); !errors.As(err, &another) {
		t.Errorf("a directory of another user: %v", err)
	}
}

func TestFollow(t *testing.T) {
	dir := directory(t, 0o777|os.ModeSticky, t.TempDir(), "shared")
	file, own, foreign := filepath.Join(dir, "file"), filepath.Join(dir, "own"), filepath.Join(dir, "foreign")
	if err := errors.Join(os.WriteFile(file, []byte("kept"), 0o600), os.Symlink("file", own)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, own} {
		if target, err := Follow(path); err != nil || target != file {
			t.Errorf("%s: %s, %v", path, target, err)
		}
	}
	if target, err := Follow("/dev/stdout"); err != nil {
		t.Errorf("/dev/stdout: %s, %v", target, err)
	}
	other(t, foreign, func() error { return os.Symlink("file", foreign) })
	var another *Error
	if target, err := Follow(foreign); !errors.As(err, &another) {
		t.Errorf("a link of another user: %s, %v", target, err)
	}
	if f, err := Create(foreign, 0o600); err == nil {
		f.Close()
		t.Error("a link of another user was opened")
	}
	placed := filepath.Join(dir, "placed")
	other(t, placed, func() error { return os.WriteFile(placed, nil, 0o666) })
	if f, err := Create(placed, 0o600); err == nil {
		f.Close()
		t.Error("a file that another user placed was opened")
	}
	if text, _ := os.ReadFile(file); string(text) != "kept" {
		t.Errorf("the file has %q", text)
	}
}
