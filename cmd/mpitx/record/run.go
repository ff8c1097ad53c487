package record

import (
	"strings"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/trace"
	"mpitx/text"
)

// runOutput says what any mix of tools has recorded.
type runOutput struct {
	*recorder
	sampling  *sampling
	profiling *profiling
	tracing   *tracing
	triggers  *triggers
}

func NewRun(a *cli.App) *cobra.Command {
	r := &recorder{App: a}
	o := &runOutput{r, newSampling(r, "sample"), &profiling{recorder: r}, &tracing{recorder: r}, &triggers{recorder: r}}
	h, skip, served := &hang{recorder: r}, &skipping{recorder: r}, &serving{profiling: o.profiling, tracing: o.tracing}
	o.sampling.triggers = o.triggers
	r.tools, r.output = []tool{h, o.triggers, o.sampling, o.profiling, o.tracing, served, skip}, o
	cmd := &cobra.Command{
		Use:   "run [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Run an application with any mix of tools",
		Long: `Run an application with mpitx's agent, which records what each rank does at each
moment, for mpitx where. This costs a few nanoseconds per MPI call and writes
nothing to disk while the job runs. The run directory is removed if the job ends
successfully, unless --dir names it or a tool has recorded something.

The tools can be mixed: --sample, --profile, --trace, --event, --when, --hang and
--tool. mpitx sample, record, profile and trace are presets with one of them,
and write its result at the end. mpitx report, export, timeline and top read the
run directory of any mix.

With --hang TIME, mpitx looks for a job that hangs: no rank has made progress
in MPI for that long. Polling with MPI_Test or MPI_Iprobe that finds nothing is
no progress. A job in which all ranks compute does not hang, but one in which
some ranks wait for a rank that computes does: choose a time that is longer
than any such phase. mpitx then prints what mpitx where --stack 16 would print
on standard error and continues, or with :kill ends the job with exit code 124.

With --when CONDITION, each rank checks a condition in its MPI calls. It
compares arguments of the call (bytes, sent, received, peer, tag, root, comm,
function, time) and performance variables (NAME, NAME[3], NAME@comm, max(NAME),
delta(NAME), rate(NAME)) by < <= > >= == !=, and, or, not. k, M and G are powers
of 1024; times have units. A condition is checked when the call is entered, or
if it needs bytes, received or time, when the call returns. If it reads
variables, it fires when it becomes true, and again after it was false;
otherwise in each call. At the end mpitx prints where and how often, with the
values; mpitx report shows all events.

With --then sample, the variables of --sample and of the conditions are sampled
when a condition becomes true, and with --interval also at each interval.

With --tool LIB, the application's MPI calls pass through a QMPI tool: a shared
library that intercepts MPI functions. Several are called in the order given.
The other tools time calls with these. mpitx loads each tool in another process first, and refuses those that
cannot be used. docs/qmpi.md describes how to write one.`,
		Example: `  mpirun -n 4 mpitx run -- ./app input
  mpitx run -n 4 --profile --trace --dir run1 -- ./app input
  mpitx run -n 4 --hang 10m:kill -- ./app input
  mpirun -n 4 mpitx run --when 'pml_ob1_unexpected_msgq_length > 5' \
      --on MPI_Recv --then backtrace -- ./app input
  mpirun -n 4 mpitx run --tool ./libcounter.so --tool ./liblogger.so -- ./app`,
		RunE: r.run,
	}
	r.program.flags(cmd, a)
	o.sampling.flags(cmd)
	f := cmd.Flags()
	f.Lookup("no-summary").Usage = "do not print what was recorded at the end"
	f.BoolVar(&o.profiling.on, "profile", false, "profile MPI calls: times, messages and bytes, by call site, phase and communicator")
	o.profiling.flags(cmd, "with --profile: ")
	f.BoolVar(&o.tracing.on, "trace", false, "trace MPI calls and messages, each with its times")
	o.tracing.flags(cmd, "with --trace: ")
	served.flags(cmd, "with --profile or --trace: ")
	o.triggers.flags(cmd)
	h.flags(cmd)
	skip.flags(cmd)
	return cmd
}

func (o *runOutput) configure(*cobra.Command, *launch.Config) error { return nil }

func (o *runOutput) check(machine.MPI, bool) error { return nil }

func (o *runOutput) promise(dir string) launch.Promise {
	what := "the states of all ranks are in "
	if o.records() {
		what = "what was recorded is in "
	}
	return launch.Promise{Text: what + text.Quote(dir)}
}

// records reports whether a tool records other things than states and events of --when.
func (o *runOutput) records() bool {
	return len(o.sampling.all) > 0 && !o.triggers.samples || o.profiling.on || o.traces()
}

func (o *runOutput) traces() bool { return o.tracing.on || len(o.tracing.events.all) > 0 }

func (o *runOutput) summarize(run *recording.Run) {
	o.sampling.summarize(run)
	o.profiling.summarize(run)
	clocks.Keep(run)
	if !o.quiet && o.traces() && trace.Has(run) {
		o.tracing.printSummary(run, trace.Read(run, trace.Options{Flows: true}).Totals)
	}
}

// deliver says where what was recorded is. Nobody needs the states of a job that has ended successfully.
func (o *runOutput) deliver(j *launch.Job) error {
	dir := text.Quote(j.Shown)
	events := o.triggers.printSummary(j.Run)
	var next []string
	add := func(has bool, commands ...string) {
		for _, c := range commands {
			if has {
				next = append(next, "mpitx "+strings.Replace(c, "RUN", dir, 1))
			}
		}
	}
	if o.profiling.on {
		o.profiling.keepSites(j.Run)
	}
	add(o.profiling.on, "report RUN", "report RUN matrix")
	add(len(o.sampling.all) > 0 && !o.triggers.samples, "report RUN samples")
	add(o.tracing.on, "timeline RUN", "export RUN -o perfetto --out FILE")
	add(len(o.tracing.events.all) > 0, "report RUN events")
	what := "recorded"
	switch {
	case events && len(next) == 0:
		what = "the events of --when are"
		add(true, "report RUN")
	case events:
		add(true, "report RUN triggers")
	case len(next) > 0:
	case o.dir == "" && j.Code == 0 && !j.StillRunning && !j.Unrecovered && len(j.Run.Damage()) == 0:
		j.Discard()
		return nil
	default:
		what = "the states of all ranks are"
		add(true, "where RUN")
	}
	if o.records() {
		o.runningWarning(j, "")
	}
	o.Complain("%s in %s%s; next: %s", what, dir, j.NameSource, strings.Join(next, ", "))
	return nil
}
