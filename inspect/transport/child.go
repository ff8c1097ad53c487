//go:build linux

package transport

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

// Child is a back end as its front sees it. Sending never blocks.
type Child struct {
	Phase string // what it is doing
	Ended bool   // its last event has arrived
	Sender
	marker // its current access, if Marked

	pid   int
	mu    sync.Mutex
	gone  bool // its process id may be reused
	noise tail
	heard sync.WaitGroup // reads its output
}

// Event is a frame from a child, or its exit.
type Event struct {
	From   *Child
	Frame  // Kind 0: it has exited
	Status syscall.WaitStatus
}

// Note updates a child with an event.
func (e Event) Note() {
	switch e.Kind {
	case 0, FrameEnd:
		e.From.Ended = true
	case FramePhase:
		e.From.Phase = string(e.Payload)
	}
}

// tail keeps the last part of what is written to it.
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

// parent calls f in the thread whose exit would end the children; it lives as long as this process. The front's loop
// does not run there, because each event would wake a locked goroutine through another thread.
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

// Spec describes the process to start.
type Spec struct {
	Exe     string
	Environ []string
	Name    string // the back end
	Quiet   bool   // keep its output for Death; otherwise it goes to standard error, because standard output is the front's
	Marked  bool   // share memory that shows its current access
	Request []byte // the first frame
}

// Start starts a back end. Its frames arrive as events, and then its exit.
func Start(s Spec, events chan<- Event) (*Child, error) {
	c := &Child{Phase: "starting"}
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
	if s.Quiet {
		noise, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer w.Close()
		std = w
		c.heard.Go(func() { io.Copy(&c.noise, noise); noise.Close() })
	}
	// Not one of the child's first descriptors: launchers pass their own from 3 on.
	fd := int(out.Fd())
	unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 1<<20) // so that a child can send everything without blocking
	// Not os/exec, which first finds out what the kernel can: that takes longer than starting the child.
	// A back end is one thread that calls the library: with a second processor for Go it wakes threads for nothing, which
	// takes a tenth of a listing's time where processors are virtual.
	environ := append(slices.Clip(s.Environ), "GOMAXPROCS=1")
	argv := []string{s.Exe, "backend", s.Name, strconv.Itoa(fd)}
	if s.Marked {
		var shared *os.File
		if c.marker, shared, err = newMarker(); err != nil {
			toChild.Close()
			fromChild.Close()
			return nil, err
		}
		defer shared.Close()
		unix.FcntlInt(shared.Fd(), unix.F_SETFD, 0)
		argv = append(argv, strconv.Itoa(int(shared.Fd())))
	}
	parent(func() {
		c.pid, err = syscall.ForkExec(s.Exe, argv, &syscall.ProcAttr{Env: environ,
			Files: []uintptr{in.Fd(), std.Fd(), std.Fd()}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	})
	if err != nil {
		toChild.Close()
		fromChild.Close()
		return nil, fmt.Errorf("start %s: %w", s.Exe, err)
	}
	c.Sender = NewSender(toChild, 8)
	c.Send(FrameRequest, s.Request)
	go func() {
		ReadFrames(fromChild, func(f Frame) { events <- Event{From: c, Frame: f} })
		fromChild.Close()
		status := c.wait()
		c.heard.Wait()
		events <- Event{From: c, Status: status}
	}()
	return c, nil
}

// wait waits for the end of the child.
func (c *Child) wait() (status syscall.WaitStatus) {
	// Without reaping it, so that its process id is not reused and Kill cannot hit another process.
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

// Kill kills the child if it has not exited.
func (c *Child) Kill() {
	if c == nil || c.pid == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone && !c.Ended {
		syscall.Kill(c.pid, syscall.SIGKILL)
	}
}

// EndedByOthers reports whether a child was ended by a signal that launchers or users send to end a job.
func EndedByOthers(s syscall.WaitStatus) bool {
	return s.Signaled() && (s.Signal() == syscall.SIGTERM || s.Signal() == syscall.SIGHUP || s.Signal() == syscall.SIGINT)
}

// Death describes an exit without a result.
func (c *Child) Death(s syscall.WaitStatus) string {
	how := fmt.Sprintf("exited with code %d", s.ExitStatus())
	if s.Signaled() {
		how = fmt.Sprintf("was killed by %s", SignalName(s.Signal()))
	}
	text := fmt.Sprintf("the MPI process %s in: %s", how, c.Phase)
	if n := c.noise.String(); n != "" {
		text += "; it had said: " + strings.ReplaceAll(n, "\n", " | ")
	}
	return text
}

// SignalName is the usual name of a signal.
func SignalName(s os.Signal) string {
	if n, ok := s.(syscall.Signal); ok {
		return unix.SignalName(n)
	}
	return s.String()
}
