package store

import "fmt"

// Types of records that the store interprets.
const (
	recordCounters  = 9
	recordEnd       = 11
	recordRecovered = 12 // written by Recover; no body
	RecordLast      = 13
)

const recordHead = 16

// declared passes the records of a chunk of declarations, or of its next part, to the reader. It returns the bytes consumed.
func (s *Store) declared(p *Process, sequence uint64, b []byte, inTail bool) (int, error) {
	at := 0
	for at < len(b) {
		if len(b)-at < recordHead {
			return at, fmt.Errorf("a record's head has %d bytes", len(b)-at)
		}
		n := le.Uint32(b[at:])
		if n < recordHead || n%8 != 0 || uint64(n) > uint64(len(b)-at) {
			return at, fmt.Errorf("a record has %d bytes where %d are left", n, len(b)-at)
		}
		r := Record{Type: le.Uint16(b[at+4:]), Ticks: le.Uint64(b[at+8:]), Sequence: sequence, Body: b[at+recordHead : at+int(n)]}
		if err := s.reader.Record(p, &r); err != nil {
			return at, err
		}
		switch r.Type {
		case recordEnd:
			p.ended, p.endInTail = true, inTail
		case recordRecovered:
			p.recovered = true
		}
		at += int(n)
	}
	return at, nil
}

// part reads the records of a chunk of declarations after those read before, and returns the offset of an error. whole means
// that no more will come.
func (s *Store) part(p *Process, c *chunk, records []byte, whole bool) (int, error) {
	done := p.partial[c.sequence]
	if done < 0 || done > len(records) {
		return 0, nil
	}
	n, err := s.declared(p, c.sequence, records[done:], false)
	if p.partial[c.sequence] = done + n; whole { // a torn chunk may have a whole copy to go on with
		p.partial[c.sequence] = -1
	}
	return c.headBytes + done + n, err
}

// lasts reads the records of a chunk of last values.
func (s *Store) lasts(p *Process, c *chunk, b []byte) {
	for len(b) >= recordHead {
		n := le.Uint32(b)
		if n < recordHead || n%8 != 0 || uint64(n) > uint64(len(b)) {
			return
		}
		if r := (Record{RecordLast, le.Uint64(b[8:]), c.sequence, b[recordHead:n]}); le.Uint16(b[4:]) == RecordLast && r.Ticks+1 > 1 {
			_ = s.reader.Record(p, &r) // the other copy may be intact
		}
		b = b[n:]
	}
}
