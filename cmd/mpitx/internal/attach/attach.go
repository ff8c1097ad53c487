// Package attach runs an application with the agent in it, and brings together what the agents have recorded: what the commands share
// that observe applications. It prints nothing itself, and knows no command.
package attach

import (
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/recording"
)

// Config says what to run and how, and what the command has to do with it.
type Config struct {
	Env     *locate.Env
	Version string // of mpitx

	Args          []string      // the application with its arguments; none: Workload
	Workload      string        // a built-in exerciser
	Lasting       time.Duration // of the exerciser
	MPI           string        // the MPI to use; "": the one that the application links
	Ranks         int           // to start under the MPI's launcher; 0: none
	Dir           string        // the run directory; "": a fresh name
	Set, SetAfter []Setting     // of control variables
	Tool          []Setting     // what the agent is to do: keys of its configuration
	Force         bool          // run the application even if it cannot be observed
	Job           string        // of the processes of a job that another mpitx has started; "": of none

	Say   func(format string, args ...any) // prints a message
	Alert func(text string)                // prints one from any goroutine, at any time
	Again func(more ...string) ([]string, error)
	Hooks
}

// Hooks are the command's part in it.
type Hooks interface {
	// Check finds what else stands against the run, before anything is made or started. first is true in the process that speaks for
	// its job.
	Check(m locate.MPI, first bool) error
	// Follows says what becomes of a run whose job has failed. It can be called from any goroutine. late is true once the command has
	// been killed with its job: nothing more becomes of the run if ok is false.
	Follows(dir string, late bool) (text string, ok bool)
	// Names are the names of a library's variables, as far as they are known.
	Names(m locate.MPI) []string
	// Unmatched says what to do about a pattern of variables that matched none of the names.
	Unmatched(m locate.MPI, pattern string, names []string) string
	// Summarize prints what is to be said first of a run.
	Summarize(run *recording.Run)
}

// Setting is a name with its value.
type Setting struct{ Name, Value string }

// Result is how an application ended, and what was recorded of it.
type Result struct {
	Run   *recording.Run // nil: nothing was recorded, or another process has it
	Code  int            // the application's exit code
	Shown string         // the run directory, for messages
	Named string         // by what the ranks came to its name, for messages
	Going bool           // more may come into the run directory: ranks had not ended
	Left  bool           // something could not be brought into it: the user knows

	*Config
	launch   locate.Launch
	app      *application
	job      *runDir
	ended    ending
	standIn  *standIn    // nil: there is none
	promised atomic.Bool // the user knows what follows
	told     bool        // what there is to say of the run was said
	refused  bool        // the application was not started
	written  func()      // ends the watch over a job that failed; nil: there is none
}

// Start becomes the application, or runs it and returns when it has ended and what was recorded is together. err stands against it from
// the start: who waits for this process in a job must know. The result's End ends the command in any case.
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
		r.job, err = makeRun(c.Env, r.launch, c.Dir, c.Job, c.Version)
	}
	switch {
	case err != nil:
	case c.Ranks > 0:
		size, wait = c.Ranks, 2*time.Second // launchers end before what they have killed
		err = r.launchRanks()
	default:
		err = r.run()
		wait = patience(r.ended, size)
	}
	if err != nil {
		return r, r.refuse(err)
	}
	r.Code = r.ended.code
	r.hurry(size)
	return r, r.conclude(size, wait)
}

// End ends the command that goes on to exit with a code, when it has written and said all.
func (r *Result) End(code int) int {
	if r.refused && r.launch.Name == "hydra" { // without this process the others would wait in MPI_Init
		endJob(r.Env, code)
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

// Promised is true if the user was told what becomes of the run.
func (r *Result) Promised() bool { return r.promised.Load() }

// refuse is for a process that does not start.
func (r *Result) refuse(err error) error {
	r.refused = true
	if r.job != nil && r.first() {
		r.job.discard()
	}
	if r.launch.Rank > 0 {
		// Rank 0 says the same, and ends the job. Where it does not (another program, another node), it must not wait for us.
		time.Sleep(2 * time.Second)
	}
	return err
}

// run becomes the application; rank 0, which is to wait for the others, and who is alone run it as a child.
func (r *Result) run() error {
	r.app.fit(r.Env, r.job.dir)
	seen := ""
	if r.launch.Rank <= 0 {
		seen = makeSeen(r.job.dir)
	}
	environ, err := environ(r.Config, r.app, r.job, seen)
	if err != nil {
		return err
	}
	argv := r.app.argv
	if r.Job != "" || r.launch.Rank > 0 {
		return startFailed(argv[0], become(r.app.Path, argv, environ))
	}
	r.standIn = startStandIn(r)
	if r.ended, err = supervise(&exec.Cmd{Path: r.app.Path, Args: argv, Env: environ}, r.launch.Rank >= 0, func() { r.promise("the job failed") }); err != nil {
		return startFailed(argv[0], err)
	}
	return nil
}

// launchRanks starts this command again, on ranks of the MPI's launcher.
func (r *Result) launchRanks() error {
	inner, err := r.Again("--job=" + r.job.String())
	if err != nil {
		return err
	}
	argv, environ, err := r.Env.LaunchCommand(r.app.mpi, r.Ranks, inner)
	if err != nil {
		return err
	}
	environ = append(environ, "MPITX_MPI="+r.app.mpi.Lib)
	if r.ended, err = supervise(&exec.Cmd{Path: argv[0], Args: argv, Env: environ}, false, nil); err != nil {
		return startFailed(argv[0], err)
	}
	return nil
}

func startFailed(program string, err error) error {
	return &locate.Error{What: "start " + program, Why: err.Error()}
}

// patience is how long the other ranks may take to end after ours has. A job whose rank 0 failed is not over until the
// launcher hears of it from us.
func patience(e ending, size int) time.Duration {
	switch {
	case size == 1:
		return 0
	case e.code != 0:
		return 200 * time.Millisecond
	}
	return 10 * time.Second
}

// conclude brings the run together and says what there is to say of it.
func (r *Result) conclude(size int, wait time.Duration) error {
	r.Shown, r.Named = r.job.shown(), r.job.named()
	run, err := r.gather(size, wait)
	if err != nil {
		if err = (&locate.Error{What: "read run " + r.job.dir, Why: err.Error()}); r.Workload == "" { // whose exit code is ours
			r.Say("%v", err)
			return nil
		}
		return err
	}
	found := readSeen(r.job.dir)
	if run == nil {
		r.job.discard()
		r.standIn.say(saidEmpty)
		for _, line := range r.app.unrecorded(found, r.launcher(), r.MPI != "") {
			r.Say("%s", line) // and the exit code stays the application's
		}
		return nil
	}
	r.job.dropCopy()
	os.Remove(seenPath(r.job.dir))
	for _, why := range found.why { // of programs that are recorded in part, or next to one that is
		r.Say("%s", why)
	}
	if alone(run) {
		if err := locate.Mismatch(r.launcher(), r.app.mpi, 1, true); err != nil {
			run.Close()
			r.Say("each process was recorded as rank 0 of 1, in %s", origin.Quote(r.Shown))
			return err
		}
	}
	r.Run = run
	if !r.told {
		for _, line := range r.report(size) {
			r.Say("%s", line)
		}
		r.Summarize(run)
		r.standIn.say(saidTold)
	}
	return nil
}

// first tells whether this process speaks for its job.
func (r *Result) first() bool { return r.launch.Rank <= 0 && r.Job == "" }

// launcher is what started the ranks.
func (r *Result) launcher() locate.Launch {
	m := r.app.mpi
	if r.Ranks == 0 {
		return r.launch
	}
	l := locate.Launch{Name: "slurm", Size: r.Ranks}
	if m.Launcher != "" {
		l.Name, l.Family, l.Exe = map[string]string{locate.OpenMPI: "orte", locate.MPICH: "hydra"}[m.Impl], m.Impl, m.Launcher
	}
	return l
}

// promise says what follows after the launcher has returned, and which command makes it if it does not. It can be called at any
// time, from any goroutine.
func (r *Result) promise(why string) {
	if r.promised.Swap(true) {
		return
	}
	text, _ := r.Follows(r.job.shown(), false)
	r.Alert(fmt.Sprintf("%s; %s", why, text))
	r.standIn.say(saidPromise)
}
