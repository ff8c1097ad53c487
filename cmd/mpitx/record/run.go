package record

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/sites"
	"mpitx/recording/where"
	"mpitx/text"
)

type runOptions struct {
	a *cli.App
	attachFlags
	triggers triggerFlags
	hang     string

	idle time.Duration // of --hang
	kill bool
}

func NewRun(a *cli.App) *cobra.Command {
	o := &runOptions{a: a}
	cmd := &cobra.Command{
		Use:   "run [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Run an application so that mpitx where can look at it",
		Long: `Run an application and record what each rank does at each moment, for
mpitx where. This costs a few nanoseconds per MPI call and writes nothing to
disk while the job runs. The run directory is removed if the job ends
successfully, unless --dir names it.

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

With --tool LIB, the application's MPI calls pass through a QMPI tool: a shared
library that intercepts MPI functions. Several are called in the order given.
mpitx sample, record and profile have --tool as well, and time calls with their
tools. mpitx loads each tool in another process first, and refuses those that
cannot be used. docs/qmpi.md describes how to write one.`,
		Example: `  mpirun -n 4 mpitx run -- ./app input
  mpitx run -n 4 --dir run1 -- ./app input
  mpitx run -n 4 --hang 10m:kill -- ./app input
  mpirun -n 4 mpitx run --when 'pml_ob1_unexpected_msgq_length > 5' \
      --on MPI_Recv --then backtrace -- ./app input
  mpirun -n 4 mpitx run --tool ./libcounter.so --tool ./liblogger.so -- ./app`,
		RunE: o.run,
	}
	o.attachFlags.flags(cmd, a)
	o.triggers.flags(cmd, a, &o.attachFlags)
	cmd.Flags().StringVar(&o.hang, "hang", "", "report a job that has made no progress for this `TIME`; TIME:kill also ends it")
	return cmd
}

// ExitHung is the exit code of a job that --hang has killed; timeout(1) uses it, too.
const ExitHung = 124

func (o *runOptions) run(cmd *cobra.Command, args []string) error {
	r, err := launch.Start(o.config(cmd, args))
	if err == nil && r.Run != nil {
		defer r.Run.Close()
		dir := text.Quote(r.Shown)
		switch events := o.triggers.tell(r.Run); {
		case events:
			o.a.Complain("the events of --when are in %s%s; next: mpitx report %s", dir, r.NameSource, dir)
		case o.dir == "" && r.Code == 0 && !r.StillRunning && !r.Unrecovered && len(r.Run.Damage()) == 0:
			r.Discard()
		default:
			o.a.Complain("the states of all ranks are in %s%s; next: mpitx where %s", dir, r.NameSource, dir)
		}
	}
	o.a.Last = r.End
	return cli.Ended(r.Code, err)
}

func (o *runOptions) config(cmd *cobra.Command, args []string) (launch.Config, error) {
	if err := o.parseHang(); err != nil {
		return launch.Config{Env: o.a.Env}, err
	}
	tool, err := o.triggers.config()
	if err != nil {
		return launch.Config{Env: o.a.Env}, err
	}
	c, err := o.attachFlags.config(cmd, args, o.a, tool)
	c.Duration, c.Hooks = time.Second, o
	if o.idle > 0 {
		c.Watch, c.Kills = o.watch, o.kill
	}
	return c, err
}

// parseHang parses TIME, TIME:report and TIME:kill.
func (o *runOptions) parseHang() (err error) {
	if o.hang == "" {
		return nil
	}
	text, action, _ := strings.Cut(o.hang, ":")
	o.idle, err = time.ParseDuration(text)
	switch o.kill = action == "kill"; {
	case err != nil:
		return cli.Usagef("--hang %s: must be a time such as 60s or 10m, or TIME:kill", o.hang)
	case o.idle < time.Second:
		return cli.Usagef("--hang %s: must be at least 1s", o.hang)
	case action != "" && action != "report" && !o.kill:
		return cli.Usagef("--hang %s: the action must be report or kill", o.hang)
	}
	return nil
}

// watch looks for a hang until the job is over.
func (o *runOptions) watch(dir string, over <-chan struct{}, kill func(code int)) {
	var run *recording.Run
	reported := false
	for {
		select {
		case <-over:
			if run != nil {
				run.Close()
			}
			return
		case <-time.After(min(max(o.idle/20, 100*time.Millisecond), 5*time.Second)):
		}
		if run == nil {
			run, _ = recording.Open(dir)
		} else if run.Refresh() != nil {
			continue
		}
		if run == nil {
			continue
		}
		job := where.Read(run, nil)
		idle, waits := where.Progress(job)
		if !waits || idle < o.idle {
			reported = false
			continue
		}
		if !reported {
			reported = true
			o.reportHang(run, idle)
		}
		if o.kill {
			o.a.Say("--hang: ending the job")
			kill(ExitHung)
			<-over
			run.Close()
			return
		}
	}
}

const hangStack = 16

// reportHang prints the states on standard error.
func (o *runOptions) reportHang(run *recording.Run, idle time.Duration) {
	var b bytes.Buffer
	callers := sites.NewCallers(run.Start)
	defer callers.Close()
	job := where.Look(func() *where.Job { return where.ReadStacks(run, callers.Site, callers.Stacks(hangStack)) })
	fmt.Fprintf(&b, "mpitx: no rank has made progress for %s\n", text.RoughDuration(idle))
	answer := export.Where{Run: run, Job: job, Report: where.Analyze(job), Notes: launch.Incomplete(run)}
	answer.Write(&b, export.FormatWide, export.Terminal{UTF8: true})
	o.a.Errs.Write(b.Bytes())
}

// Check implements launch.Hooks.
func (o *runOptions) Check(m machine.MPI, first bool) error {
	if first {
		o.warn(o.a, m)
	}
	return o.triggers.check(m, first)
}

// Promise implements launch.Hooks: the run directory stays.
func (o *runOptions) Promise(dir string, _ bool) (words string, ok bool) {
	return "the states of all ranks are in " + text.Quote(dir), true
}

// Names, Unmatched and Summarize implement launch.Hooks.
func (o *runOptions) Names(m machine.MPI) []string { return inspect.CachedNames(o.a.Env, m) }
func (o *runOptions) Unmatched(m machine.MPI, pattern string, names []string) string {
	return catalog.DidYouMean(append(pvarNames(o.Names(m)), names...), globOf(pattern))
}
func (o *runOptions) Summarize(*recording.Run) {}
