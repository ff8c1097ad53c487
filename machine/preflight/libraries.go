package preflight

import (
	"bufio"
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"mpitx/machine"
)

// libmpi matches the MPI library itself, not its Fortran and C++ layers, which depend on it.
var libmpi = lazily(`^lib(mpi|mpich|mpi_abi\w*|mpi_(cray|crayclang|gnu|intel|nvidia|amd|aocc|pgi)\w*)\.so(\.|$)`)

// plain are libraries that every program links and that never depend on an MPI.
var plain = lazily(`^(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|util|resolv|z|stdc\+\+|gcc_s|gfortran|quadmath|gomp|atomic))\.so`)

// sanitizer matches the runtimes of address and thread sanitizers: of GCC, of Clang with -shared-libsan.
var sanitizer = lazily(`^lib([at]san|clang_rt\.[at]san.*)\.so(\.|$)`)

// lazily compiles an expression when it is first used: most commands start no program.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

const mostLibraries = 300

// object is a file whose libraries are to be looked for.
type object struct {
	needed         []string
	rpath, runpath []string
}

// linked is the MPI library that the loader will load with a program: the first one in the loader's order. missing is
// its name if the file was not found.
func linked(e *machine.Env, path string, f *elf.File) (m *machine.MPI, missing string) {
	dependencies(e, path, f, func(name, file string) (enter, done bool) {
		if !libmpi().MatchString(name) {
			return true, false
		}
		if file == "" {
			missing = name
		} else if mpi, err := e.Choose(file); err == nil {
			m, missing = &mpi, ""
		}
		return false, m != nil
	})
	return m, missing
}

// Linked is the MPI library that the loader will load with a program or a library; nil if there is none or it was not found.
func Linked(e *machine.Env, path string, f *elf.File) *machine.MPI {
	m, _ := linked(e, path, f)
	return m
}

// Loads reports whether the loader will load a library of this name with a program.
func Loads(e *machine.Env, path, library string) (found bool) {
	f, err := elf.Open(e.File(path))
	if err != nil {
		return false
	}
	defer f.Close()
	dependencies(e, path, f, func(name, _ string) (enter, done bool) {
		found = found || filepath.Base(name) == library
		return !libmpi().MatchString(name), found
	})
	return found
}

// dependencies passes the libraries that a program loads to visit, in the loader's order, with their files ("": not found), until
// visit is done. It enters those that visit wants to enter.
func dependencies(e *machine.Env, path string, f *elf.File, visit func(name, file string) (enter, done bool)) {
	l := loader{env: e}
	queue := []object{read(f, filepath.Dir(path))}
	l.program = queue[0].rpath
	seen := map[string]bool{}
	for len(queue) > 0 && len(seen) < mostLibraries {
		o := queue[0]
		queue = queue[1:]
		for _, name := range o.needed {
			if seen[name] || plain().MatchString(name) {
				continue
			}
			seen[name] = true
			file := l.find(name, o)
			enter, done := visit(name, file)
			if done {
				return
			}
			if !enter || file == "" {
				continue // the loader will report it
			}
			if f, err := elf.Open(e.File(file)); err == nil {
				queue = append(queue, read(f, filepath.Dir(file)))
				f.Close()
			}
		}
	}
}

func read(f *elf.File, origin string) object {
	var o object
	o.needed, _ = f.ImportedLibraries()
	dirs := func(tag elf.DynTag) []string {
		var out []string
		lists, _ := f.DynString(tag)
		for _, list := range lists {
			for dir := range strings.SplitSeq(list, ":") {
				if dir != "" {
					out = append(out, strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir))
				}
			}
		}
		return out
	}
	o.rpath, o.runpath = dirs(elf.DT_RPATH), dirs(elf.DT_RUNPATH)
	return o
}

// loader searches libraries in the same places as ld.so.
type loader struct {
	env     *machine.Env
	program []string // its RPATH counts for all libraries
	system  []string
}

func (l *loader) find(name string, o object) string {
	file := func(path string) bool {
		st, err := os.Stat(l.env.File(path))
		return err == nil && st.Mode().IsRegular()
	}
	if strings.ContainsRune(name, '/') {
		if !file(name) {
			return ""
		}
		return name
	}
	var dirs []string
	if len(o.runpath) == 0 {
		dirs = append(append(dirs, o.rpath...), l.program...)
	}
	dirs = append(dirs, strings.FieldsFunc(l.env.Getenv("LD_LIBRARY_PATH"), func(r rune) bool { return r == ':' || r == ';' })...)
	dirs = append(dirs, o.runpath...)
	if l.system == nil {
		l.system = append(l.conf("/etc/ld.so.conf", 0), "/lib64", "/usr/lib64", "/lib", "/usr/lib")
	}
	for _, dir := range append(dirs, l.system...) {
		if path := filepath.Join(dir, name); file(path) {
			return path
		}
	}
	return ""
}

func (l *loader) conf(file string, depth int) []string {
	f, err := os.Open(l.env.File(file))
	if err != nil || depth > 4 {
		return nil
	}
	defer f.Close()
	var dirs []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line, _, _ := strings.Cut(sc.Text(), "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "include":
			pattern := words[1]
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(file), pattern)
			}
			files, _ := filepath.Glob(l.env.File(pattern))
			for _, path := range files {
				dirs = append(dirs, l.conf(strings.TrimPrefix(path, l.env.Root), depth+1)...)
			}
		case len(words) == 1 && filepath.IsAbs(words[0]):
			dirs = append(dirs, words[0])
		}
	}
	return dirs
}
