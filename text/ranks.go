package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// RankList formats ascending ranks as "0-2,4".
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

// Ranks formats ranks with a noun: "rank 3", "ranks 0-2,4".
func Ranks(ranks []int) string {
	if len(ranks) == 1 {
		return "rank " + RankList(ranks)
	}
	return "ranks " + RankList(ranks)
}

// ParseRanks parses a rank list such as "0,2-5" and returns the ranks ascending, without duplicates; nil for "". It
// refuses negative ranks and ranges of more than a million.
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
			return nil, fmt.Errorf("%q is not a rank list; use a list such as 0,2-5", s)
		}
		for r := a; r <= b; r++ {
			out = append(out, r)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
