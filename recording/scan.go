package recording

import (
	"bytes"
	"os"
)

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
		run.forget(f)
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
				if f.ring {
					run.doubt(f, nil, 0, f.scanned, "%v", err)
				}
				return
			}
		}
	}
}

// scanTail takes in what is left of a file's last chunk, if nobody may still write it.
func (run *Run) scanTail(f *dataFile) {
	h, err := run.files.get(f.path)
	if err != nil {
		return
	}
	info, err := h.Stat()
	if err != nil || f.scanned >= info.Size() || f.ring || run.growing(f) {
		return
	}
	left := info.Size() - f.scanned
	var head [chunkHead]byte
	n, _ := readAt(h, head[:], f.scanned)
	c, err := parseChunk(head[:n])
	switch {
	case err != nil && bytes.HasPrefix([]byte(chunkMagic), head[:min(n, 8)]) && n < chunkHead:
		run.damagedAt(f.name(), f.scanned, "the file ends within a chunk's head, after %d bytes", left)
	case err != nil:
		run.damagedAt(f.name(), f.scanned, "%v", err)
	default:
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
	case kindLast:
		if b, ok := run.wholeChunk(h, at); ok {
			r.keepLasts(b[c.headBytes:])
		} else if size == c.size() {
			run.doubt(f, r, c.sequence, at, "the checksum of a chunk with last values is wrong")
		}
	default: // something newer than us, or damage
		if _, ok := run.wholeChunk(h, at); !ok {
			run.doubt(f, r, c.sequence, at, "the checksum of a chunk of unknown kind %d is wrong", c.kind)
		}
	}
}

func (run *Run) takeMeta(f *dataFile, h *os.File, r *Rank, c *chunk, at, size int64) {
	if r.partial[c.sequence] < 0 {
		return // a copy
	}
	if cap(run.buf) < int(size) {
		run.buf = make([]byte, size)
	}
	b := run.buf[:size]
	if n, err := readAt(h, b, at); err != nil || n < len(b) {
		run.doubt(f, r, c.sequence, at, "only %d of a chunk's %d bytes could be read: %v", n, size, err)
		return
	}
	whole := size == c.size()
	if whole && update(checksum(b[:c.headBytes]), b[c.headBytes:]) != c.crc {
		run.doubt(f, r, c.sequence, at, "the checksum of a chunk with declarations is wrong")
		return
	}
	run.metaChunk(f, r, c, at, b)
}

// metaChunk takes in the declarations of a chunk, or of the part of it that there is.
func (run *Run) metaChunk(f *dataFile, r *Rank, c *chunk, at int64, b []byte) {
	done, wasOpen := r.partial[c.sequence]
	whole := int64(len(b)) == c.size()
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

// resync goes on after damage: at the next beginning of a chunk. That may lie within what was taken for the last chunk,
// if that was torn. It reports whether there is one; if not, scanTail has to decide.
func (run *Run) resync(f *dataFile, h *os.File, size int64, reason error) bool {
	from := f.scanned + 1
	if f.before >= 0 && reason != nil && !run.whole(h, f.before) {
		from = f.before + 1
	}
	next := find(h, from, size)
	if next < 0 {
		return false
	}
	switch {
	case next < f.scanned:
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
			run.doubt(f, nil, 0, f.scanned, "a chunk is torn after %d bytes", next-f.scanned)
		}
	default:
		run.doubt(f, nil, 0, f.scanned, "%v", reason)
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

// wholeChunk reads the chunk that begins at a place, and reports whether it has the right checksum.
func (run *Run) wholeChunk(h *os.File, at int64) ([]byte, bool) {
	c, err := headAt(h, at)
	if err != nil {
		return nil, false
	}
	b := make([]byte, c.size())
	n, err := readAt(h, b, at)
	return b, err == nil && n == len(b) && update(checksum(b[:c.headBytes]), b[c.headBytes:]) == c.crc
}

// whole reports whether the chunk that begins at a place has the right checksum.
func (run *Run) whole(h *os.File, at int64) bool {
	_, ok := run.wholeChunk(h, at)
	return ok
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
