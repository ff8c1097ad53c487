package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

type snapshotOptions struct {
	source
	out    string
	redact bool
}

func newSnapshot(a *app) *cobra.Command {
	o := &snapshotOptions{source: source{a: a, listing: true}}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Write everything an MPI library exposes to a file",
		Long: `Write everything an MPI library exposes to a file: metadata and values of all variables, categories and enumerations, of
both stages and all ranks. Every read-only command takes such a file with --from in place of a live MPI, also where none
is installed. The document is JSON, described in docs/schema.md.`,
		Example: `  mpirun -n 4 mpitx snapshot -o snapshot.json
  mpitx list --from snapshot.json --set`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.source.flags(cmd, false)
	cmd.Flags().StringVarP(&o.out, "output", "o", "-", "`FILE` to write; - is standard output")
	cmd.Flags().BoolVar(&o.redact, "redact", false, "leave out host names, user names, addresses and paths")
	return cmd
}

func (o *snapshotOptions) run(cmd *cobra.Command) error {
	c, err := o.open(cmd, nil, "")
	if err != nil {
		return err
	}
	return o.answer(o.warn(c), func() error {
		if o.redact {
			catalog.Redact(c, catalog.LocalPrivate())
		}
		if o.out == "-" {
			return catalog.Write(o.a.out, c)
		}
		return replaceFile(o.out, func(w io.Writer) error { return catalog.Write(w, c) })
	})
}

// replaceFile writes a file whole or not at all, behind a symbolic link as through it. It keeps the mode of what was there; a new file
// has that of the umask. What is no regular file (a pipe, /dev/stdout) is written as it is.
func replaceFile(path string, write func(io.Writer) error) error {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return failf("write: %s: %v", path, causeOf(err))
		}
		return writeAndClose(path, f, write)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x", filepath.Base(path), rand.Uint32())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return failf("write: %s: %v", path, causeOf(err))
	}
	if st != nil {
		f.Chmod(st.Mode().Perm())
	}
	if err := writeAndClose(path, f, write); err != nil {
		os.Remove(f.Name())
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		os.Remove(f.Name())
		return failf("write: %s: %v", path, causeOf(err))
	}
	return nil
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
	case err == nil:
		return nil
	case errors.As(err, &own) || errors.As(err, &located):
		return err
	}
	return failf("write: %s: %v", path, causeOf(err))
}
