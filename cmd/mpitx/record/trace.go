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
	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/trace"
	"mpitx/text"
)

// traceOutput writes the trace to a file.
type traceOutput struct {
	*tracing
	file cli.TraceOut
}

func NewTrace(a *cli.App) *cobra.Command {
	r := &recorder{App: a}
	s, t := newSampling(r, "pvar"), &tracing{recorder: r, on: true}
	o, skip := &traceOutput{tracing: t}, &skipping{recorder: r}
	served := &serving{tracing: t}
	r.tools, r.output = []tool{s, t, served, skip}, o
	cmd := &cobra.Command{
		Use:   "trace [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Trace the MPI calls and messages of an application",
		Long: `Trace the MPI calls and messages of an unmodified application: each call with
its times, communicator, peer, tag, bytes and call site, each message with its
send and its receive, the phases that the program names, and with --pvar also
samples of performance variables. With --event also events that the MPI library
raises itself, of MPI_T (MPI-4) or PERUSE, if it has any: see mpitx list events.
Of a library without PERUSE, the events that calls show are derived from them.

The trace is written at the end, as FILE or into the run directory. Open a
.pftrace file at ui.perfetto.dev: it shows one process for each rank, one track
for each thread, and an arrow for each message. The run directory stays for
mpitx export, which writes other formats, or a part of the trace.

If the program calls MPI faster than the trace can be written, the newest events
are dropped and counted. With --max-size, the trace ends when the recording has
this size, or keeps the last events (--policy last). The file that is written
from it at the end comes on top.

Under a launcher (mpirun -n 4 mpitx trace -- ./app), each process becomes the
application with mpitx's agent preloaded. With -n, mpitx starts the launcher.
The application keeps its output and exit code.`,
		Example: `  mpirun -n 4 mpitx trace --out app.pftrace -- ./app input
  mpitx trace -n 4 --function 'MPI_*send*' --function 'MPI_*recv*' -- ./app
  mpirun -n 4 mpitx trace --max-size 500M --policy last --dir run1 -- ./app
  mpirun -n 4 mpitx trace --event 'PERUSE_*' --dir run1 -- ./app
  mpitx export run1 -o perfetto --from 2s --to 2.5s --out part.pftrace`,
		RunE: r.run,
	}
	r.program.flags(cmd, a)
	s.flags(cmd)
	f := cmd.Flags()
	f.Lookup("no-summary").Usage = "do not print the summary at the end"
	f.Lookup("pvar").Usage = "also " + f.Lookup("pvar").Usage
	t.flags(cmd, "")
	served.flags(cmd, "")
	skip.flags(cmd)
	cli.Choose(cmd, &o.file.Format, "output", "o", "", "output `FORMAT`: perfetto, csv, ndjson, parquet (default: the ending of --out, else perfetto)", cli.TraceFormats...)
	o.file.OutFile.Flags(cmd, append(cli.TraceEndings, cli.Texts(cli.TraceFormats[1:])...)...)
	return cmd
}

func (o *traceOutput) configure(*cobra.Command, *launch.Config) error {
	o.file.Late = newfile.Number
	if err := o.outside(o.file.Out, false); err != nil {
		return err
	}
	return o.file.CheckFormat()
}

func (o *traceOutput) check(machine.MPI, bool) error { return o.file.OutFile.Check() }

func (o *traceOutput) promise(dir string) launch.Promise {
	x := o.writeTo(dir)
	return launch.Promise{Text: "still writing " + text.Quote(x.Out) + "; if that is cut short, run " + x.Command(dir)}
}

// summarize prints nothing: the summary comes with the file.
func (o *traceOutput) summarize(*recording.Run) {}

// writeTo is where the trace is written, with the file's name filled in.
func (o *traceOutput) writeTo(dir string) cli.TraceOut {
	x := o.file
	if x.Out == "" {
		x.Out = filepath.Join(dir, "trace."+map[bool]string{true: "pftrace", false: string(x.Form())}[x.Form() == cli.FormatPerfetto])
	}
	return x
}

// deliver writes the trace to its file, and says what it holds.
func (o *traceOutput) deliver(j *launch.Job) error {
	dir := text.Quote(j.Shown)
	if !trace.Has(j.Run) {
		o.Complain("%s has no trace: the agent could not start it", dir)
		return nil
	}
	clocks.Keep(j.Run)
	x := o.writeTo(j.Shown)
	x.Temp = fmt.Sprintf("%x", j.Run.ID[:4])
	totals, err := x.Write(o.App, j.Run)
	if err != nil && err != error(cli.ErrDamaged) { // keep the application's exit code
		o.App.Exit(err)
		x.Out = "FILE"
		o.Complain("the trace is in %s; write it to another place with %s", dir, x.Command(j.Shown))
		o.sayLost(j.Run)
		return nil
	}
	if o.file.Out == "" {
		os.Chmod(x.Out, 0o600) // as all files of a run
	}
	o.runningWarning(j, "")
	if !o.quiet {
		o.printSummary(j.Run, totals)
	}
	switch file := text.Quote(x.Out); {
	case x.Form() == cli.FormatPerfetto:
		o.Complain("the trace is in %s; open it at https://ui.perfetto.dev", file)
	default:
		o.Complain("the trace is in %s", file)
	}
	o.Complain("the run is in %s%s; next: mpitx timeline %s, mpitx report %s waits, mpitx export %s", dir, j.NameSource, dir, dir, dir)
	return err
}
