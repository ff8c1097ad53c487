//go:build linux

package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mpitx/machine"
	"mpitx/machine/preflight"
)

func TestEnviron(t *testing.T) {
	x := &application{Program: &preflight.Program{Linked: &machine.MPI{}}, argv: []string{"./app", "-x"}, mpi: machine.MPI{Impl: machine.OpenMPI}, agent: "/agent.so"}
	job := &runDir{dir: "/a\nb\\c", startNs: 5}
	job.id[0] = 0xab
	c := &Config{Tool: []Ask{{"interval_ns", "1000"}, {"pvar", "x*"}}, Set: []NameValue{{Name: "mpi_a", Value: "1 = 2"}}, SetAfter: []NameValue{{Name: "b"}},
		Env: &machine.Env{Environ: []string{"A=1", "LD_PRELOAD=/x.so", "OMPI_MCA_mpi_a=old", "MPITX_AGENT=old"}}}
	agent := "dir=/a\\nb\\\\c\nrun_id=ab000000000000000000000000000000\njob_start_ns=5\ninterval_ns=1000\npvar=x*\nwhere=on\n" +
		"set=mpi_a=1 = 2\nset_after=b=\nlibrary=/lib.so\nseen=/seen\nprogram=./app -x\n"
	x.library = "/lib.so"
	got, err := environ(c, x, job, Ask{"seen", "/seen"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(got, "|"), "A=1|LD_PRELOAD=/x.so:/agent.so|MPITX_AGENT="+agent+"|OMPI_MCA_mpi_a=1 = 2"; got != want {
		t.Errorf("%s\n%s", got, want)
	}
	for want, change := range map[string]func(x *application){
		"MPIR_CVAR_":                         func(x *application) { x.mpi.Impl = machine.MPICH },
		"install mpitx in another directory": func(x *application) { x.agent = "/a b/agent.so" },
		"choose another library with":        func(x *application) { x.preload = "/a:b/libmpi.so" },
	} {
		other := *x
		change(&other)
		if _, err := environ(c, &other, job, Ask{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	x.preload, x.Linked = "/lib.so", nil
	got, _ = environ(c, x, job, Ask{})
	if text := strings.Join(got, "|"); !strings.Contains(text, "LD_PRELOAD=/x.so:/agent.so:/lib.so|") || !strings.Contains(text, "|ASAN_OPTIONS=verify") {
		t.Errorf("a library of the same name, and a program that was not seen: %s", text)
	}
}

// All ranks of a job use one directory, and never another job's.
func TestRunDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	env := func(more ...string) *machine.Env { return &machine.Env{Environ: more, PID: os.Getpid()} }
	launch := machine.Launch{Name: "prrte", Rank: 1, Size: 4, LocalRank: 0, LocalSize: 2}
	one, err := openRunDir(env("PMIX_NAMESPACE=a"), launch, "", "", "x")
	if err != nil {
		t.Fatal(err)
	}
	two, err := openRunDir(env("PMIX_NAMESPACE=a"), launch, "", "", "x")
	if err != nil || two.dir != one.dir || two.id != one.id || two.startNs != one.startNs || two.made || !one.made {
		t.Fatalf("%+v %+v %v", one, two, err)
	}
	if st, _ := os.Stat(one.dir); st.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", st.Mode())
	}
	if other, err := openRunDir(env("PMIX_NAMESPACE=b"), launch, "", "", ""); err != nil || other.dir == one.dir {
		t.Errorf("%+v %v", other, err)
	}
	given, err := openRunDir(nil, machine.Launch{}, "", one.String(), "")
	if err != nil || given.dir != one.dir || given.id != one.id || given.startNs != one.startNs {
		t.Errorf("%+v %v", given, err)
	}
	if _, err := openRunDir(env(), launch, "", "", ""); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("nothing to agree by: %v", err)
	}
	if j, err := openRunDir(env("PMIX_NAMESPACE=b"), launch, one.dir, "", ""); err == nil {
		t.Errorf("another job's directory was taken: %+v", j)
	}

	alone := machine.Launch{Rank: -1, Size: -1}
	a, err1 := openRunDir(env(), alone, "", "", "")
	b, err2 := openRunDir(env(), alone, "", "", "")
	if err1 != nil || err2 != nil || a.dir == b.dir || a.id == b.id || !strings.HasPrefix(filepath.Base(a.dir), runPrefix) {
		t.Errorf("%+v %v %+v %v", a, err1, b, err2)
	}
	os.Symlink(dir, "link")
	os.WriteFile("file", nil, 0o600)
	for _, path := range []string{"link", "file", filepath.Base(a.dir), "nowhere/run"} {
		for _, l := range []machine.Launch{alone, launch} {
			if path == "link" || l.Rank < 0 || path == "nowhere/run" {
				if j, err := openRunDir(env("PMIX_NAMESPACE=c"), l, path, "", ""); err == nil {
					t.Errorf("%s was taken: %+v", path, j)
				}
			}
		}
	}
	for _, s := range []string{"x", "00,1,/a", strings.Repeat("0", 32) + ",x,/a", strings.Repeat("0", 32) + ",1,a"} {
		if _, err := parseJob(s); err == nil {
			t.Errorf("--job %s was taken", s)
		}
	}
}

// A start that cannot write its first file removes the directory, so that the next attempt can create it.
func TestFailedStartLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Max: before.Max})
	err := (&runDir{}).enter(dir, true, "true")
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)
	if !errors.Is(err, syscall.EFBIG) && (err == nil || !strings.Contains(err.Error(), "file too large")) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}

// If an application cannot be recorded, the command fails before it creates anything. The application's own exit code is passed on.
func TestStartRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	if r := New(Config{Env: &machine.Env{}}); r.End(2) != 2 {
		t.Errorf("%+v", r)
	}
	r := New(Config{Env: &machine.Env{}, Args: []string{"./nonexistent"}})
	if err := r.Look(); err == nil || !strings.Contains(err.Error(), "start ./nonexistent: there is no such file") || r.End(1) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if left, _ := filepath.Glob("*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The user's settings of MPI are recorded, those of launchers are not.
func TestSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	e := &machine.Env{Environ: []string{"OMPI_MCA_btl=self,tcp", "UCX_TLS=a=b", "OMPI_MCA_orte_precondition_transports=1-2", "OMPI_COMM_WORLD_RANK=0", "PMIX_RANK=0", "HOME=/", "FI_PROVIDER="}}
	if _, err := openRunDir(e, machine.Launch{Rank: -1}, dir, "", "x"); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(Settings(dir)), "map[FI_PROVIDER: OMPI_MCA_btl:self,tcp UCX_TLS:a=b]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	for _, text := range []string{"{", `{"run_id":"1"}`} {
		if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Settings(dir); got != nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}
