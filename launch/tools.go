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
		return nil
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
	text := Jobwide(c.Env).Find(what, func() []byte {
		var err error
		if c.Native {
			err = qmpi.Native(c.Env, x.mpi, c.Tools)
		} else {
			check := qmpi.Checker{Env: c.Env, MPI: x.mpi.Lib, Agent: x.agent, Library: x.qmpi}
			_, err = check.Try(c.Tools)
		}
		var why *machine.Error
		if err != nil && !errors.As(err, &why) {
			why = &machine.Error{What: err.Error()}
		}
		text, _ := json.Marshal(why)
		return text
	})
	var why *machine.Error
	if err := json.Unmarshal(text, &why); err != nil || why == nil {
		return err
	}
	return why
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
