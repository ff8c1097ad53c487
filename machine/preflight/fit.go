package preflight

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mpitx/machine"
	"mpitx/machine/owned"
)

// An agent defines the functions of all releases of its family. A program that looks for one with dlsym or a weak
// symbol must find the same as without the agent. So it gets a copy of the agent in which functions that its library
// lacks have no value; the loader skips such symbols.

// FitAgent returns the path of an agent's copy for the MPI library lib, in the first of dirs that has it or can be
// written, and that nobody but the user can change. Several processes may call it at once. It fails if a file cannot be
// read, or if no directory can have the copy.
func FitAgent(e *machine.Env, agent, lib string, dirs ...string) (string, error) {
	files := append([]string{agent}, mpiParts(e, lib)...)
	name, size, err := fittedName(e, files)
	if err != nil {
		return "", err
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return strings.ContainsAny(dir, ": \t\n") }) // LD_PRELOAD accepts no such path
	for _, dir := range dirs {
		if real, err := owned.Directory(dir); err == nil {
			if path := filepath.Join(real, name); loadable(path, size) == nil {
				keep(path)
				return path, nil
			}
		}
	}
	image, err := fit(e, files)
	if err != nil {
		return "", err
	}
	err = errors.New("no folder without blanks and colons in its name")
	for _, dir := range dirs {
		var path string
		if path, err = store(dir, name, image); err == nil {
			return path, nil
		}
	}
	return "", err
}

// mpiParts are the objects with the functions of an MPI library: the library, and its own dependencies (libpmpi,
// libopen_mpi).
func mpiParts(e *machine.Env, lib string) []string {
	l, parts := loader{env: e}, []string{lib}
	for k := 0; k < len(parts) && k < 16; k++ {
		f, err := elf.Open(e.File(parts[k]))
		if err != nil {
			continue
		}
		o := read(f, filepath.Dir(parts[k]))
		f.Close()
		for _, name := range o.needed {
			if !strings.Contains(name, "mpi") {
				continue
			}
			if file := l.find(name, o); file != "" && !slices.Contains(parts, file) {
				parts = append(parts, file)
			}
		}
	}
	return parts
}

// fittedName names the copy after the agent's family, the contents of the library, and those of the agent; size is the agent's.
func fittedName(e *machine.Env, files []string) (name string, size int64, err error) {
	agent, lib := sha256.New(), sha256.New()
	for k, file := range files {
		st, err := os.Stat(e.File(file))
		if err != nil {
			return "", 0, err
		}
		of := lib
		if k == 0 {
			of, size = agent, st.Size()
		}
		id := machine.BuildID(e.File(file))
		if id == "" {
			id = fmt.Sprint(file, st.ModTime().UnixNano())
		}
		fmt.Fprintf(of, "%s %d\n", id, st.Size())
	}
	base := strings.TrimSuffix(filepath.Base(files[0]), ".so")
	return fmt.Sprintf("%s-%x-%x.so", base, lib.Sum(nil)[:6], agent.Sum(nil)[:6]), size, nil
}

// fit is the image of an agent (the first file) that exports only what the other files define.
func fit(e *machine.Env, files []string) ([]byte, error) {
	defined := map[string]bool{}
	for _, file := range files[1:] {
		f, err := elf.Open(e.File(file))
		if err != nil {
			return nil, err
		}
		err = addMPI(defined, f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	if !defined["PMPI_Init"] {
		return nil, errors.New(files[1] + " has no PMPI_Init")
	}
	image, err := os.ReadFile(e.File(files[0]))
	if err != nil {
		return nil, err
	}
	return image, hide(image, func(name string) bool { return isMPI(name) && !defined[name] })
}

// addMPI adds the functions of MPI and PERUSE that a file exports.
func addMPI(defined map[string]bool, f *elf.File) error {
	symbols, err := f.DynamicSymbols()
	for _, s := range symbols {
		if isMPI(s.Name) && s.Section != elf.SHN_UNDEF && elf.ST_BIND(s.Info) != elf.STB_LOCAL {
			defined[s.Name] = true
		}
	}
	return err
}

func isMPI(name string) bool {
	if strings.HasPrefix(name, "PERUSE_") {
		return true
	}
	name = strings.TrimPrefix(name, "P")
	return strings.HasPrefix(name, "MPI_") || strings.HasPrefix(name, "MPIX_")
}

// hide sets the values of dynamic symbols to 0.
func hide(image []byte, hidden func(name string) bool) error {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return err
	}
	table := f.SectionByType(elf.SHT_DYNSYM)
	if table.Flags&elf.SHF_COMPRESSED != 0 {
		return errors.New("its symbols are compressed")
	}
	entry, value, width := 24, 8, 8 // Elf64_Sym: its size, and the offset and size of st_value
	if f.Class == elf.ELFCLASS32 {
		entry, value, width = 16, 4, 4
	}
	for k, s := range symbols {
		if s.Section != elf.SHN_UNDEF && hidden(s.Name) {
			at := int(table.Offset) + (k+1)*entry + value // DynamicSymbols skips the first symbol
			clear(image[at : at+width])
		}
	}
	return nil
}

// store puts a copy in place atomically.
func store(dir, name string, image []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	dir, err := owned.Directory(dir) // else another user could replace the copy before it is loaded
	if err != nil {
		return "", err
	}
	prune(dir)
	tmp, err := os.CreateTemp(dir, ".agent-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	_, err = tmp.Write(image)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = loadable(tmp.Name(), int64(len(image)))
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return "", err
	}
	return path, nil
}

const (
	unused  = 100 * 24 * time.Hour // copies not used for this time are deleted
	builds  = 2                    // of an agent for one library that are kept, by their last use
	inUse   = 10 * time.Minute     // a job may be about to load copies used in this time
	refresh = inUse / 2
)

// keep marks a copy as used.
func keep(path string) {
	now := time.Now()
	if st, err := os.Stat(path); err == nil && now.Sub(st.ModTime()) > refresh {
		os.Chtimes(path, now, now)
	}
}

// prune deletes copies for libraries that no longer exist, and older builds of agents, before another one is stored. Before mpitx named
// the library first, all copies of a family had names of one form.
func prune(dir string) {
	paths, _ := filepath.Glob(filepath.Join(dir, "mpitx-agent-*-*.so"))
	used := map[string]time.Time{}
	for _, path := range paths {
		if st, err := os.Lstat(path); err == nil {
			used[path] = st.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return used[b].Compare(used[a]) })
	newer := map[string]int{}
	for _, path := range paths {
		library := path[:strings.LastIndexByte(path, '-')]
		if age := time.Since(used[path]); age > unused || age > inUse && newer[library] >= builds-1 {
			os.Remove(path)
		} else {
			newer[library]++
		}
	}
}
