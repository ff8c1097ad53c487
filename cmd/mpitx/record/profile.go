package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/machine/newfile"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/text"
)

// profileOutput prints the report of a profile, or writes it to a file.
type profileOutput struct {
	*profiling
	file     cli.ReportOut
	sampling *sampling
}

func NewProfile(a *cli.App) *cobra.Command {
	r := &recorder{App: a}
	s, p := newSampling(r, "pvar"), &profiling{recorder: r, on: true}
	o, skip := &profileOutput{profiling: p, sampling: s}, &skipping{recorder: r}
	served := &serving{profiling: p}
	r.tools, r.output = []tool{s, p, served, skip}, o
	cmd := &cobra.Command{
		Use:   "profile [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Profile the MPI calls of an application",
		Long: `Profile the MPI calls of an unmodified MPI application (C, C++, Fortran, Python):
calls, times, messages and bytes of each MPI function, by call site, rank,
communicator and phase. A report is printed on standard error at the end. The
run directory stays for mpitx report, which also works while the
application runs.

Under a launcher (mpirun -n 4 mpitx profile -- ./app), each process becomes the
application with mpitx's agent preloaded. With -n, mpitx starts the launcher.
The application keeps its output and exit code. With --workload, a built-in
program runs instead, and the report goes to standard output.

The call site is the line of the application that called MPI; --stack N adds its
callers. Files and lines need debug information (-g). With --pvar, performance
variables are sampled at the same time (see mpitx sample --help).`,
		Example: `  mpirun -n 4 mpitx profile -- ./app input
  mpitx profile -n 4 --stack 4 --dir run1 -- ./app
  mpirun -n 4 mpitx profile --exclude 'MPI_Comm_*' --out report.json -- ./app`,
		RunE: r.run,
	}
	r.program.flags(cmd, a)
	s.flags(cmd)
	o.file.Flags(cmd)
	f := cmd.Flags()
	f.Lookup("no-summary").Usage = "do not print the report at the end"
	f.Lookup("pvar").Usage = "also " + f.Lookup("pvar").Usage
	p.flags(cmd, "")
	served.flags(cmd, "")
	skip.flags(cmd)
	return cmd
}

func (o *profileOutput) configure(*cobra.Command, *launch.Config) error {
	o.file.Late = newfile.Number
	if err := o.outside(o.file.Out, o.workload != ""); err != nil {
		return err
	}
	if err := o.file.CheckFormat(); err != nil || o.file.Named() || o.workload == "" {
		return err
	}
	return o.Showable(o.file.Form())
}

func (o *profileOutput) check(machine.MPI, bool) error { return o.file.OutFile.Check() }

func (o *profileOutput) promise(dir string) launch.Promise {
	return launch.Promise{Text: "the profile is in " + text.Quote(dir) + "; print it with mpitx report " + text.Quote(dir)}
}

// summarize prints the report, unless it goes to a file.
func (o *profileOutput) summarize(run *recording.Run) {
	if !o.toFile() {
		o.profiling.summarize(run)
	} else if p, err := profile.Read(run, profile.Cut{}); err == nil && !o.quiet && profile.Has(run) {
		o.explainInner(p)
	}
}

// toFile reports whether the report is written by deliver.
func (o *profileOutput) toFile() bool {
	return o.file.Out != "" || o.workload != "" || o.file.Format != ""
}

// deliver writes the report to its file, and says where the run is.
func (o *profileOutput) deliver(j *launch.Job) error {
	dir := text.Quote(j.Shown)
	if !profile.Has(j.Run) {
		o.Complain("%s has no profile: the agent could not start it", dir)
		return nil
	}
	if o.toFile() {
		if err := o.writeReport(j); err != nil {
			return err
		}
	}
	o.keepSites(j.Run)
	o.runningWarning(j, "mpitx report "+dir+" shows what they do; ")
	next := ""
	if len(o.sampling.all) > 0 {
		next = ", mpitx report " + dir + " samples"
	}
	o.Complain("profiled in %s%s; next: mpitx report %s, mpitx report %s matrix%s", dir, j.NameSource, dir, dir, next)
	return nil
}

// writeReport writes the report to --out, to a file in the run directory, or, of a workload, to standard output.
func (o *profileOutput) writeReport(j *launch.Job) error {
	term, err := o.Terminal()
	if err != nil {
		return err
	}
	p, options, err := o.report(j.Run, term)
	if err != nil {
		return cli.Failf("%s: %v", text.Quote(j.Shown), err)
	}
	inside := o.file.Out == "" && o.workload == ""
	if inside {
		o.file.Out = filepath.Join(j.Shown, "report."+strings.Replace(string(o.file.Form()), "table", "txt", 1))
	}
	o.file.Part = fmt.Sprintf("%x", j.Run.ID[:4])
	options.Run = text.Quote(j.Shown)
	if err := o.file.Write(o.App.Out, p, options); err != nil {
		if o.workload == "" { // keep the application's exit code
			o.App.Exit(err)
			return nil
		}
		return err
	}
	if inside {
		os.Chmod(o.file.Out, 0o600) // as all files of a run
	}
	if o.file.Out != "" && o.file.Out != "-" {
		o.Complain("the report is in %s", text.Quote(o.file.Out))
	}
	return nil
}
