package symbols

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program or debug file that is there and cannot be read differs from one that is missing.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	folder, garbage := filepath.Join(dir, "folder"), filepath.Join(dir, "garbage")
	if err := os.MkdirAll(filepath.Join(dir, ".build-id", "ab", "cdef.debug"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(garbage, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		module     Module
		reason     string
		unreadable bool
	}{
		{Module{Path: folder}, "not a regular file", true},
		{Module{Path: garbage}, "not an ELF file", true},
		{Module{Path: filepath.Join(dir, "missing")}, "not found", false},
		{Module{Path: filepath.Join(dir, "missing"), BuildID: "abcdef"}, "cdef.debug: not a regular file", true},
	} {
		s := New(Options{Directories: []string{dir}})
		s.Resolve(&c.module, 0x10)
		all := s.Problems()
		s.Close()
		if len(all) != 1 || all[0].Unreadable != c.unreadable || !strings.Contains(all[0].Reason, c.reason) {
			t.Errorf("%+v: %+v", c.module, all)
		}
	}
}
