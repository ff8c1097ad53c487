package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// maxOpen bounds the open files: an ended run has one for each node, a running one also one for each rank.
const maxOpen = 48

// files opens files, never through symbolic links, and keeps the latest ones open. Several goroutines may call readAt.
type files struct {
	lock sync.RWMutex
	open map[string]*os.File
	last []string // in the order of opening
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
	for len(f.last) >= maxOpen {
		f.drop(f.last[0])
	}
	f.open[path] = h
	f.last = append(f.last, path)
	return h, nil
}

// readAt is [readAt] of a file.
func (f *files) readAt(path string, b []byte, at int64) (int, error) {
	f.lock.RLock()
	if h := f.open[path]; h != nil {
		defer f.lock.RUnlock()
		return readAt(h, b, at)
	}
	f.lock.RUnlock()
	f.lock.Lock() // nobody reads a file that is closed for this one
	defer f.lock.Unlock()
	h, err := f.get(path)
	if err != nil {
		return 0, err
	}
	return readAt(h, b, at)
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

// openRegular opens a regular file for reading. It refuses links, and pipes, which would block.
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
	ring    bool            // chunks have fixed places, and the newest overwrites the oldest
	scanned int64           // the bytes before it are indexed
	before  int64           // offset of the last chunk before scanned; -1: none
	torn    map[int64]int64 // torn chunks: offset to number of bytes
}

// tornAt notes that a file has only the first size bytes of a chunk.
func (f *dataFile) tornAt(at, size int64) {
	if f.torn == nil {
		f.torn = map[int64]int64{}
	}
	f.torn[at] = size
}

func (f *dataFile) name() string { return filepath.Base(f.path) }

// readAt fills b from a file and returns the number of bytes read. The end of the file is not an error.
func readAt(h *os.File, b []byte, at int64) (int, error) {
	n, err := h.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
