package recording

import (
	"errors"
	"fmt"
	"time"

	"mpitx/recording/store"
)

// readBudget bounds the buffers of all ranks' cursors together.
const readBudget = 16 << 20

// record is one sample as it is in a chunk.
type record struct {
	set      *Set
	ticks    uint64
	row      []byte
	statuses []byte // nil: all ok
	last     bool   // see Instant
}

// cursor reads one rank's samples in order.
type cursor struct {
	run    *Run
	rank   *Rank
	chunks *store.Cursor
	rec    record
	time   time.Duration // of rec

	waiting bool     // rec was read and not given yet
	seen    []uint64 // by set: the newest sample's time, plus one

	sequence uint64 // of the chunk
	base     uint64
	asked    bool // for newer declarations
}

// next reads the next sample; false where there is none, so far.
func (c *cursor) next() bool {
	for c.chunks.Next() {
		if sequence, first := c.chunks.Chunk(); sequence != c.sequence {
			c.sequence, c.base, c.asked = sequence, first, false
		}
		switch ok, err := c.decode(); {
		case err != nil:
			c.chunks.Damaged("%v", err)
			c.chunks.Leave()
		case ok && c.old(): // a later value of its set was given, from a time without room
		case ok:
			c.time = max(c.time, c.run.time(c.rank, c.rec.ticks)) // where two stretches of a clock meet, they may overlap by a little
			return true
		}
	}
	return c.last()
}

// decode reads records up to the next sample.
func (c *cursor) decode() (bool, error) {
	for c.chunks.Left() > 0 {
		b, err := c.chunks.Bytes(8)
		if err != nil {
			return false, err
		}
		n, tag, dt := uint32(le.Uint16(b))*8, le.Uint16(b[2:]), le.Uint32(b[4:])
		if n == 0 {
			return false, errors.New("a record of no length")
		}
		if b, err = c.chunks.Bytes(n); err != nil {
			return false, err
		}
		if tag == tagBase {
			if n != 16 {
				return false, fmt.Errorf("a time base of %d bytes", n)
			}
			c.base = le.Uint64(b[8:])
			c.chunks.Skip(n)
			continue
		}
		set := c.rank.setOf(int(tag&^tagStatuses) - tagSet)
		if set == nil && c.rank.process.Unfinished() && !c.asked { // declared since we looked
			if c.asked = true; c.run.store.Refresh() == nil {
				continue
			}
		}
		if set == nil { // declared in a chunk that is lost, or something newer than us
			c.undeclared(tag &^ tagStatuses)
			c.chunks.Skip(n)
			continue
		}
		if err := c.sample(set, b, tag&tagStatuses != 0, c.base+uint64(dt)); err != nil {
			return false, err
		}
		c.chunks.Skip(n)
		return true, nil
	}
	return false, nil
}

// undeclared notes a sample that nothing can be made of. Its declaration may still come, or be in the memory of another node.
func (c *cursor) undeclared(tag uint16) {
	r := c.rank
	if r.undeclared[tag] {
		return
	}
	if r.undeclared == nil {
		r.undeclared = map[uint16]bool{}
	}
	r.undeclared[tag] = true
	switch {
	case r.process.Unfinished():
	case tag < tagSet:
		c.chunks.Damaged("a record of unknown kind %d", tag)
	default:
		c.chunks.Damaged("the declaration of set %d of rank %d is lost: its samples cannot be read", tag-tagSet, r.Rank)
	}
}

const (
	tagBase     = 1
	tagSet      = 16
	tagStatuses = 0x8000
)

func (r *Rank) setOf(id int) *Set {
	if id < 0 || id >= len(r.Sets) || r.Sets[id] == nil || !r.Sets[id].resolve(r) {
		return nil
	}
	return r.Sets[id]
}

func (c *cursor) sample(set *Set, b []byte, withStatuses bool, ticks uint64) error {
	statuses := 0
	if withStatuses {
		statuses = (len(set.Columns) + 7) &^ 7
	}
	if 8+statuses+set.row != len(b) {
		return fmt.Errorf("a sample of set %d has %d bytes, not %d", set.ID, len(b), 8+statuses+set.row)
	}
	c.rec = record{set: set, ticks: ticks, row: b[8+statuses:]}
	if withStatuses {
		c.rec.statuses = b[8 : 8+len(set.Columns)]
	}
	return nil
}
