package locate

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// AgentSources are what the agent and the workload are made of.
type AgentSources struct {
	Binding  fs.FS // as the folder binding: agent/, shim/, probe.c
	Workload fs.FS // as fixtures/workload
	// Wrappers writes the agent's wrappers for an MPI: from its mpi.h as the preprocessor makes it, and from its macros.
	Wrappers func(header, macros string) (string, error)
}

// AgentName is the file name of a family's agent.
func AgentName(family string) string { return "mpitx-agent-" + family + ".so" }

// WorkloadName is the file name of a family's program behind --workload.
func WorkloadName(family string) string { return "mpitx-workload-" + family }

// BuildAgent compiles the agent and the workload for a family with a compiler wrapper (mpicc) into outDir, which takes a
// minute, and tells what it made. Each replaces an older one at once or not at all. An error is an *Error with what the compiler
// said.
func (e *Env) BuildAgent(cc, family string, sources AgentSources, outDir string) ([]string, error) {
	fail := func(err error) ([]string, error) {
		return nil, &Error{What: "building an agent with " + cc, Why: err.Error(), Do: "set TMPDIR to a folder with space"}
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
	for dir, files := range map[string]fs.FS{filepath.Join(tmp, "binding"): sources.Binding, workload: sources.Workload} {
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
	build := []string{"env", "WRAPPERS=" + wrappers, "BARE=", "KEEP=", "CC=" + strings.Join(linker(e), " "), "sh"}
	if _, err := e.run(tmp, append(build, "binding/agent/build.sh", cc, agent, "binding/probe.c", "binding/shim/shim.c")...); err != nil {
		return nil, err
	}
	if _, err := e.run(tmp, "sh", filepath.Join(workload, "build.sh"), cc, outDir); err != nil {
		return nil, err
	}
	return []string{agent, filepath.Join(outDir, WorkloadName(family))}, nil
}
