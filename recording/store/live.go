package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// liveFile is one of a process's memory files.
type liveFile struct {
	path     string
	head     live
	*os.File // while it is read
}

const mostFiles = 64 // further ones

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
func openLive(m *manifest) (liveFile, error) {
	f, err := openLiveFile(m.path)
	if err == nil && (f.head.stream != m.stream || f.head.runID != m.runID) {
		f.Close()
		err = fs.ErrNotExist // another process's file by the same name
	}
	return f, err
}

func openLiveFile(path string) (liveFile, error) {
	h, err := openRegular(path)
	if err != nil {
		return liveFile{}, err
	}
	var head [liveHead]byte
	n, err := readAt(h, head[:], 0)
	l, parseErr := parseLive(head[:n])
	if err == nil {
		err = parseErr
	}
	if err != nil {
		h.Close()
	}
	return liveFile{path, l, h}, err
}

// openLives opens all live files of a manifest's process.
func openLives(m *manifest) ([]liveFile, error) {
	first, err := openLive(m)
	if err != nil {
		return nil, err
	}
	all := []liveFile{first}
	for len(all) <= mostFiles { // they are numbered without a gap
		f, err := openLiveFile(furtherFile(m.path, len(all)))
		if err != nil || f.head.stream != m.stream || f.head.runID != m.runID {
			f.Close()
			break // or it is being made
		}
		all = append(all, f)
	}
	return all, nil
}

func closeAll(files []liveFile) {
	for _, f := range files {
		f.Close()
	}
}

// furtherFile is the path of a process's further live file.
func furtherFile(path string, number int) string {
	return fmt.Sprintf("%s-%d.live", strings.TrimSuffix(path, ".live"), number)
}

// removeLives removes a process's live files: the first one, by which the others are found, last.
func removeLives(path string) error {
	n := 0
	for ; n < mostFiles; n++ {
		if _, err := os.Lstat(furtherFile(path, n+1)); err != nil {
			break
		}
	}
	for ; n > 0; n-- {
		if err := os.Remove(furtherFile(path, n)); err != nil {
			return err
		}
	}
	return os.Remove(path)
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
	lives, err := openLives(m)
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
	defer closeAll(lives)
	p.live, p.Counters = lives, &lives[0].head.counters
	for _, b := range lastChunks(&lives[0]) { // before the slots: a sample that is there is then known to be newer
		s.lasts(p, &chunk{}, b[chunkHead:])
	}
	newest := uint64(0)
	for i := range lives {
		newest = max(newest, newestChunk(&lives[i]))
	}
	for i := range lives {
		s.readSlots(p, i, newest)
	}
}

// readSlots takes in the chunks of a live file up to a number. The chunk before a later one may be in a slot that was passed.
func (s *Store) readSlots(p *Process, file int, newest uint64) {
	l := &p.live[file]
	for i := range l.head.slots {
		b, c, err := readSlot(l, i)
		switch {
		case err != nil:
			s.damagedAt(l.path, l.slotAt(i), "%v", err)
		case b == nil || c.stream != p.Stream || c.sequence > newest:
		case c.kind == KindSamples || c.kind == KindEvents || c.kind == KindTable:
			p.note(&c, uint64(file)<<refFile|uint64(i)|refLive)
		case c.kind == kindMeta:
			if n, err := s.part(p, &c, b, c.state == slotSealed); err != nil {
				s.damagedAt(l.path, l.slotAt(i)+int64(n), "%v", err)
			}
		}
	}
}

func (f *liveFile) slotAt(i int) int64 { return liveHead + int64(i)*int64(f.head.chunkBytes) }

// newestChunk is the highest number of a chunk in the slots. All before it are in slots, or have moved to files.
func newestChunk(f *liveFile) (newest uint64) {
	var head [chunkHead]byte
	for i := range f.head.slots {
		if n, err := readAt(f.File, head[:], f.slotAt(i)); err == nil && n == chunkHead && le.Uint32(head[60:]) != slotFree {
			newest = max(newest, le.Uint64(head[40:]))
		}
	}
	return newest
}

// readSlot copies a slot's records; nil where it is free, or was taken for something else meanwhile.
func readSlot(f *liveFile, i int) ([]byte, chunk, error) {
	var head, again [chunkHead]byte
	h, at := f.File, f.slotAt(i)
	if n, err := readAt(h, head[:], at); err != nil || n < chunkHead {
		return nil, chunk{}, err
	}
	state, sequence := le.Uint32(head[60:]), le.Uint64(head[40:])
	if (state != slotOpen && state != slotSealed) || sequence == 0 {
		return nil, chunk{}, nil
	}
	c, err := parseChunk(head[:])
	if err != nil || c.headBytes != chunkHead || c.size() > int64(f.head.chunkBytes) {
		if _, e := readAt(h, again[:], at); e == nil && again != head {
			return nil, c, nil // it was changing
		}
		if err == nil {
			err = fmt.Errorf("a chunk of %d bytes in a slot of %d", c.size(), f.head.chunkBytes)
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
