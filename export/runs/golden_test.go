package runs

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"mpitx/export"
)

var update = flag.Bool("update", false, "update the golden files")

// golden compares with testdata/NAME.txt.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update updates it). Got:\n%s\nwant:\n%s", path, got, want)
	}
}

var (
	tty   = export.Terminal{Width: 100, IsTTY: true, UTF8: true}
	pipe  = export.Terminal{UTF8: true}
	ascii = export.Terminal{Width: 80, IsTTY: true}
	color = export.Terminal{Width: 80, IsTTY: true, UTF8: true, Color: true}
)
