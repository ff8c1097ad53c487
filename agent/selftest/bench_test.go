package selftest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What a wrapper adds to a call, in nanoseconds: bench.c calls a library that does nothing, through the agent and directly, in
// turn. "best" is the difference of the fastest rounds, which is what a busy machine still shows. MPI_Comm_rank stands for the
// functions that carry no messages.
func BenchmarkWrapper(b *testing.B) {
	configurations := []struct {
		name      string
		bound     float64
		variables []string
	}{
		{"none", 1, nil},
		{"sampled", 0, nil}, // nothing is counted, and calls take samples
		{"calls", 8, []string{"mpitx:calls"}},
		{"bytes", 8, []string{"mpitx:messages_sent", "mpitx:bytes_sent", "mpitx:messages_received", "mpitx:bytes_received"}},
		{"time", 25, []string{"mpitx:time_in_mpi"}},
		{"time+bytes", 25 + 8, []string{"mpitx:time_in_mpi", "mpitx:bytes_sent", "mpitx:bytes_received"}},
		{"function", 25 + 8, []string{"mpitx:time/MPI_Send", "mpitx:bytes_sent/MPI_Send", "mpitx:time/MPI_Recv", "mpitx:bytes_received/MPI_Recv"}},
	}
	for _, f := range families {
		mpicc, err := exec.LookPath("mpicc." + f.name)
		if err != nil {
			continue
		}
		f.buildOnce.Do(func() { f.buildErr = f.buildAgent(mpicc) })
		if f.buildErr != nil {
			b.Fatal(f.buildErr)
		}
		program, err := benchProgram(f, mpicc)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range configurations {
			b.Run(f.name+"/"+c.name, func(b *testing.B) {
				config := []string{"counts=" + filepath.Join(b.TempDir(), "counts")}
				if c.variables == nil {
					config = nil
				}
				if c.name == "sampled" {
					config = []string{"log=/dev/null", "countdown=256"}
				}
				for _, v := range c.variables {
					config = append(config, "variable="+v)
				}
				command := exec.Command(program)
				command.Env = append(os.Environ(), "BENCH_LIBRARY="+f.library, "LD_PRELOAD="+f.agent, "MPITX_AGENT="+strings.Join(config, "\n")+"\n")
				for b.Loop() {
					output, err := command.Output()
					if err != nil {
						b.Fatal(err)
					}
					report(b, string(output))
					command = exec.Command(command.Path)
					command.Env = append(os.Environ(), "BENCH_LIBRARY="+f.library, "LD_PRELOAD="+f.agent, "MPITX_AGENT="+strings.Join(config, "\n")+"\n")
				}
				if c.bound > 0 {
					b.ReportMetric(c.bound, "bound-ns")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
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
