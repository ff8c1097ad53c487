package job

import (
	"fmt"
	"maps"
	"slices"

	"mpitx/export"
)

// lostText names the ranks that gave no answer, in order, those of one host and one reason together.
func (r *result) lostText() []string {
	type cause struct{ host, why string }
	var causes []cause
	ranks := map[cause][]int{}
	for _, rank := range slices.Sorted(maps.Keys(r.Lost)) {
		c := cause{orUnknown(r.Hosts[rank]), r.Lost[rank]}
		if ranks[c] == nil {
			causes = append(causes, c)
		}
		ranks[c] = append(ranks[c], rank)
	}
	var lines []string
	for _, c := range causes {
		lines = append(lines, fmt.Sprintf("%s on %s: %s", export.Ranks(ranks[c]), c.host, c.why))
	}
	return lines
}

func orUnknown(host string) string {
	if host == "" {
		return "an unknown host"
	}
	return host
}
