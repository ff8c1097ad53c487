//go:build cgo && linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// hung is the time after which a command that should end by itself hangs: many times what it takes on a busy machine.
const hung = 10 * time.Minute

// mark is in the environment of every process that a test starts, with a value of its own, to find the processes that are left.
const mark = "MPITX_TEST_MARK"

var marks atomic.Int64

// process is a command under test, in a process group of its own.
type process struct {
	cmd            *exec.Cmd
	id             string // NAME=VALUE of its mark
	stdout, stderr bytes.Buffer
	code           int
	failure        string // what no command may do: exceed its time, leave processes
	ended          chan struct{}
	launcherHung   bool          // Open MPI's launcher hung and was killed
	linger         time.Duration // how long its other processes may outlive it
	stopped        int           // one of its processes, which the test has stopped; 0: none
}

func newProcess(environ []string, dir string, args ...string) *process {
	p := &process{id: fmt.Sprintf("%s=%d.%d", mark, os.Getpid(), marks.Add(1)), ended: make(chan struct{}), linger: time.Minute}
	path := args[0]
	if !strings.Contains(path, "/") { // exec.Command would look in this process's PATH
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, "PATH="); ok {
				path = lookPath(v, path)
			}
		}
	}
	p.cmd = &exec.Cmd{Path: path, Args: args, Dir: dir, Env: append(environ, p.id), SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.WaitDelay = 10 * time.Second // for those that still hold its output
	return p
}

func lookPath(path, command string) string {
	for _, dir := range filepath.SplitList(path) {
		p := filepath.Join(dir, command)
		if st, err := os.Stat(p); err == nil && st.Mode()&0o111 != 0 && !st.IsDir() {
			return p
		}
	}
	return command
}

func (p *process) start() error {
	if err := p.cmd.Start(); err != nil {
		p.failure = err.Error()
		return err
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	return nil
}

// run starts the command and waits for its end.
func (p *process) run(limit time.Duration) {
	if p.start() == nil {
		p.wait(limit)
	}
}

// wait waits until the command and all processes that it started have exited, and kills those that take too long.
func (p *process) wait(limit time.Duration) {
	late := time.After(limit)
	select {
	case <-p.ended:
	case <-late:
		if p.killLauncher() {
			select {
			case <-p.ended:
			case <-time.After(15 * time.Second):
			}
		}
	}
	select {
	case <-p.ended:
	default:
		p.failure = "no end within " + limit.String() + "; running:\n" + p.describe()
		p.kill()
		<-p.ended
	}
	p.code = p.cmd.ProcessState.ExitCode()
	if ws := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		p.code = 128 + int(ws.Signal())
	}
	if p.code == 0 && slices.Contains(p.alive(), p.stopped) { // it had sent its answer, and would exit by itself
		syscall.Kill(p.stopped, syscall.SIGCONT)
	}
	for deadline := time.Now().Add(p.linger); len(p.alive()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) && !p.killLauncher() {
			p.failure = strings.TrimSpace(p.failure + "\nleft behind:\n" + p.describe())
			p.kill()
			return
		}
	}
}

// killLauncher kills an mpirun of Open MPI that hangs. In one of three runs in which mpirun 4.1.4 has to end its processes, it hangs in
// PMIx_server_finalize or crashes, with any program.
func (p *process) killLauncher() bool {
	for _, pid := range p.alive() {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if filepath.Base(exe) == "orterun" && len(p.backends("after")) == 0 {
			p.launcherHung = true
			syscall.Kill(pid, syscall.SIGKILL)
			return true
		}
	}
	return false
}

func (p *process) kill() {
	for range 20 { // a dying process may have started another
		pids := p.alive()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// alive lists the processes that carry the mark, and are not zombies.
func (p *process) alive() []int {
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range dirs {
		// A process that is being replaced or has ended has no environment.
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+p.id+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(path, "/")[2]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *process) describe() string {
	var b strings.Builder
	for _, pid := range p.alive() {
		fmt.Fprintf(&b, "  %d %s\n", pid, cmdline(pid))
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		for _, task := range tasks { // where each thread waits, since hangs are hard to reproduce
			stat, _ := os.ReadFile(task + "/stat")
			wait, _ := os.ReadFile(task + "/wchan")
			call, _ := os.ReadFile(task + "/syscall")
			_, stat, _ = bytes.Cut(stat, []byte("("))
			fmt.Fprintf(&b, "    %s (%.30s %s %s\n", filepath.Base(task), stat, wait, bytes.TrimSpace(call))
		}
	}
	return b.String()
}

func cmdline(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}

// backends are the living back ends of a stage.
func (p *process) backends(stage string) []int {
	var pids []int
	for _, pid := range p.alive() {
		if strings.Contains(cmdline(pid), " backend "+stage+" ") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *process) output() string {
	clip := func(s string) string {
		if len(s) > 4000 {
			return s[:2000] + "\n[…]\n" + s[len(s)-2000:]
		}
		return s
	}
	return fmt.Sprintf("%s\n[stdout]\n%s\n[stderr]\n%s", strings.Join(p.cmd.Args, " "), clip(p.stdout.String()), clip(p.stderr.String()))
}
