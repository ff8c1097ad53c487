// Package store keeps what a run directory and its processes' memory files hold: chunks, wherever they are, checked before
// anything in them is believed. It gives a process's declarations to a [Reader], and the records of its chains of chunks to
// [Cursor]s; what they mean is package recording's. It also moves what dead processes left in memory ([Recover]).
package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reader takes what the store finds.
type Reader interface {
	Record(*Process, *Record) error    // a record of a process's declarations; an error says that it is damaged
	Refreshed(all map[uint64]*Process) // the store is up to date, with these processes by stream
}

// Record is a record of a chunk of declarations, or of last values.
type Record struct {
	Type     uint16
	Ticks    uint64
	Sequence uint64 // the chunk's
	Body     []byte // good until Record returns
}

// Store is the chunks of a run directory.
type Store struct {
	Dir string
	ID  [16]byte

	reader    Reader
	processes map[uint64]*Process // by stream
	files     files
	data      []*dataFile
	damage    []error
	doubts    []doubt
	more      int  // damage beyond mostDamage
	known     bool // the run's identifier is
	buf       []byte
}

// Process is one process's recording.
type Process struct {
	Stream   uint64
	Rank     int
	State    State
	Host     string               // by its manifest, with the process's identifier; "" once that is gone
	PID      int                  // likewise
	Counters *[NumCounters]uint64 // as they are in its memory file; nil if there is none

	chains     map[Chain][]ref // by sequence
	node, ring *dataFile
	live       []liveFile // none: it has ended, or is elsewhere
	manifest   *manifest
	partial    map[uint64]int // sequence of chunks of declarations that were still open: bytes that were decoded
	tailAt     uint64         // sequence of the last chunk that was read of its file of last values
	ended      bool
	endInTail  bool // the end is known from there alone
}

// InMemory reports whether something of the process is in a memory file on this machine.
func (p *Process) InMemory() bool { return len(p.live) > 0 }

// State says what became of a process.
type State uint8

// The states.
const (
	StateEnded       State = iota + 1 // it ended as it should
	StateRunning                      // it runs
	StateDied                         // it was killed, or executed another program
	StateUnreachable                  // it did not end so far; what it wrote last is in the memory of another node, or gone
)

func (s State) String() string {
	if names := []string{"", "ended", "running", "died", "unreachable"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("unknown(%d)", s)
}

// Chain names chunks of one process that continue each other: its samples, its tables, or a thread's events.
type Chain struct {
	Kind   uint8
	Number uint16
}

// ref is where a chunk is.
type ref struct {
	sequence uint64
	at       uint64 // the offset, or which of the live files and its slot; the two highest bits say of which kind of file
}

const (
	refRing  = 1 << 63
	refLive  = 1 << 62
	refWhere = refRing | refLive
	refFile  = 32 // bits of a live file's slot
)

// ErrNotARun says that a directory holds no run.
var ErrNotARun = errors.New("no run of mpitx")

// Open finds what a run directory holds.
func Open(dir string, reader Reader) (*Store, error) {
	s := &Store{Dir: dir, reader: reader, processes: map[uint64]*Process{}}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w: not a directory", dir, ErrNotARun)
	}
	if err := s.Refresh(); err != nil {
		return nil, err
	}
	if len(s.data) == 0 && len(s.processes) == 0 && len(s.damage) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no .mpxr or .mpxm file", dir, ErrNotARun)
	}
	return s, nil
}

// Close closes the run's files.
func (s *Store) Close() { s.files.close() }

// Refresh takes in what is there by now. What is in memory moves to files at any time: so files first, then memory, then
// what came to the files in between.
func (s *Store) Refresh() error {
	names, err := s.list()
	if err != nil {
		return err
	}
	manifests := s.manifests(names)
	s.scanAll()
	for _, p := range s.processes {
		p.manifest, p.live, p.Counters = nil, nil, nil
		p.drop(refLive)
	}
	for _, m := range manifests {
		s.readLive(m)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".mpxt") {
			s.readTail(name)
		}
	}
	if _, err := s.list(); err != nil { // a node's file may have come into being
		return err
	}
	s.scanAll()
	for _, p := range s.processes {
		p.sort()
		p.settle()
	}
	for _, f := range s.data {
		s.scanTail(f)
	}
	s.settleDoubts()
	s.reader.Refreshed(s.processes)
	return nil
}

// list notes the files of chunks, and gives the names of all.
func (s *Store) list() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if strings.HasSuffix(e.Name(), ".mpxr") {
			s.add(e.Name())
		}
	}
	return names, err
}

func (s *Store) scanAll() {
	for _, f := range s.data {
		s.scan(f)
	}
}

func (s *Store) add(name string) {
	for _, f := range s.data {
		if f.name() == name {
			return
		}
	}
	s.data = append(s.data, &dataFile{path: filepath.Join(s.Dir, name), ring: strings.HasPrefix(name, "last-"), before: -1})
}

// process is the process of a stream; nil for a chunk of another run.
func (s *Store) process(stream uint64, rank int32, id [16]byte) *Process {
	if !s.known {
		s.ID, s.known = id, true
	}
	if id != s.ID {
		return nil
	}
	p := s.processes[stream]
	if p == nil {
		p = &Process{Stream: stream, Rank: int(rank), chains: map[Chain][]ref{}, partial: map[uint64]int{}}
		s.processes[stream] = p
	}
	return p
}

// drop forgets the chunks in one kind of file.
func (p *Process) drop(where uint64) {
	for chain, refs := range p.chains {
		p.chains[chain] = slices.DeleteFunc(refs, func(x ref) bool { return x.at&where != 0 })
	}
}

// sort puts chunks in order. Of several copies of one, that in a file is kept; of a torn and a whole one, the whole.
func (p *Process) sort() {
	byPlace := func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.sequence, b.sequence), cmp.Compare(p.rankOfCopy(a), p.rankOfCopy(b)), cmp.Compare(a.at, b.at))
	}
	for chain, refs := range p.chains {
		if !slices.IsSortedFunc(refs, byPlace) {
			slices.SortFunc(refs, byPlace)
		}
		p.chains[chain] = slices.CompactFunc(refs, func(a, b ref) bool { return a.sequence == b.sequence })
	}
}

const tornCopy = 3

// rankOfCopy orders copies of a chunk by how good they are.
func (p *Process) rankOfCopy(x ref) int {
	switch {
	case x.at&refLive != 0:
		return 1
	case x.at&refRing != 0: // perhaps half overwritten when its process was killed
		return 2
	case p.node != nil && p.node.torn[int64(x.at)] != 0:
		return tornCopy
	}
	return 0
}

// settle decides on a process's state. While its manifest is there, some of it may not be in the directory yet, even if its end is.
func (p *Process) settle() {
	switch {
	case p.manifest != nil && !p.InMemory():
		p.State = StateUnreachable
	case p.InMemory() && running(p.manifest):
		p.State = StateRunning
	case p.ended && (p.InMemory() || p.manifest == nil || !p.endInTail):
		p.State = StateEnded
	default:
		p.State = StateDied
	}
}

// Chains are the process's chains of a kind, in order.
func (p *Process) Chains(kind uint8) []Chain {
	var all []Chain
	for chain := range p.chains {
		if chain.Kind == kind {
			all = append(all, chain)
		}
	}
	slices.SortFunc(all, func(a, b Chain) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// Unfinished reports whether there may be more of a recording than can be read now.
func (p *Process) Unfinished() bool { return p.State == StateRunning || p.State == StateUnreachable }
