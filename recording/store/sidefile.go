package store

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
)

// ReadFile reads a file of the run that has no chunks. If it is there and cannot be read, or has more than most bytes, it is damaged, and
// ok is false.
func (s *Store) ReadFile(name string, most int64) (text []byte, ok bool) {
	h, err := openRegular(filepath.Join(s.Dir, name))
	if err == nil {
		defer h.Close()
		text, err = io.ReadAll(io.LimitReader(h, most+1))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false
	case err != nil:
		s.damaged(err)
		return nil, false
	case int64(len(text)) > most:
		s.Damaged(name, most, "the file goes on after its greatest size")
		return nil, false
	}
	return text, true
}

// Damaged adds a damaged place to those that Damage returns.
func (s *Store) Damaged(name string, at int64, format string, args ...any) {
	s.damagedAt(name, at, format, args...)
}
