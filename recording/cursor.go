package recording

import (
	"fmt"
	"time"

	"mpitx/recording/store"
)

// readBudget bounds the buffers of all cursors together, in bytes.
const readBudget = 16 << 20

// record is one sample as stored in a chunk.
type record struct {
	set      *Set
	ticks    uint64
	row      []byte
	statuses []byte // nil: all ok
	last     bool   // see Instant
}

// cursor reads one rank's samples in order.
type cursor struct {
	run  *Run
	rank *Rank
	records
	rec  record
	time time.Duration // of rec

	waiting bool     // rec was read and not yielded yet
	seen    []uint64 // by set: the newest sample's time plus one
}

// next reads the next sample. It returns false if there is none so far.
func (c *cursor) next() bool {
	for {
		t, ok := c.records.next()
		if !ok {
			return c.last()
		}
		set := c.rank.setOf(int(t.tag&^tagStatuses) - tagSet)
		if set == nil && c.undeclared(c.run, c.rank, store.KindSamples, t.tag&^tagStatuses, "set %d of rank %d is lost: its samples cannot be read") {
			continue
		}
		if set != nil {
			if err := c.sample(set, &t); err != nil {
				c.skipChunk(err)
				continue
			}
		}
		c.skip(t)
		if set != nil && !c.old() { // a later value of the set may have been yielded from the last values
			c.time = max(c.time, c.run.time(c.rank, c.rec.ticks)) // adjacent clock segments may overlap slightly
			return true
		}
	}
}

func (r *Rank) setOf(id int) *Set {
	if id < 0 || id >= len(r.Sets) || r.Sets[id] == nil || !r.Sets[id].resolve(r) {
		return nil
	}
	return r.Sets[id]
}

func (c *cursor) sample(set *Set, t *timed) error {
	statuses := 0
	if t.tag&tagStatuses != 0 {
		statuses = (len(set.Columns) + 7) &^ 7
	}
	if statuses+set.row != len(t.body) {
		return fmt.Errorf("a sample of set %d has %d bytes, not %d", set.ID, len(t.body)+8, 8+statuses+set.row)
	}
	c.rec = record{set: set, ticks: t.ticks, row: t.body[statuses:]}
	if statuses != 0 {
		c.rec.statuses = t.body[:len(set.Columns)]
	}
	return nil
}
