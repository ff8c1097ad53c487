// Package preflight examines an application before it is started with the agent: whether the agent can be loaded, and
// which MPI the application links. It starts and loads nothing, and trusts no file.
package preflight

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/machine"
)

// Program is what is known about an application.
type Program struct {
	Path      string       // of the executable to start (the first word)
	Target    string       // the program that matters, after env, numactl and similar words; else Path
	Script    bool         // Target is a script
	Linked    *machine.MPI // the MPI that Target links; nil if there is none or it was not found
	Sanitized bool         // Target links the runtime of an address or thread sanitizer
	Container *Container   // a container runtime between the launcher and the program
	Notes     []string     // possible reasons if nothing is recorded
}

// Refusal is the error for a program that can be started but not observed.
type Refusal struct{ Reason machine.Error }

func (r *Refusal) Error() string { return r.Reason.Error() }

// Unwrap makes a refusal a *machine.Error.
func (r *Refusal) Unwrap() error { return &r.Reason }

func refuse(what, why, do string) error {
	return &Refusal{machine.Error{What: what, Why: why, Do: do, Usage: true}}
}

// Check examines a command line. An error is a *Refusal, or a *machine.Error if the program cannot be started at all. A
// refused program is returned with what is known about it.
func Check(e *machine.Env, argv []string) (*Program, error) {
	path, err := find(e, argv[0])
	if err != nil {
		return nil, err
	}
	p := &Program{Path: path, Target: path}
	rest := argv[1:]
	for name := filepath.Base(p.Target); ; name = filepath.Base(p.Target) {
		if isLauncher(name) {
			return p, refuse(argv[0], "this is a launcher, and the agent must go into the program that it starts",
				"put mpitx after it ("+name+" … mpitx sample … -- program), or let mpitx start the launcher (-n 4)")
		}
		if c := containerOf(p.Target, rest); c != nil {
			p.Container = c
			return p, nil // the inside of a container is not visible from here
		}
		if err := preloadable(e, p.Target); err != nil {
			return p, err
		}
		if !wrappers[name] {
			break
		}
		k := slices.IndexFunc(rest, func(w string) bool {
			if w == "" || w[0] == '-' || strings.Contains(w, "=") {
				return false
			}
			_, err := find(e, w)
			return err == nil
		})
		if name == "env" && clears(rest[:max(k, 0)]) {
			return p, refuse(strings.Join(argv[:len(argv)-len(rest)+k], " "), "it removes the agent from the environment", "put it in front of mpitx (env … mpitx … -- program)")
		}
		if k < 0 {
			p.Notes = append(p.Notes, name+" starts a program that mpitx cannot see")
			return p, nil
		}
		p.Target, _ = find(e, rest[k])
		rest = rest[k+1:]
	}
	return p, p.look(e)
}

const mostInterpreters = 4 // as in the kernel

// preloadable is the error for a program that the loader does not preload libraries into. For a script, its interpreter
// counts.
func preloadable(e *machine.Env, path string) error {
	for program, script := path, 0; program != "" && script < mostInterpreters; script++ {
		words := interpreter(e, program)
		if len(words) == 0 {
			if why := elevated(e, program); why != "" {
				return refuse(program, "it has "+why+", so the loader ignores LD_PRELOAD", "observe a copy without it (cp "+program+" DIR)")
			}
			return nil
		}
		program = words[0]
		if filepath.Base(program) == "env" && len(words) > 1 {
			program, _ = find(e, words[1])
		}
	}
	return nil
}

// interpreter returns the words after #! of a script; none if path is not a script.
func interpreter(e *machine.Env, path string) []string {
	f, err := os.Open(e.File(path))
	if err != nil {
		return nil
	}
	defer f.Close()
	var head [256]byte
	n, _ := f.ReadAt(head[:], 0)
	line, ok := strings.CutPrefix(string(head[:n]), "#!")
	if !ok {
		return nil
	}
	line, _, _ = strings.Cut(line, "\n")
	return strings.Fields(line)
}

// clears reports whether the arguments of env remove the agent from the environment.
func clears(words []string) bool {
	for i, w := range words {
		switch {
		case w == "-", w == "-i", w == "--ignore-environment", w == "-uLD_PRELOAD", w == "--unset=LD_PRELOAD", strings.HasPrefix(w, "LD_PRELOAD="),
			i > 0 && w == "LD_PRELOAD" && (words[i-1] == "-u" || words[i-1] == "--unset"):
			return true
		}
	}
	return false
}

// wrappers start the program named by a later word in the same environment.
var wrappers = map[string]bool{
	"env": true, "numactl": true, "time": true, "taskset": true, "nice": true, "ionice": true, "chrt": true, "stdbuf": true,
	"setarch": true, "timeout": true, "nohup": true, "hwloc-bind": true, "likwid-pin": true, "strace": true, "ltrace": true,
	"valgrind": true, "perf": true, "catchsegv": true, "prlimit": true, "setsid": true, "unshare": true, "gdb": true,
}

func isLauncher(name string) bool {
	for _, l := range []string{"mpirun", "mpiexec"} {
		if name == l || strings.HasPrefix(name, l+".") {
			return true
		}
	}
	return slices.Contains([]string{"orterun", "prterun", "srun", "aprun", "jsrun", "ibrun", "palsrun", "prun"}, name)
}

// find returns what execvp would find.
func find(e *machine.Env, name string) (string, error) {
	check := func(path string) (string, error) {
		st, err := os.Stat(e.File(path))
		switch {
		case err != nil:
			return "", err
		case st.IsDir():
			return "", errors.New("this is a directory; give the path of the application")
		case st.Mode()&0o111 == 0:
			return "", fs.ErrPermission
		}
		return path, nil
	}
	var err error = fs.ErrNotExist
	if strings.ContainsRune(name, '/') {
		var path string
		if path, err = check(name); err == nil {
			return path, nil
		}
	} else {
		for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
			path, pathErr := check(filepath.Join(dir, name))
			if pathErr == nil {
				if !strings.ContainsRune(path, '/') {
					path = "./" + path
				}
				return path, nil
			}
			if !errors.Is(pathErr, fs.ErrNotExist) {
				err = pathErr
			}
		}
	}
	if name == "" {
		return "", &machine.Error{What: "start the application", Why: "its name is empty", Do: "name a program after --", Usage: true}
	}
	x := &machine.Error{What: "start " + name}
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsRune(name, '/'):
		x.Why, x.Do = "there is no such file", "give the path of the application"
	case errors.Is(err, fs.ErrNotExist):
		x.Why, x.Do = "no such program is in PATH", "give its path (./"+name+")"
	case errors.Is(err, fs.ErrPermission):
		x.Why, x.Do = "this file is not executable", "chmod +x it, or name the program that reads it"
	default:
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		x.Why = err.Error()
	}
	return "", x
}

// look examines the target.
func (p *Program) look(e *machine.Env) error {
	file, err := os.Open(e.File(p.Target))
	if err != nil { // executable but not readable: nothing is known
		p.Notes = append(p.Notes, p.Target+" could not be read, so it was not checked")
		return nil
	}
	defer file.Close()
	head := make([]byte, 4)
	n, _ := file.ReadAt(head, 0)
	switch {
	case bytes.HasPrefix(head[:n], []byte("#!")):
		p.Script = true
		p.Notes = append(p.Notes, p.Target+" is a script; the MPI programs that it starts are observed")
		return nil
	case string(head[:n]) != elf.ELFMAG:
		return &machine.Error{What: "start " + p.Target, Why: "this is neither a program for this machine nor a script with #!", Do: "name its interpreter: sh " + p.Target, Usage: true}
	}
	f, err := elf.NewFile(file)
	if err != nil {
		return &machine.Error{What: "start " + p.Target, Why: "its ELF header is damaged: " + err.Error(), Do: "build or copy the program again", Usage: true}
	}
	return p.elf(e, f)
}

func (p *Program) elf(e *machine.Env, f *elf.File) error {
	inside := defines(f)
	if !slices.ContainsFunc(f.Progs, func(h *elf.Prog) bool { return h.Type == elf.PT_INTERP }) {
		why := "it is linked statically, so the agent cannot be loaded"
		if inside {
			why = "it is linked statically, with the MPI library, so the agent cannot be loaded"
		}
		return refuse(p.Target, why, "link it dynamically, with the MPI's mpicc and without -static")
	}
	mpi, foreign := linked(e, p.Target, f)
	if inside {
		return refuse(p.Target, "the MPI library is linked into it (it defines MPI_Init itself), so calls do not pass through the agent", "link it with the shared libmpi")
	}
	p.Linked = mpi
	p.Sanitized = slices.ContainsFunc(read(f, "").needed, sanitizer().MatchString)
	if mpi == nil {
		note := p.Target + " links no MPI library"
		if foreign != "" {
			note = p.Target + " links " + foreign + ", which was not found"
		}
		p.Notes = append(p.Notes, note)
	}
	return nil
}

// defines reports whether an executable contains an MPI. One that defines MPI_X but not PMPI_X contains a PMPI tool
// only.
func defines(f *elf.File) bool {
	for _, read := range []func() ([]elf.Symbol, error){f.DynamicSymbols, f.Symbols} {
		symbols, _ := read()
		for i := range symbols {
			s := &symbols[i]
			if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC && (s.Name == "PMPI_Init" || s.Name == "PMPI_Init_thread") {
				return true
			}
		}
	}
	return false
}

// Fits compares the MPI that a program links with the launcher's and the requested one (want is "" if the user
// requested none). The error is a [Refusal].
func (p *Program) Fits(l machine.Launch, want string, asked machine.MPI) error {
	if p.Linked == nil {
		return nil
	}
	m := *p.Linked
	has := fmt.Sprintf("it links %s (%s)", m.Name(), m.Lib)
	if want != "" && asked.Family != m.Family {
		return refuse(p.Target, has+", and "+want+" is "+asked.Name(), "leave "+strings.SplitN(want, " ", 2)[0]+" out, or build the program with that MPI")
	}
	if l.Family != "" && m.Impl != "" && m.Impl != l.Family {
		do := "start it with the mpirun of " + m.Name()
		if m.Launcher != "" {
			do = "start it with " + m.Launcher
		}
		return refuse(p.Target, has+", and was started by "+machine.FamilyName(l.Family)+"'s "+l.Command()+", so each of its processes would be alone", do)
	}
	return nil
}
