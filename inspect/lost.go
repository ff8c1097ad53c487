package inspect

import (
	"maps"
	"slices"

	"mpitx/text"
)

// lostText lists the ranks that did not answer, in order, grouped by host and reason.
func lostText(lost, hosts map[int]string) []string {
	type cause struct{ host, why string }
	var causes []cause
	ranks := map[cause][]int{}
	for _, rank := range slices.Sorted(maps.Keys(lost)) {
		c := cause{hosts[rank], lost[rank]}
		if ranks[c] == nil {
			causes = append(causes, c)
		}
		ranks[c] = append(ranks[c], rank)
	}
	var lines []string
	for _, c := range causes {
		lines = append(lines, Where(c.host, ranks[c]...)+": "+c.why)
	}
	return lines
}

// Where names a rank and its host: "rank 3 on n1".
func Where(host string, ranks ...int) string {
	if host == "" {
		host = "an unknown host"
	}
	return text.Ranks(ranks) + " on " + host
}
