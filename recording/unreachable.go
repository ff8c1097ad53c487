package recording

import (
	"fmt"
	"slices"
	"strings"
)

// Unreachable returns the hosts, sorted, and the ranks whose newest samples are in the memory of another machine.
func (run *Run) Unreachable() (hosts []string, ranks []int) {
	for _, r := range run.Ranks {
		if r.State == StateUnreachable {
			hosts, ranks = append(hosts, r.Host), append(ranks, r.Rank)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), ranks
}

// HostsText joins the first hosts of a list and counts the rest.
func HostsText(hosts []string) string {
	const most = 4
	if len(hosts) <= most {
		return strings.Join(hosts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(hosts[:most], ", "), len(hosts)-most)
}
