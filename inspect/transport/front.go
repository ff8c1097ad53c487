//go:build linux

package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Front is the front as its back end sees it.
type Front struct {
	Frames chan Frame // from the front, after the request
	marker

	out     *os.File
	mu      sync.Mutex
	leaving atomic.Bool // the front's exit no longer matters

	cancelLock sync.Mutex
	cancelled  map[uint64]bool // tasks
}

// OpenFront opens the descriptors that Start passed, and reads the request. Child processes do not inherit them. It
// fails if they are not open.
func OpenFront(args []string, request any) (*Front, error) {
	f := &Front{Frames: make(chan Frame, 256)}
	var fds []int
	for _, a := range args {
		fd, err := strconv.Atoi(a)
		if err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC)
		}
		if err != nil {
			return nil, err
		}
		fds = append(fds, fd)
	}
	if len(fds) == 0 {
		return nil, errors.New("no descriptor")
	}
	f.out = os.NewFile(uintptr(fds[0]), "front")
	if len(fds) > 1 {
		f.marker, _ = openMarker(fds[1])
		unix.Close(fds[1])
	}
	first, err := ReadFrame(os.Stdin)
	if err == nil && first.Kind != FrameRequest {
		err = errors.New("no request")
	}
	if err == nil {
		err = Unpack(first.Payload, request)
	}
	return f, err
}

// Listen receives frames from the front, and exits with the front, because nobody would read the results.
func (f *Front) Listen() {
	err := ReadFrames(os.Stdin, func(fr Frame) {
		if fr.Kind == FrameCancel {
			f.cancel(fr.Payload)
		} else {
			f.Frames <- fr
		}
	})
	if f.leaving.Load() {
		return
	}
	if err != io.EOF {
		fmt.Fprintln(os.Stderr, "mpitx: backend:", err)
	}
	os.Exit(1)
}

// Leave lets this process outlive the front.
func (f *Front) Leave() {
	f.leaving.Store(true)
	f.Send(FrameEnd, nil)
}

// Send sends a frame. If the front has exited, Listen ends this process.
func (f *Front) Send(kind byte, payload []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	WriteFrame(f.out, kind, payload)
}

// SendAppended sends a frame with a large payload without copying it.
func (f *Front) SendAppended(kind byte, appendTo func([]byte) []byte) {
	frame := appendTo(make([]byte, frameHead))
	f.mu.Lock()
	defer f.mu.Unlock()
	writeInPlace(f.out, kind, frame)
}

// Phase reports to the front what this process is doing.
func (f *Front) Phase(text string) { f.Send(FramePhase, []byte(text)) }

// Await waits for a frame of a kind, and drops other frames.
func (f *Front) Await(kind byte, limit time.Duration) ([]byte, bool) {
	late := time.After(limit)
	for {
		select {
		case fr := <-f.Frames:
			if fr.Kind == kind {
				return fr.Payload, true
			}
		case <-late:
			return nil, false
		}
	}
}

func (f *Front) cancel(number []byte) {
	if len(number) != 8 {
		return
	}
	f.cancelLock.Lock()
	defer f.cancelLock.Unlock()
	if f.cancelled == nil || len(f.cancelled) > 1000 { // answered before they were cancelled
		f.cancelled = map[uint64]bool{}
	}
	f.cancelled[binary.LittleEndian.Uint64(number)] = true
}

// Cancelled reports whether a task was cancelled.
func (f *Front) Cancelled(task uint64) bool {
	f.cancelLock.Lock()
	defer f.cancelLock.Unlock()
	return f.cancelled[task]
}

// Cancel is the payload of a FrameCancel.
func Cancel(task uint64) []byte { return binary.LittleEndian.AppendUint64(nil, task) }
