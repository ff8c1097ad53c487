//go:build cgo && linux

package main

import (
	"debug/elf"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/machine"
)

// language is an unmodified application with known calls.
type language struct {
	name    string
	missing string // the Debian package without which it cannot be tested here
	argv    []string
	ranks   int
	fails   bool // ends with code 3 if it has an argument
	// the final counts of each rank; all others are 0
	counts func(rank int) map[string]uint64
	// waiting is how many messages from its left neighbour are unexpected at each rank for a while; 0: unknown.
	waiting int
}

// ring are the counts of f77.f, f90.f90, f08.f90 and python.py on each of four ranks; more are calls that only one of them makes.
func ring(initialize string, more map[string]uint64) func(int) map[string]uint64 {
	return func(int) map[string]uint64 {
		counts := map[string]uint64{
			"mpitx:messages_sent": 25 + 7, "mpitx:messages_received": 25 + 7, "mpitx:bytes_sent": 25*400 + 7*16, "mpitx:bytes_received": 25*400 + 7*16,
			"mpitx:bytes_sent/MPI_Isend": 25 * 400, "mpitx:bytes_sent/MPI_Send": 7 * 16,
			"mpitx:collectives": 2, "mpitx:collective_bytes_sent": 4, "mpitx:collective_bytes_received": 4, "mpitx:calls/" + initialize: 1,
		}
		for function, n := range map[string]uint64{"Comm_rank": 1, "Comm_size": 1, "Irecv": 25, "Isend": 25, "Waitall": 25, "Send": 7, "Recv": 7,
			"Iprobe": 20000, "Barrier": 1, "Allreduce": 1} {
			counts["mpitx:calls/MPI_"+function] = n
		}
		maps.Copy(counts, more)
		return withCalls(counts)
	}
}

// netpipe are the counts of NetPIPE with -n 10 -u 64 -p 0: a hundred messages of one byte for the latency, three times ten messages each
// way for each of twelve sizes, and for each size an int from rank 0 to rank 1 with the number of repetitions.
func netpipe(rank int) map[string]uint64 {
	var sent, received [2]uint64 // messages, bytes
	for r := range 2 {
		messages, bytes := uint64(100), uint64(100)
		for _, size := range []uint64{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} {
			messages, bytes = messages+3*10, bytes+3*10*size
		}
		if r == 0 {
			messages, bytes = messages+12, bytes+12*4
		}
		if r == rank {
			sent = [2]uint64{messages, bytes}
		} else {
			received = [2]uint64{messages, bytes}
		}
	}
	const barriers = 2 + 12*4
	return withCalls(map[string]uint64{
		"mpitx:messages_sent": sent[0], "mpitx:bytes_sent": sent[1], "mpitx:bytes_sent/MPI_Send": sent[1], "mpitx:messages_received": received[0],
		"mpitx:bytes_received": received[1], "mpitx:collectives": barriers, "mpitx:calls/MPI_Init": 1, "mpitx:calls/MPI_Comm_rank": 1,
		"mpitx:calls/MPI_Comm_size": 1, "mpitx:calls/MPI_Send": sent[0], "mpitx:calls/MPI_Recv": received[0], "mpitx:calls/MPI_Barrier": barriers,
	})
}

// withCalls adds the number of all calls; none may be counted twice.
func withCalls(counts map[string]uint64) map[string]uint64 {
	var calls uint64
	for name, n := range counts {
		if strings.HasPrefix(name, "mpitx:calls/") {
			calls += n
		}
	}
	counts["mpitx:calls"] = calls
	return counts
}

// languages are the applications for one MPI.
func languages(family string) []language {
	missing := func(path, name string) string {
		if _, err := exec.LookPath(path); err != nil {
			return name
		}
		return ""
	}
	pipe := map[string]string{machine.OpenMPI: "NPopenmpi", machine.MPICH: "NPmpich2"}[family]
	all := []language{{
		name: "NetPIPE", missing: missing(pipe, map[string]string{machine.OpenMPI: "netpipe-openmpi", machine.MPICH: "netpipe-mpich2"}[family]),
		argv: []string{pipe, "-n", "10", "-u", "64", "-p", "0", "-o", "/dev/null"}, ranks: 2, counts: netpipe,
	}}
	for _, source := range []string{"f77.f", "f90.f90", "f08.f90"} {
		all = append(all, language{name: source, missing: missing("gfortran", "gfortran"), argv: []string{source}, ranks: 4, fails: true,
			counts: ring("MPI_Init", nil), waiting: 7})
	}
	// Debian builds mpi4py for one MPI only. Under the other one's launcher it is four jobs of one rank, with and without mpitx.
	const python = "/usr/bin/python3"
	modules, _ := filepath.Glob("/usr/lib/python3/dist-packages/mpi4py/MPI.*.so")
	if len(modules) == 0 {
		return append(all, language{name: "mpi4py", missing: "python3-mpi4py"})
	}
	if module, err := elf.Open(modules[0]); err == nil && links(module, family) {
		more := map[string]uint64{"mpitx:calls/MPI_Comm_test_inter": 1, "mpitx:calls/MPI_Comm_set_errhandler": 2,
			"mpitx:calls/MPI_Initialized": 3, "mpitx:calls/MPI_Finalized": 3}
		if four, _ := filepath.Glob("/usr/lib/python3/dist-packages/mpi4py-4.*"); len(four) > 0 {
			more["mpitx:calls/MPI_Comm_size"], more["mpitx:calls/MPI_Get_version"] = 2, 1
		}
		all = append(all, language{name: "mpi4py", argv: []string{python, "testdata/languages/python.py"}, ranks: 4, fails: true, waiting: 7,
			counts: ring("MPI_Init_thread", more)})
	}
	return all
}

func links(file *elf.File, family string) bool {
	defer file.Close()
	libraries, _ := file.ImportedLibraries()
	return slices.ContainsFunc(libraries, func(l string) bool {
		return strings.HasPrefix(l, map[string]string{machine.OpenMPI: "libmpi.so.40", machine.MPICH: "libmpich.so.12"}[family])
	})
}

// TestLanguages checks that applications in C, in Fortran with each of its three bindings, and in Python run as without the agent, and that
// every call, message and byte is counted once.
func TestLanguages(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range []string{machine.OpenMPI, machine.MPICH} {
		for _, l := range languages(family) {
			t.Run(family+"/"+l.name, func(t *testing.T) {
				if !slices.Contains(families, family) {
					need.Missing(t, "an agent for %s is missing", family)
				}
				if l.missing != "" {
					need.Missing(t, "the package %s is missing", l.missing)
				}
				l.test(t, family)
			})
		}
	}
}

func (l *language) test(t *testing.T, family string) {
	bin, _ := build()
	dir, err := os.MkdirTemp(work, "l")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(l.argv[0], ".f") {
		program := filepath.Join(dir, "app")
		out, err := exec.Command("mpif90."+family, "-o", program, "testdata/languages/"+l.argv[0]).CombinedOutput()
		if err != nil {
			t.Fatalf("mpif90.%s: %v\n%s", family, err, out)
		}
		l.argv = []string{program}
	}
	for i, word := range l.argv {
		if strings.HasPrefix(word, "testdata/") {
			l.argv[i], _ = filepath.Abs(word)
		}
	}
	launch := []string{"mpirun." + family, "-n", strconv.Itoa(l.ranks)}
	if family == machine.OpenMPI {
		launch = slices.Insert(launch, 1, "--oversubscribe")
	}
	environ := environment(dir, dir, bin)
	run := func(code int, argv ...string) *process {
		p := newProcess(environ, dir, append(slices.Clone(launch), argv...)...)
		p.run(hung)
		if p.failure != "" || p.code != code {
			t.Fatalf("%s\nexit code %d, want %d\n%s", p.failure, p.code, code, p.output())
		}
		return p
	}
	without := run(0, l.argv...)
	sample := []string{"mpitx", "sample", "--interval", "500us", "--as", "raw", "--out", "s.csv", "--pvar", "mpitx:*"}
	for _, name := range slices.Sorted(maps.Keys(l.counts(0))) {
		if strings.Contains(name, "/") {
			sample = append(sample, "--pvar", name)
		}
	}
	if family == machine.OpenMPI {
		sample = append(sample, "--pvar", "pml_ob1_unexpected_msgq_length")
	}
	with := run(0, append(append(sample, "--"), l.argv...)...)
	if a, b := sortedLines(without.stdout.String()), sortedLines(with.stdout.String()); a != b {
		t.Errorf("standard output without the agent:\n%s\nwith it:\n%s", a, b)
	}
	if a, b := l.results(without), l.results(with); a != b {
		t.Errorf("standard error without the agent:\n%s\nwith it:\n%s", a, b)
	}
	l.check(t, family, filepath.Join(dir, "s.csv"))
	if l.fails {
		failing := append(slices.Clone(l.argv), "fail")
		run(3, failing...)
		run(3, append([]string{"mpitx", "record", "--dir", "run", "--pvar", "mpitx:*", "--"}, failing...)...)
	}
}

func sortedLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// results are the parts of NetPIPE's output that are equal in all its runs.
func (l *language) results(p *process) string {
	return sortedLines(strings.Join(regexp.MustCompile(`(?m)^ *\d+: +\d+ bytes +\d+ times`).FindAllString(p.stderr.String(), -1), "\n"))
}

// check compares the last sample of each rank with the known counts.
func (l *language) check(t *testing.T, family, path string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]string{}     // by rank and variable
	waited := make([]bool, l.ranks) // for exactly the messages of the left neighbour that wait
	for _, row := range rows[1:] {
		rank, _ := strconv.Atoi(row[1])
		variable, element, value := row[3], row[5], row[6]
		last[row[1]+" "+variable] = value
		if variable == "pml_ob1_unexpected_msgq_length" && element == strconv.Itoa((rank+l.ranks-1)%l.ranks) && value == strconv.Itoa(l.waiting) {
			waited[rank] = true
		}
	}
	for rank := range l.ranks {
		want := l.counts(rank)
		for key, value := range last {
			name, ok := strings.CutPrefix(key, fmt.Sprint(rank)+" mpitx:")
			name = "mpitx:" + name
			if !ok || strings.HasPrefix(name, "mpitx:time_in_") || strings.HasPrefix(name, "mpitx:cpu_") {
				continue
			}
			if value != strconv.FormatUint(want[name], 10) {
				t.Errorf("rank %d: %s is %s, want %d", rank, name, value, want[name])
			}
			delete(want, name)
		}
		for name := range want {
			t.Errorf("rank %d: %s was not sampled", rank, name)
		}
		if family == machine.OpenMPI && l.waiting > 0 && !waited[rank] {
			t.Errorf("rank %d: pml_ob1_unexpected_msgq_length never was %d for its left neighbour", rank, l.waiting)
		}
		if ns, _ := strconv.ParseInt(last[fmt.Sprint(rank)+" mpitx:time_in_mpi"], 10, 64); ns <= 0 {
			t.Errorf("rank %d: no time in MPI", rank)
		}
	}
}
