package recording

import (
	"fmt"
	"slices"
	"strings"
)

// Away are the nodes whose newest samples are in memory that this machine does not see, in order, with their ranks.
func (run *Run) Away() (hosts []string, ranks []int) {
	for _, r := range run.Ranks {
		if r.State == StateUnreachable {
			hosts, ranks = append(hosts, r.Host), append(ranks, r.Rank)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), ranks
}

// HostsText names hosts, the first few of them.
func HostsText(hosts []string) string {
	const most = 4
	if len(hosts) <= most {
		return strings.Join(hosts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(hosts[:most], ", "), len(hosts)-most)
}
