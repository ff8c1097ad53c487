//go:build linux

package job

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is a back end as its front sees it.
type child struct {
	stage Stage
	cmd   *exec.Cmd
	say   chan frame // drained in order, so that a child that is slow to read holds nobody up
	phase string

	noise *tail
	ended bool // its last event has come
}

// event is what a child sent, or its end.
type event struct {
	from    *child
	kind    byte // 0: it has ended
	payload []byte
	state   *os.ProcessState
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - 4096; n > 0 {
		t.buf = t.buf[n:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}

// start starts a back end. What the library prints goes to standard error: standard output is ours. It must be called
// from a thread that lives as long as the child, which dies with it.
func start(exe string, environ []string, r Request, events chan<- event) (*child, error) {
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &child{stage: r.Stage, phase: "starting", noise: &tail{}}
	// Not ExtraFiles: those take the descriptors from 3 on, and launchers leave their own there.
	fd := int(pw.Fd())
	c.cmd = exec.Command(exe, "backend", string(r.Stage), strconv.Itoa(fd))
	c.cmd.Env = environ
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if r.Stage == Before {
		c.cmd.Stdout, c.cmd.Stderr = c.noise, c.noise // the other stage says the same
	} else {
		c.cmd.Stdout, c.cmd.Stderr = os.Stderr, os.Stderr
	}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	err = c.cmd.Start()
	pw.Close()
	if err != nil {
		pr.Close()
		return nil, fmt.Errorf("start %s: %w", exe, err)
	}
	c.say = make(chan frame, 8)
	c.tell(frameRequest, pack(r))
	go c.write(in)
	go func() {
		for {
			kind, payload, err := readFrame(pr)
			if err != nil {
				break
			}
			events <- event{from: c, kind: kind, payload: payload}
		}
		pr.Close()
		c.cmd.Wait()
		events <- event{from: c, state: c.cmd.ProcessState}
	}()
	return c, nil
}

// tell sends a frame. Whether it arrives does not matter: a child that is gone has its end as an event. There are never
// more frames than the channel holds.
func (c *child) tell(kind byte, payload []byte) { c.say <- frame{kind, payload} }

// write does not close the pipe: its end means that the front is gone.
func (c *child) write(in io.Writer) {
	for f := range c.say {
		writeFrame(in, f.kind, f.payload)
	}
}

func (c *child) kill() { c.cmd.Process.Kill() }

// endedByOthers tells whether a child got a signal that a launcher or a user sends to end a job.
func endedByOthers(s *os.ProcessState) bool {
	ws, ok := s.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && (ws.Signal() == syscall.SIGTERM || ws.Signal() == syscall.SIGHUP || ws.Signal() == syscall.SIGINT)
}

// death describes an end that came without a result.
func (c *child) death(s *os.ProcessState) string {
	how := fmt.Sprintf("exited with code %d", s.ExitCode())
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		how = fmt.Sprintf("was killed by %s", unix.SignalName(ws.Signal()))
	}
	text := fmt.Sprintf("the MPI process %s in: %s", how, c.phase)
	if n := c.noise.String(); n != "" {
		text += "; it had said: " + n
	}
	return text
}
