package selftest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"mpitx/fixtures/need"
)

// No predefined datatype is forgotten for another one, wherever the library and the program are loaded.
func TestSizesOfPredefinedTypes(t *testing.T) {
	need.Commands(t, "cc")
	program := filepath.Join(t.TempDir(), "sizes")
	build := exec.Command("cc", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
		"-I..", "-I../..", "-o", program, "../test/sizes.c", "../mpi/sizes.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).CombinedOutput()
	if got, want := string(out), "forgotten 0 wrong 0\n"; err != nil || got != want {
		t.Errorf("%v: %s, want %s", err, got, want)
	}
}
