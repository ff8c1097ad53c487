package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mpitx/launch"
	"mpitx/machine"
	"mpitx/text"
)

type sampleOptions struct {
	sampling
	export exportFlags
	asked  string // --out as given
}

func newSample(a *app) *cobra.Command {
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
	o.export.flags(cmd)
	return cmd
}

func (o *sampleOptions) run(cmd *cobra.Command, args []string) error {
	r, err := launch.Start(o.config(cmd, args))
	if err == nil && r.Run != nil {
		err = o.deliver(r)
	}
	return &exitError{code: r.Code, err: err, send: r.End}
}

func (o *sampleOptions) config(cmd *cobra.Command, args []string) (launch.Config, error) {
	c, err := o.sampling.config(cmd, args, o)
	o.asked, o.export.late = o.export.out, numberIt
	switch {
	case err != nil:
		return c, err
	case o.dir != "" && filepath.Clean(o.export.out) == filepath.Clean(o.dir):
		return c, usagef("--out %s: this is the run directory (--dir); name a file", o.export.out)
	case o.export.out == "-" && o.workload == "":
		return c, usagef("--out -: standard output is the application's; name a file")
	}
	if err := o.export.parse(); err != nil || o.export.named() || o.workload == "" {
		return c, err
	}
	return c, o.a.showable(o.export.form())
}

// Check also checks the file.
func (o *sampleOptions) Check(m machine.MPI, first bool) error {
	if err := o.export.check(); err != nil {
		return err
	}
	return o.sampling.Check(m, first)
}

// Follows implements attach.Hooks: the file is written at the end.
func (o *sampleOptions) Follows(dir string, late bool) (words string, ok bool) {
	x := o.exportTo(dir)
	if st, err := os.Stat(x.out); late && err == nil && !st.Mode().IsRegular() { // the reader of a pipe may be gone
		return "the recorded samples are in " + text.Quote(dir) + "; export them with " + x.command(dir), false
	}
	words = "still writing " + text.Quote(x.out)
	if x.out == "-" {
		words = "still writing the samples"
	}
	return words + "; if that is cut short, run " + x.command(dir), true
}

// inside reports whether samples go into the run directory.
func (o *sampleOptions) inside() bool { return o.export.out == "" && o.workload == "" }

// exportTo is the export with the file's name filled in.
func (o *sampleOptions) exportTo(dir string) exportFlags {
	x := o.export
	switch {
	case o.inside():
		x.out = filepath.Join(dir, "samples."+string(x.form()))
	case x.out == "":
		x.out = "-"
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
	x.part = fmt.Sprintf("%x", r.Run.ID[:4])
	err := x.write(o.a, r.Run)
	damaged := err == error(errDamaged)
	switch {
	case damaged || err == nil:
	case o.workload == "": // keep the application's exit code
		o.a.exit(err)
		x.out = "FILE"
		o.a.complain("the recorded samples are in %s; export them to another place with %s", dir, x.command(r.Shown))
		return nil
	default:
		o.a.complain("the recorded samples are in %s; export them with %s", dir, x.command(r.Shown))
		return err
	}
	switch {
	case o.inside():
		os.Chmod(x.out, 0o600) // as all files of a run
		o.a.complain("samples are in %s%s", x.out, r.Named)
		return nil
	case x.out != o.asked && x.out != "-":
		o.a.complain("samples are in %s, because %s was made in the meantime", x.out, o.asked)
	case r.Promised() && x.out != "-":
		o.a.complain("%s is written", x.out)
	}
	x.out = ""
	switch {
	case damaged:
		o.a.complain("kept %s, because parts of it could not be read; export it with %s", dir, x.command(r.Shown))
	case r.Left:
	case r.Going:
		o.a.complain("some ranks were still running; all samples will be in %s; after the ranks have ended, run mpitx recover %s, which also frees their memory files, and %s", dir, dir, x.command(r.Shown))
	default:
		r.Discard()
	}
	return nil
}
