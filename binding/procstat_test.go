package binding

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

func TestProcstat(t *testing.T) {
	need.Commands(t, "cc")
	program := filepath.Join(t.TempDir(), "procstat")
	if out, err := exec.Command("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/procstat.c", "procstat.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// exec keeps the shell's process and its start time.
	out, err := exec.Command("sh", "-c", `sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20; exec "$1"`, "sh", program).CombinedOutput()
	start, rest, _ := strings.Cut(string(out), "\n")
	if want := "a) Z 7 (b|R|1|1|0|" + start + "\n"; err != nil || start == "" || rest != want {
		t.Fatalf("%v: %q, want %q", err, rest, want)
	}
}
