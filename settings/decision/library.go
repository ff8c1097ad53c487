package decision

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/settings/tuning"
)

// Library is what is known of the library that reads a file.
type Library struct {
	Family  string // "openmpi", "mpich"
	Version string // "4.1.4"; "" if unknown

	// Algorithms are the names by operation ("allreduce") and number in Open MPI, "" where it has none; by operation in MPICH.
	Algorithms map[string][]string
	Default    []byte // MPICH: the selection tree that is built in; nil if unknown

	compositions []string // MPICH: of the device ch4; none if unknown
	composed     bool     // the file selects compositions
	ch4          bool     // MPICH: the device
	han          bool     // Open MPI: the file is one of coll han
}

// LibraryOf is the library of a catalog. MPICH's names are in its file: [Library.Learn].
func LibraryOf(c *catalog.Catalog) *Library {
	l := &Library{Algorithms: map[string][]string{}}
	l.Family, l.Version = tuning.Library(c)
	for _, e := range c.Enums {
		operation, ok := strings.CutPrefix(strings.TrimSuffix(e.Name, "_algorithms"), "coll_tuned_")
		if !ok || !strings.HasSuffix(e.Name, "_algorithms") {
			continue
		}
		for _, item := range e.Items {
			if names := l.Algorithms[operation]; 0 <= item.Value && item.Value < 100 {
				if missing := item.Value + 1 - len(names); missing > 0 {
					names = append(names, make([]string, missing)...)
				}
				names[item.Value], l.Algorithms[operation] = item.Name, names
			}
		}
	}
	return l
}

// Installed is the library of a catalog that was read on this machine.
func Installed(c *catalog.Catalog) *Library {
	l := LibraryOf(c)
	if l.Family == "mpich" {
		if file, err := os.ReadFile(c.Library.Path); err == nil {
			l.Learn(file)
		}
	}
	return l
}

var (
	algorithmKey = regexp.MustCompile(`algorithm=(MPIR_(I?[A-Z][a-z]+(?:_[a-z]+)*?)_(?:intra|inter|allcomm)_\w+)\x00`)
	composition  = regexp.MustCompile(`composition=(MPIDI_\w+)\x00`)
	builtIn      = regexp.MustCompile(`\x00(\{"collective=[^\x00]*"algorithm=MPIR_[^\x00]*\})\x00`)
)

// Learn finds the algorithms of MPICH and its own selection tree in the bytes of its library.
func (l *Library) Learn(file []byte) {
	for at := 0; ; {
		found := algorithmKey.FindSubmatchIndex(file[at:])
		if found == nil {
			break
		}
		name, operation := string(file[at+found[2]:at+found[3]]), strings.ToLower(string(file[at+found[4]:at+found[5]]))
		if !slices.Contains(l.Algorithms[operation], name) {
			l.Algorithms[operation] = append(l.Algorithms[operation], name)
		}
		at += found[1]
	}
	for _, found := range composition.FindAllSubmatch(file, -1) {
		if name := string(found[1]); !slices.Contains(l.compositions, name) {
			l.compositions = append(l.compositions, name)
		}
	}
	l.ch4 = len(l.compositions) > 0
	if found := builtIn.FindSubmatch(file); found != nil {
		l.Default = bytes.Clone(found[1])
	}
}

// since reports whether the library is of this version or later; an unknown version is the latest.
func (l *Library) since(version ...int) bool {
	if l.Version == "" {
		return true
	}
	var have [3]int
	fmt.Sscanf(l.Version, "%d.%d.%d", &have[0], &have[1], &have[2])
	return slices.Compare(have[:len(version)], version) >= 0
}

// Text is "Open MPI 4.1.4".
func (l *Library) Text() string {
	name := map[string]string{"openmpi": "Open MPI", "mpich": "MPICH"}[l.Family]
	return strings.TrimSpace(name + " " + l.Version)
}

// amount is a quantity of a call.
func (l *Library) amount(c *Call, q Quantity) int64 {
	switch q {
	case Ranks:
		return int64(c.Ranks)
	case Bytes:
		return l.Counted(c)
	case Total:
		return l.total(c)
	case Count:
		count := c.Bytes / c.element()
		if slices.Contains([]string{"allgatherv", "iallgatherv", "reduce_scatter", "ireduce_scatter"}, key(c.Function)) {
			count *= int64(c.Ranks)
		}
		return count
	case PerNode:
		return int64((c.Ranks + max(c.Nodes, 1) - 1) / max(c.Nodes, 1))
	}
	return 0
}

// Counted is the size of a call's message as the rules count it.
func (l *Library) Counted(c *Call) int64 {
	switch l.CountedAs(c.Function) {
	case "nothing":
		return 0
	case "bytes of all ranks":
		return c.Bytes * int64(c.Ranks)
	case "bytes of one element times ranks":
		return c.element() * int64(c.Ranks)
	}
	return c.Bytes
}

// CountedAs says what the rules of a function count: "bytes of all ranks".
func (l *Library) CountedAs(function string) string {
	switch {
	case l.han && key(function) == "barrier":
		return "nothing"
	case l.Family == "openmpi" && !l.han:
		return countedAs(key(function))
	}
	return "bytes of one rank"
}

// countedAs follows ompi_coll_tuned_*_intra_dec_dynamic in ompi/mca/coll/tuned/coll_tuned_decision_dynamic.c of 4.1.0 to 6.0.
func countedAs(operation string) string {
	switch operation {
	case "barrier", "alltoallv":
		return "nothing"
	case "allgather", "alltoall", "gather", "scatter", "reduce_scatter", "reduce_scatter_block":
		return "bytes of all ranks"
	case "exscan", "scan": // the count is left out
		return "bytes of one element times ranks"
	}
	return "bytes of one rank"
}

// unruled is what serves a call if a rule leaves the choice to the library.
func (l *Library) unruled(function string) string {
	if k := key(function); k == "scan" || k == "exscan" {
		return "linear, as algorithm 0 means here"
	}
	return "the library's own rules, as algorithm 0 means"
}
