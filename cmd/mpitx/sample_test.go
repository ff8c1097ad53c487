//go:build cgo && linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mpitx/fixtures/need"
	"mpitx/machine"
	"mpitx/recording"
)

// buildSample also installs the agents that `make build` has put into bin/, workloads, and an application for each MPI. It returns the families
// for which everything is available.
var buildSample = sync.OnceValues(func() ([]string, error) {
	bin, err := build()
	if err != nil {
		return nil, err
	}
	var families []string
	if err := copyQMPI(bin); err != nil {
		return nil, err
	}
	for _, family := range []string{machine.OpenMPI, machine.MPICH} {
		ok, err := have(family)
		if err != nil {
			return nil, err
		}
		agent := "mpitx-agent-" + family + ".so"
		text, err := os.ReadFile(filepath.Join("../../bin", agent))
		if !ok || errors.Is(err, os.ErrNotExist) && !need.CI() {
			continue
		}
		if err == nil {
			err = need.Executable(filepath.Join(bin, agent), text)
		}
		if err != nil {
			return nil, err
		}
		for _, argv := range [][]string{
			{"../../fixtures/workload/build.sh", "mpicc." + family, bin},
			{"mpicc." + family, "-o", filepath.Join(bin, "app."+family), "testdata/sample/app.c"},
			{"mpicc." + family, "-g", "-o", filepath.Join(bin, "triggers."+family), "../../agent/test/triggers.c"},
			{"mpicc." + family, "-g", "-O1", "-o", filepath.Join(bin, "deadlock."+family), "testdata/deadlock.c"},
		} {
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %v\n%s", strings.Join(argv, " "), err, out)
			}
		}
		families = append(families, family)
	}
	return families, nil
})

// copyQMPI copies what tools are built with to where mpitx finds it.
func copyQMPI(bin string) error {
	include := filepath.Join(bin, "..", "include")
	library, err := os.ReadFile("../../bin/libmpitx-qmpi.so")
	if err == nil {
		err = need.Executable(filepath.Join(bin, "libmpitx-qmpi.so"), library)
	} else if errors.Is(err, os.ErrNotExist) && !need.CI() {
		return nil
	}
	return errors.Join(err, os.CopyFS(include, os.DirFS("../../agent/include")))
}

// TestSamples runs applications with the agent, under real launchers.
func TestSamples(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	bin, _ := build()
	root, err := os.MkdirTemp(work, "a")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/sample", WorkdirRoot: root, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true, ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, environment(filepath.Join(env.WorkDir, "home"), env.Getenv("TMPDIR"), bin)...)
			return errors.Join(os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o755), need.Scripts(env.WorkDir))
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case machine.OpenMPI, machine.MPICH:
				return slices.Contains(families, name), nil
			}
			return behaves(name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": cmdRun, "count": cmdCount, "send": cmdSend, "mode": cmdMode, "memory": cmdMemory,
		},
	})
}

// cmdSend sends a signal to a command once the file "ready" is there: send SIGNAL CODE COMMAND ARGUMENT…
func cmdSend(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: send SIGNAL CODE COMMAND ARGUMENT…")
	}
	s := map[string]syscall.Signal{"USR1": syscall.SIGUSR1, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}[args[0]]
	ready := ts.MkAbs("ready")
	os.Remove(ready)
	p := newProcess(environ(ts), ts.MkAbs("."), args[2:]...)
	ts.Check(p.start())
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
	}
	p.cmd.Process.Signal(s)
	p.wait(hung)
	ts.Stdout().Write(p.stdout.Bytes())
	ts.Stderr().Write(p.stderr.Bytes())
	if p.failure != "" || fmt.Sprint(p.code) != args[1] {
		ts.Fatalf("%s\nexit code %d, want %s\n%s", p.failure, p.code, args[1], p.output())
	}
}

// cmdMemory fails if dead processes of this script's runs have left memory files.
func cmdMemory(ts *testscript.TestScript, neg bool, args []string) {
	for _, l := range recording.Leftovers("/dev/shm", ts.Getenv("TMPDIR")) {
		if strings.HasPrefix(l.Dir, ts.MkAbs(".")+"/") {
			ts.Fatalf("%s is left of rank %d of %s", l.Path, l.Rank, l.Dir)
		}
	}
}

// cmdMode checks permissions: mode 0600 FILE…
func cmdMode(ts *testscript.TestScript, neg bool, args []string) {
	for _, pattern := range args[1:] {
		files, _ := filepath.Glob(ts.MkAbs(pattern))
		if len(files) == 0 {
			ts.Fatalf("no %s", pattern)
		}
		for _, file := range files {
			st, err := os.Lstat(file)
			ts.Check(err)
			if got := fmt.Sprintf("%#o", st.Mode().Perm()); got != args[0] {
				ts.Fatalf("%s: mode %s, want %s", file, got, args[0])
			}
		}
	}
}
