package recording

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
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
	run  *Run
	rank *Rank
	rec  record
	time time.Duration // of rec

	waiting bool     // rec was read and not given yet
	seen    []uint64 // by set: the newest sample's time, plus one

	sequence uint64 // of the chunk; 0: none so far
	done     uint32 // bytes of its records that were read
	limit    uint32 // bytes of its records that there are
	base     uint64
	ended    bool // nothing more will come in this chunk
	torn     bool // a part of it was never written
	asked    bool // for newer declarations

	file  string // for damage, and
	path  string // for reading
	at    int64  // where its records begin
	live  bool   // they are all in buf
	buf   []byte
	bufAt uint32 // which of them buf begins with
	size  int    // of pieces that are read at once
}

var errMoved = errors.New("the chunk is not there any more")

// next reads the next sample; false where there is none, so far.
func (c *cursor) next() bool {
	for {
		if c.sequence != 0 && !c.ended {
			switch ok, err := c.decode(); {
			case err != nil:
				if !c.torn { // else it has been said
					c.run.damagedAt(c.file, c.at+int64(c.done), "%v", err)
				}
				c.ended = true
			case ok && c.old(): // a later value of its set was given, from a time without room
			case ok:
				c.time = max(c.time, c.run.time(c.rank, c.rec.ticks)) // where two stretches of a clock meet, they may overlap by a little
				return true
			}
		}
		if !c.advance() {
			return c.last()
		}
	}
}

// advance goes to the next chunk that has something to read.
func (c *cursor) advance() bool {
	if c.live && !c.ended {
		more, wait := c.again()
		if more || wait {
			return more
		}
	}
	for {
		i, found := findRef(c.rank.refs, c.sequence)
		if found {
			i++
		}
		if i == len(c.rank.refs) {
			return false
		}
		switch err := c.follow(c.rank.refs[i].sequence, c.load); {
		case err == nil:
			return true
		case !errors.Is(err, errMoved): // else the ring was faster than us
			c.run.damaged(err)
		}
	}
}

// again looks once more at a chunk that was still being filled when it was read: for more of it, where it is now. wait says
// that there may be more later.
func (c *cursor) again() (more, wait bool) {
	err := c.follow(c.sequence, func(x ref) error {
		done, base := c.done, c.base
		err := c.load(x)
		c.done, c.base = done, base
		more = err == nil && c.done < c.limit
		wait = c.live && x == c.rank.refs[len(c.rank.refs)-1] // with another one behind it, it is complete
		return err
	})
	if err != nil && !errors.Is(err, errMoved) {
		c.run.damaged(err)
	}
	return more, wait && err == nil
}

// follow does something with a chunk, wherever that is: chunks of a running job move.
func (c *cursor) follow(sequence uint64, do func(ref) error) error {
	err := errMoved
	for range 5 {
		i, found := findRef(c.rank.refs, sequence)
		if !found {
			break
		}
		x := c.rank.refs[i]
		if err = do(x); !errors.Is(err, errMoved) || x.at&(refLive|refRing) == 0 {
			return err
		}
		if err := c.run.refresh(); err != nil {
			return err
		}
	}
	c.sequence, c.ended = sequence, true
	return err
}

func findRef(refs []ref, sequence uint64) (int, bool) {
	return slices.BinarySearchFunc(refs, sequence, func(x ref, s uint64) int { return cmp.Compare(x.sequence, s) })
}

// load begins with a chunk.
func (c *cursor) load(x ref) error {
	c.sequence, c.done, c.limit, c.bufAt, c.buf, c.ended, c.torn, c.asked = x.sequence, 0, 0, 0, c.buf[:0], false, false, false
	if c.live = x.at&refLive != 0; c.live {
		return c.loadSlot(x)
	}
	f, at := c.rank.node, int64(x.at&^refWhere)
	if x.at&refRing != 0 {
		f = c.rank.ring
	}
	h, err := c.run.files.get(f.path)
	if err != nil {
		return err
	}
	var head [liveHead]byte
	n, err := readAt(h, head[:], at)
	if err != nil {
		return err
	}
	k, err := parseChunk(head[:n])
	switch {
	case err != nil || k.sequence != x.sequence || k.stream != c.rank.id:
		c.ended = true
		return errMoved
	case k.headBytes > n:
		return &DamageError{f.name(), at, "the file ends within a chunk's head"}
	}
	c.file, c.path, c.at, c.limit, c.base = f.name(), f.path, at+int64(k.headBytes), k.used, k.first
	if torn, ok := f.torn[at]; ok {
		c.limit, c.torn = uint32(max(torn-int64(k.headBytes), 0)), true
		return nil
	}
	err = c.check(h, checksum(head[:k.headBytes]), &k)
	if c.ended = err != nil; err != nil && c.rank.unfinished() { // it is being written, or the ring is faster than us
		return errMoved
	}
	if err != nil {
		return &DamageError{f.name(), at, err.Error()}
	}
	return nil
}

// check computes a chunk's checksum, before anything in it is believed.
func (c *cursor) check(h *os.File, sum uint32, k *chunk) error {
	for at := uint32(0); at < k.used; {
		n := min(k.used-at, uint32(c.size))
		b := c.room(int(n))
		m, err := readAt(h, b, c.at+int64(at))
		if err != nil {
			return err
		}
		if m < int(n) {
			return fmt.Errorf("only %d of a chunk's %d bytes are there", at+uint32(m), k.used)
		}
		sum = update(sum, b)
		c.bufAt, c.buf = at, b
		at += n
	}
	if sum != k.crc {
		return errors.New("the checksum of a chunk is wrong")
	}
	return nil
}

// room is a buffer of n bytes.
func (c *cursor) room(n int) []byte {
	if cap(c.buf) < n {
		c.buf = make([]byte, n)
	}
	return c.buf[:n]
}

func (c *cursor) loadSlot(x ref) error {
	l := c.rank.live
	if l == nil {
		return errMoved
	}
	h, err := openRegular(l.path)
	if err != nil {
		return errMoved
	}
	defer h.Close()
	slot := int(x.at &^ refWhere)
	b, k, err := readSlot(h, &l.head, slot)
	switch {
	case err != nil:
		return &DamageError{l.path, slotAt(&l.head, slot), err.Error()}
	case b == nil || k.sequence != x.sequence:
		return errMoved
	}
	c.file, c.path, c.at = l.path, l.path, slotAt(&l.head, slot)+chunkHead
	c.buf, c.limit, c.base = b, k.used, k.first
	return nil
}

// bytes are n bytes of the records from done on.
func (c *cursor) bytes(n uint32) ([]byte, error) {
	if n > c.limit-c.done {
		return nil, fmt.Errorf("a record of %d bytes where %d are left", n, c.limit-c.done)
	}
	if from := c.done - c.bufAt; c.done >= c.bufAt && uint64(from)+uint64(n) <= uint64(len(c.buf)) {
		return c.buf[from : from+n], nil
	}
	if c.live {
		return nil, errMoved
	}
	h, err := c.run.files.get(c.path)
	if err != nil {
		return nil, err
	}
	b := c.room(int(min(max(uint32(c.size), n), c.limit-c.done)))
	m, err := readAt(h, b, c.at+int64(c.done))
	if err != nil || m < len(b) {
		return nil, fmt.Errorf("only %d of %d bytes could be read: %v", m, len(b), err)
	}
	c.buf, c.bufAt = b, c.done
	return b[:n], nil
}

// decode reads records up to the next sample.
func (c *cursor) decode() (bool, error) {
	for c.done < c.limit {
		b, err := c.bytes(8)
		if err != nil {
			return false, err
		}
		n, tag, dt := uint32(le.Uint16(b))*8, le.Uint16(b[2:]), le.Uint32(b[4:])
		if n == 0 {
			return false, errors.New("a record of no length")
		}
		if b, err = c.bytes(n); err != nil {
			return false, err
		}
		if tag == tagBase {
			if n != 16 {
				return false, fmt.Errorf("a time base of %d bytes", n)
			}
			c.base = le.Uint64(b[8:])
			c.done += n
			continue
		}
		set := c.rank.setOf(int(tag&^tagStatuses) - tagSet)
		if set == nil && c.rank.unfinished() && !c.asked { // declared since we looked
			if c.asked = true; c.run.refresh() == nil {
				continue
			}
		}
		if set == nil { // declared in a chunk that is lost, or something newer than us
			c.undeclared(tag &^ tagStatuses)
			c.done += n
			continue
		}
		if err := c.sample(set, b, tag&tagStatuses != 0, c.base+uint64(dt)); err != nil {
			return false, err
		}
		c.done += n
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
	case r.unfinished():
	case tag < tagSet:
		c.run.damagedAt(c.file, c.at+int64(c.done), "a record of unknown kind %d", tag)
	default:
		c.run.damagedAt(c.file, c.at+int64(c.done), "the declaration of set %d of rank %d is lost: its samples cannot be read", tag-tagSet, r.Rank)
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
