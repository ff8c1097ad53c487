// Package launch runs an application with the agent, and collects what the agents recorded. The commands that observe
// applications share it. It prints nothing itself.
package launch

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"mpitx/machine"
	"mpitx/machine/qmpi"
	"mpitx/recording"
	"mpitx/text"
)

// Config says what to run and how.
type Config struct {
	Env     *machine.Env
	Version string // of mpitx

	Args          []string      // the application with its arguments; none: Workload
	Workload      string        // a built-in program
	Duration      time.Duration // of the workload
	MPI           string        // the MPI to use; "" means the one that the application links
	Ranks         int           // to start with the MPI's launcher; 0 means no launcher
	Dir           string        // the run directory; "" means a new name
	Set, SetAfter []NameValue   // of control variables
	Tool          []NameValue   // the agent's configuration
	Tools         []qmpi.Tool   // that intercept the application's calls
	Native        bool          // the MPI library's own QMPI calls Tools
	Force         bool          // run the application even if the agent cannot be attached
	Job           string        // identifies the job of another mpitx that started this process; "" if there is none

	// Watch observes the application while it runs, in a goroutine, until over is closed. kill ends the job with this exit
	// code. nil: nothing is observed.
	Watch func(dir string, over <-chan struct{}, kill func(code int))
	Kills bool // Watch may kill the job

	// ExplainEvent says why a pattern of --event matched no event; names are those that the run has. "": it was said, or it need not be.
	ExplainEvent func(m machine.MPI, pattern string, names []string) string

	// Item is the name that a library's description gives a value of a control variable; "" if there is none.
	Item func(m machine.MPI, cvar, value string) string

	Say   func(format string, args ...any) // prints a message
	Alert func(text string)                // prints a message from any goroutine
	Again func(more ...string) ([]string, error)
	Hooks
}

// Hooks are the command's part.
type Hooks interface {
	// Check finds further reasons against the run before anything is created or started. All processes of a job on one node
	// come to the same result. first is true in the process that reports for its job.
	Check(m machine.MPI, first bool) error
	// Promise describes what happens to a run whose job has failed. It may be called from any goroutine. late is true
	// after the command was killed with its job; ok is false if nothing more will be written.
	Promise(dir string, late bool) (text string, ok bool)
	// Names are the known names of a library's variables.
	Names(m machine.MPI) []string
	// Unmatched says what to do about a pattern that matched no variable; names are those that the run has.
	Unmatched(m machine.MPI, pattern string, names []string) string
	// Summarize prints a summary of the run.
	Summarize(run *recording.Run)
}

// NameValue is a control variable, or a key of the agent's configuration, with its value.
type NameValue struct{ Name, Value string }

// Result is how an application exited, and what was recorded.
type Result struct {
	Run          *recording.Run // nil if nothing was recorded, or if another process has the run
	Code         int            // the application's exit code
	Shown        string         // the run directory, for messages
	NameSource   string         // how the ranks derived its name, for messages
	StillRunning bool           // ranks were still running, so more may be written to the run directory
	Unrecovered  bool           // some samples could not be recovered, which was reported

	*Config
	launch    machine.Launch
	app       *application
	job       *runDir
	ended     ending
	killed    string      // how the program was ended, if it did not exit by itself; "": it did
	unstarted []int       // ranks that died while the agent started
	endings   *endings    // how ranks of this node end; nil: that is not followed
	seen      seen        // what agents that did not record said
	standIn   *standIn    // nil if there is none
	promised  atomic.Bool // a message has announced what will be written
	reported  bool        // the messages about the run were printed
	refused   bool        // the application was not started
	written   func()      // ends the watch over a failed job; nil if there is none
}

// Start becomes the application, or runs it and returns after it has exited and its samples are collected. err is an
// earlier error: the processes that wait for this one in a job must learn of it. The result's End ends the command in
// any case.
func Start(c Config, err error) (*Result, error) {
	r := &Result{Config: &c, launch: c.Env.Launcher()}
	if err == nil && c.Env.Getenv(standInVariable) != "" {
		return r, r.takeOver()
	}
	size, wait := max(1, r.launch.Size), time.Duration(0)
	if err == nil {
		r.app, err = look(&c, r.launch, r.first())
	}
	if err == nil {
		r.job, err = openRunDir(c.Env, r.launch, c.Dir, c.Job, c.Version, c.Tools...)
	}
	if err == nil {
		r.job.hold()
	}
	switch {
	case err != nil:
	case c.Ranks > 0:
		size, wait = c.Ranks, 2*time.Second // launchers exit before the processes that they killed
		err = r.launchRanks()
	default:
		err = r.run()
		wait = patience(r.ended, size)
	}
	if err != nil {
		return r, r.refuse(err)
	}
	r.Code, r.killed = r.ended.code, r.ended.how()
	if c.Ranks == 0 && !r.elected() {
		return r, nil
	}
	r.announceIfSlow(size)
	return r, r.conclude(size, wait)
}

// End ends a command that will exit with this code, after everything was written and reported.
func (r *Result) End(code int) int {
	if r.refused {
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
func (r *Result) Discard() { recording.Discard(r.job.dir) }

// Promised reports whether a message has announced what will be written.
func (r *Result) Promised() bool { return r.promised.Load() }

// refuse handles a process that does not start.
func (r *Result) refuse(err error) error {
	r.refused = true
	if r.job != nil && r.first() {
		r.job.discard()
	}
	return err
}

// run becomes the application. A process without a launcher runs it as a child, and so does the lowest rank, which waits for
// the others, unless a collector does.
func (r *Result) run() error {
	r.app.fit(r.Env, r.job.dir)
	if r.launch.Rank >= 0 && r.job.register(r.Env, r.launch.Rank) {
		return exited(r.launch)
	}
	finishes := r.elected() // unless a lower rank registers later
	seen := NameValue{"unseen", seenPath(r.job.dir)}
	if finishes {
		seen = NameValue{"seen", makeSeen(r.job.dir)}
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
	if r.ended, err = supervise(&exec.Cmd{Path: r.app.Path, Args: argv, Env: environ}, r.launch.Rank >= 0, func() { r.promise("the job failed") }, r.watch); err != nil {
		return startFailed(argv[0], err)
	}
	return nil
}

// watch starts the command's watch over a job. end reports whether it has killed the job, and with which exit code.
func (r *Result) watch(kill func()) (end func() (code int, killed bool)) {
	r.endings = followEndings(r.job.dir, max(1, r.Ranks, r.launch.Size))
	if r.Watch == nil {
		return func() (int, bool) { return 0, false }
	}
	var code atomic.Int64
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		r.Watch(r.job.dir, r.unelected(over), func(c int) {
			code.Store(int64(c) + 1)
			kill()
		})
	}()
	return func() (int, bool) {
		close(over)
		<-done
		return int(code.Load()) - 1, code.Load() > 0
	}
}

// unelected is closed when over is, or when a lower rank finishes the run.
func (r *Result) unelected(over <-chan struct{}) <-chan struct{} {
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

// launchRanks starts this command again as ranks of the MPI's launcher.
func (r *Result) launchRanks() error {
	more := []string{"--job=" + r.job.String()}
	for _, t := range r.Tools {
		if strings.HasPrefix(t.From, qmpi.Variable) { // launchers may not pass the variable to other nodes
			more = append(more, "--tool="+t.String())
		}
	}
	inner, err := r.Again(more...)
	if err != nil {
		return err
	}
	argv, environ, err := r.Env.LaunchCommand(r.app.mpi, r.Ranks, inner)
	if err != nil {
		return err
	}
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

// conclude collects the run and prints the messages about it.
func (r *Result) conclude(size int, wait time.Duration) error {
	r.Shown, r.NameSource = r.job.shown(), r.job.named()
	if r.launch.Rank > 0 && !oneNode(r.Env, r.launch) { // another host may have a run of the same name
		host, _ := os.Hostname()
		r.NameSource = " on " + host + r.NameSource
	}
	run, err := r.gather(size, wait)
	if r.endings.write() && run != nil {
		run.ReadExits()
	}
	if err == nil && r.handOver(run, size) {
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
	if !r.reported {
		for _, line := range r.report(size) {
			r.Say("%s", line)
		}
		r.Summarize(run)
		r.standIn.say(saidTold)
	}
	return nil
}

// first reports whether this process reports for its job.
func (r *Result) first() bool { return r.launch.Rank <= 0 && r.Job == "" }

// launcher describes what started the ranks.
func (r *Result) launcher() machine.Launch {
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

// promise announces what will be written after the launcher has returned, and the command for it in case it is not. It
// may be called at any time from any goroutine.
func (r *Result) promise(why string) {
	if !hasRanks(r.job.dir) || r.promised.Swap(true) {
		return
	}
	text, _ := r.Promise(r.job.shown(), false)
	r.Alert(fmt.Sprintf("%s; %s", why, text))
	r.standIn.say(saidPromise)
}
