package store

import (
	"fmt"
	"os"
	"slices"
)

// suspect is a chunk that is not intact so far. It is damage only if no process may still write the file and there is no
// intact copy elsewhere: a killed process, or one without disk space, leaves a copy in memory.
type suspect struct {
	file     *dataFile
	process  *Process // the chunk's; nil: unknown
	sequence uint64
	damage   DamageError
}

// suspect notes a damaged place. p is nil if the chunk is unknown.
func (s *Store) suspect(f *dataFile, p *Process, sequence uint64, at int64, format string, args ...any) {
	d := DamageError{f.name(), at, fmt.Sprintf(format, args...)}
	if len(s.suspects) >= maxDamage {
		s.damaged(&d)
		return
	}
	s.suspects = append(s.suspects, suspect{f, p, sequence, d})
}

// suspectTorn notes a chunk of which a file has only the first bytes.
func (s *Store) suspectTorn(f *dataFile, c *chunk, at, has int64) {
	s.suspect(f, s.processes[c.stream], c.sequence, at, "a chunk is torn after %d of its %d bytes", has, c.size())
}

// forget drops the suspects of a file that is read again from its start.
func (s *Store) forget(f *dataFile) {
	s.suspects = slices.DeleteFunc(s.suspects, func(d suspect) bool { return d.file == f })
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

// settleSuspects checks all suspects again and reports those that can no longer become intact.
func (s *Store) settleSuspects() {
	kept := s.suspects[:0]
	for _, d := range s.suspects {
		switch {
		case s.nowIntact(&d):
		case s.growing(d.file):
			kept = append(kept, d)
		default:
			s.salvage(&d)
			s.damaged(&d.damage)
		}
	}
	s.suspects = kept
}

// nowIntact reports whether the chunk is intact by now, in its place or elsewhere.
func (s *Store) nowIntact(d *suspect) bool {
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
	if err != nil || !intact(h, d.damage.Offset) {
		return false
	}
	s.takeAgain(d.file, h, d.damage.Offset)
	return true
}

// takeAgain reads a chunk that was not intact when the file was scanned.
func (s *Store) takeAgain(f *dataFile, h *os.File, at int64) {
	if c, err := headAt(h, at); err == nil {
		delete(f.torn, at)
		s.takeChunk(f, h, &c, at, c.size())
		if p := s.processes[c.stream]; p != nil {
			p.sort()
		}
	}
}

// salvage reads the declarations of a chunk with a wrong checksum.
func (s *Store) salvage(d *suspect) {
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
