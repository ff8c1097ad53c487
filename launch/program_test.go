package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/machine"
)

// A run knows the program that it recorded, and the settings that it had.
func TestProgram(t *testing.T) {
	for text, want := range map[string][]string{
		`{"command": ["mpitx", "profile", "-n", "2", "--", "./app", "--", "x y"]}`: {"./app", "--", "x y"},
		`{"command": ["mpitx", "run", "./app"]}`:                                   nil,
		`{"command": []}`:                                                          nil,
		`{`:                                                                        nil,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Program(dir); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := Program(t.TempDir()); got != nil {
		t.Errorf("no run: %q", got)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(`{"environment": {"OMPI_MCA_btl": "self,tcp"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e := EnvOf(&machine.Env{Environ: []string{"OMPI_MCA_btl=self,sm", "UCX_TLS=tcp", "HOME=/h"}, PID: 3}, dir)
	if got := strings.Join(e.Environ, " "); got != "HOME=/h OMPI_MCA_btl=self,tcp" || e.PID != 3 {
		t.Errorf("%q", got)
	}
}
