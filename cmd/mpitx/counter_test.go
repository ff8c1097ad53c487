package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// TestProfileCounter: a profile has the calls, messages, bytes and peers that a PMPI library counts in the same job.
func TestProfileCounter(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		dir := t.TempDir()
		counter := filepath.Join(dir, "counter.so")
		if text, err := exec.Command("mpicc."+family, "-shared", "-fPIC", "-O1", "-w", "-o", counter, "testdata/profile/counter.c").CombinedOutput(); err != nil {
			t.Fatalf("counter.c: %v\n%s", err, text)
		}
		programs := map[string][]string{"solver": {buildSolver(t, family)}}
		for _, l := range languages(family) {
			switch {
			case l.missing != "":
				need.Missing(t, "the package %s is missing", l.missing)
			case l.name == "NetPIPE":
				programs[l.name] = l.argv
			case l.name == "mpi4py":
				script, err := filepath.Abs(l.argv[1])
				if err != nil {
					t.Fatal(err)
				}
				programs[l.name] = []string{l.argv[0], script}
			}
		}
		for name, program := range programs {
			t.Run(family+"/"+name, func(t *testing.T) { compareWithCounter(t, family, counter, program) })
		}
	}
}

func compareWithCounter(t *testing.T, family, counter string, program []string) {
	dir := t.TempDir()
	environ := append(testEnvironment(t), "MPITX_MPI=", "COUNTER="+filepath.Join(dir, "count"), "LD_PRELOAD="+counter)
	argv := slices.Clone(launchers[family])
	if strings.HasPrefix(filepath.Base(program[0]), "NP") {
		argv[slices.Index(argv, "4")] = "2"
	}
	p := newProcess(environ, dir, slices.Concat(argv, []string{"mpitx", "profile", "--dir", "run", "--"}, program)...)
	if p.run(hung); p.failure != "" || p.code != 0 {
		t.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
	}
	calls, bytes, matrix := map[string]uint64{}, map[string]uint64{}, map[string]string{}
	files, _ := filepath.Glob(filepath.Join(dir, "count.*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var what string
			var to int
			var n, size uint64
			if _, err := fmt.Sscanf(line, "to %d %d %d", &to, &n, &size); err == nil {
				matrix[strings.TrimPrefix(filepath.Ext(file), ".")+" "+fmt.Sprint(to)] = fmt.Sprint(n, " ", size)
			} else if _, err := fmt.Sscan(line, &what, &n, &size); err == nil {
				calls[what] += n
				bytes[what] += size
			} else {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	r := readReport(t, testEnvironment(t), filepath.Join(dir, "run"))
	if len(files) != len(r.Ranks) || len(calls) < 4 || len(matrix) == 0 {
		t.Fatalf("%d ranks, counted %v, %v", len(r.Ranks), calls, matrix)
	}
	for name, n := range calls {
		if f := r.function(name); f.Calls != n || f.Bytes_sent != bytes[name] {
			t.Errorf("%s: %d calls, %d bytes sent; the counter has %d and %d", name, f.Calls, f.Bytes_sent, n, bytes[name])
		}
	}
	found := map[string]string{}
	for _, m := range r.Matrix {
		found[fmt.Sprint(m.Source, " ", m.Destination)] = fmt.Sprint(m.Messages, " ", m.Bytes)
		if m.Messages != m.Messages_received || m.Bytes != m.Bytes_received {
			t.Errorf("not all of what was sent has arrived: %+v", m)
		}
	}
	if fmt.Sprint(found) != fmt.Sprint(matrix) {
		t.Errorf("matrix %v; the counter has %v", found, matrix)
	}
}
