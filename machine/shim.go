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

// DataDir is the directory for the results of mpitx setup: $XDG_DATA_HOME/mpitx/<arch>; "" without a home directory.
func (e *Env) DataDir() string {
	base := e.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home := e.Getenv("HOME")
		if home == "" {
			home, _ = os.UserHomeDir()
		}
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "mpitx", e.Arch)
}

// CacheDir is mpitx's directory in the user's cache; "" if there is none.
func (e *Env) CacheDir() string {
	base := e.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home := e.Getenv("HOME")
		if st, err := os.Stat(home); err != nil || !st.IsDir() { // root must not create a home
			return ""
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "mpitx")
}

// Shim is the path of the shim for m's family: next to the binary, in ../lib/mpitx, or in the directory of mpitx setup.
// The demo MPI needs none (""). An error is an *Error.
func (e *Env) Shim(m MPI, exeDir string) (string, error) {
	if m.Family == Demo {
		return "", nil
	}
	name := ShimName(m.Family)
	path, looked := e.Beside(exeDir, name)
	if path != "" {
		return path, nil
	}
	return "", &Error{
		What: "no shim for " + FamilyName(m.Family),
		Why:  name + " is not in " + strings.Join(looked, ", "),
		Do:   "build it with `" + e.SetupCommand(m) + "`",
	}
}

// Beside finds a file that belongs to mpitx: next to the binary, in its lib/mpitx, or in the user's directory. If there
// is none, path is empty, and looked lists the directories searched.
func (e *Env) Beside(exeDir, name string) (path string, looked []string) {
	for _, dir := range []string{exeDir, filepath.Join(exeDir, "..", "lib", "mpitx"), e.DataDir()} {
		if dir == "" {
			continue
		}
		if p := filepath.Join(dir, name); e.isFile(p) {
			return p, nil
		}
		looked = append(looked, filepath.Clean(dir))
	}
	return "", looked
}

// ShimName is the file name of a family's shim.
func ShimName(family string) string { return "mpitx-shim-" + family + ".so" }

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
