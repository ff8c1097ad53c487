package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// RankList writes ranks as "0-2,4"; they must be ascending.
func RankList(ranks []int) string {
	var parts []string
	for len(ranks) > 0 {
		n := 1
		for n < len(ranks) && ranks[n] == ranks[0]+n && ranks[0] >= 0 {
			n++
		}
		part := strconv.Itoa(ranks[0])
		if n > 1 {
			part += "-" + strconv.Itoa(ranks[n-1])
		}
		parts, ranks = append(parts, part), ranks[n:]
	}
	return strings.Join(parts, ",")
}

// Ranks is RankList with its word: "rank 3", "ranks 0-2,4".
func Ranks(ranks []int) string {
	if len(ranks) == 1 {
		return "rank " + RankList(ranks)
	}
	return "ranks " + RankList(ranks)
}

// ParseRanks reads what RankList writes: ranks and ranges, "0,2-5". They come ascending, each once; "" is nil. Its error names
// what is wrong with s.
func ParseRanks(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var out []int
	for _, part := range strings.Split(s, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(lo)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(hi)
		}
		if err != nil || a < 0 || b < a || b-a > 1<<20 {
			return nil, fmt.Errorf("%q: must be ranks like 0,2-5", s)
		}
		for r := a; r <= b; r++ {
			out = append(out, r)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
