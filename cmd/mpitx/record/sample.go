package record

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/machine/newfile"
	"mpitx/text"
)

// sampleOutput exports the samples and removes the run directory.
type sampleOutput struct {
	*sampling
	file  cli.ExportFlags
	asked string // --out as given
}

func NewSample(a *cli.App) *cobra.Command {
	r := &recorder{App: a}
	s := newSampling(r, "pvar")
	o := &sampleOutput{sampling: s}
	s.required, r.tools, r.output = true, []tool{s}, o
	cmd := &cobra.Command{
		Use:   "sample --pvar GLOB… [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Sample performance variables inside an application",
		Long: `Sample performance variables on every rank of an unmodified MPI application (C,
C++, Fortran, Python).

Under a launcher (mpirun -n 4 mpitx sample … -- ./app), each process becomes
the application with mpitx's agent preloaded. The mpitx process of the lowest
rank that has one, usually rank 0, waits for the application and writes the
samples at its end. With -n, mpitx starts the launcher.

The application keeps its output and exit code. Samples go to --out, or into a
run directory whose name is printed at the end. With --workload, a built-in
program runs instead of an application, and samples go to standard output.

--pvar GLOB[:CLASS][@COMM] chooses variables by name, and by class if a name
has several. COMM chooses the communicators that a bound variable is read for:
@world, @self, or @all for each communicator that the application creates.
Names that begin with mpitx: are computed by the agent, with any MPI: messages
and bytes sent and received, time in MPI, outstanding requests
(mpitx:bytes_sent, mpitx:bytes_sent/MPI_Send). The share of a function includes
its large-count form (MPI_Send_c).

Counters, aggregates and timers are written as differences since the start, all
other classes as raw values; --as chooses.`,
		Example: `  mpirun -n 4 mpitx sample --pvar 'mpitx:*' --out samples.csv -- ./app input
  mpitx sample -n 4 --pvar mpitx:requests_outstanding --workload halo
  mpirun -n 4 mpitx sample --pvar 'coll_monitoring_*@all' \
      --set pml_monitoring_enable=1 --out samples.parquet -- ./app`,
		RunE: r.run,
	}
	r.program.flags(cmd, a)
	s.flags(cmd)
	o.file.Flags(cmd)
	return cmd
}

func (o *sampleOutput) configure(*cobra.Command, *launch.Config) error {
	o.asked, o.file.Late = o.file.Out, newfile.Number
	if err := o.outside(o.file.Out, o.workload != ""); err != nil {
		return err
	}
	if err := o.file.Parse(); err != nil || o.file.Named() || o.workload == "" {
		return err
	}
	return o.Showable(o.file.Form())
}

func (o *sampleOutput) check(machine.MPI, bool) error { return o.file.Check() }

// promise says that the file is written at the end, unless its reader may be gone then.
func (o *sampleOutput) promise(dir string) launch.Promise {
	x := o.exportTo(dir)
	p := launch.Promise{Text: "still writing " + text.Quote(x.Out)}
	if x.Out == "-" {
		p.Text = "still writing the samples"
	}
	p.Text += "; if that is cut short, run " + x.Command(dir)
	if st, err := os.Stat(x.Out); err == nil && !st.Mode().IsRegular() {
		p.Kept = "the recorded samples are in " + text.Quote(dir) + "; export them with " + x.Command(dir)
	}
	return p
}

// inside reports whether samples go into the run directory.
func (o *sampleOutput) inside() bool { return o.file.Out == "" && o.workload == "" }

// exportTo is the export with the file's name filled in.
func (o *sampleOutput) exportTo(dir string) cli.ExportFlags {
	x := o.file
	switch {
	case o.inside():
		x.Out = filepath.Join(dir, "samples."+string(x.Form()))
	case x.Out == "":
		x.Out = "-"
	}
	return x
}

// deliver exports the run and removes its directory, unless the directory has something that the export has not.
func (o *sampleOutput) deliver(j *launch.Job) error {
	if o.inside() && !o.kept(j) {
		return nil
	}
	x, dir := o.exportTo(j.Shown), text.Quote(j.Shown)
	x.Part = fmt.Sprintf("%x", j.Run.ID[:4])
	err := x.Write(o.App, j.Run)
	damaged := err == error(cli.ErrDamaged)
	switch {
	case damaged || err == nil:
	case o.workload == "": // keep the application's exit code
		o.App.Exit(err)
		x.Out = "FILE"
		o.Complain("the recorded samples are in %s; export them to another place with %s", dir, x.Command(j.Shown))
		return nil
	default:
		o.Complain("the recorded samples are in %s; export them with %s", dir, x.Command(j.Shown))
		return err
	}
	switch {
	case o.inside():
		os.Chmod(x.Out, 0o600) // as all files of a run
		o.Complain("samples are in %s%s", x.Out, j.NameSource)
		return nil
	case x.Out != o.asked && x.Out != "-":
		o.Complain("samples are in %s, because %s was made in the meantime", x.Out, o.asked)
	case j.Promised() && x.Out != "-":
		o.Complain("%s is written", x.Out)
	}
	x.Out = ""
	switch {
	case damaged:
		o.Complain("kept %s, because parts of it could not be read; export it with %s", dir, x.Command(j.Shown))
	case j.Unrecovered:
	case j.StillRunning:
		o.Complain("some ranks were still running; all samples will be in %s; after the ranks have ended, run mpitx recover %s, which also frees their memory files, and %s", dir, dir, x.Command(j.Shown))
	default:
		j.Discard()
	}
	return nil
}
