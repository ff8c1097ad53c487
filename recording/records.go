package recording

import (
	"errors"
	"fmt"

	"mpitx/recording/store"
)

// Tags of records of samples and events.
const (
	tagBase     = 1
	tagThread   = 2
	tagLost     = 3
	tagSet      = 16 // and the identifier of a set, or of a type of events
	tagStatuses = 0x8000
)

// records reads the records of a chain of samples or events, whose times follow a base.
type records struct {
	chunks   *store.Cursor
	sequence uint64 // of the chunk
	base     uint64
	asked    bool // for newer declarations
}

// timed is a record.
type timed struct {
	tag   uint16
	ticks uint64
	body  []byte // good until the next one is read
}

func (r *records) next() (t timed, ok bool) {
	for r.chunks.Next() {
		if sequence, first := r.chunks.Chunk(); sequence != r.sequence {
			r.sequence, r.base, r.asked = sequence, first, false
		}
		if r.chunks.Left() == 0 {
			continue
		}
		t, err := r.one()
		if err != nil {
			r.leave(err)
			continue
		}
		if t.tag != tagBase {
			return t, true
		}
		r.base = le.Uint64(t.body)
		r.skip(t)
	}
	return timed{}, false
}

func (r *records) one() (timed, error) {
	b, err := r.chunks.Bytes(8)
	if err != nil {
		return timed{}, err
	}
	n, tag, dt := uint32(le.Uint16(b))*8, le.Uint16(b[2:]), le.Uint32(b[4:])
	if n == 0 {
		return timed{}, errors.New("a record of no length")
	}
	if b, err = r.chunks.Bytes(n); err != nil {
		return timed{}, err
	}
	if tag == tagBase && n != 16 {
		return timed{}, fmt.Errorf("a time base of %d bytes", n)
	}
	return timed{tag, r.base + uint64(dt), b[8:]}, nil
}

// skip goes past a record that next gave.
func (r *records) skip(t timed) { r.chunks.Skip(uint32(len(t.body)) + 8) }

// leave leaves out the rest of a chunk, in which a record is wrong.
func (r *records) leave(err error) {
	r.chunks.Damaged("%v", err)
	r.chunks.Leave()
}

// undeclared notes a record that nothing can be made of. True: look again, it may have been declared since.
func (r *records) undeclared(run *Run, rank *Rank, kind uint8, tag uint16, missing string) bool {
	unfinished := rank.process.Unfinished()
	if unfinished && !r.asked {
		if r.asked = true; run.store.Refresh() == nil {
			return true
		}
	}
	key := store.Chain{Kind: kind, Number: tag}
	if rank.undeclared[key] {
		return false
	}
	if rank.undeclared == nil {
		rank.undeclared = map[store.Chain]bool{}
	}
	rank.undeclared[key] = true
	switch { // its declaration may still come, or be in the memory of another node
	case unfinished:
	case tag < tagSet:
		r.chunks.Damaged("a record of unknown kind %d", tag)
	default:
		r.chunks.Damaged("the declaration of "+missing, tag-tagSet, rank.Rank)
	}
	return false
}
