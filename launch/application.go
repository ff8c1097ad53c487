package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/machine"
	"mpitx/machine/preflight"
	"mpitx/settings"
	"mpitx/text"
)

// application is the program to start, and what mpitx knows about it.
type application struct {
	*preflight.Program
	argv    []string
	mpi     machine.MPI // its agent is preloaded, and its launcher starts the ranks
	agent   string      // path of the agent
	library string      // the agent exports only the functions of this library
	unfit   string      // why it exports all its functions instead
	preload string      // a library to load instead of the one that the loader would find; "" if there is none
	qmpi    string      // path of the library with QMPI's symbols; "" without tools, or if the MPI library calls them
	shim    string      // path of the shim, which examines tools that the MPI library calls
}

// look finds every reason against the run before anything is created or started. first is true in the process that
// reports for its job.
func look(c *Config, launch machine.Launch, first bool) (*application, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, startFailed("mpitx", err)
	}
	x := &application{argv: c.Args}
	if c.Workload != "" {
		if x.argv, err = builtin(c, filepath.Dir(exe)); err != nil {
			return nil, err
		}
	}
	// With --force, programs that cannot be observed are run anyway. Programs that cannot be started still fail.
	forced := func(err error) error {
		var r *preflight.Refusal
		if !c.Force || !errors.As(err, &r) {
			return err
		}
		if first {
			c.Say("warning: %v", err)
		}
		return nil
	}
	x.Program, err = preflight.Check(c.Env, x.argv)
	if err := forced(err); err != nil {
		return nil, err
	}
	if err := x.choose(c, launch, first, forced); err != nil {
		return nil, err
	}
	if err := takesOptions(c, x.mpi); err != nil {
		return nil, err
	}
	name := machine.AgentName(x.mpi.Family)
	path, looked := c.Env.Beside(filepath.Dir(exe), name)
	if path == "" {
		return nil, notBuilt(c.Env, "agent", x.mpi, name, looked)
	}
	if x.agent, err = filepath.Abs(path); err != nil {
		return nil, startFailed("mpitx", err)
	}
	x.fit(c.Env, c.Env.CacheDir())
	if len(c.Tools) > 0 {
		if err := x.examineTools(c, filepath.Dir(exe), path); err != nil {
			return nil, err
		}
	}
	if x.Container != nil {
		dirs := append(x.toolDirs(c), filepath.Dir(x.agent))
		if base := filepath.Dir(c.Dir); c.Dir != "" && filepath.IsAbs(base) {
			dirs = append(dirs, base)
		}
		if err := forced(x.Container.Bound(c.Env, dirs...)); err != nil {
			return nil, err
		}
	}
	if _, err := environ(c, x, &runDir{}, Ask{}); err != nil {
		return nil, err
	}
	return x, nil
}

// takesOptions fails if the launcher that starts the ranks does not take the options that settings give it.
func takesOptions(c *Config, m machine.MPI) error {
	if c.Ranks == 0 {
		return nil
	}
	takes := machine.LaunchOptions(m)
	for k := 0; k < len(c.Options); k += 2 {
		if slices.Contains(takes, c.Options[k]) {
			continue
		}
		err := &machine.Error{What: "--settings", Why: c.Options[k] + " is not an option that the launcher of " + m.Name() + " takes from settings", Do: "leave it out", Usage: true}
		if takes != nil {
			err.Do = "use some of " + strings.Join(takes, ", ")
		}
		return err
	}
	return nil
}

func notBuilt(e *machine.Env, what string, m machine.MPI, name string, looked []string) error {
	return &machine.Error{What: "no " + what + " for " + machine.FamilyName(m.Family), Why: name + " is not in " + strings.Join(looked, ", "),
		Do: "build it with `" + e.SetupCommand(m) + "`"}
}

// builtin is the command of a workload.
func builtin(c *Config, exeDir string) ([]string, error) {
	m, err := c.Env.Choose(c.MPI)
	if err != nil {
		return nil, err
	}
	if m.Family == machine.Demo {
		return nil, errDemo
	}
	name := machine.WorkloadName(m.Family)
	path, looked := c.Env.Beside(exeDir, name)
	if path == "" {
		return nil, notBuilt(c.Env, "workload", m, name, looked)
	}
	if c.Kernel != "" {
		return []string{path, "kernel", c.Kernel, c.Kernel + ".results"}, nil
	}
	argv := []string{path, c.Workload, fmt.Sprintf("%.4f", c.Duration.Seconds())}
	if c.WorkloadBytes > 0 {
		argv = append(argv, strconv.Itoa(c.WorkloadBytes))
	}
	return argv, nil
}

var errDemo = &machine.Error{What: "the demo MPI has no applications", Why: "it is part of mpitx", Do: "choose a real MPI with --mpi openmpi or --mpi mpich", Usage: true}

// choose decides on the MPI: the one that the application links, or else the usual one.
func (x *application) choose(c *Config, launch machine.Launch, first bool, forced func(error) error) error {
	want := ""
	if c.MPI != "" {
		want = "--mpi " + c.MPI
	} else if v := c.Env.Getenv("MPITX_MPI"); v != "" {
		want = "$MPITX_MPI=" + v
	}
	var usual machine.MPI
	var err error
	if x.Linked == nil || want != "" || c.Workload != "" || first {
		usual, err = c.Env.Choose(c.MPI)
	}
	if x.Linked == nil {
		if err == nil && usual.Family == machine.Demo {
			err = errDemo
		}
		if x.mpi = usual; err == nil && first {
			if words := settings.Overridden(c.Env, usual, c.MPI); words != "" {
				c.Say("warning: %s", words)
			}
		}
		return err
	}
	linked := *x.Linked
	other := err == nil && usual.Family == linked.Family && !machine.SameLibrary(usual, linked)
	if c.Workload != "" && other && usual.SONAME != "" && usual.SONAME == linked.SONAME {
		// The workload uses the library that `mpitx list` reads. Both ABI libraries of a machine can have the same
		// name, for example, and only one matches the launcher.
		x.mpi, x.Linked, x.preload = usual, &usual, usual.Lib
		return forced(x.Fits(launch, "", usual))
	}
	if want != "" && err != nil {
		return err
	}
	if want != "" && usual.Family == machine.Demo {
		return errDemo
	}
	if first && other {
		c.Say("warning: %s loads %s, but `mpitx list` reads %s (%s); to list its variables, use --mpi %s", x.Target, linked.Lib, usual.Lib, usual.Why, text.Quote(linked.Lib))
	}
	if err := forced(x.Fits(launch, want, usual)); err != nil {
		return err
	}
	if x.mpi = linked; want != "" && usual.Family == linked.Family {
		x.mpi.Launcher = usual.Launcher // of the named installation
	}
	return nil
}

// fit replaces the agent by a copy for the program's library, in a directory for such copies. The library inside a
// container is not known, so there the agent exports all its functions.
func (x *application) fit(e *machine.Env, dir string) {
	if x.library != "" || dir == "" || !filepath.IsAbs(dir) {
		return
	}
	if x.Container != nil {
		x.unfit = "the library inside the container is not known before the start"
		return
	}
	path, err := preflight.FitAgent(e, x.agent, x.mpi.Lib, dir)
	if err != nil {
		x.unfit = "cannot write a copy of the agent: " + err.Error() + "; set XDG_CACHE_HOME to a directory that you can write, and others cannot"
		return
	}
	x.agent, x.library, x.unfit = path, x.mpi.Lib, ""
}
