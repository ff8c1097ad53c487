package text

import (
	"cmp"
	"strconv"
	"strings"
)

// CompareNumbered compares names so that "MPI_Comm_dup #9" comes before "MPI_Comm_dup #10".
func CompareNumbered(a, b string) int {
	x, m := numbered(a)
	y, n := numbered(b)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(m, n), cmp.Compare(a, b))
}

// numbered separates the number that a name ends in; 0: none.
func numbered(name string) (rest string, number uint64) {
	rest = strings.TrimRight(name, "0123456789")
	number, _ = strconv.ParseUint(name[len(rest):], 10, 64)
	return rest, number
}
