package recording

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/catalog"
)

// index is what Open found out, beyond what is for everybody.
type index struct {
	files   files
	data    []*dataFile
	streams map[uint64]*Rank
	damage  []error
	torn    []tornChunk
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
	headed     bool
	recovered  bool
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

// tornChunk is a chunk of which a file has only a part: its process was killed, or the disk was full. That is damage only
// where there is no whole copy of it elsewhere.
type tornChunk struct {
	damage   DamageError
	rank     *Rank
	sequence uint64
}

// tear notes a torn chunk.
func (run *Run) tear(f *dataFile, c *chunk, at, has int64) {
	d := DamageError{f.name(), at, fmt.Sprintf("a chunk is torn after %d of its %d bytes", has, c.size())}
	if r := run.streams[c.stream]; r != nil && len(run.torn) < mostDamage {
		run.torn = append(run.torn, tornChunk{d, r, c.sequence})
		return
	}
	run.damaged(&d)
}

// mend reports the torn chunks that are nowhere whole.
func (run *Run) mend() {
	for i := range run.torn {
		t := &run.torn[i]
		if t.rank.partial[t.sequence] == -1 {
			continue
		}
		if k, ok := findRef(t.rank.refs, t.sequence); ok && t.rank.rankOfCopy(t.rank.refs[k]) < tornCopy {
			continue
		}
		run.damaged(&t.damage)
	}
	run.torn = run.torn[:0]
}

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
	run.mend()
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

// scan takes in the chunks of a file that are new since the last time.
func (run *Run) scan(f *dataFile) {
	h, err := run.files.get(f.path)
	if err != nil {
		run.damaged(err)
		return
	}
	info, err := h.Stat()
	if err != nil {
		run.damaged(err)
		return
	}
	if f.ring { // its chunks may be others by now
		f.scanned = 0
		for _, r := range run.streams {
			if r.ring == f {
				r.drop(refRing)
			}
		}
	}
	var head [chunkHead]byte
	for f.scanned < info.Size() {
		n, err := readAt(h, head[:], f.scanned)
		if err != nil {
			run.damagedAt(f.name(), f.scanned, "%v", err)
			return
		}
		c, err := parseChunk(head[:n])
		switch {
		case err == nil && c.size() <= info.Size()-f.scanned:
			run.take(f, h, &c, f.scanned, c.size())
			f.before = f.scanned
			if f.scanned += c.size(); f.ring {
				f.scanned = f.before + int64(c.headBytes) + int64(c.capacity)
			}
		case err == nil || n < chunkHead && bytes.HasPrefix([]byte(chunkMagic), head[:min(n, 8)]):
			if !run.resync(f, h, info.Size(), nil) {
				return // perhaps it is being written: see scanTail
			}
		default:
			if !run.resync(f, h, info.Size(), err) {
				f.scanned = info.Size()
			}
		}
	}
}

// scanTail takes in what is left of a file's last chunk, where nobody is writing it.
func (run *Run) scanTail(f *dataFile) {
	h, err := run.files.get(f.path)
	if err != nil {
		return
	}
	info, err := h.Stat()
	if err != nil || f.scanned >= info.Size() || f.ring {
		return
	}
	for _, r := range run.streams {
		if r.State == StateRunning {
			return
		}
	}
	left := info.Size() - f.scanned
	var head [chunkHead]byte
	n, _ := readAt(h, head[:], f.scanned)
	c, err := parseChunk(head[:n])
	if err != nil {
		run.damagedAt(f.name(), f.scanned, "the file ends within a chunk's head, after %d bytes", left)
	} else {
		run.take(f, h, &c, f.scanned, left)
		run.tear(f, &c, f.scanned, left)
		if r := run.streams[c.stream]; r != nil {
			r.sort()
		}
	}
	f.scanned = info.Size()
}

// take notes a chunk of which a file has so many bytes.
func (run *Run) take(f *dataFile, h *os.File, c *chunk, at, size int64) {
	r := run.rankOf(c.stream, c.rank, c.runID)
	if r == nil {
		run.damagedAt(f.name(), at, "a chunk of another run")
		return
	}
	if f.ring {
		r.ring = f
	} else {
		r.node = f
	}
	if size < c.size() {
		if f.torn == nil {
			f.torn = map[int64]int64{}
		}
		f.torn[at] = size
	}
	switch c.kind {
	case kindMeta:
		run.takeMeta(f, h, r, c, at, size)
	case kindSamples:
		where := uint64(at)
		if f.ring {
			where |= refRing
		}
		r.refs = append(r.refs, ref{c.sequence, where})
	default: // something newer than us, or damage
		if !run.whole(h, at) {
			run.damagedAt(f.name(), at, "the checksum of a chunk of unknown kind %d is wrong", c.kind)
		}
	}
}

func (run *Run) takeMeta(f *dataFile, h *os.File, r *Rank, c *chunk, at, size int64) {
	done, wasOpen := r.partial[c.sequence]
	if done < 0 {
		return // a copy
	}
	if cap(run.buf) < int(size) {
		run.buf = make([]byte, size)
	}
	b := run.buf[:size]
	if n, err := readAt(h, b, at); err != nil || n < len(b) {
		run.damagedAt(f.name(), at, "only %d of a chunk's %d bytes could be read: %v", n, size, err)
		return
	}
	whole := size == c.size()
	if whole && crc32.Update(checksum(b[:c.headBytes]), castagnoli, b[c.headBytes:]) != c.crc {
		run.damagedAt(f.name(), at, "the checksum of a chunk with declarations is wrong")
	}
	records := b[min(c.headBytes, len(b)):]
	if wasOpen && done <= len(records) {
		records = records[done:]
	} else {
		done = 0
	}
	n, err := run.metaRecords(r, c.sequence, records)
	if err != nil && whole {
		run.damagedAt(f.name(), at+int64(c.headBytes+done+n), "%v", err)
	}
	if r.partial == nil {
		r.partial = map[uint64]int{}
	}
	if r.partial[c.sequence] = done + n; whole { // of a torn one there may be a whole copy, to go on with
		r.partial[c.sequence] = -1
	}
}

// resync goes on behind damage: at the next beginning of a chunk. That may lie within what was taken for the last chunk,
// if that was torn. Without a reason it is only done where there is one. It reports whether there is.
func (run *Run) resync(f *dataFile, h *os.File, size int64, reason error) bool {
	from := f.scanned + 1
	if f.before >= 0 && reason != nil && !run.whole(h, f.before) {
		from = f.before + 1
	}
	next := find(h, from, size)
	if next < 0 && reason == nil {
		return false
	}
	switch {
	case next >= 0 && next < f.scanned:
		if f.torn == nil {
			f.torn = map[int64]int64{}
		}
		f.torn[f.before] = next - f.before
		if c, err := headAt(h, f.before); err == nil {
			run.tear(f, &c, f.before, next-f.before)
		}
	case reason == nil:
		if c, err := headAt(h, f.scanned); err == nil {
			run.take(f, h, &c, f.scanned, next-f.scanned)
			run.tear(f, &c, f.scanned, next-f.scanned)
		} else {
			run.damagedAt(f.name(), f.scanned, "a chunk is torn after %d bytes", next-f.scanned)
		}
	default:
		run.damagedAt(f.name(), f.scanned, "%v", reason)
	}
	if next < 0 {
		return false
	}
	f.before, f.scanned = -1, next
	return true
}

func headAt(h *os.File, at int64) (chunk, error) {
	var head [chunkHead]byte
	n, err := readAt(h, head[:], at)
	if err != nil {
		return chunk{}, err
	}
	return parseChunk(head[:n])
}

// whole reports whether the chunk that begins at a place has the right checksum.
func (run *Run) whole(h *os.File, at int64) bool {
	c, err := headAt(h, at)
	if err != nil {
		return false
	}
	b := make([]byte, c.size())
	n, err := readAt(h, b, at)
	return err == nil && n == len(b) && crc32.Update(checksum(b[:c.headBytes]), castagnoli, b[c.headBytes:]) == c.crc
}

// find is where the next chunk begins, -1 for nowhere.
func find(h *os.File, from, size int64) int64 {
	b := make([]byte, 1<<16)
	for at := from; at < size; {
		n, err := readAt(h, b, at)
		if err != nil || n == 0 {
			return -1
		}
		if i := bytes.Index(b[:n], []byte(chunkMagic)); i >= 0 {
			return at + int64(i)
		}
		if n <= len(chunkMagic) {
			return -1
		}
		at += int64(n - len(chunkMagic) + 1)
	}
	return -1
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

// settle decides on a rank's state.
func (r *Rank) settle() {
	switch {
	case r.live != nil && running(r.manifest): // also where it has written its end, but not all of it to the directory
		r.State = StateRunning
	case r.End != EndNone:
		r.State = StateEnded
	case r.recovered:
		r.State = StateDied
	case r.manifest == nil:
		r.State = StateDied
	case r.live == nil:
		r.State = StateUnreachable
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
