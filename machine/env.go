// Package machine answers which MPI to use: it finds the MPI libraries of a machine, chooses one, identifies the
// launcher that started this process, and builds the command line that starts a job. It loads no MPI and builds on
// every system; without ELF and /proc it finds nothing.
package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Env is the environment and file system that the package examines. Its methods may be called concurrently.
type Env struct {
	Environ []string // as from os.Environ
	Root    string   // put before every absolute path, for tests; "" is the real file system
	PID     int      // the process whose ancestors are examined
	UID     int      // launchers need a variable to run as root (0)
	Arch    string   // as runtime.GOARCH

	libs sync.Map // path to MPI: the libraries inspected so far
}

// System is the environment and file system of this process.
func System() *Env {
	return &Env{Environ: os.Environ(), PID: os.Getpid(), UID: os.Getuid(), Arch: runtime.GOARCH}
}

// Getenv is the value of an environment variable, or "".
func (e *Env) Getenv(name string) string {
	v, _ := lookup(e.Environ, name)
	return v
}

func (e *Env) has(name string) bool {
	_, ok := lookup(e.Environ, name)
	return ok
}

// lookup returns the first of equal names, as getenv does.
func lookup(environ []string, name string) (string, bool) {
	for _, kv := range environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:], true
		}
	}
	return "", false
}

// number is the value of an environment variable as a number; -1 if it is not a number.
func (e *Env) number(name string) int {
	n, err := strconv.Atoi(e.Getenv(name))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// File is the path in the real file system of a path of this Env.
func (e *Env) File(path string) string {
	if e.Root == "" {
		return path
	}
	return filepath.Join(e.Root, path)
}

// stat follows symbolic links below Root.
func (e *Env) stat(path string) (os.FileInfo, error) {
	if e.Root != "" {
		path = e.File(e.resolve(path))
	}
	return os.Stat(path)
}

func (e *Env) isFile(path string) bool {
	st, err := e.stat(path)
	return err == nil && st.Mode().IsRegular()
}

func (e *Env) isDir(path string) bool {
	st, err := e.stat(path)
	return err == nil && st.IsDir()
}

func (e *Env) isExecutable(path string) bool {
	st, err := e.stat(path)
	return err == nil && st.Mode().IsRegular() && (st.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}

// resolve is filepath.EvalSymlinks below Root; it returns paths that do not exist unchanged.
func (e *Env) resolve(path string) string {
	if e.Root == "" {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		return path
	}
	rest, done := strings.Split(strings.Trim(filepath.ToSlash(path), "/"), "/"), "/"
	for links := 0; len(rest) > 0 && links < 40; {
		next := filepath.Join(done, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(e.File(next))
		if err != nil {
			done = next
			continue
		}
		links++
		if !filepath.IsAbs(target) {
			target = filepath.Join(done, target)
		}
		rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest...)
		done = "/"
	}
	return filepath.Join(append([]string{done}, rest...)...)
}

// chain is a path and each step of its symbolic links; the last is the file itself.
func (e *Env) chain(path string) []string {
	steps := []string{path}
	for range 20 {
		target, err := os.Readlink(e.File(path))
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		steps, path = append(steps, target), target
	}
	if last := e.resolve(path); last != path {
		steps = append(steps, last)
	}
	return steps
}

// path lists the directories in $PATH that exist, each once. Relative ones are ignored.
func (e *Env) path() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		if filepath.IsAbs(dir) && !slices.Contains(dirs, dir) && e.isDir(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// inPath is the first executable of that name in $PATH, or "".
func (e *Env) inPath(name string) string {
	for _, dir := range e.path() {
		if p := filepath.Join(dir, name); e.isExecutable(p) {
			return p
		}
	}
	return ""
}

// Word is the word that runs an executable in a shell: its name if PATH leads to it, else its path.
func (e *Env) Word(path string) string {
	name := filepath.Base(path)
	if path != "" && (e.inPath(name) == path || e.resolve(e.inPath(name)) == e.resolve(path)) {
		return name
	}
	return path
}

// Process is an ancestor of this process. Fields that cannot be read (another user's process) are empty.
type Process struct {
	PID     int
	Exe     string   // path of the executable
	Cmdline []string // its arguments
	Environ []string // the environment it was started with
}

// Ancestors are the parents of this process, the nearest first, at most limit of them, as far as /proc shows them.
// Details reads the command line and environment of a process.
func (e *Env) Ancestors(limit int) []Process {
	var ps []Process
	for pid := e.parent(e.PID); pid > 0 && len(ps) < limit; pid = e.parent(pid) {
		exe, _ := os.Readlink(e.proc(pid, "exe"))
		ps = append(ps, Process{PID: pid, Exe: strings.TrimSuffix(exe, " (deleted)")})
	}
	return ps
}

// Details reads the command line and the environment of a process.
func (e *Env) Details(p Process) Process {
	p.Cmdline = e.strings(p.PID, "cmdline")
	p.Environ = e.strings(p.PID, "environ")
	return p
}

func (e *Env) proc(pid int, file string) string {
	return e.File("/proc/" + strconv.Itoa(pid) + "/" + file)
}

func (e *Env) strings(pid int, file string) []string {
	data, err := os.ReadFile(e.proc(pid, file))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

func (e *Env) parent(pid int) int {
	fields := e.Stat(pid)
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// Stat are the fields of /proc/PID/stat from the third on. The second, the command, may contain spaces and parentheses.
func (e *Env) Stat(pid int) []string {
	data, err := os.ReadFile(e.proc(pid, "stat"))
	if err != nil {
		return nil
	}
	s := string(data)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
}
