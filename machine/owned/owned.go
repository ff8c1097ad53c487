// Package owned tells files of the user from files that another user placed or may replace.
package owned

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Error says which path another user controls, and how.
type Error struct{ Path, Why string }

func (e *Error) Error() string { return e.Path + " " + e.Why }

// Directory returns the real path of a directory that belongs to the user and that nobody else may write to, move or replace: the
// directories above belong to the user or to root, and others may not write to them, unless they are sticky.
func Directory(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return "", err
	}
	for path := real; ; path = filepath.Dir(path) {
		st, err := os.Lstat(path)
		if err != nil {
			return "", err
		}
		switch {
		case path == real && !st.IsDir():
			return "", &Error{path, "is not a directory"}
		case path == real && !users(st):
			return "", &Error{path, "belongs to another user"}
		case !users(st) && !roots(st):
			return "", &Error{path, "belongs to another user"}
		case st.Mode().Perm()&0o022 == 0:
		case path == real || st.Mode()&os.ModeSticky == 0:
			return "", &Error{path, "can be changed by other users"}
		}
		if path == filepath.Dir(path) {
			return real, nil
		}
	}
}

const mostLinks = 40

// Follow returns the path to which the last component of a path leads. It follows links of the user and of root only. A
// link of another user is an [Error]; a path that does not exist is an error of os.Lstat, with the path as far as it
// leads.
func Follow(path string) (string, error) {
	for range mostLinks {
		st, err := os.Lstat(path)
		if err != nil || st.Mode()&os.ModeSymlink == 0 {
			return path, err
		}
		if !users(st) && !roots(st) {
			return path, &Error{path, "is a symbolic link of another user"}
		}
		if strings.HasPrefix(path, "/proc/") { // a descriptor: of a file with a name, or a pipe
			if real, err := filepath.EvalSymlinks(path); err == nil {
				return real, nil
			}
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return path, err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path, fmt.Errorf("%s: too many symbolic links", path)
}

// Another reports whether an existing file is of another user than this one and root.
func Another(st os.FileInfo) bool { return !users(st) && !roots(st) }

// Create opens a file for writing, empty. It follows no link, and does not open a file that another user placed. It
// returns an error of the file system for those.
func Create(path string, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|noFollow, mode)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && (!st.Mode().IsRegular() || !users(st)) {
		err = &os.PathError{Op: "open", Path: path, Err: errors.New("a file of another user is in its place")}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
