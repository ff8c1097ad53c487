package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const buildTimeout = 10 * time.Minute

// BuildShim compiles the shim into outDir with a compiler wrapper (mpicc) and returns its path and family. sources is
// the directory binding/shim; shim.c is compiled. The shim is not linked with libmpi. It replaces an older one
// atomically. An error is an *Error with the compiler's output.
func (e *Env) BuildShim(cc string, sources fs.FS, outDir string) (path, family string, err error) {
	what := "build a shim with " + cc
	argv := strings.Fields(cc)
	if len(argv) == 0 {
		return "", "", &Error{What: "build a shim", Why: "no compiler named", Do: "name the MPI's compiler wrapper: --mpicc mpicc", Usage: true}
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return "", "", &Error{What: what, Why: "there is no such command", Do: "install the MPI's development package (libopenmpi-dev, libmpich-dev), load its module, or give the path of its mpicc", Usage: true}
	}
	if outDir, err = filepath.Abs(outDir); err != nil { // the compiler runs in another directory
		return "", "", &Error{What: what, Why: err.Error(), Do: "give the absolute path of the directory"}
	}
	tmp, err := os.MkdirTemp("", "mpitx-shim-")
	if err != nil {
		return "", "", &Error{What: what, Why: err.Error(), Do: "set TMPDIR to a directory with free space"}
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(tmp, sources); err != nil {
		return "", "", &Error{What: what, Why: err.Error(), Do: "set TMPDIR to a directory with free space"}
	}
	if family, err = e.familyOf(argv, tmp); err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(outDir, 0o755); err != nil {
		return "", "", &Error{What: what, Why: err.Error(), Do: "choose a writable directory with --dir"}
	}
	// Compile with the wrapper, but link with the plain compiler: the wrapper would add -lmpi.
	object := filepath.Join(tmp, "shim.o")
	if _, err := e.run(tmp, append(argv, "-std=gnu11", "-O2", "-fPIC", "-c", "shim.c", "-o", object)...); err != nil {
		return "", "", err
	}
	path = filepath.Join(outDir, ShimName(family))
	next := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	defer os.Remove(next)
	if _, err := e.run(tmp, append(linker(e), "-shared", "-o", next, object, "-ldl", "-lpthread")...); err != nil {
		return "", "", err
	}
	if err := os.Rename(next, path); err != nil {
		return "", "", &Error{What: what, Why: err.Error(), Do: "choose a writable directory with --dir"}
	}
	return path, family, nil
}

func linker(e *Env) []string {
	if cc := strings.Fields(e.Getenv("CC")); len(cc) > 0 {
		return cc
	}
	return []string{"cc"}
}

// familyOf finds the family: preprocessed with this compiler's mpi.h, shim.c defines FAMILY, or reports an unknown MPI.
func (e *Env) familyOf(cc []string, dir string) (string, error) {
	out, err := e.run(dir, append(cc[:len(cc):len(cc)], "-E", "-dM", "shim.c")...)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if f, ok := strings.CutPrefix(line, "#define FAMILY "); ok {
			return strings.Trim(strings.TrimSpace(f), `"`), nil
		}
	}
	return "", &Error{What: strings.Join(cc, " ") + " -E -dM shim.c", Why: "it prints no macros", Do: "use a compiler wrapper around gcc or clang"}
}

// run runs a compiler; an error includes its standard error.
func (e *Env) run(dir string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &stdout, &stderr, 5*time.Second
	cmd.Env = append(e.Environ[:len(e.Environ):len(e.Environ)], "LC_ALL=C")
	err := cmd.Run()
	if err == nil {
		return stdout.String(), nil
	}
	why := err.Error()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = "no answer after " + buildTimeout.String()
	}
	return "", &Error{What: strings.Join(argv, " "), Why: why, Output: firstLines(stderr.String(), 20), Do: "if a header is missing, install the MPI's development package"}
}

func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = append(lines[:n], "…")
	}
	return strings.Join(lines, "\n")
}
