package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/origin"
)

// A launcher that ends a job kills the mpitx of rank 0, too: Hydra at MPI_Abort and when a rank dies, by SIGKILL at once; Open
// MPI's a second after SIGTERM. So that one has a stand-in: the same command again in a session of its own, which does nothing
// unless its parent dies before it said that it is done.

// standInPipe is what the parent says to its stand-in.
type standInPipe struct {
	w      *os.File
	cmd    *exec.Cmd
	sweeps bool
}

// say lets the stand-in know how far its parent came.
func (p *standInPipe) say(word byte) {
	if p != nil {
		p.w.Write([]byte{word})
		p.sweeps = p.sweeps || word == saidEmpty
	}
}

// done says that the stand-in is not needed.
func (p *standInPipe) done() {
	if p != nil {
		p.say(saidDone)
		p.w.Close()
		if !p.sweeps {
			p.cmd.Wait()
		}
	}
}

// standIn starts the stand-in.
func (o *sampleOptions) standIn() {
	if o.launch.Name != "hydra" && o.launch.Name != "orte" && o.launch.Name != "prrte" {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	cmd := exec.Command(exe, os.Args[1:]...)
	cmd.Env = append(os.Environ(), standInVariable+"="+strings.Join([]string{o.job.String(), strconv.Itoa(o.launch.PID), o.export.out}, "\n"))
	cmd.ExtraFiles = []*os.File{r}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// The descriptors that we have from the launcher may be closed by then. A pipe that is held open here keeps its reader waiting.
	if f := launcherFile(o.launch.PID, 2); f != nil {
		defer f.Close()
		cmd.Stderr = f
		if o.workload == "" {
			cmd.Stdout = f
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		w.Close()
		return
	}
	o.parent = &standInPipe{w: w, cmd: cmd}
}

// launcherFile is a descriptor of the launcher, if possible with its place in a file, which both then write on from; nil if there is none.
func launcherFile(pid, fd int) *os.File {
	if pid == 0 {
		return nil
	}
	if p, err := unix.PidfdOpen(pid, 0); err == nil {
		defer unix.Close(p)
		if n, err := unix.PidfdGetfd(p, fd, 0); err == nil {
			return os.NewFile(uintptr(n), "launcher")
		}
	}
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), os.O_WRONLY|os.O_APPEND|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	return f
}

// takeOver is the stand-in.
func (o *sampleOptions) takeOver(job string, args []string) (err error) {
	o.ended = true
	for _, name := range []string{"PMI_FD", "HYDI_CONTROL_FD"} { // Hydra takes a process as alive as long as these are open
		if fd, err := strconv.Atoi(o.a.env.Getenv(name)); err == nil && fd > 3 {
			syscall.Close(fd)
		}
	}
	o.asked, o.export.then = o.export.out, numberIt
	job, rest, _ := strings.Cut(job, "\n")
	launcher, out, _ := strings.Cut(rest, "\n")
	o.export.out = out
	o.launch.PID, _ = strconv.Atoi(launcher) // our parent may be gone already, and not be among our ancestors
	if o.job, err = parseJob(job); err != nil {
		return err
	}
	o.job.made, o.job.why = true, ""
	if o.dir == "" {
		_, _, o.job.why = jobKey(o.a.env, o.launch) // as long as the launcher is there
	}
	words, err := io.ReadAll(os.NewFile(3, "parent"))
	if slices.Contains(words, saidEmpty) {
		o.sweep()
	}
	if err != nil || slices.Contains(words, saidDone) {
		return exit(exitDone)
	}
	const killed = "the launcher killed mpitx on rank 0 with the job"
	if st, err := os.Stat(o.export.out); err == nil && !st.Mode().IsRegular() { // nobody may read it any more
		o.a.complain("%s: what was recorded is in %s: %s", killed, origin.Quote(o.shown()), o.export.command(o.shown()))
		return exit(exitFailed)
	}
	o.promised.Store(slices.Contains(words, saidPromise))
	o.promiseBecause(killed)
	o.given = job // and what was said before is not said again
	if err := o.prepare(args); err != nil {
		return err
	}
	o.told = slices.Contains(words, saidTold)
	o.conclude(max(1, o.launch.Size), 2*time.Second)
	return exit(exitFailed)
}

// sweep removes the empty run directory once the launcher has ended: a rank that starts late makes it again.
func (o *sampleOptions) sweep() {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links { // the launcher waits for those who have its pipes open, and leaves them open in the processes it starts
		fd, err := strconv.Atoi(filepath.Base(link))
		if to, _ := os.Readlink(link); err == nil && (fd < 3 || strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "socket:")) {
			syscall.Close(fd)
		}
	}
	if p, err := unix.PidfdOpen(o.launch.PID, 0); err == nil && o.launch.PID != 0 {
		unix.Poll([]unix.PollFd{{Fd: int32(p), Events: unix.POLLIN}}, 60_000)
	}
	o.discard()
}

// endJob makes Hydra end the job: it does not do so for a process that fails before MPI_Init, for which all others then wait.
// It is asked in its own language, which the MPI library of this process would speak too.
func endJob(e *locate.Env, code int) {
	fd, err := strconv.Atoi(e.Getenv("PMI_FD"))
	if err != nil {
		return
	}
	for wait := 0; wait < 100; wait++ { // what was said has to get through before
		if n, err := unix.IoctlGetInt(2, unix.TIOCINQ); err != nil || n == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	answer := make([]byte, 256)
	if _, err := syscall.Write(fd, []byte("cmd=init pmi_version=1 pmi_subversion=1\n")); err != nil {
		return
	}
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 2000); n != 1 || err != nil {
		return
	}
	if n, err := syscall.Read(fd, answer); err != nil || !strings.Contains(string(answer[:max(n, 0)]), "cmd=response_to_init") {
		return
	}
	syscall.Write(fd, []byte("cmd=abort exitcode="+strconv.Itoa(code)+"\n"))
	time.Sleep(5 * time.Second) // it kills us
}
