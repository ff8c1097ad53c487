package samplerrun

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The helper thread samples less often when its wake-ups interrupt computing threads, and more often again when they no longer do. The test
// uses given numbers, so it does not depend on the machine.
func TestPace(t *testing.T) {
	program := filepath.Join(t.TempDir(), "pace")
	if out, err := exec.Command("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", program, "-I", "../..", "../sampler_pace.c", "../../tools/sample/pace.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const w = "16 "
	for _, c := range []struct{ name, interval, windows, want string }{
		{"a core is free", "100000", w + "0 " + w + "1 " + w + "3 " + w + "2", "1 1 1 1"},
		{"all compute", "100000", w + "16 " + w + "16", "10! 10"},
		{"all compute, shorter", "50000", w + "4", "20!"},
		{"all compute, an odd interval", "300000", w + "16", "4!"},
		{"all compute, long enough", "1000000", w + "16 " + w + "0 " + w + "0 " + w + "0 " + w + "0", "1! 1 1 1 1!"},
		{"a region ends", "100000", w + "16 " + w + "0 " + w + "1 " + w + "0 " + w + "1 " + w + "0", "10! 10 10 10 1! 1"},
		{"pauses within a region", "100000", w + "16 " + w + "0 " + w + "0 " + w + "0 " + w + "2 " + w + "0 " + w + "0 " + w + "0 " + w + "0", "10! 10 10 10 10 10 10 10 1!"},
		{"others interrupt, too", "100000", w + "400 " + w + "3", "10! 10"},
	} {
		cmd := exec.Command(program, c.interval)
		cmd.Stdin = strings.NewReader(c.windows)
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: %v %s", c.name, err, fmt.Sprintf("%q, not %q", got, c.want))
		}
	}
}
