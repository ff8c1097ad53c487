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
wrong, and how to fix it.

The exit code is 1 if no library can be used.`,
		Args: cli.NoArguments,
		RunE: a.OnRank0(o.run),
	}
	cmd.Flags().StringVar(&o.mpi, "mpi", "", "check this `MPI` only: openmpi, mpich, abi, demo, an installation prefix, or a libmpi file")
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.Formats...)
	cmd.Flags().DurationVar(&o.timeout, "timeout", 30*time.Second, "stop waiting for a library after this `TIME`")
	return cmd
}

// finding is what doctor reports about one library.
type finding struct {
	mpi      machine.MPI
	used     bool
	shim     string
	agent    string // "" if there is none
	catalog  *catalog.Catalog
	problems []string
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
	var findings []*finding
	usable := false
	for _, m := range libraries {
		f := o.examine(m)
		if f.used = chooseErr == nil && m.Lib == chosen.Lib && m.Family == chosen.Family; f.used {
			if text := settings.Overridden(o.a.Env, m, o.mpi); text != "" {
				f.problems = append(f.problems, text)
			}
		}
		usable = usable || f.catalog != nil
		findings = append(findings, f)
	}
	if o.format == export.FormatTable {
		o.report(term, findings, chosen, chooseErr)
	} else if err := rows(findings).Write(o.a.Out, o.format, term); err != nil {
		return err
	}
	if !usable {
		return cli.Exit(cli.ExitFailed)
	}
	return nil
}

// examine reads a library in separate processes, without a launcher.
func (o *doctorOptions) examine(m machine.MPI) *finding {
	f := &finding{mpi: m}
	c, err := o.a.Collecting(m, o.timeout)
	f.examineAgent(o.a.Env, filepath.Dir(c.Exe))
	f.shim = c.Shim
	if err != nil {
		f.problems = append(f.problems, err.Error())
		return f
	}
	c.Launch, c.Environ = machine.Launch{Rank: -1, Size: -1, LocalRank: -1, LocalSize: -1}, o.a.Env.FreeOfLauncher()
	j, err := inspect.Collect(c)
	if err != nil {
		f.problems = append(f.problems, err.Error())
		return f
	}
	defer j.Finish(0)
	f.catalog = j.Catalog
	for _, s := range []struct {
		name string
		catalog.Stage
	}{{"before MPI_Init", j.Catalog.Before}, {"after MPI_Init", j.Catalog.After}} {
		if s.Error != "" {
			f.problems = append(f.problems, s.name+": "+s.Error)
		}
	}
	if m.Launcher == "" && m.Family != machine.Demo {
		f.problems = append(f.problems, "no launcher was found next to it, so mpitx -n cannot start ranks; put its mpirun in PATH")
	}
	if n := countFaulty(j.Catalog); n > 0 {
		f.problems = append(f.problems, fmt.Sprintf("%d variables crash or hang the library; mpitx marks them faulty and does not read them; see mpitx list -o wide", n))
	}
	return f
}

// examineAgent finds the agent for a library and checks that it wraps all functions of the library.
func (f *finding) examineAgent(env *machine.Env, exeDir string) {
	if f.mpi.Family == machine.Demo {
		return // the demo MPI has no applications
	}
	problem := func(what, why string) {
		f.problems = append(f.problems, what+": "+why+"; build one with `"+env.SetupCommand(f.mpi)+"`")
	}
	name := machine.AgentName(f.mpi.Family)
	path, looked := env.Beside(exeDir, name)
	if path == "" {
		problem("no agent, so mpitx sample cannot observe its programs", name+" is not in "+strings.Join(looked, ", "))
		return
	}
	f.agent = path
	switch gaps, err := machine.AgentGaps(path, f.mpi.Lib); {
	case err != nil:
		problem("the agent cannot be compared with the library", err.Error())
	case len(gaps) > 0:
		problem(fmt.Sprintf("the agent is built for another release and does not see calls to %d of the library's functions", len(gaps)),
			strings.Join(gaps[:min(3, len(gaps))], ", ")+" …")
	}
}

func countFaulty(c *catalog.Catalog) int {
	n := 0
	for v := range c.Variables() {
		if v.Faulty() {
			n++
		}
	}
	return n
}

func (o *doctorOptions) report(t export.Terminal, findings []*finding, chosen machine.MPI, chooseErr error) {
	w := o.a.Out
	fmt.Fprintf(w, "mpitx %s\n", cli.Version)
	if l := o.a.Env.Launcher(); l.Name != "" {
		fmt.Fprintf(w, "started by %s: rank %d of %d\n", l.Command(), l.Rank, l.Size)
	}
	if chooseErr != nil {
		fmt.Fprintf(w, "\n%s\n", export.Wrap("no MPI would be used: "+t.SafeText(chooseErr.Error()), t.Width))
	} else {
		fmt.Fprintf(w, "\n%s\n", export.Wrap(fmt.Sprintf("would use %s: %s", t.Safe(chosen.Name()), t.Safe(chosen.Why)), t.Width))
	}
	for _, f := range findings {
		mark := ""
		if f.used {
			mark = "  (would be used)"
		}
		fmt.Fprintf(w, "\n%s%s\n", f.mpi.Name(), mark)
		line := func(label, text string) {
			if text != "" {
				const indent = "               "
				fmt.Fprintln(w, export.WrapLine(fmt.Sprintf("  %-12s %s", label, t.Safe(text)), t.Width, indent))
			}
		}
		line("library", f.mpi.Lib)
		line("found by", f.mpi.Why)
		line("launcher", f.mpi.Launcher)
		line("shim", f.shim)
		line("agent", f.agent)
		if c := f.catalog; c != nil {
			line("version", cli.LibraryName(c)+", MPI "+c.Library.Standard)
			line("before init", stageCounts(c.Before))
			line("after init", stageCounts(c.After))
			line("threads", "MPI_T grants "+c.After.Thread.String())
			line("events", offered(c))
			line("PERUSE", yesNo(c.Library.PERUSE))
			line("QMPI", yesNo(c.Library.QMPI))
		}
		for _, p := range f.problems {
			line("problem", p)
		}
	}
	if len(findings) == 0 {
		fmt.Fprintf(w, "\nno MPI library was found; --mpi demo lets you try every command without one\n")
	}
}

func stageCounts(s catalog.Stage) string {
	if !s.Read {
		return "not read"
	}
	part := func(n, dead int, what string) string {
		if dead == 0 {
			return fmt.Sprintf("%d %s", n, what)
		}
		return fmt.Sprintf("%d %s (%d unloaded)", n, what, dead)
	}
	return strings.Join([]string{part(s.Cvars, s.DeadCvars, "control variables"), part(s.Pvars, s.DeadPvars, "performance variables"),
		part(s.Categories, s.DeadCats, "categories")}, ", ")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// offered says how many events a library has, or what to use instead.
func offered(c *catalog.Catalog) string {
	if text := cli.WithoutEvents(c); text != "" {
		return "no: " + text
	}
	s := &c.After
	if !s.Read {
		s = &c.Before
	}
	text := fmt.Sprintf("%d, of %d sources", s.Events-s.DeadEvents, s.Sources)
	if n := faultyEvents(c); n > 0 {
		text += fmt.Sprintf("; %d crash or hang the library", n)
	}
	return text
}

func faultyEvents(c *catalog.Catalog) (n int) {
	for i := range c.Events {
		if c.Events[i].Status == catalog.StatusFaulty {
			n++
		}
	}
	return n
}

// rows are the findings as a table for programs.
func rows(findings []*finding) *export.Rows {
	r := &export.Rows{Schema: "mpitx.doctor"}
	for _, name := range []string{"family", "version", "standard", "library", "launcher", "shim", "used", "why", "cvars_before", "cvars_after",
		"pvars_before", "pvars_after", "categories_before", "categories_after", "thread_level", "events", "peruse", "qmpi", "problems", "agent", "events_before", "events_after", "sources_before", "sources_after"} {
		r.Columns = append(r.Columns, export.RowColumn{Name: name, Header: strings.ToUpper(name)})
	}
	for _, f := range findings {
		row := []any{f.mpi.Family, nil, nil, f.mpi.Lib, f.mpi.Launcher, f.shim, f.used, f.mpi.Why, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, strings.Join(f.problems, "; "), f.agent, nil, nil, nil, nil}
		if c := f.catalog; c != nil {
			row[1], row[2] = cli.LibraryName(c), c.Library.Standard
			row[8], row[9] = c.Before.Cvars-c.Before.DeadCvars, c.After.Cvars-c.After.DeadCvars
			row[10], row[11] = c.Before.Pvars-c.Before.DeadPvars, c.After.Pvars-c.After.DeadPvars
			row[12], row[13] = c.Before.Categories-c.Before.DeadCats, c.After.Categories-c.After.DeadCats
			row[14], row[15], row[16], row[17] = c.After.Thread.String(), c.Library.Events, c.Library.PERUSE, c.Library.QMPI
			row[20], row[21], row[22], row[23] = c.Before.Events, c.After.Events-c.After.DeadEvents, c.Before.Sources, c.After.Sources
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}
