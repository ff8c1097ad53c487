package store

import "fmt"

// Types of records that the store itself knows.
const (
	recordCounters  = 9
	recordEnd       = 11
	recordRecovered = 12 // Recover's: no body
	RecordLast      = 13
)

const recordHead = 16

// declared gives the records of a chunk of declarations, or of its next part, to the reader, and returns how many bytes that were.
func (s *Store) declared(p *Process, sequence uint64, b []byte, inTail bool) (int, error) {
	at := 0
	for at < len(b) {
		if len(b)-at < recordHead {
			return at, fmt.Errorf("a record's head of %d bytes", len(b)-at)
		}
		n := le.Uint32(b[at:])
		if n < recordHead || n%8 != 0 || uint64(n) > uint64(len(b)-at) {
			return at, fmt.Errorf("a record of %d bytes where %d are left", n, len(b)-at)
		}
		r := Record{Type: le.Uint16(b[at+4:]), Ticks: le.Uint64(b[at+8:]), Sequence: sequence, Body: b[at+recordHead : at+int(n)]}
		if err := s.reader.Record(p, &r); err != nil {
			return at, err
		}
		if r.Type == recordEnd {
			p.ended, p.endInTail = true, inTail
		}
		at += int(n)
	}
	return at, nil
}

// part takes in the records of a chunk of declarations, of which a part may have been taken before; where there is an error, its place. Whole: nothing
// more comes.
func (s *Store) part(p *Process, c *chunk, records []byte, whole bool) (int, error) {
	done := p.partial[c.sequence]
	if done < 0 || done > len(records) {
		return 0, nil
	}
	n, err := s.declared(p, c.sequence, records[done:], false)
	if p.partial[c.sequence] = done + n; whole { // of a torn one there may be a whole copy, to go on with
		p.partial[c.sequence] = -1
	}
	return c.headBytes + done + n, err
}

// lasts takes in the records of a chunk of last values.
func (s *Store) lasts(p *Process, c *chunk, b []byte) {
	for len(b) >= recordHead {
		n := le.Uint32(b)
		if n < recordHead || n%8 != 0 || uint64(n) > uint64(len(b)) {
			return
		}
		if r := (Record{RecordLast, le.Uint64(b[8:]), c.sequence, b[recordHead:n]}); le.Uint16(b[4:]) == RecordLast && r.Ticks+1 > 1 {
			_ = s.reader.Record(p, &r) // another one may be whole
		}
		b = b[n:]
	}
}
