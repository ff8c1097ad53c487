package where

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"mpitx/recording"
)

// stateOf is the state letter of a process on this machine; 0 if there is no such process.
func stateOf(pid int) byte { return stateIn("/proc/" + strconv.Itoa(pid)) }

func stateIn(dir string) byte {
	b, err := os.ReadFile(dir + "/stat")
	if k := bytes.LastIndexByte(b, ')'); err == nil && k >= 0 && k+2 < len(b) {
		return b[k+2]
	}
	return 0
}

// kernelOf is what the kernel says of a thread on this machine.
func kernelOf(pid, thread int) (k kernel) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(thread)
	b, _ := os.ReadFile(dir + "/schedstat")
	cpu, _, _ := bytes.Cut(b, []byte(" "))
	ns, err := strconv.ParseInt(string(cpu), 10, 64)
	return kernel{asleep: err == nil && bytes.IndexByte([]byte("SDI"), stateIn(dir)) >= 0, ran: time.Duration(ns)}
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
