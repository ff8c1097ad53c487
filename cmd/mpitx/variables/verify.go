package variables

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording/experiment"
	"mpitx/settings"
	"mpitx/settings/tuning"
	"mpitx/text"
	"mpitx/ui/progress"
)

type verifyOptions struct {
	cli.Source
	format   export.Format
	workload string
	sizes    []string // of the workload's messages
	bytes    []int64  // sizes; one 0: the workload's own
	rounds   int
	lasting  time.Duration
}

// usualRanks are the ranks of the runs without -n: most settings are about messages.
const usualRanks = 2

// fewestRounds are enough for an interval of 95 % confidence that does not span all pairs of runs.
const fewestRounds = 5

func NewVerify(a *cli.App) *cobra.Command {
	o := &verifyOptions{Source: cli.Source{App: a}}
	cmd := &cobra.Command{
		Use:   "verify NAME=VALUE… [flags] [-- APP…]",
		Short: "Find out by experiment whether a setting takes effect",
		Long: `Find out whether settings of control variables take effect: by what the library
and mpitx's rules say (as mpitx show), and by experiment. A built-in workload
that fits the variable, or your application, runs several times with and without
the settings, alternating.

The result has the time per call of each MPI function that matters, with the
interval in which the change lies with 95 % confidence, the messages and bytes
per call and the peers that differ, the algorithms that served collective calls
if they differ and are known, and the library's performance variables whose
ranges do not overlap. If the interval contains 0, no change is
reported. One interval in twenty misses the change by chance: repeat a surprising
result, with more --rounds.

NAME=A,B,C compares each value with the runs without the setting. Commas belong
to the value of a text, so name such a variable once for each value. The values
of other variables are the same in all of these runs.

With --size, the workload sends messages of one size, and each size is judged
apart: a limit of eager messages matters only for sizes near it.

The exit code is 0 if something measurable changed, 1 if nothing did, and 2 if
it could not be found out.`,
		Example: `  mpitx verify -n 4 coll_tuned_bcast_algorithm=binomial
  mpitx verify -n 4 coll_tuned_bcast_algorithm=binomial \
      coll_tuned_use_dynamic_rules=true --workload bcast
  mpitx verify -n 2 btl_vader_eager_limit=1024,65536 --size 512,4k,64k
  mpitx verify -n 2 btl_vader_eager_limit=65536 --rounds 15 -- ./app`,
		Args:              cli.Arguments(1, -1, "the settings (NAME=VALUE)"),
		ValidArgsFunction: a.CompleteWrites,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.NoVerdict(o.run(cmd, args)) },
	}
	f := cmd.Flags()
	o.Source.Flags(cmd, true)
	f.Lookup("ranks").Usage = fmt.Sprintf("start `N` ranks with the MPI's launcher (default: %d)", usualRanks)
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.Formats...)
	cli.Choose(cmd, &o.workload, "workload", "", "", "run this built-in `WORKLOAD` (default: one that fits the variables): "+strings.Join(cli.Workloads, ", "), cli.Workloads...)
	f.StringSliceVar(&o.sizes, "size", nil, "let the workload send messages of this `SIZE` only, such as 64k; several, separated by commas, are judged apart")
	f.IntVar(&o.rounds, "rounds", 9, "run `N` times with the settings (each of their values) and N times without, at least "+strconv.Itoa(fewestRounds))
	f.DurationVar(&o.lasting, "duration", 500*time.Millisecond, "let the workload run for this `TIME` in each run")
	return cmd
}

// workloadsFor are words in the names of control variables, and the workload that uses what they set. The first that matches counts.
var workloadsFor = []struct{ word, workload string }{
	{"allreduce", "allreduce"}, {"allgather", "allgather"}, {"alltoall", "alltoall"}, {"bcast", "bcast"}, {"barrier", "barrier"},
	{"reduce", "reduce"}, {"coll", "allreduce"}, {"unexpected", "unexpected"},
}

func workloadFor(given []launch.NameValue) string {
	for _, w := range workloadsFor {
		if slices.ContainsFunc(given, func(s launch.NameValue) bool { return strings.Contains(strings.ToLower(s.Name), w.word) }) {
			return w.workload
		}
	}
	return "messages"
}

func (o *verifyOptions) run(cmd *cobra.Command, args []string) error {
	var app []string
	dash := cmd.ArgsLenAtDash()
	if dash >= 0 {
		args, app = args[:dash], args[dash:]
	}
	given, err := cli.ParseSettings("verify", args)
	if err != nil {
		return err
	}
	switch {
	case len(given) == 0:
		return cli.Usagef("name the settings, as NAME=VALUE")
	case dash >= 0 && len(app) == 0:
		return cli.Usagef("name the application, after --: mpitx verify NAME=VALUE -- ./app, or leave -- out for a workload")
	case len(app) > 0 && o.workload != "":
		return cli.Usagef("--workload runs in place of an application; leave %q out", app[0])
	case o.rounds < fewestRounds:
		return cli.Usagef("--rounds: must be at least %d", fewestRounds)
	case len(o.sizes) > 0 && len(app) > 0:
		return cli.Usagef("--size is for a workload, and %s chooses its own sizes; leave one of them out", app[0])
	case o.lasting <= 0:
		return cli.Usagef("--duration: must be positive")
	case o.App.Env.Launcher().Name != "":
		return cli.Usagef("verify starts its own jobs: run it without a launcher, as mpitx verify -n 4 …")
	}
	if err := o.App.CheckRanks(cmd, o.N); err != nil {
		return err
	}
	if o.N == 0 {
		o.N = usualRanks
	}
	if len(app) == 0 && o.workload == "" {
		o.workload = workloadFor(given)
	}
	if err := o.parseSizes(); err != nil {
		return err
	}
	known, values, pvars, err := o.known(cmd, given)
	if err != nil {
		return undecided(err)
	}
	runs, err := os.MkdirTemp("", "mpitx-verify-")
	if err != nil {
		return cli.Failf("%v", err)
	}
	defer os.RemoveAll(runs)
	answer := variables.Verified{Settings: known, Ran: "the workload " + o.workload, Ranks: o.N, Rounds: o.rounds}
	if app != nil {
		answer.Ran = text.Quote(app[0])
	}
	bar := progress.New("measuring")
	defer bar.Clear()
	done := 0
	for _, size := range o.bytes {
		sides, err := o.measure(measurement{dir: runs, values: values, app: app, pvars: pvars, size: size, step: func() {
			done++
			bar.Update(uint64(done), uint64(len(o.bytes)*o.rounds*(1+len(values))))
		}})
		if err != nil {
			return err
		}
		for k, value := range values {
			pair := [2][]experiment.Run{sides[0], sides[1+k]}
			one := variables.Experiment{Bytes: size, Changes: experiment.Changes(pair), NoCores: experiment.WithoutCores(pair), Incomplete: experiment.WithoutRanks(pair), Same: experiment.SameAlgorithms(pair)}
			if len(values) > 1 {
				one.Settings = settingsText(value)
			}
			answer.Experiments = append(answer.Experiments, one)
		}
	}
	bar.Clear()
	found := answer.Changes()
	code := cli.ExitUsage // nothing could be compared
	if slices.ContainsFunc(found, func(c experiment.Change) bool { return c.Changed }) {
		code = cli.ExitDone
	} else if slices.ContainsFunc(found, func(c experiment.Change) bool { return c.Known }) {
		code = cli.ExitFailed
	}
	return o.End(code, answer.Write(o.App.Out, o.format, o.Term))
}

// undecided gives an error exitUsage, whatever the launcher exited with, unless a signal ended mpitx.
func undecided(err error) error {
	var own *cli.ExitError
	if !errors.As(err, &own) {
		return &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	if own.Code <= 128 {
		own.Code = cli.ExitUsage
	}
	return err
}

// known reads the library with as many ranks as the experiment has: without the settings to check them, and with each of their values in
// its environment. It returns what is known about the effect of each, the values, and whether the library has performance variables.
func (o *verifyOptions) known(cmd *cobra.Command, given []launch.NameValue) (found []variables.VerifiedSetting, values [][]launch.NameValue, pvars bool, err error) {
	if o.Term, err = o.App.Terminal(); err != nil {
		return nil, nil, false, err
	}
	if err := o.Check(cmd); err != nil {
		return nil, nil, false, err
	}
	if o.Chosen, err = o.App.Env.Choose(o.MPI); err != nil {
		return nil, nil, false, err
	}
	read := func(environ ...string) (*catalog.Catalog, error) {
		c, _, err := (&cli.Source{App: o.App, MPI: o.MPI, Timeout: o.Timeout, N: o.N, Environ: environ}).Snapshot(cmd)
		return c, err
	}
	without, err := read()
	if err != nil {
		return nil, nil, false, err
	}
	if values, err = alternatives(given, without); err != nil {
		return nil, nil, false, err
	}
	for k, value := range values {
		var environ []string
		for _, s := range value {
			variable, err := o.settable(s, without)
			if err != nil {
				return nil, nil, false, err
			}
			environ = append(environ, variable+"="+s.Value)
		}
		with, err := read(environ...)
		if err != nil {
			return nil, nil, false, err
		}
		effect := o.Judge(with).Effects(with)
		for _, s := range value {
			if k > 0 && slices.Contains(values[0], s) { // the same in all runs
				continue
			}
			one := variables.VerifiedSetting{Name: s.Name, Value: s.Value, Effect: tuning.Effect{Unused: true}} // of a component that these settings switch off
			if v := with.Cvar(s.Name); v != nil {
				one.Effect = effect(v)
				compareValues(&one, without.Cvar(s.Name), v)
			}
			found = append(found, one)
		}
		pvars = pvars || len(with.Pvars) > 0
	}
	return found, values, pvars, nil
}

// settable returns the variable of the environment for a setting, if the library takes it.
func (o *verifyOptions) settable(s launch.NameValue, c *catalog.Catalog) (variable string, err error) {
	variable, err = settings.Variable(o.Chosen.Impl, s.Name)
	var no *machine.Error
	if errors.As(err, &no) {
		return "", cli.Usagef("%s: %s; verify can set nothing else", s.Name, no.Why)
	}
	v := c.Cvar(s.Name)
	if v == nil {
		return "", cli.Usagef("%s: %s has no such control variable%s", s.Name, c.LibraryName(), catalog.DidYouMean(c.Names(catalog.Cvars), s.Name))
	}
	if err := settings.Takes(o.Family(c), c, v, s.Value); err != nil {
		return "", cli.Usagef("%s: %v", s.Name, err)
	}
	return variable, nil
}

// compareValues finds out whether the library has the value without the setting, too.
func compareValues(v *variables.VerifiedSetting, without, with *catalog.Variable) {
	if old, now := without.Current(), with.Current(); old != nil && now != nil && v.Effect.Arrived == tuning.Yes {
		v.Same = old.Value.String() == now.Value.String()
	}
	if v.Same && without.Origin != nil {
		v.Origin = string(without.Origin.Kind) + " " + without.Origin.Where
	}
}

// measurement is what the runs of one size have in common.
type measurement struct {
	dir    string
	values [][]launch.NameValue
	app    []string
	pvars  bool
	size   int64
	step   func() // called after each run
}

// measure runs the workload or application alternating without and with the settings. It returns the runs without, and those with each
// of the values.
func (o *verifyOptions) measure(m measurement) (sides [][]experiment.Run, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, cli.Failf("%v", err)
	}
	n := 1 + len(m.values)
	sides = make([][]experiment.Run, n)
	var longest time.Duration // of a run without the settings
	for k := range n * o.rounds {
		side := k % n
		if k/n%2 == 1 { // 0 1 1 0 0 1 1 0: no side always comes first
			side = n - 1 - side
		}
		run := filepath.Join(m.dir, strconv.Itoa(k))
		begin, limit := time.Now(), time.Duration(0)
		var set []launch.NameValue
		if side > 0 {
			set, limit = m.values[side-1], 10*longest+30*time.Second
		}
		one, err := measureRun(exec.Command(exe, o.arguments(m, run, set)...), run, limit)
		if side == 0 {
			longest = max(longest, time.Since(begin))
		}
		var own *cli.ExitError
		if err != nil && !errors.As(err, &own) {
			how := "without the settings"
			if side > 0 {
				how = "with the settings"
			}
			if len(m.values) > 1 && side > 0 {
				how = "with " + settingsText(set)
			}
			return nil, cli.Failf("a run %s failed: %v", how, err)
		}
		if err != nil {
			return nil, err
		}
		sides[side] = append(sides[side], one)
		os.RemoveAll(run)
		m.step()
	}
	return sides, nil
}

// measureRun makes a run and reads it. What a run said that failed is shown.
func measureRun(cmd *exec.Cmd, dir string, limit time.Duration) (m experiment.Run, err error) {
	run, err := cli.MeasureRun(cmd, dir, limit)
	var failed *cli.RunFailed
	if errors.As(err, &failed) {
		os.Stderr.WriteString(failed.Said)
	}
	if err != nil {
		return m, err
	}
	defer run.Close()
	return experiment.Read(run)
}

// arguments are those of the mpitx that records a run.
func (o *verifyOptions) arguments(m measurement, run string, set []launch.NameValue) []string {
	args := []string{"profile", "-n", strconv.Itoa(o.N), "--dir", run, "--stack", "0", "--no-summary"}
	if o.MPI != "" {
		args = append(args, "--mpi", o.MPI)
	}
	if m.pvars {
		args = append(args, "--pvar", "*", "--interval", "1s")
	}
	for _, s := range set {
		args = append(args, "--set", s.Name+"="+s.Value)
	}
	if m.app != nil {
		return append(append(args, "--"), m.app...)
	}
	if m.size > 0 {
		args = append(args, "--workload-bytes", strconv.FormatInt(m.size, 10))
	}
	return append(args, "--workload", o.workload, "--duration", o.lasting.String())
}
