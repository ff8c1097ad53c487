package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve allocates disk space for a file without changing its size, if the file system can do that.
func reserve(f *os.File, bytes int64) {
	unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, bytes)
}
