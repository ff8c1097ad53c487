// Package newfile writes a file completely or not at all, and through no link or pipe that another user placed.
package newfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"mpitx/machine/owned"
)

// Existing decides what happens if the file to write exists.
type Existing uint8

const (
	Keep   Existing = iota // fail
	Number                 // give the new file a number, samples-2.csv: the data cannot be recorded again
	Replace
)

func numbered(path string, n int) string {
	if n == 1 {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-" + strconv.Itoa(n) + ext
}

// Write writes a file completely or not at all, under a temporary name first, and returns its name. part is part of the
// temporary name, so that a second attempt after a kill replaces the file of the first; "" means a random name. A
// replaced file keeps its mode, and is replaced at the target of a symbolic link. Anything but a regular file (a pipe,
// /dev/stdout) is written directly. Links and pipes that another user placed are refused: an [owned.Error]. The error
// is [fs.ErrExist] if the file exists and is kept.
func Write(path, part string, ifExists Existing, write func(io.Writer) error) (string, error) {
	target, st, err := Target(path)
	if err != nil {
		return path, err
	}
	if st != nil && !st.Mode().IsRegular() {
		if st.Mode()&fs.ModeNamedPipe != 0 { // there may never be a reader
			signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return path, err
		}
		return path, writeAndClose(f, write)
	}
	place := func(temp string) (string, error) { return placeFile(temp, path, ifExists) }
	if ifExists == Replace {
		place = func(temp string) (string, error) { return path, os.Rename(temp, target) }
	} else if st != nil {
		target = path // as errors name it
	} else {
		place = func(temp string) (string, error) { // a link leads to where nothing is
			name, err := placeFile(temp, target, ifExists)
			if name == target {
				name = path
			}
			return name, err
		}
	}
	if part == "" {
		part = fmt.Sprintf("%08x", rand.Uint32())
	}
	temp := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+"."+part)
	f, err := owned.Create(temp, 0o666)
	if err != nil {
		return path, err
	}
	if ifExists == Replace && st != nil && !owned.Another(st) {
		f.Chmod(st.Mode().Perm())
	}
	if err = writeAndClose(f, write); err == nil {
		path, err = place(temp)
	}
	if err != nil {
		os.Remove(temp)
	}
	return path, err
}

// Target is where a path leads, and what is there; nil: nothing. It fails only for a link or a pipe that another user
// placed: an [owned.Error].
func Target(path string) (target string, st os.FileInfo, err error) {
	target, err = owned.Follow(path)
	var another *owned.Error
	if errors.As(err, &another) {
		return path, nil, err
	}
	if st, err = os.Stat(path); err != nil {
		return target, nil, nil
	}
	if st.Mode()&fs.ModeNamedPipe != 0 && owned.Another(st) {
		return path, nil, &owned.Error{Path: path, Why: "a pipe of another user"}
	}
	return target, st, nil
}

// placeFile moves a file to its final name, or to the next free one.
func placeFile(temp, path string, ifExists Existing) (string, error) {
	for n := 1; ; n++ {
		name := numbered(path, n)
		err := renameNew(temp, name)
		switch {
		case errors.Is(err, fs.ErrExist) && ifExists == Number:
			continue
		case errors.Is(err, fs.ErrExist):
			return path, err
		}
		return name, err
	}
}

// reserve renames a file to a name that does not exist, where the system cannot do that in one step. A process that is
// killed in between leaves an empty file.
func reserve(temp, name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	f.Close()
	if err = os.Rename(temp, name); err != nil {
		os.Remove(name)
	}
	return err
}

func writeAndClose(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<16)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
