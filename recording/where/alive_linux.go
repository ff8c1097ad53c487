package where

import (
	"bytes"
	"os"
	"strconv"

	"mpitx/recording"
)

// stateOf is the state letter of a process on this machine; 0 if there is no such process.
func stateOf(pid int) byte {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if k := bytes.LastIndexByte(b, ')'); err == nil && k >= 0 && k+2 < len(b) {
		return b[k+2]
	}
	return 0
}

func stopped(pid int) bool {
	s := stateOf(pid)
	return s == 'T' || s == 't'
}

// alive reports whether a process that has ended its recording may still run here.
func alive(pid int, n *recording.Node) bool {
	s := stateOf(pid)
	return n != nil && n.Here() && s != 0 && s != 'Z' && s != 'X'
}
