package launch

import (
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/machine"
	"mpitx/recording"
)

// Hydra kills a job in which a process ends without MPI_Finalize, and computes the exit code from the processes that it
// started. So that the code is the one without mpitx, rank 0's process becomes the application like the other ranks.
// Before that, it starts two processes, which are not its children, because the application may wait for all of those:
//
//   - the collector, the same command in a session of its own, collects the run after the application has exited
//   - the holder, cat, copies the collector's messages to the application's standard error, which it keeps open, so
//     that the launcher waits for the collector. It is in the group of processes that Hydra kills with the application:
//     then Hydra must not wait, because it would count the ranks that it has killed.

// collectorVariable makes a process the collector of a job; its value is the process id of rank 0.
const collectorVariable = "MPITX_COLLECTOR"

// The descriptors of the collector and the holder: the end of rank 0's process, whether it has become the application,
// the launcher's output, and both ends of the pipe for messages.
const (
	fdEnd = iota + 3
	fdBecame
	fdStdout
	fdStderr
	fdMessages
	fdHolder
	fdsUsed
)

const collectorScript = `"$@" >&5 2>&8 7<&- 8>&- &
trap "" HUP INT QUIT TERM USR1 USR2 ALRM
exec 3<&- 4<&- 5>&- 6>&- 8>&-
cat <&7 7<&- 3>&1 >&2 &`

// becomesApplication reports whether rank 0's process can become the application. A workload's exit code is mpitx's own,
// and so is that of a job that mpitx kills.
func (r *Job) becomesApplication() bool {
	return r.launch.Name == "hydra" && r.Workload == "" && !r.Kills && machine.WrongLauncher(r.launch, r.app.mpi) == ""
}

// startCollector starts the collector and the holder. cancel ends them if this process could not become the application;
// nil: they could not be started.
func startCollector(r *Job) (cancel func()) {
	argv := r.again("--job=" + r.job.String())
	end, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return nil
	}
	ended := os.NewFile(uintptr(end), "rank 0")
	defer ended.Close()
	became, becomes, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer became.Close()
	messages, holder, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer messages.Close()
	defer holder.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", collectorScript, "mpitx"}, argv...)...)
	cmd.Env = append(os.Environ(), standInVariable+"="+strconv.Itoa(r.launch.PID), collectorVariable+"="+strconv.Itoa(os.Getpid()), "MPITX_MPI="+r.app.mpi.Lib)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{ended, became, os.Stdout, os.Stderr, messages, holder}
	for k, fd := range []int{1, 2} {
		if f := launcherFile(r.launch.PID, fd); f != nil {
			defer f.Close()
			cmd.ExtraFiles[fdStdout-3+k] = f
		}
	}
	defer keepDescriptors()()
	if cmd.Run() != nil {
		becomes.Close()
		return nil
	}
	return func() { becomes.Write([]byte{'x'}) } // becoming the application closes it
}

// keepDescriptors keeps the descriptors that the launcher has passed on from other processes until the result is called:
// Hydra considers a process alive while its socket is open.
func keepDescriptors() (pass func()) {
	var passed []int
	links, _ := os.ReadDir("/proc/self/fd")
	for _, link := range links {
		fd, err := strconv.Atoi(link.Name())
		if flags, flagsErr := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && fd > 2 && flagsErr == nil && flags&unix.FD_CLOEXEC == 0 {
			passed = append(passed, fd)
			unix.CloseOnExec(fd)
		}
	}
	return func() {
		for _, fd := range passed {
			unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
		}
	}
}

// collectAfter runs the collector.
func (r *Job) collectAfter(pid int) error {
	syscall.Setsid()
	signal.Ignore(syscall.SIGPIPE)
	if n, _ := syscall.Read(fdBecame, make([]byte, 1)); n > 0 {
		return nil
	}
	over := r.watch(func() {})
	for wait := 100 * time.Millisecond; r.elected() && !waitFor(fdEnd, unix.POLLIN, wait); wait = min(2*wait, 10*time.Second) {
	}
	over()
	if !r.elected() {
		return nil
	}
	released, release := whenReleased()
	ended, known := endingOfPID(r.Env, pid)
	if !known && endedWell(r.job.dir, max(1, r.size-len(r.absent()))) { // on a busy machine, Hydra has waited for it already
		ended, known = ending{}, true
	}
	if r.Code, r.killed = ended.code, ended.how(); !known {
		r.killed = endedSomehow
	}
	wait := 10 * time.Second
	switch {
	case r.size == 1:
		wait = 0
	case r.Code != 0:
		wait = 2 * time.Second // the launcher kills the other ranks
	}
	waits := true // the launcher
	if r.Code != 0 {
		select {
		case <-released:
			waits = false
		case <-time.After(100 * time.Millisecond):
		}
	}
	if waits {
		r.announceIfSlow()
	} else {
		text := "the job failed"
		if !known {
			text = "the launcher has ended"
		}
		if r.promise.Kept != "" {
			r.Say("%s; %s", text, r.promise.Kept)
			return nil
		}
		r.announce(text)
	}
	var err error
	if r.app, err = look(r.Config, r.launch, false); err == nil {
		err = r.conclude(wait)
	}
	if !known && err == nil && r.Run != nil && len(r.Run.Ranks) >= r.size-len(r.absent()) && finalized(r.Run) {
		r.Code = 0
	}
	if err == nil && r.Run == nil {
		release()
		r.removeEmptyRunLater()
	}
	return err
}

// whenReleased closes a channel when the holder was killed, after which messages go to the launcher's standard error.
// stop ends that.
func whenReleased() (released <-chan struct{}, stop func()) {
	done, over, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for !waitFor(2, 0, 50*time.Millisecond) { // a longer wait would keep the pipe open when it is closed
			select {
			case <-over:
				return
			default:
			}
		}
		syscall.Dup3(fdStderr, 2, 0)
		close(done)
	}()
	return done, func() {
		close(over)
		<-ended
	}
}

// waitFor waits until a descriptor has one of these events, or an error. A process's can be read after its end. most < 0:
// without limit.
func waitFor(fd int, events int16, most time.Duration) bool {
	for start := time.Now(); ; {
		left := -1
		if most >= 0 {
			left = int(max(most-time.Since(start), 0).Milliseconds())
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, left)
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// finalized reports whether all ranks of a run have ended in MPI_Finalize.
func finalized(run *recording.Run) bool {
	return !slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool {
		return r.State != recording.StateEnded || r.End != recording.EndFinalize
	})
}

// endedWell reports whether all ranks of the run in a directory have ended in MPI_Finalize.
func endedWell(dir string, size int) bool {
	run, err := recording.Open(dir)
	if err != nil {
		return false
	}
	defer run.Close()
	return len(run.Ranks) >= size && finalized(run)
}

// endingOfPID is how a process has ended; exit code 1 if that is unknown because its parent has waited for it already, as Hydra sometimes
// has.
func endingOfPID(e *machine.Env, pid int) (end ending, known bool) {
	const state, status = 0, 49 // after the name
	fields := e.Stat(pid)
	if len(fields) <= status || !strings.ContainsAny(fields[state], "ZX") {
		return ending{code: 1}, false
	}
	n, err := strconv.Atoi(fields[status])
	if ws := syscall.WaitStatus(n); err == nil && ws.Exited() {
		return ending{code: ws.ExitStatus()}, true
	} else if err == nil && ws.Signaled() {
		return ending{128 + int(ws.Signal()), ws.Signal()}, true
	}
	return ending{code: 1}, false
}
