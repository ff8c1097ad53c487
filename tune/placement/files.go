package placement

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Rankfile writes the host of each rank as a rankfile of Open MPI. Each rank gets a core of its host. Comments come first.
func Rankfile(w io.Writer, hosts []string, comments ...string) error {
	b := commented(comments)
	cores := map[string]int{}
	for rank, host := range hosts {
		fmt.Fprintf(b, "rank %d=%s slot=%d\n", rank, host, cores[host])
		cores[host]++
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Rankmap writes options of Hydra: the hosts with their numbers of ranks, and the number of the host of each rank.
func Rankmap(w io.Writer, hosts []string) error {
	var names, numbers []string
	number, ranks := map[string]int{}, map[string]int{}
	for _, host := range hosts {
		if ranks[host]++; ranks[host] == 1 {
			number[host] = len(names)
			names = append(names, host)
		}
		numbers = append(numbers, strconv.Itoa(number[host]))
	}
	for k, host := range names {
		names[k] = fmt.Sprintf("%s:%d", host, ranks[host])
	}
	_, err := fmt.Fprintf(w, "-hosts %s -rankmap %s\n", strings.Join(names, ","), strings.Join(numbers, ","))
	return err
}

// Hosts writes a line with the host of each rank. Hydra's -f reads that, and Open MPI with --map-by seq.
func Hosts(w io.Writer, hosts []string, comments ...string) error {
	b := commented(comments)
	for _, host := range hosts {
		fmt.Fprintln(b, host)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func commented(lines []string) *bytes.Buffer {
	b := &bytes.Buffer{}
	for _, line := range lines {
		fmt.Fprintln(b, "#", line)
	}
	return b
}

// Writable reports whether the name of a host can be in these files.
func Writable(host string) bool {
	return host != "" && host[0] != '-' && strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-._") == ""
}
