//go:build cgo && linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/machine"
)

// compileNames makes testdata/names.c, with all functions that agents know, MPI_X and PMPI_X.
func compileNames(t *testing.T, family, dir string) string {
	t.Helper()
	text, err := os.ReadFile("../../agent/prototypes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names strings.Builder
	for _, m := range regexp.MustCompile(`(?m)^(MPIX?_\w+) \S+ \(`).FindAllStringSubmatch(string(text), -1) {
		fmt.Fprintf(&names, "NAME(%s)\nNAME(P%s)\n", m[1], m[1])
	}
	if err := os.WriteFile(filepath.Join(dir, "names.h"), []byte(names.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	app, lib := filepath.Join(dir, "names"), filepath.Join(dir, "libnames.so")
	for _, options := range [][]string{{"-DLIBRARY", "-shared", "-fPIC", "-o", lib}, {"-fPIE", "-pie", "-o", app, lib}} {
		argv := append([]string{"mpicc." + family, "-w", "-I", dir, "testdata/names.c", "-Wl,--no-as-needed", "-ldl"}, options...)
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	return app
}

// TestNames: a program finds the same functions with the agent and without, by dlsym and by weak references.
func TestNames(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range []string{machine.OpenMPI, machine.MPICH} {
		t.Run(family, func(t *testing.T) {
			if !slices.Contains(families, family) {
				need.Missing(t, "an agent for %s is missing", family)
			}
			testNames(t, family)
		})
	}
}

func testNames(t *testing.T, family string) {
	bin, _ := build()
	dir := t.TempDir()
	app := compileNames(t, family, dir)
	run := func(environ []string, argv ...string) *process {
		t.Helper()
		p := newProcess(append(environment(dir, dir, bin), environ...), dir, argv...)
		p.run(hung)
		if p.failure != "" || p.code != 0 {
			t.Fatalf("%s\nexit code %d\n%s", p.failure, p.code, p.output())
		}
		return p
	}
	without := run(nil, app).stdout.String()
	for _, how := range []string{"program", "library", "dlsym"} {
		if !strings.Contains(without, how+" PMPI_Send\n") {
			t.Fatalf("without the agent:\n%s", without)
		}
	}
	record := []string{"mpitx", "record", "--pvar", "mpitx:calls", "--dir"}
	with := func(name string, notes []string, environ ...string) {
		t.Helper()
		p := run(environ, append(record, name, "--", app)...)
		if got := p.stdout.String(); len(notes) == 0 && got != without {
			t.Errorf("%s: with the agent:\n%s", name, unlike(without, got))
		}
		for _, note := range notes {
			if !strings.Contains(p.stderr.String(), note) {
				t.Errorf("%s: standard error lacks %q:\n%s", name, note, p.stderr.String())
			}
		}
		said := regexp.MustCompile(`(?m)^mpitx: \d+ of \d+ samples .*\n`).ReplaceAllString(p.stderr.String(), "") // a slow machine
		if got := strings.Count(said, "\n"); len(notes) == 0 && got != 1 {                                        // recorded in …
			t.Errorf("%s: standard error:\n%s", name, p.stderr.String())
		}
		if left, _ := filepath.Glob(filepath.Join(dir, name, "mpitx-agent*")); len(left) > 0 {
			t.Errorf("left in the run directory: %v", left)
		}
	}
	with("first", nil)
	copies, _ := filepath.Glob(filepath.Join(dir, "cache", "mpitx", "mpitx-agent-"+family+"-*.so"))
	if len(copies) != 1 {
		t.Fatalf("copies in the cache: %v", copies)
	}
	made, _ := os.Stat(copies[0])
	with("again", nil)
	if st, err := os.Stat(copies[0]); err != nil || !os.SameFile(st, made) {
		t.Errorf("%s was made again", copies[0])
	}
	if err := os.Truncate(copies[0], 1000); err != nil {
		t.Fatal(err)
	}
	with("damaged", nil)
	with("elsewhere", nil, "XDG_CACHE_HOME=/dev/null/cache")
	shared := filepath.Join(dir, "writable") // others could replace what is in it before it is loaded
	if err := errors.Join(os.Mkdir(shared, 0o700), os.Chmod(shared, 0o777)); err != nil {
		t.Fatal(err)
	}
	with("shared", nil, "XDG_CACHE_HOME="+shared)
	if copies, _ := filepath.Glob(filepath.Join(shared, "mpitx", "*.so")); len(copies) > 0 {
		t.Errorf("copies where other users can replace them: %v", copies)
	}
	// A library with two functions. The program, which a script starts, has another one.
	lib := filepath.Join(dir, map[string]string{machine.OpenMPI: "libmpi.so.40", machine.MPICH: "libmpich.so.12"}[family])
	source := "int MPI_Init(void){return 0;} int PMPI_Init(void){return 0;}"
	compile := exec.Command("cc", "-shared", "-fPIC", "-Wl,-soname,"+filepath.Base(lib), "-o", lib, "-x", "c", "-")
	compile.Stdin = strings.NewReader(source)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := run(nil, "mpitx", "record", "--pvar", "mpitx:calls", "--dir", "other", "--mpi", lib, "--", "sh", "-c", app)
	if !strings.Contains(p.stderr.String(), "functions are not seen (MPI_") || p.stdout.String() != without {
		t.Errorf("another library than was expected:\n%s%s", unlike(without, p.stdout.String()), p.stderr.String())
	}
	with("no place", []string{"functions that its MPI library does not have", "cannot write a copy of the agent"}, "XDG_CACHE_HOME=/dev/null/cache")
}

// unlike returns the lines that only one of two texts has.
func unlike(a, b string) string {
	var out strings.Builder
	in := func(text, sign, other string) {
		for line := range strings.Lines(text) {
			if !strings.Contains("\n"+other, "\n"+line) {
				out.WriteString(sign + line)
			}
		}
	}
	in(a, "-", b)
	in(b, "+", a)
	return out.String()
}
