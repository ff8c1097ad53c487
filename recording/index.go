package recording

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mpitx/catalog"
)

// index is what Open found out, beyond what is for everybody.
type index struct {
	files   files
	data    []*dataFile
	inTail  bool // what is decoded comes from a file of last values
	streams map[uint64]*Rank
	damage  []error
	doubts  []doubt
	more    int // damage beyond mostDamage
	strings map[string]string
	enums   map[string]*catalog.Enum
	start   int64 // CLOCK_REALTIME of time 0
	known   bool  // the run's identifier is
	buf     []byte
}

// source is where a rank's records are.
type source struct {
	id         uint64
	refs       []ref // of chunks with samples, by sequence
	node, ring *dataFile
	live       *liveFile
	manifest   *manifest
	partial    map[uint64]int // sequence of meta chunks that were still open: bytes that were decoded
	pairs      []clockPair
	segment    int
	bootID     string
	jobStart   int64
	names      map[uint64]string
	countersAt uint64
	lasts      []lastValue   // by set
	tailAt     uint64        // sequence of the last chunk that was read of its file of last values
	failed     time.Duration // since the job's start, when writing to the directory failed; 0: it did not
	endInTail  bool          // the end is known from there alone
	headed     bool
	recovered  bool
	undeclared map[uint16]bool // tags of samples whose declarations were missing
}

// ref is where a chunk is.
type ref struct {
	sequence uint64
	at       uint64 // the offset, or a live file's slot; the two highest bits say of which file
}

const (
	refRing  = 1 << 63
	refLive  = 1 << 62
	refWhere = refRing | refLive
)

// liveFile is a process's memory file.
type liveFile struct {
	path string
	head live
}

const mostDamage = 1000

// Damage is what could not be read, each a *[DamageError] or an error of the file system. Reading samples can add to it.
func (run *Run) Damage() []error {
	if run.more > 0 {
		return append(slices.Clip(run.damage), fmt.Errorf("and %d more damaged places", run.more))
	}
	return run.damage
}

func (x *index) damaged(err error) {
	if len(x.damage) >= mostDamage {
		x.more++
		return
	}
	for _, e := range x.damage {
		if e.Error() == err.Error() {
			return
		}
	}
	x.damage = append(x.damage, err)
}

func (x *index) damagedAt(f string, at int64, format string, args ...any) {
	x.damaged(&DamageError{f, at, fmt.Sprintf(format, args...)})
}

func (x *index) intern(b []byte) string {
	if s, ok := x.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	x.strings[s] = s
	return s
}

// ErrNotARun says that a directory holds no run.
var ErrNotARun = errors.New("no run of mpitx")

// Open reads what a run directory says about its ranks and variables; samples are read later. Damage is no error: see
// [Run.Damage]. Close the run when it is not needed any more.
func Open(dir string) (*Run, error) {
	run := &Run{Dir: dir, index: index{streams: map[uint64]*Rank{}, strings: map[string]string{}, enums: map[string]*catalog.Enum{}}}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w: not a directory", dir, ErrNotARun)
	}
	if err := run.refresh(); err != nil {
		return nil, err
	}
	if len(run.data) == 0 && len(run.streams) == 0 && len(run.damage) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no .mpxr or .mpxm file", dir, ErrNotARun)
	}
	run.arrange()
	return run, nil
}

// Close closes the run's files.
func (run *Run) Close() { run.files.close() }

// refresh takes in what is there by now. What is in memory moves to files at any time: so files first, then memory, then
// what came to the files in between.
func (run *Run) refresh() error {
	names, err := run.list()
	if err != nil {
		return err
	}
	manifests := run.manifests(names)
	run.scanAll()
	for _, r := range run.streams {
		r.manifest, r.live = nil, nil
		r.drop(refLive)
	}
	for _, m := range manifests {
		run.readLive(m)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".mpxt") {
			run.readTail(name)
		}
	}
	if _, err := run.list(); err != nil { // a node's file may have come into being
		return err
	}
	run.scanAll()
	for _, r := range run.streams {
		r.sort()
		r.settle()
	}
	for _, f := range run.data {
		run.scanTail(f)
	}
	run.settleDoubts()
	return nil
}

// list notes the files of chunks, and gives the names of all.
func (run *Run) list() ([]string, error) {
	entries, err := os.ReadDir(run.Dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if strings.HasSuffix(e.Name(), ".mpxr") {
			run.add(run.Dir, e.Name())
		}
	}
	return names, err
}

func (run *Run) scanAll() {
	for _, f := range run.data {
		run.scan(f)
	}
}

func (x *index) add(dir, name string) {
	for _, f := range x.data {
		if f.name() == name {
			return
		}
	}
	x.data = append(x.data, &dataFile{path: filepath.Join(dir, name), ring: strings.HasPrefix(name, "last-"), before: -1})
}

// rankOf is the rank of a stream; nil for a chunk of another run.
func (run *Run) rankOf(stream uint64, rank int32, id [16]byte) *Rank {
	if !run.known {
		run.ID, run.known = id, true
	}
	if id != run.ID {
		return nil
	}
	r := run.streams[stream]
	if r == nil {
		r = &Rank{Rank: int(rank), NsPerTick: 1}
		r.id = stream
		run.streams[stream] = r
	}
	return r
}

// sort puts chunks in order. Of several copies of one, that in a file is kept; of a torn and a whole one, the whole.
func (r *Rank) sort() {
	byPlace := func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.sequence, b.sequence), cmp.Compare(r.rankOfCopy(a), r.rankOfCopy(b)), cmp.Compare(a.at, b.at))
	}
	if !slices.IsSortedFunc(r.refs, byPlace) {
		slices.SortFunc(r.refs, byPlace)
	}
	r.refs = slices.CompactFunc(r.refs, func(a, b ref) bool { return a.sequence == b.sequence })
}

const tornCopy = 3

// rankOfCopy orders copies of a chunk by how good they are.
func (r *Rank) rankOfCopy(x ref) int {
	switch {
	case x.at&refLive != 0:
		return 1
	case x.at&refRing != 0: // perhaps half overwritten when its process was killed
		return 2
	case r.node != nil && r.node.torn[int64(x.at)] != 0:
		return tornCopy
	}
	return 0
}

// settle decides on a rank's state. While its manifest is there, some of it may not be in the directory yet, even if its end is.
func (r *Rank) settle() {
	switch {
	case r.manifest != nil && r.live == nil:
		r.State = StateUnreachable
	case r.live != nil && running(r.manifest):
		r.State = StateRunning
	case r.End != EndNone && (r.live != nil || r.manifest == nil || !r.endInTail):
		r.State = StateEnded
	default:
		r.State = StateDied
	}
}

// arrange lists ranks and nodes in order.
func (run *Run) arrange() {
	known := map[uint64]bool{}
	for _, r := range run.Ranks {
		known[r.id] = true
	}
	for id, r := range run.streams {
		if !known[id] {
			run.Ranks = append(run.Ranks, r)
		}
	}
	slices.SortFunc(run.Ranks, func(a, b *Rank) int {
		var ta, tb int64
		if len(a.pairs) > 0 && len(b.pairs) > 0 {
			ta, tb = a.pairs[0].real, b.pairs[0].real
		}
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(ta, tb), cmp.Compare(a.id, b.id))
	})
	run.Nodes = nil
	nodes := map[[2]string]*Node{}
	for _, r := range run.Ranks {
		key := [2]string{r.Host, r.bootID}
		n := nodes[key]
		if n == nil {
			n = &Node{Host: r.Host, bootID: r.bootID}
			nodes[key] = n
			run.Nodes = append(run.Nodes, n)
		}
		r.Node = n
		n.Ranks = append(n.Ranks, r)
	}
	slices.SortStableFunc(run.Nodes, func(a, b *Node) int { return cmp.Compare(a.Host, b.Host) })
	run.alignAll(run)
}
