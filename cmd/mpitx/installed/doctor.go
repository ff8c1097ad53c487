package installed

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/inspect"
	"mpitx/machine"
	"mpitx/settings"
)

type doctorOptions struct {
	a       *cli.App
	mpi     string
	format  export.Format
	timeout time.Duration
}

func NewDoctor(a *cli.App) *cobra.Command {
	o := &doctorOptions{a: a}
	cmd := &cobra.Command{
		Use:         "doctor",
		Annotations: cli.Paged,
		Short:       "Check the MPI libraries of this machine and report problems",
		Long: `Find the MPI libraries, launchers, shims and agents of this machine. Report
which library mpitx would use and why, what each library offers (variables
before and after MPI_Init, the thread level, events, PERUSE, QMPI), what is
wrong, and how to fix it. Settings that a library does not take are problems.

The exit code is 1 if no library can be used.`,
		Args: cli.NoArguments,
		RunE: a.OnRank0(o.run),
	}
	cli.ChooseMPI(cmd, &o.mpi, "check this `MPI` only", true)
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.Formats...)
	cmd.Flags().DurationVar(&o.timeout, "timeout", 30*time.Second, "stop waiting for a library after this `TIME`")
	return cmd
}

func (o *doctorOptions) run(*cobra.Command, []string) error {
	if o.timeout <= 0 {
		return cli.Usagef("--timeout: must be positive")
	}
	term, err := o.a.Terminal()
	if err != nil {
		return err
	}
	chosen, chooseErr := o.a.Env.Choose(o.mpi)
	libraries := []machine.MPI{chosen}
	if o.mpi == "" {
		libraries = o.a.Env.Find()
	} else if chooseErr != nil {
		return chooseErr
	}
	var findings []*variables.Examined
	usable := false
	for _, m := range libraries {
		f := o.examine(m)
		if f.Used = chooseErr == nil && m.Lib == chosen.Lib && m.Family == chosen.Family; f.Used {
			if text := settings.Overridden(o.a.Env, m, o.mpi); text != "" {
				f.Problems = append(f.Problems, text)
			}
		}
		usable = usable || f.Catalog != nil
		findings = append(findings, f)
	}
	if o.format == export.FormatTable {
		started := ""
		if l := o.a.Env.Launcher(); l.Name != "" {
			started = fmt.Sprintf("started by %s: rank %d of %d", l.Command(), l.Rank, l.Size)
		}
		use := "no MPI would be used: "
		if chooseErr == nil {
			use = "would use " + chosen.Name() + ": " + chosen.Why
		} else {
			use += chooseErr.Error()
		}
		variables.Doctor(o.a.Out, term, "mpitx "+cli.Version, started, use, findings)
	} else if err := variables.DoctorRows(findings).Write(o.a.Out, o.format, term); err != nil {
		return err
	}
	if !usable {
		return cli.Exit(cli.ExitFailed)
	}
	return nil
}

// examine reads a library in separate processes, without a launcher.
func (o *doctorOptions) examine(m machine.MPI) *variables.Examined {
	f := &variables.Examined{MPI: m}
	c, err := o.a.Collecting(m, o.timeout)
	examineAgent(f, o.a.Env, filepath.Dir(c.Exe))
	f.Shim = c.Shim
	if err != nil {
		f.Problems = append(f.Problems, err.Error())
		return f
	}
	c.Launch, c.Environ = machine.Launch{Rank: -1, Size: -1, LocalRank: -1, LocalSize: -1}, o.a.Env.FreeOfLauncher()
	j, err := inspect.Collect(c)
	if err != nil {
		f.Problems = append(f.Problems, err.Error())
		f.Problems = append(f.Problems, settings.Faults((&cli.Source{App: o.a, Chosen: m}).Unread(), &catalog.Catalog{}, nil)...)
		return f
	}
	defer j.Finish(0)
	f.Catalog = j.Catalog
	for _, s := range []struct {
		name string
		catalog.Stage
	}{{"before MPI_Init", j.Catalog.Before}, {"after MPI_Init", j.Catalog.After}} {
		if s.Error != "" {
			f.Problems = append(f.Problems, s.name+": "+s.Error)
		}
	}
	if m.Launcher == "" && m.Family != machine.Demo {
		f.Problems = append(f.Problems, "no launcher was found next to it, so mpitx -n cannot start ranks; put its mpirun in PATH")
	}
	o.examineSettings(f)
	return f
}

// examineSettings adds the settings that the library does not take.
func (o *doctorOptions) examineSettings(f *variables.Examined) {
	s := &cli.Source{App: o.a, Chosen: f.MPI}
	s.Origins(f.Catalog)
	f.Problems = append(f.Problems, settings.Faults(s.Influences(f.Catalog), f.Catalog, s.Judge(f.Catalog).Effects(f.Catalog))...)
}

// examineAgent finds the agent for a library and checks that it wraps all functions of the library.
func examineAgent(f *variables.Examined, env *machine.Env, exeDir string) {
	if f.MPI.Family == machine.Demo {
		return // the demo MPI has no applications
	}
	problem := func(what, why string) {
		f.Problems = append(f.Problems, what+": "+why+"; build one with `"+env.SetupCommand(f.MPI)+"`")
	}
	name := machine.AgentName(f.MPI.Family)
	path, looked := env.Beside(exeDir, name)
	if path == "" {
		problem("no agent, so mpitx sample cannot observe its programs", name+" is not in "+strings.Join(looked, ", "))
		return
	}
	f.Agent = path
	switch gaps, err := machine.AgentGaps(path, f.MPI.Lib); {
	case err != nil:
		problem("the agent cannot be compared with the library", err.Error())
	case len(gaps) > 0:
		problem(fmt.Sprintf("the agent is built for another release and does not see calls to %d of the library's functions", len(gaps)),
			strings.Join(gaps[:min(3, len(gaps))], ", ")+" …")
	}
}
