//go:build !unix

package recording

// Hold does nothing: runs are recorded on Linux.
func Hold(dir, job string) {}

// Held reports whether a process holds a run.
func Held(dir, job string) bool { return false }
