package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/machine"
	"mpitx/machine/preflight"
	"mpitx/machine/qmpi"
)

// examineTools refuses tools (--tool) by their files alone. agent is the agent as it was built.
func (x *application) examineTools(c *Config, exeDir, agent string) error {
	family := x.mpi.Family
	if x.Container != nil {
		family = "" // of the host
	}
	of := x.Target + " uses " + machine.FamilyName(family)
	if x.Linked == nil {
		of = x.Target + " links no MPI, so that " + machine.FamilyName(family) + " is expected (--mpi chooses another)"
	}
	for k := range c.Tools {
		t := &c.Tools[k]
		if t.Path != "" {
			if err := qmpi.CheckFile(c.Env, *t, family, of, agent, c.Native); err != nil {
				return err
			}
		} else if !c.Native && x.Linked != nil && !preflight.Loads(c.Env, x.Target, qmpi.Library) {
			return &machine.Error{What: t.From, Why: x.Target + " links no tools (" + qmpi.Library + ")",
				Do: "give the path of the tool's shared library, such as ./" + t.Name}
		}
	}
	if c.Native {
		if x.Container != nil {
			return nil
		}
		shim, err := c.Env.Shim(x.mpi, exeDir)
		if err == nil {
			x.shim, err = filepath.Abs(shim)
		}
		return err
	}
	path, looked := c.Env.Beside(exeDir, qmpi.Library)
	if path == "" {
		return notBuilt(c.Env, "library for tools", x.mpi, qmpi.Library, looked)
	}
	var err error
	x.qmpi, err = filepath.Abs(path)
	return err
}

// tryTools loads the tools in another process, once for all ranks of a job on this machine.
func (x *application) tryTools(c *Config) error {
	inside := !slices.ContainsFunc(c.Tools, func(t qmpi.Tool) bool { return t.Path != "" })
	switch {
	case x.Container != nil, inside && !c.Native:
		return nil
	}
	what := fmt.Sprint("tools ", c.Native, x.mpi.Lib, c.Tools)
	var found struct {
		Why   *machine.Error
		Tools []qmpi.Tool // with their names
	}
	text := Jobwide(c.Env).Find(what, func() []byte {
		check := qmpi.Checker{Env: c.Env, MPI: x.mpi, Agent: x.agent, Library: x.qmpi, Shim: x.shim}
		if _, err := check.Try(c.Tools); err != nil && !errors.As(err, &found.Why) {
			found.Why = &machine.Error{What: err.Error()}
		}
		found.Tools = c.Tools
		text, _ := json.Marshal(found)
		return text
	})
	if err := json.Unmarshal(text, &found); err != nil {
		return err
	}
	c.Tools = found.Tools
	if found.Why != nil {
		return found.Why
	}
	return nil
}

// toolDirs are the directories that tools are in.
func (x *application) toolDirs(c *Config) (dirs []string) {
	if x.qmpi != "" {
		dirs = append(dirs, filepath.Dir(x.qmpi))
	}
	for _, t := range c.Tools {
		if t.Path != "" && !slices.Contains(dirs, filepath.Dir(t.Path)) {
			dirs = append(dirs, filepath.Dir(t.Path))
		}
	}
	return dirs
}

// nativeTools are the libraries to preload for the QMPI of the MPI library, and the names of the tools. The MPI library comes first:
// programs that do not link it could not load the tools.
func nativeTools(c *Config, x *application) (preload []string, names string, err error) {
	preload = []string{x.mpi.Lib}
	var list []string
	for _, t := range c.Tools {
		if t.Name == "" && x.Container != nil {
			return nil, "", &machine.Error{What: t.From, Why: "tools are not loaded before a container starts, so that the names which they register are unknown", Do: "add the name, as in " + t.From + ":NAME", Usage: true}
		}
		list = append(list, t.Name)
		if t.Path != "" && !slices.Contains(preload, t.Path) {
			preload = append(preload, t.Path)
		}
		if strings.ContainsAny(t.Path, ": \t") || strings.ContainsRune(t.Name, ':') {
			return nil, "", &machine.Error{What: t.From, Why: "--via qmpi accepts no path with spaces or colons, and no name with colons", Do: "rename it, or leave --via out", Usage: true}
		}
	}
	return preload, strings.Join(list, ":"), nil
}
