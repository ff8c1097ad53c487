package preflight

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// loadable is nil for a file of this user and size that the loader can map: a file system may be mounted noexec.
func loadable(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 || st.Size != size {
		return errors.New(path + ": another user's, or damaged")
	}
	data, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		return &os.PathError{Op: "map", Path: path, Err: err}
	}
	return unix.Munmap(data)
}
