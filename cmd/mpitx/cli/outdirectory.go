package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"mpitx/machine"
	"mpitx/machine/keep"
	"mpitx/machine/newfile"
	"mpitx/text"
)

// CheckDirectory is Check for a directory instead of a file.
func (x *OutFile) CheckDirectory() error {
	if x.overwrite {
		return Usagef("--overwrite replaces a file, not a directory; remove %s, or name another directory with %s", text.Quote(x.Out), "--out")
	}
	if err := newfile.Vacant(x.Out); err != nil {
		return x.noDirectory(err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(filepath.Clean(x.Out)), ".mpitx-*")
	if err != nil {
		return Failf("%s: %v; name a directory that can be made", x.given(), machine.Cause(err))
	}
	os.Remove(dir)
	return nil
}

// CreateDirectory makes a directory with all its files or not at all: see [newfile.Directory].
func (x *OutFile) CreateDirectory(fill func(dir string) error) error {
	stop := make(chan os.Signal, 1)
	keep.Endings(stop)
	defer keep.Stop(stop)
	err := newfile.Directory(x.Out, stop, fill)
	if stopped := new(newfile.Stopped); errors.As(err, &stopped) {
		keep.Die(stopped.Signal.(syscall.Signal))
	}
	return x.noDirectory(err)
}

func (x *OutFile) noDirectory(err error) error {
	if !errors.Is(err, fs.ErrExist) {
		return x.failed(x.Out, err)
	}
	if st, problem := os.Stat(x.Out); problem == nil && !st.IsDir() {
		return Usagef("%s: this is a file; name a directory that is empty or does not exist", x.given())
	}
	return Usagef("%s: the directory is not empty; name one that is empty or does not exist", x.given())
}
