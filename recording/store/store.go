// Package store reads the chunks of a run directory and of its processes' memory files, and verifies them before use. It
// passes a process's declarations to a [Reader] and the records of its chains of chunks to [Cursor]s. Package recording
// interprets them. [Recover] moves the memory files of dead processes into the directory.
package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Reader receives declarations from the store.
type Reader interface {
	Record(*Process, *Record) error    // a declaration; an error means that it is damaged
	Refreshed(all map[uint64]*Process) // the store is up to date, with these processes by stream
}

// Record is a record of declarations or last values.
type Record struct {
	Type     uint16
	Ticks    uint64
	Sequence uint64 // the chunk's
	Body     []byte // valid until Record returns
}

// Store is the chunks of a run directory.
type Store struct {
	Dir string
	ID  [16]byte

	reader    Reader
	processes map[uint64]*Process // by stream
	files     files
	data      []*dataFile
	named     map[string]bool // the names of data
	damage    []error
	met       []error    // likewise, by cursors
	reading   sync.Mutex // of met and more
	suspects  []suspect
	more      int  // damage beyond maxDamage
	known     bool // ID is set
	buf       []byte
}

// Process is one process's recording.
type Process struct {
	Stream   uint64
	Rank     int
	State    State
	Host     string               // from its manifest; "" without one
	PID      int                  // likewise
	Counters *[NumCounters]uint64 // from its memory file; nil without one

	chains     map[Chain][]ref // by sequence
	node, ring *dataFile
	live       []liveFile // empty: it has ended, or is elsewhere
	manifest   *manifest
	partial    map[uint64]int // open chunks of declarations, by sequence: bytes decoded so far; -1: all
	tailAt     uint64         // sequence of the last chunk read from its file of last values
	ended      bool
	endInTail  bool // only that file says that it ended
	recovered  bool // it was killed, and what it left in memory was collected
}

// InMemory reports whether a part of the recording is in a memory file on this machine.
func (p *Process) InMemory() bool { return len(p.live) > 0 }

// State is the state of a process.
type State uint8

// The states.
const (
	StateEnded       State = iota + 1 // it ended normally
	StateRunning                      // it runs
	StateDied                         // it was killed, or executed another program
	StateUnreachable                  // it has not ended so far, and its newest chunks are in another node's memory, or gone
	StateDamaged                      // its file is damaged, and the end is not among what can be read: how it ended is not known
)

func (s State) String() string {
	if names := []string{"", "ended", "running", "died", "unreachable", "damaged"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("unknown(%d)", s)
}

// Chain identifies a sequence of chunks of one process: its samples, its tables, or one thread's events.
type Chain struct {
	Kind   uint8
	Number uint16
}

// ref is the place of a chunk.
type ref struct {
	sequence uint64
	at       uint64 // an offset, or a live file and a slot; the two highest bits are the kind of file
	first    uint64 // time base, in ticks
}

const (
	refRing  = 1 << 63
	refLive  = 1 << 62
	refWhere = refRing | refLive
	refFile  = 32 // shift of a live file's number
)

// ErrNotARun means that a directory is not a run.
var ErrNotARun = errors.New("not a run of mpitx")

// Open indexes a run directory. It returns [ErrNotARun] if it has no file of a run. Damage inside the files is not an
// error: the store lists it.
func Open(dir string, reader Reader) (*Store, error) {
	s := &Store{Dir: dir, reader: reader, processes: map[uint64]*Process{}}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w: it is not a directory", dir, ErrNotARun)
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

// Refresh indexes new chunks. Chunks move from memory to files at any time, so it reads files, then memory, and then
// files again. An error means that the directory cannot be read.
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
	if _, err := s.list(); err != nil { // a node's file may be new
		return err
	}
	s.scanAll()
	for _, p := range s.processes {
		p.order()
		s.tearCopies(p)
	}
	for _, p := range s.processes {
		p.sort()
		p.settle()
	}
	for _, f := range s.data {
		s.scanTail(f)
	}
	s.settleSuspects()
	for _, p := range s.processes {
		if p.State == StateDied && p.manifest == nil && !p.recovered && p.node != nil && s.isDamaged(p.node) { // a killed one leaves its manifest
			p.State = StateDamaged
		}
	}
	s.reader.Refreshed(s.processes)
	return nil
}

// list adds the directory's data files and returns the names of all files.
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
	if s.named[name] {
		return
	}
	if s.named == nil {
		s.named = map[string]bool{}
	}
	s.named[name] = true
	s.data = append(s.data, &dataFile{path: filepath.Join(s.Dir, name), ring: strings.HasPrefix(name, "last-"), before: -1})
}

// process returns the process of a stream, new if necessary; nil if it belongs to another run.
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

// Still reports whether all chunks are in files to which nothing is added, so that several goroutines may read chains, each its own.
func (s *Store) Still() bool {
	for _, p := range s.processes {
		if p.Unfinished() || p.InMemory() || p.ring != nil {
			return false
		}
	}
	return true
}

// sort orders the chunks and keeps the best copy of each.
func (p *Process) sort() {
	p.order()
	for chain, refs := range p.chains {
		p.chains[chain] = slices.CompactFunc(refs, func(a, b ref) bool { return a.sequence == b.sequence })
	}
}

// order orders the chunks, the best copy of each first.
func (p *Process) order() {
	byPlace := func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.sequence, b.sequence), cmp.Compare(p.rankOfCopy(a), p.rankOfCopy(b)), cmp.Compare(a.at, b.at))
	}
	for _, refs := range p.chains {
		if !slices.IsSortedFunc(refs, byPlace) {
			slices.SortFunc(refs, byPlace)
		}
	}
}

const (
	wholeCopy = 0
	tornCopy  = 3
)

// rankOfCopy orders copies of a chunk: the lowest is best.
func (p *Process) rankOfCopy(x ref) int {
	switch {
	case x.at&refLive != 0:
		return 1
	case x.at&refRing != 0: // a killed process may have left it half overwritten
		return 2
	case p.node != nil && p.node.torn[int64(x.at)] != 0:
		return tornCopy
	}
	return wholeCopy
}

// settle sets a process's state. While its manifest exists, a part of the recording may be missing from the directory, even if the
// end is there.
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

// Chains returns the process's chains of a kind, sorted.
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
