package machine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Choose decides which MPI is used, in this order: want (the value of --mpi: a family, a prefix, a libmpi file or a
// launcher), $MPITX_MPI, the launcher that started mpitx, the mpirun in PATH, the variables of modules, the only one
// installed. The MPI's Why names the reason. It searches no further than necessary. An error is an *Error.
func (e *Env) Choose(want string) (MPI, error) {
	if want != "" {
		return e.named(want, "--mpi "+want)
	}
	if v := e.Getenv("MPITX_MPI"); v != "" {
		return e.named(v, "$MPITX_MPI="+v)
	}
	if l := e.Launcher(); l.Family != "" {
		return e.ofLaunch(l)
	}
	for _, name := range []string{"mpirun", "mpiexec"} {
		path := e.inPath(name)
		if path == "" {
			continue
		}
		if m, ok := e.fromLauncher(path, ""); ok {
			m.Why = name + " in PATH (" + path + ")"
			return m, nil
		}
	}
	for m := range e.fromModules() {
		return e.withLauncher(m), nil
	}
	return e.only(e.Find())
}

// only is the last resort: the only MPI of a machine, or an error that says why there is none.
func (e *Env) only(all []MPI) (MPI, error) {
	switch len(all) {
	case 0:
		return MPI{}, e.noneFound()
	case 1:
		m := all[0]
		m.Why = "the only MPI found (" + m.Lib + ")"
		return m, nil
	}
	var list []string
	for _, m := range all {
		list = append(list, m.Name()+" ("+m.Lib+")")
	}
	return MPI{}, &Error{
		What: "cannot choose an MPI",
		Why:  "no mpirun is in PATH, and several libraries are installed: " + strings.Join(list, ", "),
		Do:   "choose one with --mpi " + familiesOf(all) + " or --mpi PATH",
	}
}

func familiesOf(all []MPI) string {
	var fs []string
	for _, m := range all {
		if !slices.Contains(fs, m.Family) {
			fs = append(fs, m.Family)
		}
	}
	return strings.Join(fs, ", --mpi ")
}

func (e *Env) noneFound() error {
	return &Error{
		What: "no MPI library found",
		Why: fmt.Sprintf("searched mpirun and mpiexec in PATH, $%s, $LD_LIBRARY_PATH, /usr/lib/%s, /usr/lib64, /usr/local and /opt",
			strings.Join(moduleVars[:len(moduleVars)-1], ", $"), e.triplet()),
		Do: "install one (packages openmpi-bin or mpich) or load its module, name it with --mpi PREFIX, or try mpitx without an MPI: --mpi demo",
	}
}

// ofLaunch is the MPI of the launcher that started mpitx.
func (e *Env) ofLaunch(l Launch) (MPI, error) {
	if l.Family == Demo {
		return demo("started by mpitx --mpi demo"), nil
	}
	why := "the launcher that started us, " + FamilyName(l.Family) + "'s " + l.Command()
	if l.Exe != "" {
		if m, ok := e.fromLauncher(l.Exe, l.Family); ok {
			m.Why, m.Launcher = why+" ("+l.Exe+")", ""
			return e.withLauncher(m), nil
		}
	}
	for m := range e.candidates(l.Family) {
		if m.Impl == l.Family {
			m.Why = why + "; " + m.Why
			return e.withLauncher(m), nil
		}
	}
	return MPI{}, &Error{
		What: "no " + FamilyName(l.Family) + " library found",
		Why:  "this process was started by " + FamilyName(l.Family) + "'s " + l.Command() + ", but there is no libmpi of that family next to it, in PATH, in the modules' variables or in the loader's directories",
		Do:   "name it with --mpi PREFIX",
	}
}

var aliases = map[string]string{
	"openmpi": OpenMPI, "open-mpi": OpenMPI, "ompi": OpenMPI, "mpich": MPICH, "abi": ABI, "demo": Demo, "fakempi": Demo,
}

// named is the MPI for a value of --mpi.
func (e *Env) named(value, source string) (MPI, error) {
	if family, ok := aliases[strings.ToLower(value)]; ok {
		return e.byFamily(family, source)
	}
	path := value
	if !filepath.IsAbs(path) && (strings.ContainsRune(path, filepath.Separator) || e.isDir(path) || e.isFile(path)) && e.Root == "" {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
	}
	switch {
	case e.isDir(path):
		return e.byPrefix(path, source)
	case e.isFile(path):
		if m, ok := e.inspect(path); ok {
			m.Why = source
			return e.withLauncher(m), nil
		}
		if m, ok := e.fromLauncher(path, ""); ok && e.isExecutable(path) {
			m.Why = source
			return m, nil
		}
		return MPI{}, &Error{What: source, Why: "this file is neither a libmpi for this machine nor an mpirun", Do: "name the prefix of an MPI, its libmpi.so, or a family: " + strings.Join(Families, ", "), Usage: true}
	}
	if p := e.inPath(value); p != "" {
		if m, ok := e.fromLauncher(p, ""); ok {
			m.Why = source
			return m, nil
		}
	}
	return MPI{}, &Error{What: source, Why: "this is neither a family (" + strings.Join(Families, ", ") + ") nor an existing directory or file", Do: "`mpitx doctor` lists the installed ones", Usage: true}
}

func (e *Env) byFamily(family, source string) (MPI, error) {
	if family == Demo {
		return demo(source), nil
	}
	l := e.Launcher()
	if l.Family == family && l.Exe != "" {
		if m, ok := e.fromLauncher(l.Exe, family); ok && m.Family == family {
			m.Why, m.Launcher = source+", that of the launcher that started us", ""
			return e.withLauncher(m), nil
		}
	}
	// Several implementations may provide the standard ABI; the launcher's own is meant.
	var others []MPI
	for m := range e.candidates(family) {
		switch {
		case m.Family != family:
		case family != ABI || l.Family == "" || m.Impl == l.Family:
			m.Why = source + ", " + m.Why
			return e.withLauncher(m), nil
		default:
			m.Why = source + ", " + m.Why
			others = append(others, m)
		}
	}
	if len(others) > 0 {
		return e.withLauncher(others[0]), nil
	}
	err := e.noneFound().(*Error)
	err.What = source + ": no library of this family found"
	return MPI{}, err
}

func (e *Env) byPrefix(prefix, source string) (MPI, error) {
	for _, name := range launcherNames[:2] {
		p := filepath.Join(prefix, "bin", name)
		if !e.isExecutable(p) {
			continue
		}
		if m, ok := e.fromLauncher(p, ""); ok {
			m.Why = source
			return m, nil
		}
	}
	libs := e.libsUnder(prefix, "")
	if len(libs) == 0 {
		return MPI{}, &Error{What: source, Why: "no libmpi for this machine is in this directory, its lib or its lib64", Do: "name the prefix of an MPI (the directory above its bin and lib) or the libmpi file itself", Usage: true}
	}
	m := libs[0]
	m.Why = source
	return e.withLauncher(m), nil
}
