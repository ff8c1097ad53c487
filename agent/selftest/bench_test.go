package selftest

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The cost of a wrapper per call in nanoseconds. bench.c calls a library that does nothing, alternately through the agent and directly.
// "best" is the difference of the fastest rounds, which is reliable even on a busy machine. MPI_Comm_rank represents the functions
// without messages.
func BenchmarkWrapper(b *testing.B) {
	variables := func(names ...string) (config []string) {
		for _, name := range names {
			config = append(config, "variable=mpitx:"+name)
		}
		return append(config, "counts=/dev/null")
	}
	configurations := []configuration{
		{"none", 1, nil},
		{"sampled", 0, []string{"log=/dev/null", "countdown=256"}}, // nothing is counted, but calls take samples
		{"calls", 5, variables("calls")},
		{"bytes", 0, variables("messages_sent", "bytes_sent", "messages_received", "bytes_received")},
		{"time", 0, variables("time_in_mpi")},
		{"calls+bytes+time", 25, variables("calls", "time_in_mpi", "bytes_sent", "bytes_received")},
		{"function", 0, variables("time/MPI_Send", "bytes_sent/MPI_Send", "time/MPI_Recv", "bytes_received/MPI_Recv")},
		{"null", 30, []string{"null=count"}}, // an observer with records, times and completions
	}
	benchWrappers(b, configurations)
}

// The cost of QMPI tools for MPI_Send that pass each call on, and of MPI_Recv and MPI_Comm_rank, which they do not register.
func BenchmarkQMPI(b *testing.B) {
	tool := "tool=" + filepath.Join(work, "null_tool.so")
	benchWrappers(b, []configuration{
		{"1 tool", 15, []string{tool}},
		{"2 tools", 15 + 5, []string{tool, tool}},
		{"3 tools", 15 + 2*5, []string{tool, tool, tool}},
		{"4 tools", 15 + 3*5, []string{tool, tool, tool, tool}},
	})
}

type configuration struct {
	name   string
	bound  float64
	config []string
}

func benchWrappers(b *testing.B, configurations []configuration) {
	tool := filepath.Join(work, "null_tool.so")
	for _, f := range families {
		mpicc, err := exec.LookPath("mpicc." + f.name)
		if err != nil {
			continue
		}
		f.build(b)
		if text, err := exec.Command(mpicc, "-shared", "-fPIC", "-O2", "-I../include", "-o", tool, "testdata/null_tool.c").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, text)
		}
		program, err := benchProgram(f, mpicc)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range configurations {
			b.Run(f.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					command := exec.Command(program)
					command.Env = append(os.Environ(), "BENCH_LIBRARY="+f.library, "LD_PRELOAD="+f.agent, "MPITX_AGENT="+strings.Join(append([]string{"qmpi=" + qmpi(b)}, c.config...), "\n")+"\n")
					output, err := command.Output()
					if err != nil {
						b.Fatal(err)
					}
					report(b, string(output))
				}
				if c.bound > 0 {
					b.ReportMetric(c.bound, "bound-ns")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// The cost of the wrappers per call in a loop of Irecv, Isend and Waitall to oneself, on the real library, with all totals counted, and with a profile.
// bench_requests.c calls the library alternately through the agent and directly. Bounds are beyond two readings of the time stamp counter.
func BenchmarkRequests(b *testing.B) {
	totals := []string{
		"calls", "time_in_mpi", "time_in_init", "messages_sent", "bytes_sent", "messages_received", "bytes_received", "requests_outstanding",
		"collectives", "collective_bytes_sent", "collective_bytes_received", "rma_operations", "rma_bytes_put", "rma_bytes_got",
		"io_bytes_written", "io_bytes_read",
	}
	const record = "dir=%s\nprofile=record\nstack="
	const large = `text bytes > 1M\ncheck return\ncode bytes n4130000000000000 gt\n`
	const counted = `text mpitx:calls > 1T\nvariable mpitx:calls\nvalue mpitx:calls\ncode v0:sum n4270000000000000 gt\n`
	configurations := []struct {
		name   string
		bound  float64
		config string // %s is a new folder
	}{
		{"calls", 0, "counts=%s\nvariable=mpitx:calls"},
		{"all", 25, "counts=%s\nvariable=mpitx:" + strings.Join(totals, "\nvariable=mpitx:")},
		{"profile", 25, record + "0"}, // without call sites
		{"profile with sites", 25, record + "1"},
		{"profile with stacks of 4", 0, record + "4"},
		{"description", 0, "dir=%s\ninterval_ns=0\ntrigger=" + large + `on MPI_Barrier\n`},
		{"description and condition", 0, "dir=%s\ninterval_ns=0\ntrigger=" + large}, // at most 10 ns more
		{"condition over a variable", 0, "dir=%s\ninterval_ns=0\npvar=mpitx:calls\ntrigger=" + counted},
	}
	for _, f := range families {
		mpicc, err := exec.LookPath("mpicc." + f.name)
		if err != nil {
			continue
		}
		f.build(b)
		program := filepath.Join(work, "requests-"+f.name)
		if text, err := exec.Command(mpicc, "-O2", "-w", "-o", program, "testdata/bench_requests.c", "-ldl").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
		for _, c := range configurations {
			b.Run(f.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					config := fmt.Sprintf(c.config, filepath.Join(b.TempDir(), "output"))
					command := exec.Command(program, f.library)
					command.Env = append(os.Environ(), "LD_PRELOAD="+f.agent, "MPITX_AGENT="+config)
					output, err := command.Output()
					if err != nil {
						b.Fatal(err)
					}
					var library, added, best, reading float64
					if _, err := fmt.Sscan(string(output), &library, &added, &best, &reading); err != nil {
						b.Fatalf("%v: %q", err, output)
					}
					b.ReportMetric(library, "library-ns")
					b.ReportMetric(added, "added-ns")
					b.ReportMetric(best, "best-ns")
					b.ReportMetric(reading, "reading-ns")
					b.ReportMetric(best-2*reading, "beyond-ns")
				}
				if c.bound > 0 {
					b.ReportMetric(c.bound, "beyond-bound-ns")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// What a profile of a collective call costs more with algorithms, and with algorithms and paths, than without. All run in turn. On one rank, the
// call goes through one function of the library.
func BenchmarkAlgorithms(b *testing.B) {
	const bound = 60
	const profile = "dir=%s\nprofile=record\nstack=1"
	f := families[0]
	mpicc, err := exec.LookPath("mpicc." + f.name)
	if err != nil || f.name != "openmpi" {
		b.Skip("needs Open MPI")
	}
	f.build(b)
	program := filepath.Join(work, "collectives")
	if text, err := exec.Command(mpicc, "-O2", "-w", "-o", program, "testdata/bench_collectives.c").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	for _, ranks := range []string{"1", "2"} {
		b.Run("ranks="+ranks, func(b *testing.B) {
			reading := math.Inf(1)
			run := func(least float64, config string) float64 {
				command := exec.Command("mpirun."+f.name, "--oversubscribe", "-n", ranks)
				if config != "" {
					dir := filepath.Join(b.TempDir(), "output")
					command.Args = append(command.Args, "env", "LD_PRELOAD="+f.agent, "MPITX_AGENT="+fmt.Sprintf(config, dir))
				}
				command.Args = append(command.Args, program)
				command.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
				output, err := command.Output()
				var ns, one float64
				if _, scan := fmt.Sscan(string(output), &ns, &one); err != nil || scan != nil {
					b.Fatalf("%v, %v: %q", err, scan, output)
				}
				reading = min(reading, one)
				return min(least, ns)
			}
			library, without, algorithms, all := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
			for b.Loop() {
				library = run(library, "")
				without = run(without, profile)
				algorithms = run(algorithms, profile+"\nalgorithms=1")
				all = run(all, profile+"\nalgorithms=1\npaths=1")
			}
			b.ReportMetric(library, "library-ns")
			b.ReportMetric(without-library, "profile-ns")
			b.ReportMetric(algorithms-without, "algorithms-ns")
			b.ReportMetric(all-without, "algorithms-and-paths-ns")
			b.ReportMetric(reading, "reading-ns")
			b.ReportMetric((all-library)/reading, "added-readings")
			b.ReportMetric(bound, "bound-ns")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// The cost per call of the states for mpitx where, on the real library, with calls that do next to nothing. bench_states.c calls the library
// alternately through the agent and directly.
func BenchmarkStates(b *testing.B) {
	const bound = 5
	for _, f := range families {
		mpicc, err := exec.LookPath("mpicc." + f.name)
		if err != nil {
			continue
		}
		f.build(b)
		program := filepath.Join(work, "states-"+f.name)
		if text, err := exec.Command(mpicc, "-O2", "-w", "-fno-plt", "-o", program, "testdata/bench_states.c", "-ldl").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "run")
				if err := os.Mkdir(dir, 0o700); err != nil {
					b.Fatal(err)
				}
				command := exec.Command(program, f.library)
				command.Env = append(os.Environ(), "LD_PRELOAD="+f.agent, "MPITX_AGENT=where=on\ndir="+dir)
				output, err := command.Output()
				if err != nil {
					b.Fatal(err)
				}
				report(b, string(output))
				if tables, _ := filepath.Glob(filepath.Join(dir, "*.mpxr")); len(tables) == 0 {
					b.Fatal("nothing was recorded")
				}
			}
			b.ReportMetric(bound, "bound-ns")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func report(b *testing.B, output string) {
	for _, line := range strings.Split(strings.TrimSpace(output), "\n") {
		words := strings.Fields(line)
		if len(words) != 5 {
			continue
		}
		for i, unit := range map[int]string{3: "added", 4: "best"} {
			if value, err := strconv.ParseFloat(words[i], 64); err == nil {
				b.ReportMetric(value, words[0]+"-"+unit+"-ns")
			}
		}
	}
}

func benchProgram(f *family, mpicc string) (string, error) {
	show, err := exec.Command(mpicc, "-show").Output()
	if err != nil {
		return "", err
	}
	var include []string
	for _, word := range strings.Fields(string(show)) {
		if strings.HasPrefix(word, "-I") {
			include = append(include, word)
		}
	}
	dir := filepath.Join(work, "null-"+f.name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	library, program := filepath.Join(dir, f.library), filepath.Join(dir, "bench")
	for _, command := range []*exec.Cmd{
		compilerCommand(library, append(include, "-shared", "-fPIC", "-Wl,-soname,"+f.library, "testdata/nullmpi.c")...),
		compilerCommand(program, append(include, "-fno-plt", "testdata/bench.c", library, "-Wl,-rpath,"+dir, "-ldl")...),
	} {
		if text, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", command.Args, err, text)
		}
	}
	return program, nil
}
