package inspect

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/text"
)

// findings list what could not be read in a stage; equal findings are merged.
type findings []finding

type finding struct {
	what    string // "control variable"; "" for one of its own
	indices []int
	why     string
}

const maxFindings = 20

func (n *findings) add(format string, args ...any) { n.put(finding{why: fmt.Sprintf(format, args...)}) }

// at adds a finding about the entry with this index.
func (n *findings) at(what string, index int, why string) { n.put(finding{what, []int{index}, why}) }

func (n *findings) put(one finding) {
	for k := range *n {
		if old := &(*n)[k]; old.what == one.what && old.why == one.why {
			old.indices = append(old.indices, one.indices...)
			return
		}
	}
	if len(*n) < maxFindings {
		*n = append(*n, one)
	}
}

func (n findings) String() string {
	texts := make([]string, len(n))
	for k, one := range n {
		texts[k] = one.String()
	}
	return strings.Join(texts, "; ")
}

func (n finding) String() string {
	switch len(n.indices) {
	case 0:
		return n.why
	case 1:
		return fmt.Sprintf("%s %d: %s", n.what, n.indices[0], n.why)
	}
	slices.Sort(n.indices)
	some, more := n.indices, ""
	if len(some) > 10 {
		some, more = some[:10], ", …"
	}
	return fmt.Sprintf("%d %ss: %s (index %s%s)", len(n.indices), n.what, n.why, text.RankList(some), more)
}
