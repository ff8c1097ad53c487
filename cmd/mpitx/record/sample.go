package record

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/text"
)

type sampleOptions struct {
	sampling
	export cli.ExportFlags
	asked  string // --out as given
}

func NewSample(a *cli.App) *cobra.Command {
	o := &sampleOptions{sampling: sampling{a: a}}
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
		RunE: o.run,
	}
	o.sampling.flags(cmd)
	o.export.Flags(cmd)
	return cmd
}

func (o *sampleOptions) run(cmd *cobra.Command, args []string) error {
	r, err := launch.Start(o.config(cmd, args))
	if err == nil && r.Run != nil {
		err = o.deliver(r)
	}
	o.a.Last = r.End
	return cli.Ended(r.Code, err)
}

func (o *sampleOptions) config(cmd *cobra.Command, args []string) (launch.Config, error) {
	c, err := o.sampling.config(cmd, args, o)
	o.asked, o.export.Late = o.export.Out, cli.NumberIt
	switch {
	case err != nil:
		return c, err
	case o.dir != "" && filepath.Clean(o.export.Out) == filepath.Clean(o.dir):
		return c, cli.Usagef("--out %s: this is the run directory (--dir); name a file", o.export.Out)
	case o.export.Out == "-" && o.workload == "":
		return c, cli.Usagef("--out -: standard output is the application's; name a file")
	}
	if err := o.export.Parse(); err != nil || o.export.Named() || o.workload == "" {
		return c, err
	}
	return c, o.a.Showable(o.export.Form())
}

// Check also checks the file.
func (o *sampleOptions) Check(m machine.MPI, first bool) error {
	if err := o.export.Check(); err != nil {
		return err
	}
	return o.sampling.Check(m, first)
}

// Promise implements launch.Hooks: the file is written at the end.
func (o *sampleOptions) Promise(dir string, late bool) (words string, ok bool) {
	x := o.exportTo(dir)
	if st, err := os.Stat(x.Out); late && err == nil && !st.Mode().IsRegular() { // the reader of a pipe may be gone
		return "the recorded samples are in " + text.Quote(dir) + "; export them with " + x.Command(dir), false
	}
	words = "still writing " + text.Quote(x.Out)
	if x.Out == "-" {
		words = "still writing the samples"
	}
	return words + "; if that is cut short, run " + x.Command(dir), true
}

// inside reports whether samples go into the run directory.
func (o *sampleOptions) inside() bool { return o.export.Out == "" && o.workload == "" }

// exportTo is the export with the file's name filled in.
func (o *sampleOptions) exportTo(dir string) cli.ExportFlags {
	x := o.export
	switch {
	case o.inside():
		x.Out = filepath.Join(dir, "samples."+string(x.Form()))
	case x.Out == "":
		x.Out = "-"
	}
	return x
}

// deliver exports the run and removes its directory, unless the directory has something that the export has not.
func (o *sampleOptions) deliver(r *launch.Result) error {
	defer r.Run.Close()
	if o.inside() && !o.kept(r) {
		return nil
	}
	x, dir := o.exportTo(r.Shown), text.Quote(r.Shown)
	x.Part = fmt.Sprintf("%x", r.Run.ID[:4])
	err := x.Write(o.a, r.Run)
	damaged := err == error(cli.ErrDamaged)
	switch {
	case damaged || err == nil:
	case o.workload == "": // keep the application's exit code
		o.a.Exit(err)
		x.Out = "FILE"
		o.a.Complain("the recorded samples are in %s; export them to another place with %s", dir, x.Command(r.Shown))
		return nil
	default:
		o.a.Complain("the recorded samples are in %s; export them with %s", dir, x.Command(r.Shown))
		return err
	}
	switch {
	case o.inside():
		os.Chmod(x.Out, 0o600) // as all files of a run
		o.a.Complain("samples are in %s%s", x.Out, r.NameSource)
		return nil
	case x.Out != o.asked && x.Out != "-":
		o.a.Complain("samples are in %s, because %s was made in the meantime", x.Out, o.asked)
	case r.Promised() && x.Out != "-":
		o.a.Complain("%s is written", x.Out)
	}
	x.Out = ""
	switch {
	case damaged:
		o.a.Complain("kept %s, because parts of it could not be read; export it with %s", dir, x.Command(r.Shown))
	case r.Unrecovered:
	case r.StillRunning:
		o.a.Complain("some ranks were still running; all samples will be in %s; after the ranks have ended, run mpitx recover %s, which also frees their memory files, and %s", dir, dir, x.Command(r.Shown))
	default:
		r.Discard()
	}
	return nil
}
