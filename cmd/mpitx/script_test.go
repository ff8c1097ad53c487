//go:build cgo && linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mpitx/recording/recordingtest"

	"mpitx/binding"
	"mpitx/fixtures/need"
	"mpitx/machine"
)

// build makes what a user has, bin/mpitx and a shim for each MPI, in a new directory, once. It returns the directory.
var build = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(work, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return "", err
	}
	sources, err := fs.Sub(binding.Sources, "shim")
	if err != nil {
		return "", err
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
			wg.Go(func() { _, _, errs[1+k] = machine.System().BuildShim(cc, sources, bin) })
		}
	}
	wg.Wait()
	return bin, errors.Join(errs[:]...)
})

// have reports whether the launcher and compiler wrapper of an MPI are installed. In CI a missing one is a failure.
func have(family string) (bool, error) {
	for _, command := range []string{"mpirun." + family, "mpicc." + family} {
		if _, err := exec.LookPath(command); err != nil {
			if need.CI() {
				return false, fmt.Errorf("%s is not installed: in CI the tests with real MPI libraries must run", command)
			}
			return false, nil
		}
	}
	return true, nil
}

// environment is the environment of commands under test. Only PATH comes from the caller.
func environment(home, tmp, bin string) []string {
	cache, _ := os.UserCacheDir()
	source, _ := filepath.Abs("../..")
	env := []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "TMPDIR=" + tmp,
		"LC_ALL=C.UTF-8", "TERM=xterm-256color", "FAKEMPI_CLOCK=5", "FAKEMPI_HOST=testhost", "ROOT=" + source,
		"GOCACHE=" + cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")), // go tool pprof is built once
	}
	if os.Getuid() == 0 {
		env = append(env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	env = append(env, "BIN="+bin, "MPITX_PAGER=cat", "MPITX_MPI=") // "" is unset
	if dir := os.Getenv("MPITX_COVERDIR"); dir != "" {
		env = append(env, "GOCOVERDIR="+dir)
	}
	return env
}

func TestScripts(t *testing.T) {
	t.Parallel()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp(work, "s") // one for each run, with -count
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         root,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		ContinueOnError:     true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, environment(filepath.Join(env.WorkDir, "home"), env.Getenv("TMPDIR"), bin)...)
			env.Vars = append(env.Vars, "MPITX_MPI=demo")
			return errors.Join(os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o755), need.Scripts(env.WorkDir))
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "openmpi", "mpich":
				return have(name)
			case "bound": // processes can be bound to CPU 0 or 1, which are not all
				return runtime.NumCPU() > 1 && exec.Command("taskset", "-c", "1", "taskset", "-c", "0", "true").Run() == nil, nil
			}
			return behaves(name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": cmdRun, "count": cmdCount, "clean": cmdClean, "sub": cmdSub, "interrupt": cmdInterrupt, "cut": cmdCut,
			"solver": cmdSolver,
		},
	})
}

// cmdRun runs a command: run [CODE] COMMAND ARGUMENT…
//
// The exit code must be CODE (default: 0; "!" is any but 0). With code 0 standard error must be empty, unless CODE is "0+". A command must
// end, and must leave no process.
func cmdRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: run [CODE] COMMAND ARGUMENT…")
	}
	want := "0"
	if regexp.MustCompile(`^(\d+\+?|!)$`).MatchString(args[0]) {
		want, args = args[0], args[1:]
	}
	p := newProcess(environ(ts), ts.MkAbs("."), args...)
	p.run(hung)
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

// cmdClean fails if a file contains control characters: clean FILE…
func cmdClean(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		for k, r := range text {
			if r != '\n' && (r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f) {
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

// cmdSolver writes the run of a program whose profile is known exactly: solver DIR [newer|slower|rebuilt|lacks]. newer is a newer format,
// slower a run that is half a second longer and has larger messages, rebuilt one of another build,
// lacks one in which rank 2 is incomplete.
func cmdSolver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: solver DIR [newer|slower|rebuilt|lacks]")
	}
	kind := strings.Join(args[1:], " ")
	ts.Check(map[string]recordingtest.Solver{"slower": {Longer: 500, Halo: 16384}, "rebuilt": {Build: "\x99", Moved: 0x40}, "lacks": {Lacks: []int32{2}}}[kind].Save(ts.MkAbs(args[0])))
	if kind == "newer" {
		file := filepath.Join(args[0], "node-node1.mpxr")
		newer := strings.ReplaceAll(ts.ReadFile(file), recordingtest.Magic+"\x01", recordingtest.Magic+"\x02")
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(newer), 0o600))
	}
}

// environ is the present environment of a script: all variables that any script sets, unless they are empty.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range scriptVariables() {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

var scriptVariables = sync.OnceValue(func() []string {
	names := []string{"WORK"}
	for _, kv := range environment("", "", "") {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	scripts, _ := filepath.Glob("testdata/*/*.txtar")
	for _, path := range scripts {
		text, _ := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^env (\w+)=`).FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
})

// cmdInterrupt interrupts a command that is busy: interrupt leader|group|busy CODE RANKS COMMAND ARGUMENT…
//
// Once RANKS back ends read the stage after MPI_Init (or test rules), one of them is stopped, so that the job cannot end by itself; then
// SIGINT (SIGQUIT if CODE is 131) goes to the command alone or, as from a terminal, to its process group (where it is busy: with all of them running).
// No process may be left.
func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt leader|group|busy CODE RANKS COMMAND ARGUMENT…")
	}
	ranks, err := strconv.Atoi(args[2])
	ts.Check(err)
	env := environ(ts)
	for range 10 { // a short job may have ended before it was caught
		p := newProcess(env, ts.MkAbs("."), args[3:]...)
		ts.Check(p.start())
		stage := "after"
		if slices.Contains(args[3:], "check") {
			stage = "check" // its processes are back ends of one kind
		}
		pids, caught := p.catch(stage, ranks)
		if !caught {
			p.wait(hung)
			continue
		}
		if args[0] == "busy" {
			p.linger = 3 * time.Second // after WaitDelay
		} else {
			p.stopped = pids[len(pids)-1]
			syscall.Kill(p.stopped, syscall.SIGSTOP)
		}
		pid := p.cmd.Process.Pid
		if args[0] != "leader" {
			pid = -pid
		}
		interrupt := syscall.SIGINT
		if args[1] == "131" {
			interrupt = syscall.SIGQUIT
		}
		syscall.Kill(pid, interrupt)
		p.wait(20 * time.Second)
		if p.failure != "" {
			ts.Fatalf("%s\n%s", p.failure, p.output())
		}
		if p.code == 0 { // all had been answered; mpirun.mpich also returns 0 in one of 15 cases, whatever it ran (sleep 30)
			continue
		}
		if args[1] != "!" && strconv.Itoa(p.code) != args[1] {
			ts.Fatalf("exit code %d, want %s\n%s", p.code, args[1], p.output())
		}
		ts.Stdout().Write(p.stdout.Bytes())
		ts.Stderr().Write(p.stderr.Bytes())
		return
	}
	ts.Fatalf("the job was over before it could be interrupted, or ended with 0, ten times")
}

// catch waits until that many back ends of a stage run, or until the command has ended.
func (p *process) catch(stage string, ranks int) ([]int, bool) {
	for deadline := time.Now().Add(hung); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if pids := p.backends(stage); len(pids) >= ranks {
			return pids, true
		}
		select {
		case <-p.ended:
			return nil, false
		default:
		}
	}
	return nil, false
}
