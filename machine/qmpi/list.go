package qmpi

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"mpitx/machine"
)

// Listed are the tools of a library.
type Listed struct {
	Path   string // of the library, as it was found
	Family string // the MPI that it was compiled for; "": any
	Native bool   // for the QMPI of the MPI library itself, not for mpitx's chain
	Lacks  string // the MPI library, if it has no QMPI, so that the functions of native tools are unknown
	Tools  []*Instance
}

// List loads a library of tools in a process of its own, with the MPI that mpi names or that the library links or was compiled for, and
// lists its tools. With an error, the tools before it are listed.
func List(e *machine.Env, given, mpi string) (*Listed, error) {
	path := given
	if _, err := os.Stat(given); err == nil && !strings.Contains(given, "/") {
		path = "./" + given
	}
	tools, err := Parse(e, "tools", []string{path})
	if err != nil {
		var wrong *machine.Error
		if errors.As(err, &wrong) {
			wrong.What = given
		}
		return nil, err
	}
	t := tools[0]
	t.From = given
	if t.Path == "" {
		return nil, &machine.Error{What: given, Why: "this is not the path of a shared library", Do: "give its path, such as ./" + given}
	}
	x, err := t.read(e)
	if err != nil {
		return nil, err
	}
	l := &Listed{Path: t.Path, Family: x.family(), Native: x.native != "" && !x.draft && len(x.families) == 0}
	m, err := x.choose(e, mpi, l.Native)
	if err != nil {
		return nil, err
	}
	check, err := newChecker(e, m, l.Native)
	if err != nil {
		return nil, err
	}
	if err := CheckFile(e, t, m.Family, "the tools are loaded with "+m.Name(), check.Agent+check.Shim, l.Native); err != nil {
		return nil, err
	}
	a, err := check.offers(t)
	if err != nil {
		return nil, err
	}
	names := a.names(t.Path)
	if t.Name != "" {
		if err := t.among(names); err != nil {
			return nil, err
		}
		names = []string{t.Name}
	}
	if a.lacks {
		l.Lacks = check.library()
		for _, name := range names {
			l.Tools = append(l.Tools, &Instance{Path: t.Path, Name: name})
		}
		return l, nil
	}
	var each []Tool
	for _, name := range names {
		each = append(each, Tool{From: given, Path: t.Path, Name: name})
	}
	l.Tools, err = check.Try(each)
	return l, err
}

// choose is the MPI for a tool. The numbers of functions of a native one are those of the release that it links.
func (x *file) choose(e *machine.Env, mpi string, native bool) (machine.MPI, error) {
	if native && mpi == "" && x.linked != nil && x.linked.Lib != "" {
		return *x.linked, nil
	}
	family := x.family()
	m, err := e.Choose(mpi)
	if mpi != "" || family == "" || err == nil && m.Family == family {
		if err == nil && m.Family == machine.Demo {
			err = &machine.Error{What: "the demo MPI has no tools", Why: "it is part of mpitx", Do: "choose a real MPI with --mpi openmpi or --mpi mpich", Usage: true}
		}
		return m, err
	}
	return e.Choose(family)
}

// newChecker finds the files with which tools are loaded.
func newChecker(e *machine.Env, m machine.MPI, native bool) (*Checker, error) {
	dir, err := ownDir()
	if err != nil {
		return nil, err
	}
	c := &Checker{Env: e, MPI: m, Replace: e.Getenv("MPITX_DEBUG") != ""}
	if native {
		if c.Shim, err = e.Shim(m, dir); err == nil {
			c.Shim, err = filepath.Abs(c.Shim)
		}
		return c, err
	}
	for name, path := range map[string]*string{machine.AgentName(m.Family): &c.Agent, Library: &c.Library} {
		found, looked := e.Beside(dir, name)
		if found == "" {
			return nil, &machine.Error{What: "load tools with " + m.Name(), Why: name + " is not in " + strings.Join(looked, ", "), Do: "build it with `" + e.SetupCommand(m) + "`"}
		}
		if *path, err = filepath.Abs(found); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func ownDir() (string, error) {
	exe, err := os.Executable()
	return filepath.Dir(exe), err
}

// Flags are the words that a compiler needs to compile tools (cflags), and a linker to link an application with tools
// (libs). It fails if the header or the library is not installed.
func Flags(e *machine.Env, cflags, libs bool) (words []string, err error) {
	dir, err := ownDir()
	if err != nil {
		return nil, err
	}
	if cflags {
		header, looked := "", []string(nil)
		for _, d := range []string{filepath.Join(dir, "..", "include"), filepath.Join(dir, "..", "agent", "include"), filepath.Join(dir, "include"), filepath.Join(e.DataDir(), "include")} {
			if _, err := os.Stat(filepath.Join(d, "qmpi.h")); err == nil && header == "" {
				header = d
			}
			looked = append(looked, d)
		}
		if header == "" {
			return nil, &machine.Error{What: "--cflags", Why: "qmpi.h is not in " + strings.Join(looked, ", "), Do: "install mpitx completely, or run mpitx setup"}
		}
		words = append(words, "-I"+header)
	}
	if libs {
		path, looked := e.Beside(dir, Library)
		if path == "" {
			return nil, &machine.Error{What: "--libs", Why: Library + " is not in " + strings.Join(looked, ", "), Do: "build it with mpitx setup"}
		}
		d := filepath.Dir(path)
		words = append(words, "-L"+d, "-Wl,-rpath,"+d, "-lmpitx-qmpi")
	}
	return words, nil
}
