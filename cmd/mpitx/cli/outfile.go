package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"mpitx/machine"
	"mpitx/machine/newfile"
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
	_, st, err := newfile.Target(x.Out)
	if err != nil {
		return writeFailed(x.Out, err)
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
	_, err := x.write("", newfile.Keep, write)
	return err
}

// write writes the file, and returns its name: see [newfile.Write]. Without --overwrite, late decides what happens if it exists after all.
func (x *OutFile) write(part string, late newfile.Existing, write func(io.Writer) error) (string, error) {
	if x.overwrite {
		late = newfile.Replace
	}
	name, err := newfile.Write(x.Out, part, late, write)
	return name, writeFailed(name, err)
}

func errExists(path string) error {
	return Usagef("--out %s: the file exists; name another, or replace it with --overwrite", text.Quote(path))
}

// writeFailed says why a file was not written. The errors of writers that say what to do stay as they are.
func writeFailed(path string, err error) error {
	var own *ExitError
	var another *owned.Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.As(err, &another):
		return Failf("--out %s: %s; name another file", text.Quote(path), another.Why)
	case errors.Is(err, fs.ErrExist):
		return errExists(path)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Failf("write: %s: %v; free space there, or name a file elsewhere with --out", path, machine.Cause(err))
	}
	return Failf("write: %s: %v", path, machine.Cause(err))
}
