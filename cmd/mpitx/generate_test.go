package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra/doc"

	"mpitx/cmd/mpitx/internal/locate"
)

// TestGenerated compares completions/ and man/ with what the commands would generate now; `make generate` writes them.
func TestGenerated(t *testing.T) {
	want := map[string][]byte{}
	root := newRoot(&app{errs: io.Discard, env: &locate.Env{}})
	for path, generate := range map[string]func(io.Writer) error{
		"completions/mpitx.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"completions/_mpitx":     root.GenZshCompletion,
		"completions/mpitx.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"completions/mpitx.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := generate(&b); err != nil {
			t.Fatal(err)
		}
		want[path] = b.Bytes()
	}
	for path, text := range manPages(t) {
		want[path] = text
	}
	if *update {
		for _, dir := range []string{"completions", "man"} {
			os.RemoveAll(filepath.Join("../..", dir))
			if err := os.MkdirAll(filepath.Join("../..", dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for path, text := range want {
			if err := os.WriteFile(filepath.Join("../..", path), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	var have []string
	for _, dir := range []string{"completions", "man"} {
		entries, err := os.ReadDir(filepath.Join("../..", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			have = append(have, dir+"/"+e.Name())
		}
	}
	for path, text := range want {
		if got, err := os.ReadFile(filepath.Join("../..", path)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s is stale: run make generate", path)
		}
		if k := slices.Index(have, path); k >= 0 {
			have = slices.Delete(have, k, k+1)
		}
	}
	for _, path := range have {
		t.Errorf("%s is not generated any more: run make generate", path)
	}
}

// manPages are the manual pages, with the sections that cobra does not know.
func manPages(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	date := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	header := &doc.GenManHeader{Title: "MPITX", Section: "1", Source: "mpitx", Manual: "mpitx manual", Date: &date}
	if err := doc.GenManTree(newRoot(&app{errs: io.Discard, env: &locate.Env{}}), header, dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]byte{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		pages["man/"+e.Name()] = append(append(text, manScreen(t, e.Name())...), manEnd...)
	}
	return pages
}

// manScreen is the section with what a full screen looks like: that of the documentation, which comes from a real run.
func manScreen(t *testing.T, page string) string {
	from := map[string]string{"mpitx-tui.1": "docs/explorer.md"}[page]
	if from == "" {
		return ""
	}
	_, text, _ := strings.Cut(document(t, from), "## Reading and writing")
	_, text, found := strings.Cut(text, "\n\n    ")
	screen, _, end := strings.Cut(text, "\n\n")
	if !found || !end {
		t.Fatalf("%s: no screen below its heading", from)
	}
	screen = strings.ReplaceAll(screen, "\n    ", "\n")
	return ".SH SCREEN\n.EX\n" + strings.NewReplacer(`\`, `\e`, "\n.", "\n\\&.", "-", `\-`).Replace(screen) + "\n.EE\n"
}

var manEnd = strings.TrimLeft(`
.SH ENVIRONMENT
.TP
\fBMPITX_MPI\fP
The MPI to use, as with \fB--mpi\fP.
.TP
\fBXDG_CACHE_HOME\fP, \fBXDG_DATA_HOME\fP
Where the names of variables are kept for completion, and the shims that \fBmpitx setup\fP builds.
.TP
\fBNO_COLOR\fP, \fBCOLUMNS\fP
Without colours; the width of the terminal.
.SH EXIT STATUS
.TP
\fB0\fP
Done. Also if the filters leave nothing, and if a listing met faulty variables.
.TP
\fB1\fP
Failed. Also if nothing of what was named exists: a variable, a run, a file, a program.
.TP
\fB2\fP
The command line is wrong: a command, a flag, its value, or what does not go together. Nothing was started.
.TP
\fB3\fP
Done in part: some of the names do not exist, a variable that was named could not be read, a write was refused, ranks, a stage or a
part of a run are missing.
.TP
\fB128+n\fP
Ended by signal n.
.PP
\fBmpitx sample\fP and \fBmpitx record\fP end with the application's code, once it was started.
`, "\n")
