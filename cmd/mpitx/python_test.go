//go:build cgo && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/recording/recordingtest"
)

const python = "/usr/bin/python3"

// needPython skips a test without Debian's Python and its modules.
func needPython(t *testing.T, modules ...string) {
	t.Helper()
	for _, m := range modules {
		if exec.Command(python, "-c", "import "+m).Run() != nil {
			need.Missing(t, "python3-%s is not installed", m)
		}
	}
}

// testPython runs python/tests/test_mpitx.py, or one of its classes, on runs, with pandas and without.
func testPython(t *testing.T, environ []string, dir, damaged, class string, runs ...string) {
	t.Helper()
	needPython(t, "pandas")
	source, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	environ = append(environ, "PYTHONPATH="+source, "PYTHONDONTWRITEBYTECODE=1", "MPITX_TEST_RUNS="+strings.Join(runs, ":"), "MPITX_TEST_DAMAGED="+damaged)
	for with, flags := range map[string][]string{"with": nil, "without": {"-S"}} { // -S: only the standard library
		words := append(append([]string{python}, flags...), filepath.Join(source, "tests", "test_mpitx.py"))
		if class != "" {
			words = append(words, class)
		}
		p := newProcess(environ, dir, words...)
		p.run(hung)
		if p.code != 0 || !strings.HasPrefix(p.stdout.String(), with+" pandas") {
			t.Errorf("%s pandas: exit code %d: %s", with, p.code, p.output())
		}
	}
}

// TestPython runs the tests of the Python package on written runs.
func TestPython(t *testing.T) {
	t.Parallel()
	environ, dir := testEnvironment(t), t.TempDir()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	ring := recordingtest.Ring{Ranks: 3, Rounds: 40}
	for name, save := range map[string]func(string) error{
		"ring": ring.Save, "damaged": ring.Save, "solver": recordingtest.SaveSolver, "late": recordingtest.SaveLate, "queues": recordingtest.SaveQueues,
		"traced": func(dir string) error { return recordingtest.SaveTrace(dir, 10) },
	} {
		if err := save(path(name)); err != nil {
			t.Fatal(err)
		}
	}
	chunks := filepath.Join(path("damaged"), "node-node1.mpxr")
	b, err := os.ReadFile(chunks)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[len(b)/4:][:200]) // in calls of the trace
	if err := os.WriteFile(chunks, b, 0o600); err != nil {
		t.Fatal(err)
	}
	testPython(t, environ, dir, path("damaged"), "", path("ring"), path("solver"), path("late"), path("queues"), path("traced"))
}

// The package has mpitx's version.
func TestPythonVersion(t *testing.T) {
	version := regexp.MustCompile(`(?m)^VERSION=(.*)$`).FindStringSubmatch(document(t, "scripts/setup.sh"))
	if version == nil || !strings.Contains(document(t, "python/pyproject.toml"), "\nversion = \""+version[1]+"\"\n") {
		t.Errorf("python/pyproject.toml does not have version %v", version)
	}
}

// TestPythonOnRuns runs them on a run of each MPI.
func TestPythonOnRuns(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		solver := buildSolver(f.T, f.family)
		f.launch("run", "--trace", "--profile", "--sample", "mpitx:*", "--dir", "run1", "--", solver)
		testPython(f.T, f.environ, f.dir, "", "Tables", filepath.Join(f.dir, "run1"))
		if f.family == "openmpi" { // whose run the pages show
			testPages(f)
		}
	})
}

var (
	pythonBlocks = regexp.MustCompile("(?ms)^```python\n.*?^```\n\n(    (.*?)\n)?")
	sqlBlocks    = regexp.MustCompile("(?ms)^```sql\n(.*?)^```\n\n((?:    [^\n]*\n)+)")
)

// testPages runs the Python of docs/python.md and docs/python.ipynb, and the queries, on the run run1.
func testPages(f *onFamily) {
	needPython(f.T, "pandas", "matplotlib")
	source, err := filepath.Abs("../..")
	if err != nil {
		f.Fatal(err)
	}
	f.environ = append(f.environ, "PYTHONPATH="+filepath.Join(source, "python"), "PYTHONDONTWRITEBYTECODE=1", "MPLBACKEND=Agg")
	blocks := func(page string) []string {
		p := f.run(python, filepath.Join(source, "python", "tests", "run_page.py"), filepath.Join(source, page))
		if p.code != 0 || strings.Contains(p.stderr.String(), "Error") {
			f.Fatalf("%s: exit code %d: %s", page, p.code, p.output())
		}
		return strings.Split(p.stdout.String(), "# block ")[1:]
	}
	page := document(f.T, "docs/python.md")
	shown := pythonBlocks.FindAllStringSubmatch(page, -1)
	found := blocks("docs/python.md")
	if len(found) != len(shown) || len(found) < 5 {
		f.Fatalf("docs/python.md has %d blocks, and %d ran", len(shown), len(found))
	}
	for i, s := range shown { // the first line of their output, as it has no times
		lines := strings.Split(found[i], "\n")
		if got, want := strings.Fields(lines[1]), strings.Fields(s[2]); !slices.Equal(got, want) {
			f.Errorf("docs/python.md: block %d prints %q, not %q", i+1, got, want)
		}
	}
	if csv, err := os.ReadFile(filepath.Join(f.dir, "matrix.csv")); string(csv) != "source,0,1,2,3\n0,0,50000,0,0\n1,100,0,50000,0\n2,200,0,0,50001\n3,50300,0,0,0\n" {
		f.Errorf("matrix.csv: %v: %s", err, csv)
	}
	notebook := strings.Join(blocks("docs/python.ipynb"), "")
	if n := strings.Count(notebook, "# figure 1\n") + strings.Count(notebook, "# figure 2\n"); n != 4 || strings.Contains(notebook, "Empty DataFrame") {
		f.Errorf("docs/python.ipynb: %d plots with data: %s", n, notebook)
	}
	if p := f.run("mpitx", "export", "run1", "-o", "parquet", "--out", "samples.parquet"); p.code != 0 {
		f.Fatal(p.output())
	}
	for _, s := range sqlBlocks.FindAllStringSubmatch(page, -1) {
		r := duckdb(f.T, f.dir, s[1])[0]
		got := []string{strings.Join(r.Columns, " ")}
		for _, l := range r.lines() {
			got = append(got, strings.ReplaceAll(l, "|", " "))
		}
		if want := strings.Join(strings.Fields(s[2]), " "); strings.Join(got, " ") != want {
			f.Errorf("docs/python.md: %s: DuckDB has %v, not %s", s[1], got, want)
		}
	}
}
