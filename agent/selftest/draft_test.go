package selftest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// draftStatements is the number of lines that fixtures/qmpi/draft.c and draft_app.c print.
const draftStatements = 27

// Every statement of the QMPI draft about registration, order, storage and calling addresses, on the agent's chain.
func TestDraft(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		tool := f.compile(t, "mpicc", "../../../fixtures/qmpi/draft.c", "-shared", "-fPIC")
		var config []string
		for _, name := range []string{"outer", "inner", "outer"} {
			config = append(config, "tool="+tool, "tool_name="+name)
		}
		r := f.run(t, job{ranks: 1, config: config}, f.compile(t, "mpicc", "../../../fixtures/qmpi/draft_app.c", "-rdynamic"), tool)
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		if len(lines) != draftStatements || slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "ok ") }) || r.code != 0 {
			t.Errorf("%d lines, exit code %d: %s%s\n%q", len(lines), r.code, r.stdout, r.stderr, r.counts["note"])
		}
	})
}

// The same on a library that has the interface by the book. So the checks themselves are right.
func TestDraftByTheBook(t *testing.T) {
	dir, source := t.TempDir(), "../../fixtures/qmpi/"
	compile := func(output string, arguments ...string) string {
		output = filepath.Join(dir, output)
		arguments = append([]string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-I" + source + "book", "-o", output}, arguments...)
		if text, err := exec.Command("cc", arguments...).CombinedOutput(); err != nil {
			t.Fatalf("cc %v: %v\n%s", arguments, err, text)
		}
		return output
	}
	library := compile("libbook.so", "-shared", source+"book/book.c")
	tool := compile("draft.so", "-shared", source+"draft.c", library)
	app := compile("draft_app", "-rdynamic", source+"draft_app.c", library)
	command := exec.Command(app, tool)
	command.Env = append(os.Environ(), "BOOK_TOOLS=outer,inner,outer", "LD_PRELOAD="+tool)
	text, err := command.CombinedOutput()
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || len(lines) != draftStatements || slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "ok ") }) {
		t.Errorf("%d lines: %v\n%s", len(lines), err, text)
	}
}
