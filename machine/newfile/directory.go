package newfile

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Stopped is the error of [Directory] if a signal stopped it.
type Stopped struct{ Signal os.Signal }

func (s *Stopped) Error() string { return "stopped by a signal (" + s.Signal.String() + ")" }

// Vacant reports why a path cannot become a directory with new files; nil: nothing is there, or an empty directory. The error is
// [fs.ErrExist] if something is there.
func Vacant(path string) error {
	_, st, err := Target(path)
	switch {
	case err != nil || st == nil:
		return err
	case !st.IsDir():
		return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
	}
	entries, err := os.ReadDir(path)
	if err == nil && len(entries) > 0 {
		err = &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
	}
	return err
}

// Directory makes a directory with all its files or not at all: fill writes them under a temporary name next to it. If something is there
// already, it must be [Vacant]. A signal ends it: the files are removed, and the error is [Stopped], while fill may still run and fail.
func Directory(path string, stop <-chan os.Signal, fill func(dir string) error) error {
	target, st, err := Target(filepath.Clean(path))
	if err == nil {
		err = Vacant(path)
	}
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%08x", filepath.Base(target), rand.Uint32()))
	if err = os.Mkdir(temp, 0o777); err != nil {
		return err
	}
	if st != nil {
		os.Chmod(temp, st.Mode().Perm())
	}
	filled := make(chan error, 1)
	go func() { filled <- fill(temp) }()
	select {
	case err = <-filled:
	case s := <-stop:
		err = &Stopped{s}
	}
	if err == nil && st != nil {
		err = os.Remove(target)
	}
	if err == nil {
		err = os.Rename(temp, target)
	}
	if err != nil {
		if os.Rename(temp, temp+"~") == nil { // fill can make no more files
			temp += "~"
		}
		os.RemoveAll(temp)
	}
	return err
}
