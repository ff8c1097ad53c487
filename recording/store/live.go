package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// liveFile is a process's memory file.
type liveFile struct {
	path string
	head live
}

// manifests reads the manifests of a directory. They come into being whole.
func (s *Store) manifests(names []string) []*manifest {
	var all []*manifest
	for _, name := range names {
		if !strings.HasSuffix(name, ".mpxm") {
			continue
		}
		path := filepath.Join(s.Dir, name)
		m, err := readManifest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // its process ended just now
		case err != nil:
			s.damagedAt(name, 0, "%v", err)
		default:
			all = append(all, m)
		}
	}
	return all
}

func readManifest(path string) (*manifest, error) {
	h, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	b := make([]byte, mostManifest)
	n, err := readAt(h, b, 0)
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(b[:n])
	if err != nil {
		return nil, err
	}
	m.file = path
	if !filepath.IsAbs(m.path) && !strings.HasPrefix(m.path, "/") {
		if m.path == "" || m.path != filepath.Base(m.path) {
			return nil, fmt.Errorf("the manifest names %q as the live file", m.path)
		}
		m.path = filepath.Join(filepath.Dir(path), m.path)
	}
	return &m, nil
}

// openLive opens a manifest's live file; fs.ErrNotExist if it is not on this machine.
func openLive(m *manifest) (*os.File, live, error) {
	h, err := openRegular(m.path)
	if err != nil {
		return nil, live{}, err
	}
	var head [liveHead]byte
	n, err := readAt(h, head[:], 0)
	l, parseErr := parseLive(head[:n])
	if err == nil {
		err = parseErr
	}
	if err == nil && (l.stream != m.stream || l.runID != m.runID) {
		err = fs.ErrNotExist // another process's file by the same name
	}
	if err != nil {
		h.Close()
		return nil, l, err
	}
	return h, l, nil
}

// readLive takes in what a process has in memory.
func (s *Store) readLive(m *manifest) {
	p := s.process(m.stream, m.rank, m.runID)
	if p == nil {
		s.damaged(&DamageError{m.path, 0, "a manifest of another run"})
		return
	}
	p.manifest, p.Host, p.PID = m, m.host, m.pid
	if elsewhere(m) { // on a shared file system, what another machine has mapped is not up to date
		return
	}
	h, l, err := openLive(m)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(m.file); errors.Is(err, fs.ErrNotExist) {
			p.manifest = nil // its process has ended meanwhile
		}
		return
	}
	if err != nil {
		s.damagedAt(m.path, 0, "%v", err)
		return
	}
	defer h.Close()
	p.live, p.Counters = &liveFile{m.path, l}, &l.counters
	for _, b := range lastChunks(h, &l) { // before the slots: a sample that is there is then known to be newer
		s.lasts(p, &chunk{}, b[chunkHead:])
	}
	newest := newestChunk(h, &l)
	for i := range l.slots {
		b, c, err := readSlot(h, &l, i)
		switch {
		case err != nil:
			s.damagedAt(m.path, slotAt(&l, i), "%v", err)
		case b == nil || c.stream != m.stream || c.sequence > newest: // the one before it may be in a slot that we have passed
		case c.kind == KindSamples:
			p.note(&c, uint64(i)|refLive)
		case c.kind == kindMeta:
			if n, err := s.part(p, &c, b, c.state == slotSealed); err != nil {
				s.damagedAt(m.path, slotAt(&l, i)+int64(n), "%v", err)
			}
		}
	}
}

func slotAt(l *live, i int) int64 { return liveHead + int64(i)*int64(l.chunkBytes) }

// newestChunk is the highest number of a chunk in the slots. All before it are in slots, or have moved to files.
func newestChunk(h *os.File, l *live) (newest uint64) {
	var head [chunkHead]byte
	for i := range l.slots {
		if n, err := readAt(h, head[:], slotAt(l, i)); err == nil && n == chunkHead && le.Uint32(head[60:]) != slotFree {
			newest = max(newest, le.Uint64(head[40:]))
		}
	}
	return newest
}

// readSlot copies a slot's records; nil where it is free, or was taken for something else meanwhile.
func readSlot(h *os.File, l *live, i int) ([]byte, chunk, error) {
	var head, again [chunkHead]byte
	at := slotAt(l, i)
	if n, err := readAt(h, head[:], at); err != nil || n < chunkHead {
		return nil, chunk{}, err
	}
	state, sequence := le.Uint32(head[60:]), le.Uint64(head[40:])
	if (state != slotOpen && state != slotSealed) || sequence == 0 {
		return nil, chunk{}, nil
	}
	c, err := parseChunk(head[:])
	if err != nil || c.headBytes != chunkHead || c.size() > int64(l.chunkBytes) {
		if _, e := readAt(h, again[:], at); e == nil && again != head {
			return nil, c, nil // it was changing
		}
		if err == nil {
			err = fmt.Errorf("a chunk of %d bytes in a slot of %d", c.size(), l.chunkBytes)
		}
		return nil, c, err
	}
	b := make([]byte, c.used)
	if n, err := readAt(h, b, at+chunkHead); err != nil || n < len(b) {
		return nil, c, err
	}
	if n, err := readAt(h, again[:], at); err != nil || n < chunkHead || le.Uint64(again[40:]) != sequence {
		return nil, c, err
	}
	return b, c, nil
}
