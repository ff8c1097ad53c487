package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// mostOpen bounds the files held open at once: a run has one for each node, and a running one for each rank.
const mostOpen = 48

// files opens files, never through a symbolic link, and keeps the last ones open.
type files struct {
	open map[string]*os.File
	last []string // the order of opening
}

func (f *files) get(path string) (*os.File, error) {
	if h := f.open[path]; h != nil {
		return h, nil
	}
	h, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	if f.open == nil {
		f.open = map[string]*os.File{}
	}
	for len(f.last) >= mostOpen {
		f.drop(f.last[0])
	}
	f.open[path] = h
	f.last = append(f.last, path)
	return h, nil
}

func (f *files) drop(path string) {
	for i, p := range f.last {
		if p == path {
			f.last = append(f.last[:i:i], f.last[i+1:]...)
			break
		}
	}
	if h := f.open[path]; h != nil {
		h.Close()
		delete(f.open, path)
	}
}

func (f *files) close() {
	for len(f.last) > 0 {
		f.drop(f.last[0])
	}
}

// openRegular opens a file for reading: not a link, not a pipe that would wait for a writer.
func openRegular(path string) (*os.File, error) {
	h, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := h.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// dataFile is a file of chunks.
type dataFile struct {
	path    string
	ring    bool  // chunks lie at multiples of their room, the newest over the oldest
	scanned int64 // what comes before is in the index
	before  int64 // where the last chunk before scanned begins, -1: none
	torn    map[int64]int64
}

func (f *dataFile) name() string { return filepath.Base(f.path) }

// readAt fills b from a file, and says how much there was.
func readAt(h *os.File, b []byte, at int64) (int, error) {
	n, err := h.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
