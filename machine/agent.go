package machine

import (
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// AgentSources are the sources of the agent and the workload.
type AgentSources struct {
	Agent    fs.FS // the directory agent
	Binding  fs.FS // the directory binding: shim/, probe.c
	Workload fs.FS // the directory fixtures/workload
	// Wrappers writes the agent's wrappers for an MPI, from its preprocessed mpi.h and its macros.
	Wrappers func(header, macros string) (string, error)
}

// BuildAgent compiles the agent, the workload and the library for tools into outDir with a compiler wrapper (mpicc), which takes
// a minute, and returns their paths. Older files are replaced atomically. An error is an *Error with the compiler's
// output.
func (e *Env) BuildAgent(cc, family string, sources AgentSources, outDir string) ([]string, error) {
	fail := func(err error) ([]string, error) {
		return nil, &Error{What: "build an agent with " + cc, Why: err.Error(), Do: "set TMPDIR to a directory with free space"}
	}
	outDir, err := filepath.Abs(outDir)
	if err != nil {
		return fail(err)
	}
	tmp, err := os.MkdirTemp("", "mpitx-agent-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(tmp)
	workload := filepath.Join(tmp, "fixtures", "workload")
	for dir, files := range map[string]fs.FS{filepath.Join(tmp, "agent"): sources.Agent, filepath.Join(tmp, "binding"): sources.Binding, workload: sources.Workload} {
		if err := os.CopyFS(dir, files); err != nil {
			return fail(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tmp, "mpi.c"), []byte("#include <mpi.h>\n"), 0o600); err != nil {
		return fail(err)
	}
	argv := strings.Fields(cc)
	header, err := e.run(tmp, append(argv[:len(argv):len(argv)], "-E", "-P", "mpi.c")...)
	if err != nil {
		return nil, err
	}
	macros, err := e.run(tmp, append(argv[:len(argv):len(argv)], "-E", "-dM", "mpi.c")...)
	if err != nil {
		return nil, err
	}
	text, err := sources.Wrappers(header, macros)
	if err != nil {
		return fail(err)
	}
	wrappers := filepath.Join(tmp, "wrappers.c")
	if err := os.WriteFile(wrappers, []byte(text), 0o600); err != nil {
		return fail(err)
	}
	agent := filepath.Join(outDir, AgentName(family))
	build := []string{"env", "WRAPPERS=" + wrappers, "TEST_TOOL=", "KEEP=", "OBJECTS=", "CC=" + strings.Join(linker(e), " "), "sh"}
	if _, err := e.run(tmp, append(build, "agent/build.sh", cc, agent)...); err != nil {
		return nil, err
	}
	if _, err := e.run(tmp, "sh", filepath.Join(workload, "build.sh"), cc, outDir); err != nil {
		return nil, err
	}
	library := filepath.Join(outDir, QMPILibrary)
	if _, err := e.run(tmp, append(build, "agent/qmpi/build.sh", library)...); err != nil {
		return nil, err
	}
	headers, err := fs.Sub(sources.Agent, "include")
	if err != nil {
		return fail(err)
	}
	if err := copyNew(headers, filepath.Join(outDir, "include")); err != nil {
		return fail(err)
	}
	return []string{agent, filepath.Join(outDir, WorkloadName(family)), library}, nil
}

// copyNew copies files, and replaces those that exist atomically.
func copyNew(from fs.FS, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := fs.ReadDir(from, ".")
	for _, entry := range entries {
		text, readErr := fs.ReadFile(from, entry.Name())
		path := filepath.Join(dir, entry.Name())
		err = errors.Join(err, readErr, os.WriteFile(path+".new", text, 0o666), os.Rename(path+".new", path))
	}
	return err
}

// AgentGaps are the functions of a library that an agent does not wrap, sorted. An agent built with the mpi.h of an
// older release does not see calls to them. It fails if a file cannot be read, or if they are for different processors.
func AgentGaps(agent, library string) ([]string, error) {
	known, machine, err := mpiFunctions(agent)
	if err != nil {
		return nil, err
	}
	offered, other, err := mpiFunctions(library)
	if err != nil {
		return nil, err
	}
	if machine != other {
		return nil, &Error{What: agent, Why: "it is for another processor (" + machine.String() + ") than " + library + " (" + other.String() + ")"}
	}
	var gaps []string
	for name := range offered {
		if !known[name] {
			gaps = append(gaps, name)
		}
	}
	slices.Sort(gaps)
	return gaps, nil
}

// mpiFunctions are the functions MPI_Xxx that a shared object defines.
func mpiFunctions(path string) (map[string]bool, elf.Machine, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, 0, err
	}
	names := map[string]bool{}
	for _, s := range symbols {
		rest, ok := strings.CutPrefix(s.Name, "MPI_")
		if ok && len(rest) > 1 && (rest[1] == '_' || rest[1] >= 'a') && elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			names[s.Name] = true
		}
	}
	return names, f.Machine, nil
}
