// Package job collects a catalog from a live MPI library, in one process or over all ranks of a job.
//
// The process that the user or the launcher started (the front) never loads MPI: MPI libraries crash, abort and hang.
// It starts two others of the same binary: one reads the stage before MPI_Init and never calls it, the other calls
// MPI_Init, reads the stage after it, and merges the ranks over MPI. They speak with the front in frames: over standard
// input, and over a descriptor that is named on the command line.
package job

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"slices"
	"time"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

// A frame is a kind, the length of its payload (little-endian, 4 bytes), and the payload.
const (
	// front to back end
	frameRequest = 'q' // gob of Request
	frameBefore  = 'b' // the before stage, for merging nodes: a catalog.Process; empty where it could not be read
	frameVerdict = 'v' // the exit code that all ranks agree on; where they are to serve, a gob of invitation follows
	frameTask    = 't' // gob of task; from rank 0's front to the others' as well
	frameCancel  = 'c' // the number of a task (8 bytes, little-endian) that nobody waits for any more

	// back end to front
	framePhase   = 'p' // what it does now, as text
	frameHello   = 'h' // gob of hello
	frameProcess = 'P' // what this process saw: a catalog.Process
	frameDelta   = 'd' // what another rank saw, by difference to rank 0's: a catalog.Delta
	frameNode    = 'n' // what another node saw in the before stage, by difference
	frameResult  = 'r' // gob of result: everything has been sent
	frameError   = 'e' // gob of failure: nothing more will come
	frameAgreed  = 'a' // the verdict that rank 0 sent
	frameEnd     = 'z' // of a process that is alone: it will finalize MPI and exit by itself
	frameAnswer  = 'A' // gob of answer; from other ranks' fronts to rank 0's as well

	// between fronts
	frameWhere = 'w' // to rank 0: gob of place; to the others: what are you reading?
	frameDied  = 'D' // to rank 0: gob of place: the back end is gone
)

const maxFrame = 1 << 30

// Request is what a back end is to do.
type Request struct {
	Stage    Stage
	MPI      locate.MPI
	Shim     string // "" for the demo library
	Self     bool   // bind variables of communicators to MPI_COMM_SELF, not MPI_COMM_WORLD
	Alone    bool   // no launcher waits for this process
	Launch   Launch
	Before   bool // a frameBefore will follow
	Serve    bool // the verdict is an invitation
	Writes   []catalog.WriteRequest
	Exclude  []string      // IDs of variables to leave alone
	Patience time.Duration // how long rank 0 waits for other ranks once it has finished itself
	Limit    time.Duration // after which a single call into the library counts as hanging
	Total    time.Duration // for trying all variables
}

// Launch is what the launcher's environment said.
type Launch struct {
	Rank, Size int  // -1 where unknown
	Leader     bool // the rank that reads the before stage of its node
}

// Stage is one of the two worlds.
type Stage string

// The stages.
const (
	Before Stage = "before"
	After  Stage = "after"
)

// hello is what a rank says of itself as soon as it can.
type hello struct {
	Rank, Size int
	Host       string
}

// result ends what a back end has to say.
type result struct {
	Outcomes catalog.Outcomes // of writes, of all ranks on rank 0
	Lost     map[int]string   // rank 0: ranks that did not answer, and how far they came
	Hosts    map[int]string   // rank 0: of the ranks it heard of
}

// failure is an error that crosses to the front.
type failure struct {
	Text  string
	Whole bool // the job is not what it should be: every rank says the same, and half an answer would mislead
	Ended bool // a signal ended it: whoever sent that says why
}

type frame struct {
	kind    byte
	payload []byte
}

const frameHead = 5

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	return writeInPlace(w, kind, append(make([]byte, frameHead, frameHead+len(payload)), payload...))
}

// writeInPlace writes a frame whose payload lies behind room for its head. It is one write: each one wakes the reader.
func writeInPlace(w io.Writer, kind byte, frame []byte) error {
	frame[0] = kind
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(frame)-frameHead))
	_, err := w.Write(frame)
	return err
}

func readFrame(r io.Reader) (kind byte, payload []byte, err error) { return readFrameUpTo(r, maxFrame) }

func readFrameUpTo(r io.Reader, most uint32) (kind byte, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > most {
		return 0, nil, fmt.Errorf("frame of %d bytes", n)
	}
	// A damaged length takes no more memory than twice what follows it, and a megabyte.
	for size := min(n, 1<<20); err == nil && uint32(len(payload)) < n; size = min(uint32(len(payload)), n-uint32(len(payload))) {
		from := len(payload)
		payload = slices.Grow(payload, int(size))[:from+int(size)]
		_, err = io.ReadFull(r, payload[from:])
	}
	return head[0], payload, err
}

func pack(v any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		panic(err) // only types of this package and catalog's are packed
	}
	return b.Bytes()
}

func unpack(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }
