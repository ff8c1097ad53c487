package launch

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

	"mpitx/machine"
)

// A launcher that ends a job also kills the mpitx that finishes the run, rank 0's or the lowest one: Hydra by SIGKILL, on MPI_Abort and when a rank dies; Open MPI's
// a second after SIGTERM. So rank 0's mpitx has a stand-in: the same command in a session of its own, which acts only
// if its parent dies before it said that it is done.

// standInVariable makes a process the stand-in of its parent; its value is the launcher's process id.
const standInVariable = "MPITX_STAND_IN"

// The messages from rank 0's process to its stand-in: it announced what will be written, it printed the messages about the run,
// the run is empty, its stand-in has to go on after the launcher has exited, it is done.
const saidPromise, saidTold, saidEmpty, saidOver, saidDone = 'p', 't', 'e', 'o', 'd'

// standIn is the parent's end of the pipe to its stand-in.
type standIn struct {
	w    *os.File
	cmd  *exec.Cmd
	last byte // the last word
}

// say informs the stand-in how far its parent got.
func (p *standIn) say(word byte) {
	if p != nil {
		p.w.Write([]byte{word})
		p.last = word
	}
}

// done ends the stand-in, which is not needed.
func (p *standIn) done() {
	if p == nil {
		return
	}
	last := p.last
	if last != saidOver {
		p.say(saidDone)
	}
	p.w.Close()
	if last != saidOver && last != saidEmpty {
		p.cmd.Wait()
	}
}

// startStandIn starts the stand-in if the launcher kills mpitx.
func startStandIn(r *Job) *standIn {
	if name := r.launch.Name; name != "hydra" && name != "orte" && name != "prrte" {
		return nil
	}
	argv := r.again("--job=" + r.job.String())
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer read.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), standInVariable+"="+strconv.Itoa(r.launch.PID))
	cmd.ExtraFiles = []*os.File{read}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// The descriptors inherited from the launcher may be closed by then, and an open pipe would keep its reader
	// waiting.
	if f := launcherFile(r.launch.PID, 2); f != nil {
		defer f.Close()
		cmd.Stderr = f
		if r.Workload == "" {
			cmd.Stdout = f
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		write.Close()
		return nil
	}
	return &standIn{w: write, cmd: cmd}
}

// launcherFile is a descriptor of the launcher, if possible one that shares its file offset; nil if there is none.
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

// enterAgain enters the run directory of the parent.
func (r *Job) enterAgain() (err error) {
	for _, name := range []string{"PMI_FD", "HYDI_CONTROL_FD"} { // Hydra considers a process alive while these are open
		if fd, err := strconv.Atoi(r.Env.Getenv(name)); err == nil && fd > 3 && r.collects() == 0 {
			syscall.Close(fd)
		}
	}
	r.launch.PID, _ = strconv.Atoi(r.Env.Getenv(standInVariable)) // the parent may have exited already
	r.size = max(1, r.launch.Size)
	if r.job, err = parseJob(r.Job); err != nil {
		return err
	}
	r.job.made, r.job.nameSource = true, ""
	if r.Config.Dir == "" {
		_, _, r.job.nameSource = jobKey(r.Env, r.launch) // works only while the launcher runs
	}
	return nil
}

// collects is the process id of rank 0 that a collector waits for; 0 if this process is none.
func (r *Job) collects() int {
	pid, _ := strconv.Atoi(r.Env.Getenv(collectorVariable))
	return pid
}

// takeOver runs the stand-in, or the collector.
func (r *Job) takeOver() error {
	if pid := r.collects(); pid > 0 {
		return r.collectAfter(pid)
	}
	words, err := io.ReadAll(os.NewFile(3, "parent"))
	if !r.elected() {
		return nil
	}
	if slices.Contains(words, saidEmpty) {
		r.removeEmptyRunLater()
	}
	if err != nil || slices.Contains(words, saidDone) {
		return nil
	}
	r.Code, r.killed = 1, "was killed by the launcher"
	if slices.Contains(words, saidOver) {
		r.awaitLauncher(10 * time.Second)
	}
	killed := fmt.Sprintf("the launcher killed mpitx on rank %d with the job", r.launch.Rank)
	if r.promise.Kept != "" {
		r.Say("%s; %s", killed, r.promise.Kept)
		return nil
	}
	r.promised.Store(slices.Contains(words, saidPromise))
	r.announce(killed)
	if r.app, err = look(r.Config, r.launch, false); err != nil {
		return err
	}
	r.Told = slices.Contains(words, saidTold)
	return r.conclude(2 * time.Second)
}

// removeEmptyRunLater removes the empty run directory after the launcher has exited, because a rank that starts late creates it
// again.
func (r *Job) removeEmptyRunLater() {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links { // the launcher waits until its pipes are closed, and the processes that it starts inherit them
		fd, err := strconv.Atoi(filepath.Base(link))
		if to, _ := os.Readlink(link); err == nil && (fd < 3 || strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "socket:")) {
			syscall.Close(fd)
		}
	}
	r.awaitLauncher(time.Minute)
	r.job.discard()
}

// awaitLauncher waits, for a limited time, until the launcher has exited, and reports whether it has.
func (r *Job) awaitLauncher(most time.Duration) bool {
	if r.launch.PID == 0 {
		return false
	}
	p, err := unix.PidfdOpen(r.launch.PID, 0)
	if err != nil {
		return err == unix.ESRCH
	}
	defer unix.Close(p)
	return waitFor(p, unix.POLLIN, most)
}

// EndJob asks Hydra to end the job. Hydra does not do so when a process fails before MPI_Init, and all others would
// wait for it. It uses the protocol that the MPI library would use.
func EndJob(e *machine.Env, code int) {
	fd, err := strconv.Atoi(e.Getenv("PMI_FD"))
	if err != nil || e.Launcher().Name != "hydra" {
		return
	}
	for wait := 0; wait < 100; wait++ { // let the messages arrive first
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
