// Package transport moves frames between the processes of a job: between a front and its back ends over pipes, between
// back ends over MPI, and between the fronts of an explorer's ranks over TCP. It knows little of their content.
package transport

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"slices"
)

// The kinds of Frame.
const (
	// front to back end
	FrameRequest = 'q' // the first frame: what to do
	FrameBefore  = 'b' // the before stage, for merging nodes: a catalog.Process; empty where it could not be read
	FrameVerdict = 'v' // the exit code that all ranks agree on; if they are to serve, an Invitation follows
	FrameTask    = 't' // from rank 0's front to the others' as well
	FrameCancel  = 'c' // the number of a task (8 bytes, little-endian) that is no longer wanted

	// back end to front
	FramePhase   = 'p' // what it is doing, as text
	FrameHello   = 'h' // who it is; from a front to rank 0's front as well
	FrameProcess = 'P' // what this process read: a catalog.Process
	FrameDelta   = 'd' // what another rank read, as a difference to rank 0's: a catalog.Delta
	FrameNode    = 'n' // what another node read in the before stage, as a difference
	FrameResult  = 'r' // everything has been sent
	FrameError   = 'e' // the last frame, after a failure
	FrameAgreed  = 'a' // the verdict that rank 0 sent
	FrameEnd     = 'z' // from a process without a launcher: it finalizes MPI and exits by itself
	FrameAnswer  = 'A' // to a task; from other ranks' fronts to rank 0's as well

	// between fronts
	FrameWhere = 'w' // to rank 0: where the back end is; to the others: what are you reading?
	FrameDied  = 'D' // to rank 0: the back end has exited
)

// Frame is a message: a kind, the length of the payload (4 bytes, little-endian), and the payload.
type Frame struct {
	Kind    byte
	Payload []byte
}

const (
	frameHead = 5
	maxFrame  = 1 << 30
)

// WriteFrame writes a frame with a single write, because each write wakes the reader.
func WriteFrame(w io.Writer, kind byte, payload []byte) error {
	return writeInPlace(w, kind, append(make([]byte, frameHead, frameHead+len(payload)), payload...))
}

// writeInPlace writes a frame into a buffer that has room for the header before the payload.
func writeInPlace(w io.Writer, kind byte, frame []byte) error {
	frame[0] = kind
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(frame)-frameHead))
	_, err := w.Write(frame)
	return err
}

// ReadFrame reads a frame; it returns io.EOF at the end between two frames. A frame that is cut off gives
// io.ErrUnexpectedEOF, and an impossible length an error of its own.
func ReadFrame(r io.Reader) (Frame, error) { return readFrameUpTo(r, maxFrame) }

func readFrameUpTo(r io.Reader, most uint32) (f Frame, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	f.Kind = head[0]
	n := binary.LittleEndian.Uint32(head[1:])
	if n > most {
		return f, fmt.Errorf("frame of %d bytes", n)
	}
	// With a damaged length, memory is limited to twice the following data plus a megabyte.
	for size := min(n, 1<<20); err == nil && uint32(len(f.Payload)) < n; size = min(uint32(len(f.Payload)), n-uint32(len(f.Payload))) {
		from := len(f.Payload)
		f.Payload = slices.Grow(f.Payload, int(size))[:from+int(size)]
		_, err = io.ReadFull(r, f.Payload[from:])
	}
	return f, err
}

// ReadFrames passes all frames to take, until the end. It returns the error of the last one, io.EOF after a whole
// frame.
func ReadFrames(r io.Reader, take func(Frame)) error {
	for {
		f, err := ReadFrame(r)
		if err != nil {
			return err
		}
		take(f)
	}
}

// Sender writes frames in order without blocking its caller. It ignores failed writes: a reader's exit is noticed
// elsewhere. There are never more frames than it has room for.
type Sender chan Frame

// NewSender makes a Sender. It does not close w, because the end of a pipe means that the sender's process has exited.
func NewSender(w io.Writer, room int) Sender {
	s := make(Sender, room)
	go func() {
		for f := range s {
			WriteFrame(w, f.Kind, f.Payload)
		}
	}()
	return s
}

// Send sends a frame.
func (s Sender) Send(kind byte, payload []byte) { s <- Frame{kind, payload} }

// Pack encodes a struct as a payload.
func Pack(v any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		panic(err) // only mpitx's own types are packed
	}
	return b.Bytes()
}

// Unpack decodes a payload of Pack. Damaged data is an error.
func Unpack(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }
