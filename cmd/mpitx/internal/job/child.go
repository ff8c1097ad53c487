//go:build linux

package job

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is a back end as its front sees it.
type child struct {
	stage Stage
	pid   int
	mu    sync.Mutex
	gone  bool // its number may be another's
	in    io.ReadCloser
	out   io.Writer
	say   chan frame // drained in order, so that a child that is slow to read holds nobody up
	phase string

	noise *tail
	mark  marker         // where it is; zero unless it serves
	heard sync.WaitGroup // of the noise
	ended bool           // its last event has come
}

// event is what a child sent, or its end.
type event struct {
	from    *child
	kind    byte // 0: it has ended
	payload []byte
	status  syscall.WaitStatus
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

func newChild(stage Stage) *child {
	return &child{stage: stage, phase: "starting", noise: &tail{}, say: make(chan frame, 8)}
}

// parent calls f in the thread whose children die with it, which lives as long as this process. The front's loop is not in
// that thread: a goroutine that is locked to one is woken by way of another, at each of its events.
func parent(f func()) {
	parentOnce.Do(func() {
		go func() {
			runtime.LockOSThread()
			for f := range parentCalls {
				f()
			}
		}()
	})
	done := make(chan struct{})
	parentCalls <- func() { f(); close(done) }
	<-done
}

var (
	parentOnce  sync.Once
	parentCalls = make(chan func())
)

// start starts a back end and tells it what to do.
func start(exe string, environ []string, r Request, events chan<- event) (*child, error) {
	c, err := spawn(exe, environ, r.Stage, r.Serve && r.Stage == After)
	if err == nil {
		c.begin(r, events)
	}
	return c, err
}

// spawn starts a back end, which waits for its request. What the library prints goes to standard error: standard output is
// ours. One that is marked shares memory with us that tells where it is.
func spawn(exe string, environ []string, stage Stage, marked bool) (*child, error) {
	c := newChild(stage)
	in, toChild, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	fromChild, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	std := os.Stderr
	if stage == Before { // the other stage says the same
		noise, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer w.Close()
		std = w
		c.heard.Go(func() { io.Copy(c.noise, noise); noise.Close() })
	}
	// Not one of the child's first descriptors: those from 3 on are the launchers', who leave their own there.
	fd := int(out.Fd())
	unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 1<<20) // a child that can say all at once goes on at once
	// Not os/exec, which first finds out what the kernel can: that takes longer than starting the child.
	// A back end is one thread that calls the library: with a second processor for Go it wakes threads for nothing, which
	// takes a tenth of a listing's time where processors are virtual.
	environ = append(slices.Clip(environ), "GOMAXPROCS=1")
	argv := []string{exe, "backend", string(stage), strconv.Itoa(fd)}
	if marked {
		var shared *os.File
		if c.mark, shared, err = newMarker(); err != nil {
			toChild.Close()
			fromChild.Close()
			return nil, err
		}
		defer shared.Close()
		unix.FcntlInt(shared.Fd(), unix.F_SETFD, 0)
		argv = append(argv, strconv.Itoa(int(shared.Fd())))
	}
	parent(func() {
		c.pid, err = syscall.ForkExec(exe, argv, &syscall.ProcAttr{Env: environ,
			Files: []uintptr{in.Fd(), std.Fd(), std.Fd()}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	})
	if err != nil {
		toChild.Close()
		fromChild.Close()
		return nil, fmt.Errorf("start %s: %w", exe, err)
	}
	c.in, c.out = fromChild, toChild
	return c, nil
}

// begin tells a back end what to do, and hears it from then on.
func (c *child) begin(r Request, events chan<- event) {
	c.tell(frameRequest, pack(r))
	go c.write(c.out)
	go func() {
		for {
			kind, payload, err := readFrame(c.in)
			if err != nil {
				break
			}
			events <- event{from: c, kind: kind, payload: payload}
		}
		c.in.Close()
		status := c.wait()
		c.heard.Wait()
		events <- event{from: c, status: status}
	}()
}

// wait waits for the end of the child.
func (c *child) wait() (status syscall.WaitStatus) {
	// Without taking its status: until that is done, its number is not another's, and kill hits no stranger.
	for unix.Waitid(unix.P_PID, c.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	for {
		if _, err := syscall.Wait4(c.pid, &status, 0, nil); err != syscall.EINTR {
			return status
		}
	}
}

func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		syscall.Kill(c.pid, syscall.SIGKILL)
	}
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

// endedByOthers tells whether a child got a signal that a launcher or a user sends to end a job.
func endedByOthers(s syscall.WaitStatus) bool {
	return s.Signaled() && (s.Signal() == syscall.SIGTERM || s.Signal() == syscall.SIGHUP || s.Signal() == syscall.SIGINT)
}

// death describes an end that came without a result.
func (c *child) death(s syscall.WaitStatus) string {
	how := fmt.Sprintf("exited with code %d", s.ExitStatus())
	if s.Signaled() {
		how = fmt.Sprintf("was killed by %s", unix.SignalName(s.Signal()))
	}
	text := fmt.Sprintf("the MPI process %s in: %s", how, c.phase)
	if n := c.noise.String(); n != "" {
		text += "; it had said: " + strings.ReplaceAll(n, "\n", " | ")
	}
	return text
}
