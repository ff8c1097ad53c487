package cli

import (
	"fmt"
	"strconv"
	"strings"

	"mpitx/launch"
)

var Workloads = []string{"pingpong", "alltoall", "unexpected", "halo", "messages", "bcast", "reduce", "allreduce", "allgather", "barrier", "algorithms", "idle"}

func ParseSettings(flag string, args []string) ([]launch.NameValue, error) {
	var out []launch.NameValue
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \n\x00") || strings.ContainsRune(value, 0) {
			return nil, Usagef("%s: %q: must be CVAR=VALUE", flag, arg)
		}
		out = append(out, launch.NameValue{Name: name, Value: value})
	}
	return out, nil
}

// ParseSize reads 500M, 2G, 64KiB; units are powers of 1024.
func ParseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGTiBkmgtb")
	unit := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s[len(digits):]), "B"), "I"))
	n, err := strconv.ParseFloat(digits, 64)
	shift := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
	k, ok := shift[unit]
	if err != nil || !ok || !(n > 0) || n*float64(uint64(1)<<k) > 1<<60 {
		return 0, fmt.Errorf("%q: must be a size such as 500M or 2G", s)
	}
	return int64(n * float64(uint64(1)<<k)), nil
}
