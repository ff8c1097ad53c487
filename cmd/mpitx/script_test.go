//go:build cgo && linux

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mpitx/binding"
	"mpitx/cmd/mpitx/internal/locate"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata/script")

// work is a folder for this run of the tests: short, as it holds sockets, whose paths may have 107 characters.
var work string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		var err error
		if work, err = os.MkdirTemp("/tmp", "mx"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(work)
		return m.Run()
	}())
}

// build makes what a user has, bin/mpitx and a shim for each MPI, in a folder of its own, once. It returns that folder.
var build = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(work, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return "", err
	}
	sources := map[string][]byte{}
	for _, name := range []string{"shim/shim.c", "shim/mpitx.h"} {
		text, err := fs.ReadFile(binding.ShimSources, name)
		if err != nil {
			return "", err
		}
		sources[path.Base(name)] = text
	}
	var wg sync.WaitGroup
	var errs [3]error
	wg.Go(func() {
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(bin, "mpitx"), ".").CombinedOutput(); err != nil {
			errs[0] = fmt.Errorf("go build: %v\n%s", err, out)
		}
	})
	for k, cc := range []string{"mpicc.openmpi", "mpicc.mpich"} {
		if _, err := exec.LookPath(cc); err == nil {
			wg.Go(func() { _, _, errs[1+k] = locate.System().BuildShim(cc, sources, bin) })
		}
	}
	wg.Wait()
	return bin, errors.Join(errs[:]...)
})

// have tells whether an MPI can be tested here: its launcher and its compiler wrapper. In CI a missing one is a failure.
func have(family string) (bool, error) {
	for _, command := range []string{"mpirun." + family, "mpicc." + family} {
		if _, err := exec.LookPath(command); err != nil {
			if os.Getenv("CI") == "true" {
				return false, fmt.Errorf("%s is not installed: in CI the tests with real MPI libraries must run", command)
			}
			return false, nil
		}
	}
	return true, nil
}

// environment is what commands under test run in: nothing of the caller's but PATH.
func environment(home, tmp, bin string) []string {
	env := []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "TMPDIR=" + tmp,
		"LC_ALL=C.UTF-8", "TERM=xterm-256color", "FAKEMPI_CLOCK=5", "FAKEMPI_HOST=testhost",
	}
	if os.Getuid() == 0 {
		env = append(env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		env = append(env, "GOCOVERDIR="+dir)
	}
	return env
}

func TestScripts(t *testing.T) {
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         work,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, environment(filepath.Join(env.WorkDir, "home"), env.Getenv("TMPDIR"), bin)...)
			env.Vars = append(env.Vars, "BIN="+bin, "MPITX_MPI=demo")
			return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "openmpi", "mpich":
				return have(name)
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": cmdRun, "count": cmdCount, "clean": cmdClean, "sub": cmdSub, "interrupt": cmdInterrupt, "cut": cmdCut,
		},
	})
}

// cmdRun runs a command: run [CODE] COMMAND ARGUMENT…
//
// The exit code must be CODE (0 where it is not given; "!" is any but 0). With code 0 standard error must be empty, unless
// CODE is "0+". A command has a minute, and must leave no process behind.
func cmdRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: run [CODE] COMMAND ARGUMENT…")
	}
	want := "0"
	if regexp.MustCompile(`^(\d+\+?|!)$`).MatchString(args[0]) {
		want, args = args[0], args[1:]
	}
	p := newProcess(scriptEnviron(ts), ts.MkAbs("."), args...)
	p.run(60 * time.Second)
	ts.Stdout().Write(p.stdout.Bytes())
	ts.Stderr().Write(p.stderr.Bytes())
	if p.failure != "" {
		ts.Fatalf("%s\n%s", p.failure, p.output())
	}
	switch {
	case want == "!" && p.code != 0:
	case strconv.Itoa(p.code) != strings.TrimSuffix(want, "+"):
		ts.Fatalf("exit code %d, want %s\n%s", p.code, want, p.output())
	case want == "0" && p.stderr.Len() > 0:
		ts.Fatalf("unexpected on standard error:\n%s", p.stderr.String())
	}
}

// cmdCount counts the lines of a file that match: count N FILE PATTERN
func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: count N FILE PATTERN")
	}
	re, err := regexp.Compile(`(?m)` + args[2])
	ts.Check(err)
	if n := len(re.FindAllString(ts.ReadFile(args[1]), -1)); strconv.Itoa(n) != args[0] {
		ts.Fatalf("%d matches of %s in %s, want %s:\n%s", n, args[2], args[1], args[0], ts.ReadFile(args[1]))
	}
}

// cmdClean fails where a file holds bytes that a terminal would obey: clean FILE…
func cmdClean(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		for k, r := range text {
			if r != '\n' && (r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0xfffd) {
				ts.Fatalf("%s: %U at byte %d: %q", name, r, k, text[max(0, k-40):min(len(text), k+40)])
			}
		}
	}
}

// cmdSub replaces in a file: sub FILE PATTERN REPLACEMENT
func cmdSub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sub FILE PATTERN REPLACEMENT")
	}
	re, err := regexp.Compile(`(?m)` + args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(re.ReplaceAllString(ts.ReadFile(args[0]), args[2])), 0o644))
}

// cmdCut keeps the first bytes of a file: cut FILE BYTES INTO
func cmdCut(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text[:min(n, len(text))]), 0o644))
}

func scriptEnviron(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"WORK", "BIN", "PATH", "HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR", "LC_ALL", "LANG", "TERM", "NO_COLOR", "CC",
		"FAKEMPI_CLOCK", "FAKEMPI_HOST", "FAKEMPI_FAULTS", "FAKEMPI_INIT_TIMEOUT", "MPITX_MPI", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "GOCOVERDIR",
		"DEMO_CVAR_DEMO_EAGER_LIMIT", "DEMO_CVAR_DEMO_BCAST_ALGORITHM", "DEMO_CVAR_DEMO_NO_SUCH_THING", "MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE", "OMPI_MCA_mpi_show_mca_params"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}
