package cli

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

	"github.com/spf13/cobra"

	"mpitx/machine"
	"mpitx/machine/owned"
	"mpitx/text"
)

// OutFile is the file of --out. All commands have one rule: a file that exists stays, and the command refuses before it starts anything,
// unless --overwrite is given.
type OutFile struct {
	Out       string // "" or "-": standard output
	overwrite bool
}

func (x *OutFile) Flags(cmd *cobra.Command, types ...string) {
	cmd.Flags().Var((*outName)(&x.Out), "out", "write to this `FILE`, which must not exist, unless --overwrite is given")
	cmd.Flags().BoolVar(&x.overwrite, "overwrite", false, "replace the file of --out if it exists")
	cmd.MarkFlagFilename("out", types...)
}

// outName is the value of --out. It may be given once only: with two files, the first would not be written.
type outName string

func (n *outName) String() string { return string(*n) }
func (n *outName) Type() string   { return "string" }
func (n *outName) Set(name string) error {
	if *n != "" {
		return fmt.Errorf("--out %s is already given; name one file", text.Quote(string(*n)))
	}
	*n = outName(name)
	return nil
}

// Named says whether there is a file.
func (x *OutFile) Named() bool { return x.Out != "" && x.Out != "-" }

// Unused reports a file that exists and may not be replaced.
func (x *OutFile) Unused() error {
	if st, err := os.Stat(x.Out); x.Named() && !x.overwrite && err == nil && st.Mode().IsRegular() {
		return errExists(x.Out)
	}
	return nil
}

// Check reports, before anything is read or started, whether the file can be written.
func (x *OutFile) Check() error {
	if !x.Named() {
		return nil
	}
	_, st, err := targetOf(x.Out)
	if err != nil {
		return err
	}
	if st != nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return Usagef("--out %s: this is a directory; name a file", x.Out)
		}
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(x.Out), ".mpitx-*")
	if err != nil {
		return Failf("--out %s: %v; name a file that can be written", x.Out, machine.Cause(err))
	}
	f.Close()
	os.Remove(f.Name())
	return x.Unused()
}

// Create writes the file.
func (x *OutFile) Create(write func(io.Writer) error) error {
	_, err := createFile(x.Out, "", x.then(keepIt), write)
	return err
}

// then is what happens if the file exists after all.
func (x *OutFile) then(otherwise existing) existing {
	if x.overwrite {
		return replaceIt
	}
	return otherwise
}

// existing decides what happens if the file to write exists.
type existing uint8

const (
	keepIt   existing = iota // fail
	NumberIt                 // give the new file a number, samples-2.csv: the data cannot be recorded again
	replaceIt
)

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
// pipe, /dev/stdout) is written directly. Links and pipes that another user placed are refused.
func createFile(path, part string, then existing, write func(io.Writer) error) (string, error) {
	target, st, err := targetOf(path)
	if err != nil {
		return path, err
	}
	if st != nil && !st.Mode().IsRegular() {
		if st.Mode()&fs.ModeNamedPipe != 0 { // there may never be a reader
			signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return path, writeFailed(path, err)
		}
		return path, writeAndClose(path, f, write)
	}
	place := func(temp string) (string, error) { return placeFile(temp, path, then) }
	if then == replaceIt {
		place = func(temp string) (string, error) { return path, writeFailed(path, os.Rename(temp, target)) }
	} else if st != nil {
		target = path // as errors name it
	} else {
		place = func(temp string) (string, error) { // a link leads to where nothing is
			name, err := placeFile(temp, target, then)
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
		return path, writeFailed(path, err)
	}
	if then == replaceIt && st != nil && !owned.Another(st) {
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

// targetOf is where a path leads, and what is there; nil: nothing.
func targetOf(path string) (target string, st os.FileInfo, err error) {
	target, err = owned.Follow(path)
	var another *owned.Error
	if errors.As(err, &another) {
		return path, nil, Failf("--out %s: %s; name another file", text.Quote(path), another.Why)
	}
	if st, err = os.Stat(path); err != nil {
		return target, nil, nil
	}
	if st.Mode()&fs.ModeNamedPipe != 0 && owned.Another(st) {
		return path, nil, Failf("--out %s: a pipe of another user; name another file", text.Quote(path))
	}
	return target, st, nil
}

// placeFile moves a file to its final name, or to the next free one.
func placeFile(temp, path string, then existing) (string, error) {
	for n := 1; ; n++ {
		name := numbered(path, n)
		err := renameNew(temp, name)
		switch {
		case errors.Is(err, fs.ErrExist) && then == NumberIt:
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
	return Usagef("--out %s: the file exists; name another, or replace it with --overwrite", text.Quote(path))
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
	var own *ExitError
	var located *machine.Error
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
	return Failf("write: %s: %v", path, machine.Cause(err))
}
