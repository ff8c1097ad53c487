package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// liveFile is one memory file of a process.
type liveFile struct {
	path     string
	head     live
	*os.File // open while it is read
}

const maxFiles = 64 // per process, without the first

// manifests reads the manifests of a directory. They are created by a rename, never half written.
func (s *Store) manifests(names []string) []*manifest {
	var all []*manifest
	for _, name := range names {
		if !strings.HasSuffix(name, ".mpxm") {
			continue
		}
		path := filepath.Join(s.Dir, name)
		m, err := readManifest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // its process has just ended
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
	b := make([]byte, maxManifest)
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
			return nil, fmt.Errorf("the manifest names the live file %q, not a plain file name", m.path)
		}
		m.path = filepath.Join(filepath.Dir(path), m.path)
	}
	return &m, nil
}

// openLive opens a manifest's live file. The error is fs.ErrNotExist if the file is not on this machine.
func openLive(m *manifest) (liveFile, error) {
	f, err := openLiveFile(m.path)
	if err == nil && (f.head.stream != m.stream || f.head.runID != m.runID) {
		f.Close()
		err = fs.ErrNotExist // another process's file with the same name
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

// openLives opens all live files of a manifest's process. An error about one that exists is fs.ErrNotExist only if the first is missing.
func openLives(m *manifest) ([]liveFile, error) {
	first, err := openLive(m)
	if err != nil {
		return nil, err
	}
	all := []liveFile{first}
	for len(all) <= maxFiles { // numbers have no gaps
		f, err := openLiveFile(furtherFile(m.path, len(all)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return all, nil
		case errors.Is(err, errNotLive), err == nil && (f.head.stream != m.stream || f.head.runID != m.runID):
			f.Close()
			return all, nil // it is being created
		case err != nil:
			closeAll(all)
			return nil, err
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

// furtherFile is the path of a process's live file with a number from 1.
func furtherFile(path string, number int) string {
	return fmt.Sprintf("%s-%d.live", strings.TrimSuffix(path, ".live"), number)
}

// removeLives removes a process's live files. The first one goes last, as the others are found through it.
func removeLives(path string) error {
	n := 0
	for ; n < maxFiles; n++ {
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

// readLive reads a process's memory files.
func (s *Store) readLive(m *manifest) {
	p := s.process(m.stream, m.rank, m.runID)
	if p == nil {
		s.damaged(&DamageError{m.path, 0, "a manifest of another run"})
		return
	}
	p.manifest, p.Host, p.PID = m, m.host, m.pid
	if onOtherMachine(m) { // a file that another machine has mapped is not up to date here
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
	for _, b := range lastChunks(&lives[0]) { // read before the slots, so that samples in slots are newer
		s.lasts(p, &chunk{}, b[chunkHead:])
	}
	newest := uint64(0)
	for i := range lives {
		newest = max(newest, newestChunk(&lives[i], false))
	}
	for i := range lives {
		s.readSlots(p, i, newest)
	}
}

// readSlots indexes the chunks of a live file up to a sequence number. Later ones must wait: an earlier one may be in a slot
// that was already read.
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

// newestChunk is the highest sequence number in the slots, with those whose chunk is in a file if freed is true. All
// earlier chunks are in slots or in files.
func newestChunk(f *liveFile, freed bool) (newest uint64) {
	var head [chunkHead]byte
	for i := range f.head.slots {
		if n, err := readAt(f.File, head[:], f.slotAt(i)); err == nil && n == chunkHead && (freed || le.Uint32(head[60:]) != slotFree) {
			newest = max(newest, le.Uint64(head[40:]))
		}
	}
	return newest
}

// readSlot copies a slot's records. They are nil if the slot is free or was reused meanwhile.
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
			return nil, c, nil // it was being changed
		}
		if err == nil {
			err = fmt.Errorf("a chunk has %d bytes, its slot %d", c.size(), f.head.chunkBytes)
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
