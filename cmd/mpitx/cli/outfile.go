package cli

import (
	"cmp"
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
	flag      string // another one than --out; "": --out
	overwrite bool
}

func (x *OutFile) Flags(cmd *cobra.Command, types ...string) {
	x.FlagsAs(cmd, "out", "write to this `FILE`, which must not exist, unless --overwrite is given", types...)
}

// FlagsAs defines another flag than --out.
func (x *OutFile) FlagsAs(cmd *cobra.Command, flag, usage string, types ...string) {
	x.flag = flag
	cmd.Flags().Var((*outName)(&x.Out), flag, usage)
	cmd.Flags().BoolVar(&x.overwrite, "overwrite", false, "replace the file of --"+flag+" if it exists")
	cmd.MarkFlagFilename(flag, types...)
}

// given is the flag with the file's name, for messages.
func (x *OutFile) given() string { return "--" + cmp.Or(x.flag, "out") + " " + text.Quote(x.Out) }

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
		return x.exists()
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
		return x.failed(x.Out, err)
	}
	if st != nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return Usagef("%s: this is a directory; name a file", x.given())
		}
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(x.Out), ".mpitx-*")
	if err != nil {
		return Failf("%s: %v; name a file that can be written", x.given(), machine.Cause(err))
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
	return name, x.failed(name, err)
}

func (x *OutFile) exists() error {
	return Usagef("%s: the file exists; name another, or replace it with --overwrite", x.given())
}

// failed says why a file was not written. The errors of writers that say what to do stay as they are.
func (x *OutFile) failed(path string, err error) error {
	var own *ExitError
	var another *owned.Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.As(err, &another):
		return Failf("%s: %s; name another file", x.given(), another.Why)
	case errors.Is(err, fs.ErrExist):
		return x.exists()
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Failf("write: %s: %v; free space there, or name a file elsewhere with --%s", path, machine.Cause(err), cmp.Or(x.flag, "out"))
	}
	return Failf("write: %s: %v", path, machine.Cause(err))
}
