//go:build cgo && linux

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tuned is what a test reads of a report of mpitx tune.
type tuned struct {
	Recommended  bool   `json:"recommended"`
	SettingsFile string `json:"settings_file"`
	Runs         int    `json:"runs"`
	Session      struct {
		Plan struct {
			Candidates []struct{ Name, Group, Rule, Reason string }
		}
		Settings map[string]string
	}
	Result struct {
		Best     *struct{ Name string }
		Interval struct{ High float64 }
	}
	Algorithms []struct {
		What          string
		Before, After float64
	}
}

func (f *onFamily) tuned(p *process) (found tuned) {
	f.Helper()
	if err := json.Unmarshal(p.stdout.Bytes(), &found); err != nil {
		f.Fatalf("%v: exit code %d: %s", err, p.code, p.output())
	}
	return found
}

// bad is a setting of each family that somebody made in a file or in the environment, and that the program pays for.
func (f *onFamily) bad() (variable, value string) {
	if f.family == "mpich" {
		f.environ = append(f.environ, "MPIR_CVAR_NOLOCAL=1")
		return "MPIR_CVAR_NOLOCAL", "1"
	}
	file := filepath.Join(f.dir, "site.conf")
	if err := os.WriteFile(file, []byte("coll_tuned_use_dynamic_rules = 1\ncoll_tuned_barrier_algorithm = linear\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.environ = append(f.environ, "OMPI_MCA_mca_base_param_files="+file)
	return "coll_tuned_barrier_algorithm", "1"
}

// A setting that makes the program slower is found, undone, proved by new runs, and written to a file with which the program is fast: for
// Open MPI, the algorithm that ran before and after is named. A campaign that is killed goes on without making a run again.
func TestTune(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", filepath.Join("testdata", "tune", "slow.c"), "-O1", "-g")
		variable, value := f.bad()
		argv := []string{"mpitx", "tune", "-n", "2", "--runs", "60", "--only", variable, "-o", "json", "--", program, variable, value}
		p := f.run(argv...)
		found := f.tuned(p)
		if p.code != 0 || !found.Recommended || found.Result.Interval.High >= 0 || found.Result.Best == nil || !strings.Contains(found.Result.Best.Name, variable) {
			f.Fatalf("exit code %d: %s", p.code, p.output())
		}
		if found.Runs > 60 {
			f.Errorf("%d runs", found.Runs)
		}
		if f.family == "openmpi" {
			before := false
			for _, a := range found.Algorithms {
				before = before || a.What == "MPI_Barrier by tuned: linear" && a.Before == 100 && a.After == 0
			}
			if !before || len(found.Algorithms) < 2 {
				f.Errorf("algorithms: %+v", found.Algorithms)
			}
		}
		p = f.run("mpitx", "profile", "-n", "2", "--settings", found.SettingsFile, "--no-summary", "-o", "json", "--out", "after.json", "--", program, variable, value, "fail")
		if p.code == 0 {
			f.Errorf("the file %s does not undo the setting: %s", found.SettingsFile, p.output())
		}

		journal := filepath.Join(f.dir, "mpitx-tune-"+filepath.Base(program), "runs.ndjson")
		whole, err := os.ReadFile(journal)
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.SplitAfter(string(whole), "\n")
		if err := os.WriteFile(journal, []byte(strings.Join(lines[:len(lines)-2], "")+lines[len(lines)-2][:20]), 0o600); err != nil {
			f.Fatal(err)
		}
		p = f.run("mpitx", "tune", "--resume", filepath.Dir(journal))
		again, _ := os.ReadFile(journal)
		if p.code != 0 || !strings.Contains(p.stdout.String(), "RECOMMENDED: ") || !strings.HasPrefix(string(again), strings.Join(lines[:len(lines)-2], "")) || strings.Count(string(again), "\n") != found.Runs {
			f.Errorf("exit code %d after %d lines: %s", p.code, strings.Count(string(again), "\n"), p.output())
		}
		if err := errors.Join(os.WriteFile(journal, []byte(lines[0]), 0o600), os.Remove(program)); err != nil {
			f.Fatal(err)
		}
		p = f.run("mpitx", "tune", "--resume", filepath.Dir(journal))
		if left, _ := os.ReadFile(journal); p.code != 2 || string(left) != lines[0] {
			f.Errorf("exit code %d without the application: %s", p.code, p.output())
		}
	})
}

// What a campaign cannot be made of is refused with what to do, and nothing is left behind.
func TestTuneRefuses(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", filepath.Join("testdata", "tune", "slow.c"), "-O1")
		for _, test := range []struct {
			args []string
			want string
		}{
			{nil, "name the application, after --"},
			{[]string{"--", program}, "say with how many ranks"},
			{[]string{"-n", "2", "--", "mpirun", program}, "mpirun starts ranks itself; name the program"},
			{[]string{"-n", "2", "--", "sbatch", "job.sh"}, "call mpitx tune in that script instead"},
			{[]string{"-n", "2", "--", "./nothing"}, "nothing"},
			{[]string{"-n", "2", "--", "/bin/true"}, "MPI"},
			{[]string{"-n", "2", "--", program, "none", "0", "fail"}, "the application failed: "},
			{[]string{"-n", "2", "--runs", "5", "--add", added[f.family], "--", program}, "the budget is too small: an answer takes at least 12 runs"},
			{[]string{"-n", "2", "--add", "nonsense=1", "--", program}, "--add nonsense: the library has no such variable"},
			{[]string{"-n", "2", "--budget", "1s", "--", "/bin/sleep", "60"}, "the budget is too small for one run of /bin/sleep, which was ended after 1s"},
			{[]string{"-n", "2", "--only", "nonsense", "--", program}, "--only nonsense: no rule proposes settings about that here"},
			{[]string{"--resume", "nothing"}, "--resume nothing: the directory holds no campaign"},
			{[]string{"--resume", "x", "--seed", "2"}, "--seed: the campaign of --resume has it"},
			{[]string{"-n", "2", "--budget", "-1s", "--", program}, "--budget: must be positive"},
		} {
			p := f.run(append([]string{"mpitx", "tune"}, test.args...)...)
			if p.code != 2 || !strings.Contains(p.stderr.String(), test.want) {
				f.Errorf("%q: exit code %d, want %q: %s", test.args, p.code, test.want, p.output())
			}
			if strings.Contains(test.want, "too small: an answer") { // it can go on with more
				os.RemoveAll(filepath.Join(f.dir, "mpitx-tune-"+filepath.Base(program)))
			}
		}
		if left, _ := filepath.Glob(filepath.Join(f.dir, "mpitx-*")); len(left) > 0 {
			f.Errorf("left behind: %q", left)
		}
	})
}

// added is a setting of each family that does nothing here.
var added = map[string]string{"openmpi": "mpi_show_handle_leaks=1", "mpich": "MPIR_CVAR_ASYNC_PROGRESS=0"}

// Each run of --workdir copy has its own directory, in which the files of the program are new.
func TestTuneWorkdir(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", filepath.Join("testdata", "tune", "slow.c"), "-O1")
		work := filepath.Join(f.dir, "work")
		script := "#!/bin/sh\ntest -e data || exit 7\nif test \"${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\" = 0; then mkdir out || exit 8; fi\nexec " + program + "\n"
		if err := os.Mkdir(work, 0o700); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, "app"), []byte(script), 0o700); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, "data"), []byte("in"), 0o600); err != nil {
			f.Fatal(err)
		}
		f.dir = work
		p := f.run("mpitx", "tune", "-n", "2", "--mpi", f.family, "--runs", "12", "--workdir", "copy", "--only", "none", "--add", added[f.family], "-o", "json", "--", "./app")
		if p.code != 2 {
			f.Errorf("--only none: exit code %d: %s", p.code, p.output())
		}
		os.RemoveAll("mpitx-tune-app")
		p = f.run("mpitx", "tune", "-n", "2", "--mpi", f.family, "--runs", "12", "--workdir", "copy", "--dir", "campaign", "--add", added[f.family], "-o", "json", "--", "./app")
		found := f.tuned(p)
		if found.Runs != 12 || p.code > 1 {
			f.Errorf("%d runs, exit code %d: %s", found.Runs, p.code, p.output())
		}
		if _, err := os.Stat(filepath.Join(work, "out")); err == nil {
			f.Error("a run worked in the directory itself")
		}
		for _, left := range []string{"work", "run-0"} {
			if _, err := os.Stat(filepath.Join(work, "campaign", left)); err == nil {
				f.Errorf("%s was left", left)
			}
		}
	})
}

// With --kernel, the application's collectives are screened in its place, and the application itself is compared. Where each size has another fast
// algorithm, as planted in Open MPI, a file of rules is recommended, with which the application runs them.
func TestTuneKernel(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		source := "slow.c"
		if f.family == "openmpi" { // the functions of MPICH's algorithms cannot be replaced
			source = "bysize.c"
			f.environ = append(f.environ, f.preload(filepath.Join("..", "tune", "oneforeach.c")))
		}
		program := f.build("mpicc", filepath.Join("testdata", "tune", source), "-O1")
		add := map[string]string{"openmpi": "coll_tuned_barrier_algorithm=tree", "mpich": "MPIR_CVAR_BARRIER_INTRA_ALGORITHM=smp|dissemination"}[f.family]
		p := f.run("mpitx", "tune", "-n", "2", "--runs", "60", "--kernel", "--add", add, "--only", "nothing", "-o", "json", "--", program)
		if p.code != 2 || !strings.Contains(p.stderr.String(), "--only nothing") {
			f.Errorf("exit code %d: %s", p.code, p.output())
		}
		p = f.run("mpitx", "tune", "-n", "2", "--runs", "40", "--kernel", "--dir", "campaign", "--add", add, "-o", "json", "--", program)
		if f.family == "mpich" && p.code == 2 { // its algorithms are hidden, and so are the sizes of the calls that they served
			if !strings.Contains(p.stderr.String(), "calls no blocking collectives") {
				f.Errorf("exit code %d: %s", p.code, p.output())
			}
			return
		}
		found := f.tuned(p)
		journal, err := os.ReadFile(filepath.Join(f.dir, "campaign", "runs.ndjson"))
		if err != nil || p.code > 1 || found.Runs > 40 || strings.Count(string(journal), "\n") != found.Runs {
			f.Fatalf("%v: exit code %d: %s", err, p.code, p.output())
		}
		screened := 0
		for line := range strings.Lines(string(journal)) {
			var o struct {
				Stage, Failed string
				Time          int64 `json:"time_ns"`
				Calls         map[string]uint64
			}
			if err := json.Unmarshal([]byte(line), &o); err != nil || o.Failed != "" || o.Time <= 0 || (o.Calls == nil) != (o.Stage != "confirming") {
				f.Errorf("%v: %s", err, line)
			}
			if o.Stage == "screening" {
				screened++
			}
		}
		if screened < 9 {
			f.Errorf("%d runs of the kernel", screened)
		}
		if f.family == "openmpi" {
			f.bySize(p, program)
		}
	})
}

// bySize checks the file of rules that a campaign recommends.
func (f *onFamily) bySize(campaign *process, program string) {
	rules, err := os.ReadFile(filepath.Join(f.dir, "campaign", "rules.conf"))
	if err != nil || campaign.code != 0 || !strings.Contains(campaign.stdout.String(), "coll_tuned_dynamic_rules_filename=rules.conf") {
		f.Fatalf("%v: exit code %d: %s\n%s", err, campaign.code, campaign.output(), rules)
	}
	if p := f.run("mpitx", "tune", "--check", "campaign/rules.conf"); p.code != 0 {
		f.Error(p.output())
	}
	if p := f.run("mpitx", "profile", "-n", "2", "--settings", "campaign/settings.conf", "--dir", "used", "--no-summary", "--", program); p.code != 0 {
		f.Fatal(p.output())
	}
	ran := f.run("mpitx", "report", "used", "algorithms", "-o", "csv").stdout.String()
	if strings.Count(ran, ",binomial,") != 1 || strings.Count(ran, ",chain,") != 1 {
		f.Errorf("%s\n%s", ran, rules)
	}
}
