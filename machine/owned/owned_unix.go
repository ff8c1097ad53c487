//go:build unix

package owned

import (
	"os"
	"strings"
	"sync"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func owner(st os.FileInfo) int {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

var self = os.Geteuid // tests may be another user

func users(st os.FileInfo) bool { return owner(st) == self() }

// roots reports whether root owns a file. In a user namespace root's files may have the owner that stands for all users outside.
func roots(st os.FileInfo) bool {
	uid := owner(st)
	return uid == 0 || uid == overflow()
}

var overflow = sync.OnceValue(func() int {
	const everyone, nobody = "0 0 4294967295", 65534
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || strings.Join(strings.Fields(string(text)), " ") == everyone {
		return 0
	}
	return nobody
})
