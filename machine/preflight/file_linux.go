package preflight

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"mpitx/machine"
)

const (
	mountNoSuid  = 2 // of statfs: ST_NOSUID
	capEffective = 1 // VFS_CAP_FLAGS_EFFECTIVE
)

// elevated names what gives a program more rights than its user has; "" if nothing does. The loader preloads nothing
// into such a program (AT_SECURE).
func elevated(e *machine.Env, path string) string {
	path = e.File(path)
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	var system unix.Statfs_t
	if !ok || unix.Statfs(path, &system) == nil && system.Flags&mountNoSuid != 0 {
		return ""
	}
	mode := st.Mode()
	switch {
	case mode&fs.ModeSetuid != 0 && int(owner.Uid) != e.UID:
		return "the setuid bit"
	case mode&fs.ModeSetgid != 0 && mode&0o010 != 0 && int(owner.Gid) != os.Getgid():
		return "the setgid bit"
	}
	var attribute [64]byte
	if n, err := unix.Getxattr(path, "security.capability", attribute[:]); err == nil && e.UID != 0 && capable(attribute[:n]) {
		return "file capabilities"
	}
	return ""
}

// capable reports whether a security.capability attribute grants anything (struct vfs_cap_data: a word of flags, then
// two words for each 32 capabilities, permitted ones first).
func capable(attribute []byte) bool {
	le := binary.LittleEndian
	if len(attribute) < 12 {
		return false
	}
	return le.Uint32(attribute)&capEffective != 0 || le.Uint32(attribute[4:]) != 0 || len(attribute) >= 20 && le.Uint32(attribute[12:]) != 0
}

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
