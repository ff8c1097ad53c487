package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/machine"
)

func TestEventRules(t *testing.T) {
	home := t.TempDir()
	e := &machine.Env{Environ: []string{"HOME=" + home}}
	check := func(want ...string) {
		t.Helper()
		if got, err := CountedEvents(e); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	const own = "mpich unexp_message_dequeued the library crashes when its data are read"
	check(own)
	file := filepath.Join(home, ".config", "mpitx", "events.txt")
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# mine\nopenmpi ompi.mpi.win_* it hangs here\n")
	check(own, "openmpi ompi.mpi.win_* it hangs here")
	for text, want := range map[string]string{"\nopenmpi x\n": ":2: a rule has", "lam x y\n": `"lam" is not a family`, "mpich [ y\n": `"["`} {
		write(text)
		if _, err := CountedEvents(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
