//go:build cgo && linux

package inspect

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"mpitx/text"
)

// boundTo describes the processors that this process may use, "CPU 3" or "CPUs 0-2,5"; "" if it may use all of its node, or if that is
// not known.
func boundTo() string {
	set := unix.NewCPUSet(1 << 13) // the kernel refuses a smaller set than its own
	online, err := os.ReadFile("/sys/devices/system/cpu/online")
	if unix.SchedGetaffinityDynamic(0, set) != nil || err != nil {
		return ""
	}
	all, err := text.ParseRanks(strings.TrimSpace(string(online)))
	if err != nil {
		return ""
	}
	var own []int
	for _, cpu := range all {
		if set.IsSet(cpu) {
			own = append(own, cpu)
		}
	}
	switch len(own) {
	case len(all), 0:
		return ""
	case 1:
		return "CPU " + text.RankList(own)
	}
	return "CPUs " + text.RankList(own)
}
