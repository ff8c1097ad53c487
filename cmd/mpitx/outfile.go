package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/origin"
)

// existing decides what happens if the file to write exists.
type existing uint8

const (
	keepIt   existing = iota // fail
	numberIt                 // give the new file a number: samples-2.csv
	replaceIt
)

// freeName is the first of path, path-2, … that is not an existing regular file.
func freeName(path string) string {
	for n := 1; ; n++ {
		name := numbered(path, n)
		if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
			return name
		}
	}
}

func numbered(path string, n int) string {
	if n == 1 {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-" + strconv.Itoa(n) + ext
}

// createFile writes a file completely or not at all, under a temporary name first, and returns its name. part is part
// of the temporary name, so that a second attempt after a kill replaces the file of the first; "" means a random name.
// A replaced file keeps its mode, and is replaced at the target of a symbolic link. Anything but a regular file (a
// pipe, /dev/stdout) is written directly.
func createFile(path, part string, then existing, write func(io.Writer) error) (string, error) {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return path, writeFailed(path, err)
		}
		return path, writeAndClose(path, f, write)
	}
	place := func(temp string) (string, error) { return placeFile(temp, path, then) }
	target := path
	if then == replaceIt {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			target = real
		}
		place = func(temp string) (string, error) { return path, writeFailed(path, os.Rename(temp, target)) }
	}
	if part == "" {
		part = fmt.Sprintf("%08x", rand.Uint32())
	}
	temp := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+"."+part)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return path, writeFailed(path, err)
	}
	if then == replaceIt && st != nil {
		f.Chmod(st.Mode().Perm())
	}
	if err = writeAndClose(path, f, write); err == nil {
		path, err = place(temp)
	}
	if err != nil {
		os.Remove(temp)
	}
	return path, err
}

// placeFile moves a file to its final name, or to the next free one.
func placeFile(temp, path string, then existing) (string, error) {
	for n := 1; ; n++ {
		name := numbered(path, n)
		err := renameNew(temp, name)
		switch {
		case errors.Is(err, fs.ErrExist) && then == numberIt:
			continue
		case errors.Is(err, fs.ErrExist):
			return path, errExists(path)
		case err != nil:
			return path, writeFailed(name, err)
		}
		return name, nil
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

func errExists(path string) error {
	return usagef("--out %s: the file exists; name another, or replace it with --overwrite", origin.Quote(path))
}

// causeOf is an error without its path, which the message names already.
func causeOf(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

func writeAndClose(path string, f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<16)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	var own *exitError
	var located *locate.Error
	switch {
	case errors.As(err, &own) || errors.As(err, &located):
		return err
	}
	return writeFailed(path, err)
}

func writeFailed(path string, err error) error {
	if err == nil {
		return nil
	}
	return failf("write: %s: %v", path, causeOf(err))
}
