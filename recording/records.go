package recording

import (
	"errors"
	"fmt"

	"mpitx/recording/store"
)

// Tags of sample and event records.
const (
	tagBase     = 1
	tagThread   = 2
	tagLost     = 3
	tagSet      = 16 // plus the identifier of a set or an event type
	tagStatuses = 0x8000
)

// records reads the records of a chain of samples or events. Their times are relative to a base.
type records struct {
	chunks   *store.Cursor
	sequence uint64 // of the chunk
	base     uint64
	asked    bool // newer declarations were looked for
}

// timed is a record with its time.
type timed struct {
	tag   uint16
	ticks uint64
	body  []byte // valid until the next one is read
}

func (r *records) next() (t timed, ok bool) {
	for r.chunks.Next() {
		if sequence, first := r.chunks.Chunk(); sequence != r.sequence {
			r.sequence, r.base, r.asked = sequence, first, false
		}
		if r.chunks.Remaining() == 0 {
			continue
		}
		t, err := r.one()
		if err != nil {
			r.skipChunk(err)
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
		return timed{}, errors.New("a record has length 0")
	}
	if b, err = r.chunks.Bytes(n); err != nil {
		return timed{}, err
	}
	if tag == tagBase && n != 16 {
		return timed{}, fmt.Errorf("a time base has %d bytes, not 16", n)
	}
	return timed{tag, r.base + uint64(dt), b[8:]}, nil
}

// skip moves past a record that next returned.
func (r *records) skip(t timed) { r.chunks.Skip(uint32(len(t.body)) + 8) }

// skipChunk skips the rest of a chunk after a damaged record.
func (r *records) skipChunk(err error) {
	r.chunks.Damaged("%v", err)
	r.chunks.SkipChunk()
}

// undeclared notes a record without a declaration. It returns true if the caller shall read the record again, as the
// declaration may have been written since.
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
	switch { // unfinished: the declaration may still come, or be in the memory of another node
	case unfinished:
	case tag < tagSet:
		r.chunks.Damaged("a record of unknown kind %d", tag)
	default:
		r.chunks.Damaged("the declaration of "+missing, tag-tagSet, rank.Rank)
	}
	return false
}
