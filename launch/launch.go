// Package launch runs an application with the agent, and collects what the agents recorded. The commands that observe
// applications share it. It prints nothing itself.
package launch

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mpitx/machine"
	"mpitx/machine/qmpi"
	"mpitx/recording"
	"mpitx/settings"
	"mpitx/text"
)

// Config says what to run and how.
type Config struct {
	Env     *machine.Env
	Version string // of mpitx

	Args          []string      // the application with its arguments; none: Workload
	Workload      string        // a built-in program
	WorkloadBytes int           // of its messages; 0: of several sizes
	Kernel        string        // the list of operations that the workload kernel measures; its results go to the list's name + ".results"
	Duration      time.Duration // of the workload
	MPI           string        // the MPI to use; "" means the one that the application links
	Ranks         int           // to start with the MPI's launcher; 0 means no launcher
	Dir           string        // the run directory; "" means a new name
	Set, SetAfter []NameValue   // of control variables
	Environ       []string      // NAME=VALUE, of what MPI builds on
	Options       []string      // of the launcher, if Ranks is not 0
	Tool          []Ask         // the agent's configuration
	Tools         []qmpi.Tool   // that intercept the application's calls
	Native        bool          // the MPI library's own QMPI calls Tools
	Force         bool          // run the application even if the agent cannot be attached
	Job           string        // identifies the job of another mpitx that started this process; "" if there is none

	// Command is this process's command line up to the command's name, and Arguments is the rest: launchers, collectors and stand-ins
	// start it again, with more flags between the two.
	Command, Arguments []string

	// Each Watch observes the application while it runs, in a goroutine, until over is closed. kill ends the job with this exit
	// code.
	Watch []func(dir string, over <-chan struct{}, kill func(code int))
	Kills bool // one of Watch may kill the job

	Say func(format string, args ...any) // prints a message; any goroutine may call it
}

// Promise says what becomes of the run of a job that has failed, for people.
type Promise struct {
	Text string // what will be written, and the command for it in case it is not
	Kept string // said instead after mpitx was killed with its job, if nothing more will be written; "": Text is said
}

// NameValue is a control variable with its value.
type NameValue = settings.NameValue

// Ask is a line of the agent's configuration.
type Ask struct{ Key, Value string }

// Job is an application and its run. Its command calls Look, Enter and Run, and then reads what was recorded; End ends the command in
// any case.
type Job struct {
	Shown string // the run directory, for messages; from Enter on

	// These are known after Run.
	Run          *recording.Run // nil if nothing was recorded, or if another process has the run
	Code         int            // the application's exit code
	NameSource   string         // how the ranks derived the directory's name, for messages
	StillRunning bool           // ranks were still running, so more may be written to the run directory
	Unrecovered  bool           // some samples could not be recovered, which was reported
	Told         bool           // the messages about the run were printed by a process that was killed

	*Config
	launch    machine.Launch
	app       *application
	job       *runDir
	size      int // number of ranks
	promise   Promise
	ended     ending
	killed    string      // how the program was ended, if it did not exit by itself; "": it did
	unstarted []int       // ranks that died while the agent started
	endings   *endings    // how ranks of this node end; nil: that is not followed
	seen      seen        // what agents that did not record said
	standIn   *standIn    // nil if there is none
	promised  atomic.Bool // a message has announced what will be written
	started   bool        // the application was started
	written   func()      // ends the watch over a failed job; nil if there is none
}

// New is a job that was not looked at.
func New(c Config) *Job {
	return &Job{Config: &c, launch: c.Env.Launcher()}
}

// takesOver reports whether this process is a stand-in or a collector.
func (r *Job) takesOver() bool { return r.Env.Getenv(standInVariable) != "" }

// Look finds every reason against the run before anything is created or started. The error is the first one: a program
// that cannot be observed, a library or an agent that is missing.
func (r *Job) Look() (err error) {
	if r.takesOver() {
		return nil
	}
	r.app, err = look(r.Config, r.launch, r.First())
	return err
}

// Library is the MPI of the application, which Look has found.
func (r *Job) Library() machine.MPI { return r.app.mpi }

// First reports whether this process reports for its job.
func (r *Job) First() bool { return r.launch.Rank <= 0 && r.Job == "" }

// Checks reports whether the command has to look for further reasons against the run, between Look and Enter. All such processes of a job
// on one node have to come to the same result: a rank that did not check would create a run directory for a job that rank 0 refuses.
func (r *Job) Checks() bool {
	return !r.takesOver() && (r.First() || r.Job == "" && oneNode(r.Env, r.launch))
}

// Enter creates the run directory, or enters the one that another process of the job has created. It fails if a tool of
// the configuration cannot be used, or if the directory cannot be made or is of another job.
func (r *Job) Enter() (err error) {
	if r.takesOver() {
		err = r.enterAgain()
	} else {
		unnamed := func(t qmpi.Tool) bool { return t.Name == "" }
		if r.Checks() && len(r.Tools) > 0 || r.Native && slices.ContainsFunc(r.Tools, unnamed) { // the list needs all names
			err = r.app.tryTools(r.Config)
		}
		if err == nil {
			r.job, err = openRunDir(r.Env, r.launch, r.Dir, r.Job, r.Version, r.Tools...)
		}
	}
	if err == nil {
		r.job.hold()
		r.Shown = r.job.shown()
	}
	return err
}

// Start becomes the application, or runs it and returns after it has exited and what was recorded is collected.
func (r *Job) Start(p Promise) (err error) {
	r.promise = p
	if r.takesOver() {
		r.started = true
		return r.takeOver()
	}
	wait := time.Duration(0)
	if r.size = max(1, r.launch.Size); r.Ranks > 0 {
		r.size, wait = r.Ranks, 2*time.Second // launchers exit before the processes that they killed
		err = r.launchRanks()
	} else {
		err = r.run()
		wait = patience(r.ended, r.size)
	}
	if err != nil {
		return err
	}
	r.started = true
	r.Code, r.killed = r.ended.code, r.ended.how()
	if r.Ranks == 0 && !r.elected() {
		return nil
	}
	r.announceIfSlow()
	return r.conclude(wait)
}

// End ends a command that will exit with this code, after everything was written and reported.
func (r *Job) End(code int) int {
	if !r.started {
		if r.job != nil && r.First() {
			r.job.discard()
		}
		EndJob(r.Env, code)
	}
	if r.written != nil {
		r.written()
	}
	r.standIn.done()
	r.ended.follow()
	return code
}

// Discard removes the run directory.
func (r *Job) Discard() { recording.Discard(r.job.dir) }

// Promised reports whether a message has announced what will be written.
func (r *Job) Promised() bool { return r.promised.Load() }

// run becomes the application. A process without a launcher runs it as a child, and so does the lowest rank, which waits for
// the others, unless a collector does.
func (r *Job) run() error {
	r.app.fit(r.Env, r.job.dir)
	if r.launch.Rank >= 0 && r.job.register(r.Env, r.launch.Rank) {
		return exited(r.launch)
	}
	finishes := r.elected() // unless a lower rank registers later
	seen := Ask{"unseen", seenPath(r.job.dir)}
	if finishes {
		seen = Ask{"seen", makeSeen(r.job.dir)}
	}
	environ, err := environ(r.Config, r.app, r.job, seen)
	if err != nil {
		return err
	}
	argv := r.app.argv
	if r.Job != "" || !finishes {
		return startFailed(argv[0], become(r.app.Path, argv, environ))
	}
	if r.becomesApplication() {
		if cancel := startCollector(r); cancel != nil {
			err := become(r.app.Path, argv, environ)
			cancel()
			return startFailed(argv[0], err)
		}
	}
	r.standIn = startStandIn(r)
	if r.ended, err = supervise(&exec.Cmd{Path: r.app.Path, Args: argv, Env: environ}, r.launch.Rank >= 0, func() { r.announce("the job failed") }, r.watch); err != nil {
		return startFailed(argv[0], err)
	}
	return nil
}

// watch starts the command's watch over a job. end reports whether it has killed the job, and with which exit code.
func (r *Job) watch(kill func()) (end func() (code int, killed bool)) {
	r.endings = followEndings(r.job.dir, max(1, r.Ranks, r.launch.Size))
	var code atomic.Int64
	var watches sync.WaitGroup
	over := make(chan struct{})
	for _, watch := range r.Watch {
		watches.Go(func() {
			watch(r.job.dir, r.unelected(over), func(c int) {
				code.Store(int64(c) + 1)
				kill()
			})
		})
	}
	return func() (int, bool) {
		close(over)
		watches.Wait()
		return int(code.Load()) - 1, code.Load() > 0
	}
}

// unelected is closed when over is, or when a lower rank finishes the run.
func (r *Job) unelected(over <-chan struct{}) <-chan struct{} {
	if r.launch.Rank <= 0 {
		return over
	}
	either := make(chan struct{})
	go func() {
		defer close(either)
		for r.elected() {
			select {
			case <-over:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	return either
}

// again is this process's command line with more flags.
func (r *Job) again(more ...string) []string { return slices.Concat(r.Command, more, r.Arguments) }

// launchRanks starts this command again as ranks of the MPI's launcher.
func (r *Job) launchRanks() error {
	more := []string{"--job=" + r.job.String()}
	for _, t := range r.Tools {
		if strings.HasPrefix(t.From, qmpi.Variable) { // launchers may not pass the variable to other nodes
			more = append(more, "--more-tool="+t.String())
		}
	}
	argv, environ, err := r.Env.LaunchCommand(r.app.mpi, r.Ranks, r.again(more...), r.Options...)
	if err != nil {
		return err
	}
	environ = append(environ, r.Environ...)
	environ = append(environ, settings.Environ(r.app.mpi.Impl, r.Set)...) // some are the launcher's, such as those of binding
	environ = append(environ, "MPITX_MPI="+r.app.mpi.Lib, qmpi.Variable+"=")
	launcher := exec.Command(argv[0], argv[1:]...)
	launcher.Env = environ
	if r.ended, err = keepLauncher(launcher, r.app.mpi.Impl == machine.OpenMPI, r.ranksGone, r.watch); err != nil {
		return startFailed(argv[0], err)
	}
	r.endRanks()
	return nil
}

func exited(l machine.Launch) error {
	return &machine.Error{What: "start the application", Why: l.Command() + " has ended"}
}

func startFailed(program string, err error) error {
	return &machine.Error{What: "start " + program, Why: err.Error()}
}

// patience is how long the other ranks may run after this process's application has exited. After a failure it is
// short, because the launcher learns of the failure only when this process exits.
func patience(e ending, size int) time.Duration {
	switch {
	case size == 1:
		return 0
	case e.code != 0:
		return 200 * time.Millisecond
	}
	return 10 * time.Second
}

// conclude collects the run.
func (r *Job) conclude(wait time.Duration) error {
	r.NameSource = r.job.named()
	if r.launch.Rank > 0 && !oneNode(r.Env, r.launch) { // another host may have a run of the same name
		host, _ := os.Hostname()
		r.NameSource = " on " + host + r.NameSource
	}
	run, err := r.gather(wait)
	if r.endings.write() && run != nil {
		run.ReadExits()
	}
	if err == nil && r.handOver(run) {
		return nil
	}
	if err != nil {
		if err = (&machine.Error{What: "read run " + r.job.dir, Why: err.Error()}); r.Workload == "" { // a workload's exit code is mpitx's own
			r.Say("%v", err)
			return nil
		}
		return err
	}
	r.seen = readSeen(r.job.dir)
	if run == nil {
		if r.overtaken() {
			return nil
		}
		full := unwritable(r.job.dir)
		r.job.discard()
		r.standIn.say(saidEmpty)
		if len(r.unstarted) > 0 && len(r.seen.why) == 0 {
			r.Say("%s", "nothing was recorded: "+diedAtStart)
			return nil
		}
		if full != "" && len(r.seen.why) == 0 { // the agents could not say so, either
			r.Say("nothing was recorded: %s: %s; choose a place with room with --dir", text.Quote(r.Shown), full)
			return nil
		}
		for _, line := range r.app.unrecorded(r.seen, r.launcher(), r.MPI != "", r.killed) {
			r.Say("%s", line) // keep the application's exit code
		}
		return nil
	}
	r.job.dropCopy()
	os.Remove(seenPath(r.job.dir))
	missing := func(rank int) bool {
		return !slices.ContainsFunc(run.Ranks, func(x *recording.Rank) bool { return x.Rank == rank })
	}
	for _, why := range r.seen.explained(missing) { // about programs that were recorded in part, or not at all
		r.Say("%s", why)
	}
	if alone(run) {
		if err := machine.Mismatch(r.launcher(), r.app.mpi, 1, true); err != nil {
			run.Close()
			r.Say("each process was recorded as rank 0 of 1, in %s", text.Quote(r.Shown))
			return err
		}
	}
	r.Run = run
	return nil
}

// Tell notes that the messages about the run were printed: a process that takes over does not print them again.
func (r *Job) Tell() { r.standIn.say(saidTold) }

// launcher describes what started the ranks.
func (r *Job) launcher() machine.Launch {
	m := r.app.mpi
	if r.Ranks == 0 {
		return r.launch
	}
	l := machine.Launch{Name: "slurm", Size: r.Ranks}
	if m.Launcher != "" {
		l.Name, l.Family, l.Exe = map[string]string{machine.OpenMPI: "orte", machine.MPICH: "hydra"}[m.Impl], m.Impl, m.Launcher
	}
	return l
}

// announce says what will be written after the launcher has returned, and the command for it in case it is not. It
// may be called at any time from any goroutine.
func (r *Job) announce(why string) {
	if !hasRanks(r.job.dir) || r.promised.Swap(true) {
		return
	}
	r.Say("%s; %s", why, r.promise.Text)
	r.standIn.say(saidPromise)
}
