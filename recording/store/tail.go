package store

import "path/filepath"

const (
	maxLasts = 64
	maxTail  = 64 << 20
)

// lastChunks reads the chunks of last values after a live file's slots. A record that changes meanwhile gets time 0.
func lastChunks(f *liveFile) (all [][]byte) {
	h, at := f.File, f.slotAt(f.head.slots)
	for range maxLasts {
		var head [chunkHead]byte
		if n, err := readAt(h, head[:], at); err != nil || n < chunkHead {
			return all
		}
		c, err := parseChunk(head[:])
		if err != nil || c.kind != kindLast || c.stream != f.head.stream || c.headBytes != chunkHead {
			return all
		}
		b, again := make([]byte, c.size()), make([]byte, c.size())
		for _, to := range [][]byte{b, again} {
			if n, err := readAt(h, to, at); err != nil || n < len(to) {
				return all
			}
		}
		for i := chunkHead; i+recordHead <= len(b); {
			if string(b[i+8:i+16]) != string(again[i+8:i+16]) {
				clear(b[i+8 : i+16])
			}
			n := int(le.Uint32(b[i:]))
			if n < recordHead {
				break
			}
			i += n
		}
		all = append(all, b)
		at += int64(c.headBytes) + int64(c.capacity)
	}
	return all
}

// readTail reads a process's file of last values. It is all zeros until the process needs it, and written in place: only
// chunks with the right checksum count.
func (s *Store) readTail(name string) {
	h, err := openRegular(filepath.Join(s.Dir, name))
	if err != nil {
		return // its process has just ended
	}
	defer h.Close()
	for at := int64(0); at < maxTail; {
		c, err := headAt(h, at)
		if err != nil {
			return
		}
		b, ok := readChunk(h, at)
		if p := s.process(c.stream, c.rank, c.runID); ok && p != nil {
			switch records := b[c.headBytes:]; {
			case c.kind == kindLast:
				s.lasts(p, &c, records)
			case c.kind == kindMeta && !p.InMemory() && c.sequence > p.tailAt:
				p.tailAt = c.sequence
				if _, err := s.declared(p, c.sequence, records, true); err != nil {
					s.damagedAt(name, at, "%v", err)
				}
			}
		}
		at += c.size()
	}
}
