package main

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/cmd/mpitx/internal/preflight"
)

type sampleOptions struct {
	a      *app
	record bool // keep the run directory, export nothing

	pvars              []string
	interval, duration time.Duration
	count, ranks       int
	set, setAfter      []string
	dir, mpi, workload string
	maxSize, policy    string
	probe              string
	noProbe            bool
	force, quiet       bool
	given              string // --job
	export             exportFlags

	settings agentSettings
	launch   locate.Launch
	program  *preflight.Program
	chosen   locate.MPI
	agent    string   // path of the agent for it
	argv     []string // the application
	job      *runJob
	parent   *standInPipe    // to the stand-in; nil: there is none
	asked    string          // --out as it was given
	told     bool            // what there is to say of the run was said
	ended    bool            // the application has
	promised atomic.Bool     // it was said that the answer follows
	left     bool            // something of the run could not be brought into its directory
	warned   map[string]bool // --pvar of which the user has heard
}

// When variables of the library are tried in a child process, for --probe.
var probes = []string{"start", "late", "none"}

var workloads = []string{"pingpong", "alltoall", "unexpected", "halo", "idle"}

func newSample(a *app) *cobra.Command {
	o := &sampleOptions{a: a}
	cmd := &cobra.Command{
		Use:   "sample --pvar GLOB… [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Sample performance variables inside an application, and write them to a file",
		Long: `Sample performance variables inside an unmodified MPI application (C, C++, Fortran, Python), on every rank.

Under a launcher (mpirun -n 4 mpitx sample … -- ./app) each process becomes the application, with an agent preloaded; that of
rank 0 waits for it and writes the answer at the end; where rank 0 is started without mpitx, the run directory mpitx-run-… stays,
for mpitx export. With -n mpitx starts the launcher. The application's output and
exit code stay its own: samples go to --out, or into a run directory that is named at the end. With --workload, in place of an
application, a built-in exerciser runs, and samples go to standard output.

A --pvar is a glob of names, with :CLASS where a name has several classes, and @world, @self or @all for the communicators that
it is read for (@all: each that the application makes). Names that begin with mpitx: are computed by the agent, on any
MPI: messages and bytes sent and received, time in MPI, outstanding requests (mpitx:bytes_sent, mpitx:bytes_sent/MPI_Send).
One function's includes its large-count form (MPI_Send_c).

Values are differences since the start for counters, aggregates and timers, and raw for all others; --as chooses.`,
		Example: `  mpirun -n 4 mpitx sample --pvar 'mpitx:*' --out samples.csv -- ./app input
  mpitx sample -n 4 --pvar pml_ob1_unexpected_msgq_length --workload unexpected -o csv
  mpirun -n 4 mpitx sample --pvar 'coll_monitoring_*@all' --set pml_monitoring_enable=1 --interval 1ms --out s.parquet -- ./app`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.flags(cmd)
	o.export.flags(cmd)
	cmd.Flags().StringVar(&o.workload, "workload", "", "run a built-in `EXERCISER` instead of an application: "+strings.Join(workloads, ", "))
	cmd.RegisterFlagCompletionFunc("workload", cobra.FixedCompletions(workloads, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *sampleOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SetInterspersed(false) // what follows the application is the application's
	f.StringArrayVar(&o.pvars, "pvar", nil, "variables to sample: `GLOB`[:CLASS][@world|@self|@all]; may be repeated")
	f.DurationVar(&o.interval, "interval", 10*time.Millisecond, "`TIME` between samples")
	f.DurationVar(&o.duration, "duration", 0, "sample for this `TIME` only")
	f.IntVar(&o.count, "count", 0, "take `N` samples only")
	f.StringArrayVar(&o.set, "set", nil, "set a control variable for the application: `CVAR=VALUE`; may be repeated")
	f.StringArrayVar(&o.setAfter, "set-after", nil, "write a control variable after MPI_Init: `CVAR=VALUE`; may be repeated")
	f.StringVar(&o.dir, "dir", "", "the run `DIRECTORY`, which must not exist (default: a fresh name in $MPITX_DIR or here)")
	f.StringVar(&o.maxSize, "max-size", "", "bound for the `SIZE` of the whole run: 500M, 2G")
	f.StringVar(&o.policy, "policy", "stop", "`POLICY` at --max-size: stop recording (stop), or drop the oldest samples (last)")
	f.StringVar(&o.probe, "probe", "start", "`WHEN` to try the library's variables in a copy of the process: start (in MPI_Init), late (also those that appear later), none")
	f.BoolVar(&o.noProbe, "no-probe", false, "read variables without trying them first (--probe none): one that crashes the library ends the application")
	f.StringVar(&o.mpi, "mpi", "", "the `MPI` to use: openmpi, mpich, abi (the standard ABI's library of either), a prefix, or a libmpi file (default: the one that the application links)")
	f.IntVarP(&o.ranks, "ranks", "n", 0, "start `N` ranks under the MPI's launcher")
	f.BoolVar(&o.force, "force", false, "run the program even if it cannot be observed, or --pvar can match nothing")
	f.BoolVar(&o.quiet, "no-summary", false, "print no summary at the end of a job that was sampled with mpitx:*")
	f.StringVar(&o.given, "job", "", "")
	f.MarkHidden("job")
	cmd.MarkFlagDirname("dir")
	words := func(words ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	cmd.RegisterFlagCompletionFunc("policy", words("stop", "last"))
	cmd.RegisterFlagCompletionFunc("probe", words(probes...))
	cmd.RegisterFlagCompletionFunc("mpi", words(locate.Families...))
	cmd.RegisterFlagCompletionFunc("pvar", o.a.completeNames())
	cmd.RegisterFlagCompletionFunc("set", o.a.completeWrites)
	cmd.RegisterFlagCompletionFunc("set-after", o.a.completeWrites)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	}
}

func (o *sampleOptions) run(cmd *cobra.Command, args []string) error {
	o.launch = o.a.env.Launcher()
	err := o.parse(cmd, args)
	if after := o.a.env.Getenv(standInVariable); err == nil && after != "" {
		return o.takeOver(after, args)
	}
	if err == nil {
		err = o.prepare(args)
	}
	if err == nil {
		err = o.start(cmd, args)
	}
	if o.ended || err == nil {
		return err
	}
	if o.launch.Rank > 0 {
		// Rank 0 says the same, and ends the job. Where it does not (another program, another node), it must not wait for us.
		time.Sleep(2 * time.Second)
	}
	return &exitError{err: err, send: func(code int) int { // without this rank the others would wait in MPI_Init
		if o.launch.Name == "hydra" {
			endJob(o.a.env, code)
		}
		if o.launch.Rank > 0 && code == exitUsage {
			return exitDone
		}
		return code
	}}
}

// parse checks all that needs no look at the machine.
func (o *sampleOptions) parse(cmd *cobra.Command, args []string) (err error) {
	s := &o.settings
	s.interval, s.duration, s.count, s.pvars, s.policy = o.interval, o.duration, o.count, o.pvars, o.policy
	switch {
	case len(o.pvars) == 0:
		return usagef("--pvar: name the variables to sample; `mpitx list pvars` shows those of the library; 'mpitx:*' are the agent's own, on any MPI")
	case o.interval < time.Microsecond:
		return usagef("--interval: %s: must be at least 1µs", o.interval)
	case o.duration < 0 || cmd.Flags().Changed("duration") && o.duration == 0:
		return usagef("--duration: must be positive")
	case o.count < 0 || cmd.Flags().Changed("count") && o.count == 0:
		return usagef("--count: must be at least 1")
	case o.duration > 0 && o.count > 0:
		return usagef("--duration and --count both say when to stop; leave one out")
	case o.policy != "stop" && o.policy != "last":
		return usagef("--policy: %q: must be stop or last", o.policy)
	case !slices.Contains(probes, o.probe):
		return usagef("--probe: %q: must be one of %s", o.probe, strings.Join(probes, ", "))
	case o.noProbe && cmd.Flags().Changed("probe") && o.probe != "none":
		return usagef("--no-probe means --probe none, and --probe says %s; leave one out", o.probe)
	case o.ranks < 0 || cmd.Flags().Changed("ranks") && o.ranks == 0:
		return usagef("-n: the number of ranks must be at least 1")
	case o.ranks > 0 && o.launch.Rank >= 0:
		return usagef("-n: %s has started this already; leave -n out", o.launch.Command())
	case o.workload != "" && len(args) > 0:
		return usagef("--workload runs in place of an application; leave %q out", args[0])
	case o.workload != "" && !slices.Contains(workloads, o.workload):
		return usagef("--workload: %q: must be one of %s", o.workload, strings.Join(workloads, ", "))
	case o.workload == "" && len(args) == 0:
		return usagef("name the application, after --: mpitx %s … -- ./app, or --workload %s", cmd.Name(), strings.Join(workloads, "|"))
	}
	switch {
	case o.noProbe:
		s.probe = "none"
	case o.probe != "start":
		s.probe = o.probe
	}
	for _, p := range o.pvars {
		if err := checkPattern(p); err != nil {
			return err
		}
	}
	if o.maxSize != "" {
		if s.maxSize, err = parseSize(o.maxSize); err != nil {
			return usagef("--max-size: %v", err)
		}
	}
	if s.set, err = parseSettings("--set", o.set); err != nil {
		return err
	}
	if s.setAfter, err = parseSettings("--set-after", o.setAfter); err != nil {
		return err
	}
	if o.record {
		return nil
	}
	if o.dir != "" && filepath.Clean(o.export.out) == filepath.Clean(o.dir) {
		return usagef("--out %s: this is the run directory (--dir); name a file", o.export.out)
	}
	if o.export.out == "-" && o.workload == "" {
		return usagef("--out -: standard output is the application's; name a file")
	}
	return o.export.parse()
}

// checkPattern checks what --pvar says beyond names.
func checkPattern(p string) error {
	name, comm, ok := cutLast(p, '@')
	if ok && comm != "world" && comm != "self" && comm != "all" {
		return usagef("--pvar %s: after @ must come world, self or all", p)
	}
	if name == "" || strings.ContainsAny(p, "\n\x00") {
		return usagef("--pvar %q: must be GLOB[:CLASS][@world|@self|@all]", p)
	}
	if _, err := (&catalog.Filter{Names: []string{name}}).Compile(); err != nil {
		return usagef("--pvar %s: %v", p, err)
	}
	return nil
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if k := strings.LastIndexByte(s, sep); k >= 0 {
		return s[:k], s[k+1:], true
	}
	return s, "", false
}

// prepare finds everything out that can stand against the run, before anything is made or started.
func (o *sampleOptions) prepare(args []string) (err error) {
	exe, err := os.Executable()
	if err != nil {
		return failf("start: %v", err)
	}
	o.argv = args
	if o.workload != "" {
		if o.argv, err = o.builtin(dir(exe)); err != nil {
			return err
		}
	}
	o.program, err = preflight.Check(o.a.env, o.argv)
	if err := o.refused(err); err != nil {
		return err
	}
	if err := o.choose(); err != nil {
		return err
	}
	var looked []string
	if o.agent, looked = o.a.env.Beside(dir(exe), locate.AgentName(o.chosen.Family)); o.agent == "" {
		return &locate.Error{What: "no agent for " + locate.FamilyName(o.chosen.Family), Why: locate.AgentName(o.chosen.Family) + " is not in " + strings.Join(looked, ", "),
			Do: "build it with `" + o.a.env.SetupCommand(o.chosen) + "`"}
	}
	if o.agent, err = filepath.Abs(o.agent); err != nil {
		return failf("start: %v", err)
	}
	o.settings.program = strings.Join(o.argv, " ")
	o.fitAgent(cacheDir(o.a.env))
	o.settings.sanitized = o.program.Sanitized || o.program.Linked == nil // where the program was not seen it may be
	if c := o.program.Container; c != nil {
		dirs := []string{dir(o.agent)}
		if base := filepath.Dir(o.dir); o.dir != "" && filepath.IsAbs(base) {
			dirs = append(dirs, base)
		}
		if err := o.refused(c.Bound(o.a.env, dirs...)); err != nil {
			return err
		}
	}
	o.settings.job = &runJob{} // the directory is made when nothing stands against the rest
	if _, err := o.settings.environWith(o.a.env, o.chosen.Impl, o.agent); err != nil {
		return err
	}
	// On one node all find out the same: else others would make a run directory for a job that rank 0 refuses.
	if o.given == "" && (o.launch.Rank <= 0 || oneNode(o.a.env, o.launch)) {
		if err := o.export.check(); err != nil {
			return err
		}
	}
	if o.launch.Rank <= 0 && o.given == "" {
		o.a.warnOfCrashes(o.chosen, o.settings.set)
		o.nameOut()
		o.unknown()
		return o.unmatched()
	}
	return nil
}

// nameOut keeps a file that is there: samples of another job go to one with a number.
func (o *sampleOptions) nameOut() {
	o.asked, o.export.then = o.export.out, numberIt
	if o.export.out == "" || o.export.out == "-" || o.export.overwrite {
		return
	}
	if o.export.out = freeName(o.asked); o.export.out != o.asked {
		o.a.complain("%s is there already: samples go to %s (--overwrite replaces it)", o.asked, o.export.out)
	}
}

// builtin is the command of --workload.
func (o *sampleOptions) builtin(exeDir string) ([]string, error) {
	m, err := o.a.env.Choose(o.mpi)
	if err != nil {
		return nil, err
	}
	if m.Family == locate.Demo {
		return nil, errDemo
	}
	name := locate.WorkloadName(m.Family)
	path, looked := o.a.env.Beside(exeDir, name)
	if path == "" {
		return nil, &locate.Error{What: "no workload for " + locate.FamilyName(m.Family), Why: name + " is not in " + strings.Join(looked, ", "), Do: "build it with `" + o.a.env.SetupCommand(m) + "`"}
	}
	seconds := 1.0
	switch {
	case o.duration > 0:
		seconds = o.duration.Seconds()
	case o.count > 0:
		seconds = (time.Duration(o.count+1) * o.interval).Seconds()
	}
	return []string{path, o.workload, fmt.Sprintf("%.4f", seconds)}, nil
}

var errDemo = &locate.Error{What: "the demo MPI has no applications", Why: "it is inside mpitx", Do: "choose a real MPI with --mpi openmpi or --mpi mpich", Usage: true}

// refused lets through with --force what the checks refuse, but nothing that cannot be started.
func (o *sampleOptions) refused(err error) error {
	var r *preflight.Refusal
	if o.force && errors.As(err, &r) {
		if o.launch.Rank <= 0 && o.given == "" {
			o.a.complain("warning: %v", err)
		}
		return nil
	}
	return err
}

// choose decides which MPI's agent goes in, and whose launcher starts: the MPI that the application links, else the usual.
func (o *sampleOptions) choose() error {
	if done, err := o.chooseForWorkload(); done || err != nil {
		return err
	}
	want := ""
	if o.mpi != "" {
		want = "--mpi " + o.mpi
	} else if v := o.a.env.Getenv("MPITX_MPI"); v != "" {
		want = "$MPITX_MPI=" + v
	}
	if o.program.Linked == nil || want != "" {
		var err error
		if o.chosen, err = o.a.env.Choose(o.mpi); err != nil {
			return err
		}
		if o.chosen.Family == locate.Demo {
			return errDemo
		}
	}
	first := o.launch.Rank <= 0 && o.given == ""
	if o.program.Linked == nil {
		if first {
			o.a.warnOverridden(o.chosen, o.mpi)
		}
		return nil
	}
	if first {
		o.warnOther()
	}
	if err := o.refused(o.program.Fits(o.launch, want, o.chosen)); err != nil {
		return err
	}
	asked := o.chosen
	o.chosen = *o.program.Linked
	if asked.Family == o.chosen.Family {
		o.chosen.Launcher = asked.Launcher // of the installation that was named
	}
	return nil
}

// chooseForWorkload has the workload load the library that is read by `mpitx list`, if the loader would find another one of that name:
// both ABI libraries of a machine, say, of which only one is right under a launcher.
func (o *sampleOptions) chooseForWorkload() (done bool, err error) {
	linked := o.program.Linked
	if o.workload == "" || linked == nil {
		return false, nil
	}
	m, err := o.a.env.Choose(o.mpi)
	if err != nil || m.Family != linked.Family || m.SONAME == "" || m.SONAME != linked.SONAME || locate.SameLibrary(m, *linked) {
		return false, err
	}
	o.chosen, o.program.Linked, o.settings.preload = m, &m, m.Lib
	return true, o.refused(o.program.Fits(o.launch, "", m))
}

// warnOther warns of a program that loads another library than the one that `mpitx list` reads.
func (o *sampleOptions) warnOther() {
	listed, err := o.a.env.Choose(o.mpi)
	if m := o.program.Linked; err == nil && listed.Family == m.Family && !locate.SameLibrary(listed, *m) {
		o.a.complain("warning: %s loads %s, but `mpitx list` reads %s (%s): to list its variables, use --mpi %s", o.program.Target, m.Lib, listed.Lib, listed.Why, origin.Quote(m.Lib))
	}
}

// unknown warns of settings that the library did not have when it was last read.
func (o *sampleOptions) unknown() {
	names := o.cachedNames()
	if len(names) == 0 {
		return
	}
	for flag, settings := range map[string][]setting{"--set": o.settings.set, "--set-after": o.settings.setAfter} {
		for _, s := range settings {
			if !slices.Contains(names, s.name) {
				o.a.complain("warning: %s %s: %s had no such control variable when it was last read%s", flag, s.name, o.chosen.Name(), catalog.DidYouMean(names, s.name))
			}
		}
	}
}

func (o *sampleOptions) cachedNames() []string {
	path := cachePath(o.a.env, o.chosen)
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var names []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		name, _, ok := strings.Cut(sc.Text(), "\t")
		if !ok || name == "" {
			continue
		}
		names = append(names, name)
		if bare, _, ok := cutLast(name, ':'); ok {
			names = append(names, bare)
		}
	}
	return names
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func fileExists(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
