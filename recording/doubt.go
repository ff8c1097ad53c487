package recording

import (
	"fmt"
	"os"
	"slices"
)

// doubt is a place in a file where a whole chunk should be and is not, yet. It is damage only if nobody may still write that file,
// and there is no whole copy of the chunk elsewhere: of a process that was killed while it appended, or that had no room on the disk.
type doubt struct {
	file     *dataFile
	rank     *Rank // whose chunk it is; nil: unknown
	sequence uint64
	damage   DamageError
}

// doubt notes a place. rank is nil where nothing is known of the chunk.
func (run *Run) doubt(f *dataFile, r *Rank, sequence uint64, at int64, format string, args ...any) {
	d := DamageError{f.name(), at, fmt.Sprintf(format, args...)}
	if len(run.doubts) >= mostDamage {
		run.damaged(&d)
		return
	}
	run.doubts = append(run.doubts, doubt{f, r, sequence, d})
}

// tear notes a chunk of which a file has only a part.
func (run *Run) tear(f *dataFile, c *chunk, at, has int64) {
	run.doubt(f, run.streams[c.stream], c.sequence, at, "a chunk is torn after %d of its %d bytes", has, c.size())
}

// forget drops the doubts about a file that is read again from its beginning.
func (run *Run) forget(f *dataFile) {
	run.doubts = slices.DeleteFunc(run.doubts, func(d doubt) bool { return d.file == f })
}

// growing reports whether a process may still write a file.
func (run *Run) growing(f *dataFile) bool {
	for _, r := range run.streams {
		if r.unfinished() && (r.node == f || r.ring == f || nodeFile(r.Host) == f.name()) {
			return true
		}
	}
	return false
}

// unfinished reports whether there may be more of a rank's recording than can be read now.
func (r *Rank) unfinished() bool { return r.State == StateRunning || r.State == StateUnreachable }

// settleDoubts looks again at all doubts, and reports those that nothing can resolve any more.
func (run *Run) settleDoubts() {
	kept := run.doubts[:0]
	for _, d := range run.doubts {
		switch {
		case run.mended(&d):
		case run.growing(d.file):
			kept = append(kept, d)
		default:
			run.salvage(&d)
			run.damaged(&d.damage)
		}
	}
	run.doubts = kept
}

// mended reports whether the chunk is whole, there by now or elsewhere.
func (run *Run) mended(d *doubt) bool {
	if d.rank != nil {
		if d.rank.partial[d.sequence] < 0 {
			return true
		}
		if k, ok := findRef(d.rank.refs, d.sequence); ok && d.rank.rankOfCopy(d.rank.refs[k]) < tornCopy {
			return true
		}
	}
	h, err := run.files.get(d.file.path)
	if err != nil || !run.whole(h, d.damage.Offset) {
		return false
	}
	run.takeAgain(d.file, h, d.damage.Offset)
	return true
}

// takeAgain takes in a chunk that was not whole when the file was scanned.
func (run *Run) takeAgain(f *dataFile, h *os.File, at int64) {
	if c, err := headAt(h, at); err == nil {
		delete(f.torn, at)
		run.take(f, h, &c, at, c.size())
		if r := run.streams[c.stream]; r != nil {
			r.sort()
		}
	}
}

// salvage takes what there is of declarations whose checksum is wrong.
func (run *Run) salvage(d *doubt) {
	h, err := run.files.get(d.file.path)
	if err != nil || d.rank == nil {
		return
	}
	c, err := headAt(h, d.damage.Offset)
	if err != nil || c.kind != kindMeta || d.file.torn[d.damage.Offset] != 0 {
		return
	}
	b := make([]byte, c.size())
	if n, err := readAt(h, b, d.damage.Offset); err == nil && n == len(b) {
		run.metaChunk(d.file, d.rank, &c, d.damage.Offset, b)
	}
}
