package store

import (
	"fmt"
	"os"
	"slices"
)

// doubt is a place in a file where a whole chunk should be and is not, yet. It is damage only if nobody may still write that file,
// and there is no whole copy of the chunk elsewhere: of a process that was killed while it appended, or that had no room on the disk.
type doubt struct {
	file     *dataFile
	process  *Process // whose chunk it is; nil: unknown
	sequence uint64
	damage   DamageError
}

// doubt notes a place. p is nil where nothing is known of the chunk.
func (s *Store) doubt(f *dataFile, p *Process, sequence uint64, at int64, format string, args ...any) {
	d := DamageError{f.name(), at, fmt.Sprintf(format, args...)}
	if len(s.doubts) >= mostDamage {
		s.damaged(&d)
		return
	}
	s.doubts = append(s.doubts, doubt{f, p, sequence, d})
}

// tear notes a chunk of which a file has only a part.
func (s *Store) tear(f *dataFile, c *chunk, at, has int64) {
	s.doubt(f, s.processes[c.stream], c.sequence, at, "a chunk is torn after %d of its %d bytes", has, c.size())
}

// forget drops the doubts about a file that is read again from its beginning.
func (s *Store) forget(f *dataFile) {
	s.doubts = slices.DeleteFunc(s.doubts, func(d doubt) bool { return d.file == f })
}

// growing reports whether a process may still write a file.
func (s *Store) growing(f *dataFile) bool {
	for _, p := range s.processes {
		if p.Unfinished() && (p.node == f || p.ring == f || nodeFile(p.Host) == f.name()) {
			return true
		}
	}
	return false
}

// settleDoubts looks again at all doubts, and reports those that nothing can resolve any more.
func (s *Store) settleDoubts() {
	kept := s.doubts[:0]
	for _, d := range s.doubts {
		switch {
		case s.mended(&d):
		case s.growing(d.file):
			kept = append(kept, d)
		default:
			s.salvage(&d)
			s.damaged(&d.damage)
		}
	}
	s.doubts = kept
}

// mended reports whether the chunk is whole, there by now or elsewhere.
func (s *Store) mended(d *doubt) bool {
	if p := d.process; p != nil {
		if p.partial[d.sequence] < 0 {
			return true
		}
		for _, refs := range p.chains {
			if k, ok := findRef(refs, d.sequence); ok && p.rankOfCopy(refs[k]) < tornCopy {
				return true
			}
		}
	}
	h, err := s.files.get(d.file.path)
	if err != nil || !whole(h, d.damage.Offset) {
		return false
	}
	s.takeAgain(d.file, h, d.damage.Offset)
	return true
}

// takeAgain takes in a chunk that was not whole when the file was scanned.
func (s *Store) takeAgain(f *dataFile, h *os.File, at int64) {
	if c, err := headAt(h, at); err == nil {
		delete(f.torn, at)
		s.takeChunk(f, h, &c, at, c.size())
		if p := s.processes[c.stream]; p != nil {
			p.sort()
		}
	}
}

// salvage takes what there is of declarations whose checksum is wrong.
func (s *Store) salvage(d *doubt) {
	h, err := s.files.get(d.file.path)
	if err != nil || d.process == nil {
		return
	}
	c, err := headAt(h, d.damage.Offset)
	if err != nil || c.kind != kindMeta || d.file.torn[d.damage.Offset] != 0 {
		return
	}
	b := make([]byte, c.size())
	if n, err := readAt(h, b, d.damage.Offset); err == nil && n == len(b) {
		s.declarations(d.file, d.process, &c, d.damage.Offset, b)
	}
}
