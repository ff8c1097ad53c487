package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/cmd/mpitx/internal/locate"
)

// At MPI_Abort, and when a rank dies, Hydra kills every process that it has started, the mpitx of rank 0 too, by SIGKILL. So
// under Hydra that one has a stand-in: the same command again in a session of its own, which does nothing unless its
// parent dies before it said that it is done.

// standIn starts the stand-in; the answer tells it that it is not needed.
func (o *sampleOptions) standIn() (release func()) {
	none := func() {}
	if o.launch.Name != "hydra" {
		return none
	}
	exe, err := os.Executable()
	if err != nil {
		return none
	}
	r, w, err := os.Pipe()
	if err != nil {
		return none
	}
	defer r.Close()
	cmd := exec.Command(exe, os.Args[1:]...)
	cmd.Env = append(os.Environ(), standInVariable+"="+o.job.String())
	cmd.ExtraFiles = []*os.File{r}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// The descriptors that we have from Hydra may be closed by then. A pipe that is held open here keeps its reader waiting.
	if f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", o.launch.PID), os.O_WRONLY|os.O_APPEND|syscall.O_NOCTTY, 0); err == nil && o.launch.PID != 0 {
		defer f.Close()
		cmd.Stderr = f
		if o.workload == "" {
			cmd.Stdout = f
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		w.Close()
		return none
	}
	return func() {
		w.Write([]byte{1})
		w.Close()
		cmd.Wait()
	}
}

// takeOver is the stand-in.
func (o *sampleOptions) takeOver(job string, args []string) (err error) {
	for _, name := range []string{"PMI_FD", "HYDI_CONTROL_FD"} { // Hydra takes a process as alive as long as these are open
		if fd, err := strconv.Atoi(o.a.env.Getenv(name)); err == nil && fd > 3 {
			syscall.Close(fd)
		}
	}
	if o.job, err = parseJob(job); err != nil {
		return err
	}
	o.job.made, o.job.why = true, ""
	if o.dir == "" {
		_, _, o.job.why = jobKey(o.a.env, o.launch) // as long as the launcher is there
	}
	if n, err := os.NewFile(3, "parent").Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return answered{exitDone}
	}
	o.given = job // and what was said before is not said again
	if err := o.prepare(args); err != nil {
		return err
	}
	o.a.complain("the launcher killed mpitx on rank 0 with the job: what was recorded is collected now")
	o.conclude(max(1, o.launch.Size), 2*time.Second)
	return answered{exitFailed}
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
