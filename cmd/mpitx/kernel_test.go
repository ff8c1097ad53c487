//go:build cgo && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/settings"
	"mpitx/tune/kernel"
)

// runner measures with mpitx in the environment of the test.
func (f *onFamily) runner(ranks int, environ ...string) *kernel.Runner {
	all := slices.Concat(f.environ, environ)
	path := ""
	for _, kv := range all {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = lookPath(v, "mpitx")
		}
	}
	return &kernel.Runner{Command: path, MPI: f.family, Ranks: ranks, Dir: f.dir, Environ: all, Limits: kernel.Limits{Repetitions: 30, Seconds: 0.2, Precision: 0.1}}
}

// preload compiles a library that plants delays and errors.
func (f *onFamily) preload(source string) (environ string) {
	f.Helper()
	object := f.build("mpicc", filepath.Join("testdata", "kernel", source), "-c", "-fPIC", "-O1")
	library := object + ".so"
	if out, err := exec.Command("cc", "-shared", "-o", library, object).CombinedOutput(); err != nil {
		f.Fatalf("%v\n%s", err, out)
	}
	return "LD_PRELOAD=" + library
}

func (f *onFamily) measure(r *kernel.Runner, all ...kernel.Operation) []kernel.Result {
	f.Helper()
	results, err := r.Run(all)
	if err != nil {
		f.Fatal(err)
	}
	return results
}

// forcing is the variable that forces the algorithm of a function, and its number of a small and a large one.
func forcing(family, function string) (name string) {
	if family == machine.OpenMPI {
		return "coll_tuned_" + function + "_algorithm"
	}
	return "MPIR_CVAR_" + strings.ToUpper(function) + "_INTRA_ALGORITHM"
}

// Each function is measured as often as it should be, with right results, on the ranks that were asked for, with the algorithm that was
// forced, and what cannot be measured says why.
func TestKernel(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		var all []kernel.Operation
		for _, function := range kernel.Functions {
			all = append(all, kernel.Operation{Function: function, Bytes: 24, Ranks: 2})
		}
		all = append(all,
			kernel.Operation{Function: "allgather", Bytes: 7, Ranks: 3}, kernel.Operation{Function: "reduce_scatter", Bytes: 0, Ranks: 3},
			kernel.Operation{Function: "bcast", Bytes: 8, Ranks: 2, Name: "no_such_variable"}, kernel.Operation{Function: "bcast", Bytes: 8, Ranks: 2}, kernel.Operation{Function: "bcast", Bytes: 8, Ranks: 4})
		var want []string
		if f.family == machine.OpenMPI { // 1 basic_linear, 3 recursive_doubling
			for value, algorithm := range map[int64]string{1: "tuned: basic_linear", 3: "tuned: recursive_doubling"} {
				all, want = append(all, kernel.Operation{Function: "allreduce", Bytes: 64, Ranks: 3, Name: forcing(f.family, "allreduce"), Value: value}), append(want, algorithm)
			}
		}
		r := f.runner(3)
		if f.family == machine.OpenMPI {
			r.Settings = []settings.NameValue{{Name: "coll_tuned_use_dynamic_rules", Value: "true"}}
		}
		results := f.measure(r, all...)
		forced := len(all) - len(want)
		for k, one := range results {
			o := fmt.Sprintf("%+v: %+v", all[k], one)
			switch {
			case all[k].Name == "no_such_variable":
				if one.Error != "the library has no such control variable" {
					f.Error(o)
				}
			case all[k].Ranks == 4:
				if one.Error != "it needs another number of ranks" {
					f.Error(o)
				}
			case one.Error != "" || one.N < 1 || one.N > 30 || one.Stopped == "" || one.Median <= 0 || one.Low > one.Median || one.Median > one.High ||
				one.Min > one.Q1 || one.Q1 > one.Q3 || one.Q3 > one.Max || one.Stopped == "repetitions" && one.N != 30:
				f.Error(o)
			case k >= forced && !strings.HasPrefix(one.Algorithm, want[k-forced]):
				f.Error(o, "want", want[k-forced])
			}
		}
	})
}

// A profile counts exactly the calls that the kernel says it made: one that is checked, three that choose the window, the repetitions, and
// those that were missed.
func TestKernelCalls(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		list := filepath.Join(f.dir, "list")
		text := "allgather bytes=4 ranks=2 repetitions=25\nbarrier ranks=2 repetitions=7\nalltoall bytes=100 ranks=3 repetitions=5\n"
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
		p := f.run("mpitx", "profile", "-n", "3", "--mpi", f.family, "--no-summary", "--dir", "run", "--kernel", list)
		if p.failure != "" || p.code != 0 {
			f.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
		}
		run, err := recording.Open(filepath.Join(f.dir, "run"))
		if err != nil {
			f.Fatal(err)
		}
		defer run.Close()
		found, err := profile.Read(run, profile.Cut{})
		if err != nil {
			f.Fatal(err)
		}
		calls := map[string]uint64{}
		for _, one := range found.Functions {
			if one.Within == "" {
				calls[one.Name] += one.Calls
			}
		}
		results, err := os.ReadFile(list + ".results")
		if err != nil {
			f.Fatal(err)
		}
		var missed []uint64
		for line := range strings.Lines(string(results)) {
			var one kernel.Result
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				f.Fatal(err)
			}
			if !strings.HasPrefix(line, `{"at"`) {
				missed = append(missed, uint64(one.Missed))
			}
		}
		if len(missed) != 3 || calls["MPI_Allgather"] != 2*(29+missed[0]) || calls["MPI_Barrier"] != 2*(11+missed[1]) {
			f.Errorf("%v, missed %d", calls, missed)
		}
		var distinct []string
		for _, use := range kernel.Distinct(found) {
			distinct = append(distinct, fmt.Sprint(use.Function, use.Bytes, " ", use.Ranks, " ", use.Calls-uint64(use.Ranks)*9))
		}
		for _, want := range []string{fmt.Sprint("allgather4 2 ", 2*(20+missed[0])), fmt.Sprint("barrier0 2 ", 2*(2+missed[1])), fmt.Sprint("alltoall100 3 ", 3*missed[2])} {
			if !slices.Contains(distinct, want) {
				f.Errorf("%q, want %s", distinct, want)
			}
		}
		if err := os.WriteFile(list, []byte("barrier ranks=2\nbarriers ranks=2\n"), 0o600); err != nil {
			f.Fatal(err)
		}
		if p := f.run("mpitx", "profile", "-n", "2", "--mpi", f.family, "--no-summary", "--dir", "wrong", "--kernel", list); !strings.Contains(p.stderr.String(), "list:2: not an operation") || p.code == 0 {
			f.Errorf("exit code %d: %s", p.code, p.output())
		}
	})
}

// A delay of 20 ms shows, as it does in a plain program; what has no delay is faster.
func TestKernelDelay(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		preload := f.preload("planted.c")
		results := f.measure(f.runner(2, preload), kernel.Operation{Function: "scatter", Bytes: 64, Ranks: 2}, kernel.Operation{Function: "bcast", Bytes: 64, Ranks: 2})
		program := f.build("mpicc", filepath.Join("testdata", "kernel", "timing.c"), "-O1")
		p := f.run(slices.Concat(launchers[f.family], []string{"env", preload, program})...)
		var slow, fast float64
		if _, err := fmt.Sscan(p.stdout.String(), &slow, &fast); err != nil || p.code != 0 {
			f.Fatalf("%v, exit code %d: %s", err, p.code, p.output())
		}
		if s := results[0]; s.Median < 20e6 || s.Low < 20e6 || slow < 20e6 {
			f.Errorf("%+v; the plain program says %v ns", s, slow)
		}
		if r := results[1]; r.Min >= 20e6 {
			f.Errorf("%+v; the plain program says %v ns", r, fast)
		}
	})
}

// A wrong result is found. Where a rank dies, the results say in which operation, and what was not measured.
func TestKernelWrong(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		results := f.measure(f.runner(2, f.preload("planted.c"), "PLANTED=1"), kernel.Operation{Function: "gather", Bytes: 64, Ranks: 2}, kernel.Operation{Function: "bcast", Bytes: 64, Ranks: 2},
			kernel.Operation{Function: "scan", Bytes: 64, Ranks: 2}, kernel.Operation{Function: "barrier", Ranks: 2})
		if r := results[0]; r.Error != "the result is wrong" || r.N != 0 {
			f.Errorf("%+v", r)
		}
		if r := results[1]; r.Error != "" || r.N == 0 {
			f.Errorf("%+v", r)
		}
		if r := results[2]; !r.Crashed || r.Error == "" {
			f.Errorf("%+v", r)
		}
		if r := results[3]; !r.Skipped || r.Crashed {
			f.Errorf("%+v", r)
		}
	})
}
