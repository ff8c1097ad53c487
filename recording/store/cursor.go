package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Cursor reads the records of a chain of chunks in order. In a running job it continues with records written later.
type Cursor struct {
	Size int // bytes per read

	store   *Store
	process *Process
	chain   Chain

	sequence uint64 // of the chunk; 0: none so far
	first    uint64
	done     uint32 // bytes of its records read so far
	limit    uint32 // bytes of its records available
	ended    bool   // no more records will come in this chunk
	torn     bool   // a part of it was never written

	file  string // reported with damage
	path  string // to read from
	at    int64  // offset of its records
	live  bool   // buf holds all of them
	buf   []byte
	bufAt uint32 // offset of buf within its records
}

var errMoved = errors.New("the chunk has moved")

// Cursor returns a cursor at the start of a chain.
func (s *Store) Cursor(p *Process, chain Chain) *Cursor {
	return &Cursor{Size: 1 << 18, store: s, process: p, chain: chain}
}

// SkipTo skips all but the last chunks.
func (c *Cursor) SkipTo(last int) {
	if refs := c.refs(); len(refs) > last {
		c.sequence, c.ended = refs[len(refs)-last-1].sequence, true
	}
}

// Blocks yields the sequence numbers of a chain's chunks with the time bases that they begin with.
func (p *Process) Blocks(chain Chain, yield func(sequence, first uint64)) {
	for _, x := range p.chains[chain] {
		yield(x.sequence, x.first)
	}
}

// Begins reports whether a chunk is the first one of a chain.
func (p *Process) Begins(chain Chain, sequence uint64) bool {
	all := p.chains[chain]
	return len(all) > 0 && all[0].sequence == sequence
}

// Seek moves to the start of a chunk of another chain, keeping the buffer.
func (c *Cursor) Seek(p *Process, chain Chain, sequence uint64) {
	*c = Cursor{Size: c.Size, store: c.store, process: p, chain: chain, sequence: sequence - 1, ended: true, buf: c.buf[:0]}
}

// Next moves to the next records, in this chunk or a later one. It returns false if there are none so far.
func (c *Cursor) Next() bool { return c.Remaining() > 0 || c.advance() }

// Remaining is the number of bytes of records left in this chunk.
func (c *Cursor) Remaining() uint32 {
	if c.ended || c.done > c.limit {
		return 0
	}
	return c.limit - c.done
}

// Chunk returns the chunk's sequence number and its first time.
func (c *Cursor) Chunk() (sequence, first uint64) { return c.sequence, c.first }

// Skip moves past n bytes.
func (c *Cursor) Skip(n uint32) { c.done += n }

// Damaged reports damage at the current position.
func (c *Cursor) Damaged(format string, args ...any) {
	if !c.torn { // else it is reported already
		c.store.meet(&DamageError{c.file, c.at + int64(c.done), fmt.Sprintf(format, args...)})
	}
}

// SkipChunk skips the rest of the chunk.
func (c *Cursor) SkipChunk() { c.ended = true }

func (c *Cursor) refs() []ref { return c.process.chains[c.chain] }

// advance moves to the next chunk that has records to read.
func (c *Cursor) advance() bool {
	if c.live && !c.ended {
		more, wait := c.again()
		if more || wait {
			return more
		}
	}
	for {
		refs := c.refs()
		i, found := findRef(refs, c.sequence)
		if found {
			i++
		}
		if i == len(refs) {
			return false
		}
		switch err := c.follow(refs[i].sequence, c.load); {
		case err == nil:
			return true
		case !errors.Is(err, errMoved): // else the ring has overwritten it
			c.store.meet(err)
		}
	}
}

// again reads a chunk that was still being filled, wherever it is now. more reports new records; wait that there may be
// some later.
func (c *Cursor) again() (more, wait bool) {
	err := c.follow(c.sequence, func(x ref) error {
		done := c.done
		err := c.load(x)
		c.done = done
		more = err == nil && c.done < c.limit
		refs := c.refs()
		wait = c.live && x == refs[len(refs)-1] // a chunk with a successor is complete
		return err
	})
	if err != nil && !errors.Is(err, errMoved) {
		c.store.meet(err)
	}
	return more, wait && err == nil
}

// follow calls do with a chunk, again if it has moved meanwhile: chunks of a running job move.
func (c *Cursor) follow(sequence uint64, do func(ref) error) error {
	err := errMoved
	for range 5 {
		refs := c.refs()
		i, found := findRef(refs, sequence)
		if !found {
			break
		}
		x := refs[i]
		if err = do(x); !errors.Is(err, errMoved) || x.at&(refLive|refRing) == 0 {
			return err
		}
		if err := c.store.Refresh(); err != nil {
			return err
		}
	}
	c.sequence, c.ended = sequence, true
	return err
}

func findRef(refs []ref, sequence uint64) (int, bool) {
	return slices.BinarySearchFunc(refs, sequence, func(x ref, s uint64) int { return cmp.Compare(x.sequence, s) })
}

// load moves to the start of a chunk.
func (c *Cursor) load(x ref) error {
	c.sequence, c.done, c.limit, c.bufAt, c.buf, c.ended, c.torn = x.sequence, 0, 0, 0, c.buf[:0], false, false
	if c.live = x.at&refLive != 0; c.live {
		return c.loadSlot(x)
	}
	f, at := c.process.node, int64(x.at&^refWhere)
	if x.at&refRing != 0 {
		f = c.process.ring
	}
	head := c.room(liveHead)
	c.buf = head[:0]
	n, err := c.store.files.readAt(f.path, head, at)
	if err != nil {
		return err
	}
	k, err := parseChunk(head[:n])
	switch {
	case err != nil || k.sequence != x.sequence || k.stream != c.process.Stream:
		c.ended = true
		return errMoved
	case k.headBytes > n:
		return &DamageError{f.name(), at, "the file ends within a chunk's head"}
	}
	c.file, c.path, c.at, c.limit, c.first = f.name(), f.path, at+int64(k.headBytes), k.used, k.first
	if torn, ok := f.torn[at]; ok {
		c.limit, c.torn = uint32(max(torn-int64(k.headBytes), 0)), true
		return nil
	}
	err = c.check(checksum(head[:k.headBytes]), &k)
	if c.ended = err != nil; err != nil && c.process.Unfinished() { // it is being written, or the ring overwrites it
		return errMoved
	}
	if err != nil {
		return &DamageError{f.name(), at, err.Error()}
	}
	return nil
}

// check verifies a chunk's checksum before its contents are used.
func (c *Cursor) check(sum uint32, k *chunk) error {
	for at := uint32(0); at < k.used; {
		n := min(k.used-at, uint32(c.Size))
		b := c.room(int(n))
		m, err := c.store.files.readAt(c.path, b, c.at+int64(at))
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

// room returns a buffer of n bytes.
func (c *Cursor) room(n int) []byte {
	if cap(c.buf) < n {
		c.buf = make([]byte, n)
	}
	return c.buf[:n]
}

func (c *Cursor) loadSlot(x ref) error {
	file, slot := int(x.at&^refWhere>>refFile), int(uint32(x.at))
	if file >= len(c.process.live) {
		return errMoved
	}
	l := c.process.live[file]
	h, err := openRegular(l.path)
	if err != nil {
		return errMoved
	}
	defer h.Close()
	l.File = h
	b, k, err := readSlot(&l, slot)
	switch {
	case err != nil:
		return &DamageError{l.path, l.slotAt(slot), err.Error()}
	case b == nil || k.sequence != x.sequence:
		return errMoved
	}
	c.file, c.path, c.at = l.path, l.path, l.slotAt(slot)+chunkHead
	c.buf, c.limit, c.first = b, k.used, k.first
	return nil
}

// Reread fills b with the current bytes at an offset of the chunk's records. It returns false if the chunk is in a file, which
// is final.
func (c *Cursor) Reread(b []byte, at uint32) bool {
	if !c.live {
		return false
	}
	h, err := openRegular(c.path)
	if err != nil {
		return false
	}
	defer h.Close()
	n, err := readAt(h, b, c.at+int64(at))
	k, headErr := headAt(h, c.at-chunkHead)
	return err == nil && n == len(b) && headErr == nil && k.sequence == c.sequence
}

// Bytes returns the next n bytes of records, valid until the next call. It fails if the chunk has fewer bytes left, or
// has moved meanwhile.
func (c *Cursor) Bytes(n uint32) ([]byte, error) {
	if n > c.limit-c.done {
		return nil, fmt.Errorf("a record of %d bytes where %d are left", n, c.limit-c.done)
	}
	if from := c.done - c.bufAt; c.done >= c.bufAt && uint64(from)+uint64(n) <= uint64(len(c.buf)) {
		return c.buf[from : from+n], nil
	}
	if c.live {
		return nil, errMoved
	}
	b := c.room(int(min(max(uint32(c.Size), n), c.limit-c.done)))
	m, err := c.store.files.readAt(c.path, b, c.at+int64(c.done))
	if err != nil || m < len(b) {
		return nil, fmt.Errorf("only %d of %d bytes could be read: %v", m, len(b), err)
	}
	c.buf, c.bufAt = b, c.done
	return b[:n], nil
}
