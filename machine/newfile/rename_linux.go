package newfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames a file to a name that does not exist.
func renameNew(temp, name string) error {
	err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, name, unix.RENAME_NOREPLACE)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP): // of the file system
		return reserve(temp, name)
	case err != nil:
		return &os.LinkError{Op: "rename", Old: temp, New: name, Err: err}
	}
	return nil
}
