package store

import (
	"bytes"
	"os"
	"strings"
)

// scan indexes the chunks of a file that are new since the last scan.
func (s *Store) scan(f *dataFile) {
	h, err := s.files.get(f.path)
	if err != nil {
		s.damaged(err)
		return
	}
	info, err := h.Stat()
	if err != nil {
		s.damaged(err)
		return
	}
	if f.ring { // its chunks may have been overwritten
		f.scanned = 0
		s.forget(f)
		for _, p := range s.processes {
			if p.ring == f {
				p.drop(refRing)
			}
		}
	}
	var head [chunkHead]byte
	for f.scanned < info.Size() {
		n, err := readAt(h, head[:], f.scanned)
		if err != nil {
			s.damagedAt(f.name(), f.scanned, "%v", err)
			return
		}
		c, err := parseChunk(head[:n])
		switch {
		case f.scanned == 0 && err != nil && strings.HasPrefix(err.Error(), versionText): // so has all of the file
			s.damagedAt(f.name(), 0, "%v", err)
			f.scanned = info.Size()
			return
		case err == nil && c.size() <= info.Size()-f.scanned:
			s.takeChunk(f, h, &c, f.scanned, c.size())
			f.before = f.scanned
			if f.scanned += c.size(); f.ring {
				f.scanned = f.before + int64(c.headBytes) + int64(c.capacity)
			}
		case err == nil || n < chunkHead && bytes.HasPrefix([]byte(chunkMagic), head[:min(n, 8)]):
			if !s.resync(f, h, info.Size(), nil) {
				return // it may be being written: see scanTail
			}
		default:
			if !s.resync(f, h, info.Size(), err) {
				if f.ring {
					s.suspect(f, nil, 0, f.scanned, "%v", err)
				}
				return
			}
		}
	}
}

// scanTail indexes the rest of a file's last chunk if no process may still write it.
func (s *Store) scanTail(f *dataFile) {
	h, err := s.files.get(f.path)
	if err != nil {
		return
	}
	info, err := h.Stat()
	if err != nil || f.scanned >= info.Size() || f.ring || s.growing(f) {
		return
	}
	left := info.Size() - f.scanned
	var head [chunkHead]byte
	n, _ := readAt(h, head[:], f.scanned)
	c, err := parseChunk(head[:n])
	switch {
	case err != nil && bytes.HasPrefix([]byte(chunkMagic), head[:min(n, 8)]) && n < chunkHead:
		s.damagedAt(f.name(), f.scanned, "the file ends within a chunk's head, after %d bytes", left)
	case err != nil:
		s.damagedAt(f.name(), f.scanned, "%v", err)
	default:
		s.takeChunk(f, h, &c, f.scanned, left)
		s.suspectTorn(f, &c, f.scanned, left)
		if p := s.processes[c.stream]; p != nil {
			p.sort()
		}
	}
	f.scanned = info.Size()
}

// takeChunk indexes a chunk of which a file has size bytes.
func (s *Store) takeChunk(f *dataFile, h *os.File, c *chunk, at, size int64) {
	p := s.process(c.stream, c.rank, c.runID)
	if p == nil {
		s.damagedAt(f.name(), at, "a chunk of another run")
		return
	}
	if f.ring {
		p.ring = f
	} else {
		p.node = f
	}
	if size < c.size() {
		f.tornAt(at, size)
	}
	switch c.kind {
	case kindMeta:
		s.takeDeclarations(f, h, p, c, at, size)
	case KindSamples, KindEvents, KindTable:
		where := uint64(at)
		if f.ring {
			where |= refRing
		}
		p.note(c, where)
	case kindLast:
		if b, ok := readChunk(h, at); ok {
			s.lasts(p, c, b[c.headBytes:])
		} else if size == c.size() && !s.tear(f, h, c, at) {
			s.suspect(f, p, c.sequence, at, "the checksum of a chunk with last values is wrong")
		}
	default: // from a newer version, or damaged
		if size == c.size() && !intact(h, at) && !s.tear(f, h, c, at) {
			s.suspect(f, p, c.sequence, at, "the checksum of a chunk of unknown kind %d is wrong", c.kind)
		}
	}
}

// note adds a chunk to its chain.
func (p *Process) note(c *chunk, at uint64) {
	chain := Chain{Kind: c.kind}
	if c.kind == KindEvents {
		chain.Number = c.chain
	}
	p.chains[chain] = append(p.chains[chain], ref{c.sequence, at, c.first})
}

func (s *Store) takeDeclarations(f *dataFile, h *os.File, p *Process, c *chunk, at, size int64) {
	if p.partial[c.sequence] < 0 {
		return // a copy
	}
	if cap(s.buf) < int(size) {
		s.buf = make([]byte, size)
	}
	b := s.buf[:size]
	if n, err := readAt(h, b, at); err != nil || n < len(b) {
		s.suspect(f, p, c.sequence, at, "only %d of a chunk's %d bytes could be read: %v", n, size, err)
		return
	}
	whole := size == c.size()
	if whole && update(checksum(b[:c.headBytes]), b[c.headBytes:]) != c.crc {
		if !s.tear(f, h, c, at) {
			s.suspect(f, p, c.sequence, at, "the checksum of a chunk with declarations is wrong")
		}
		return
	}
	s.declarations(f, p, c, at, b)
}

// declarations reads the declarations of a chunk, or of the part of it that is available.
func (s *Store) declarations(f *dataFile, p *Process, c *chunk, at int64, b []byte) {
	whole := int64(len(b)) == c.size()
	if n, err := s.part(p, c, b[min(c.headBytes, len(b)):], whole); err != nil && whole {
		s.damagedAt(f.name(), at+int64(n), "%v", err)
	}
}

// resync continues after damage at the next start of a chunk. If the last chunk was torn, that may lie within it. resync
// returns false if there is none; scanTail decides later.
func (s *Store) resync(f *dataFile, h *os.File, size int64, reason error) bool {
	from := f.scanned + 1
	if f.before >= 0 && reason != nil && !intact(h, f.before) {
		from = f.before + 1
	}
	next := find(h, from, size)
	if next < 0 {
		return false
	}
	switch {
	case next < f.scanned:
		f.tornAt(f.before, next-f.before)
		if c, err := headAt(h, f.before); err == nil {
			s.suspectTorn(f, &c, f.before, next-f.before)
		}
	case reason == nil:
		if c, err := headAt(h, f.scanned); err == nil {
			s.takeChunk(f, h, &c, f.scanned, next-f.scanned)
			s.suspectTorn(f, &c, f.scanned, next-f.scanned)
		} else {
			s.suspect(f, nil, 0, f.scanned, "a chunk is torn after %d bytes", next-f.scanned)
		}
	default:
		s.suspect(f, nil, 0, f.scanned, "%v", reason)
	}
	f.before, f.scanned = -1, next
	return true
}

// tear looks for chunks inside a chunk with a wrong checksum, and indexes them. A torn chunk and the chunks appended after it can be as long
// together as the whole chunk. tear returns false if it finds none.
func (s *Store) tear(f *dataFile, h *os.File, c *chunk, at int64) bool {
	end := at + c.size()
	next := find(h, at+1, end)
	if f.ring || next < 0 || next >= end || !intact(h, next) {
		return false
	}
	s.takeChunk(f, h, c, at, next-at)
	s.suspectTorn(f, c, at, next-at)
	for next < end {
		inner, err := headAt(h, next)
		if err != nil || inner.size() > end-next || !intact(h, next) {
			s.suspect(f, nil, 0, next, "a chunk after a torn one is damaged")
			break
		}
		s.takeChunk(f, h, &inner, next, inner.size())
		next += inner.size()
	}
	return true
}

// tearCopies checks the chunks of a dead process that exist twice: the first copy in a file may be torn.
func (s *Store) tearCopies(p *Process) {
	if p.node == nil || p.InMemory() && running(p.manifest) { // the other one may still be being written
		return
	}
	h, err := s.files.get(p.node.path)
	if err != nil {
		return
	}
	for _, at := range p.copies() {
		c, err := headAt(h, at)
		if err == nil && !intact(h, at) && !s.tear(p.node, h, &c, at) {
			p.node.tornAt(at, int64(c.headBytes))
		}
	}
}

// copies returns where the node's file has chunks that exist twice.
func (p *Process) copies() (all []int64) {
	for _, refs := range p.chains {
		for i := range len(refs) - 1 {
			if refs[i].sequence == refs[i+1].sequence && p.rankOfCopy(refs[i]) == wholeCopy {
				all = append(all, int64(refs[i].at))
			}
		}
	}
	return all
}

func headAt(h *os.File, at int64) (chunk, error) {
	var head [chunkHead]byte
	n, err := readAt(h, head[:], at)
	if err != nil {
		return chunk{}, err
	}
	return parseChunk(head[:n])
}

// readChunk reads the chunk at an offset and reports whether its checksum is right.
func readChunk(h *os.File, at int64) ([]byte, bool) {
	c, err := headAt(h, at)
	if err != nil {
		return nil, false
	}
	b := make([]byte, c.size())
	n, err := readAt(h, b, at)
	return b, err == nil && n == len(b) && update(checksum(b[:c.headBytes]), b[c.headBytes:]) == c.crc
}

// intact reports whether the chunk at an offset has the right checksum.
func intact(h *os.File, at int64) bool {
	_, ok := readChunk(h, at)
	return ok
}

// find returns the offset of the next chunk, or -1.
func find(h *os.File, from, size int64) int64 {
	b := make([]byte, 1<<16)
	for at := nextData(h, from); at < size; at = nextData(h, at) {
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
