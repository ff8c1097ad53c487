package recording

import (
	"fmt"
	"slices"
)

// What the agent was refused, as its counters say.
const (
	lackMemory = 1
	lackFile   = 2
)

// Incomplete says why the numbers of the process may be too small: the agent was refused memory, or a file, and went on without.
// It returns "" if they are whole. Numbers of an incomplete process count in no mean: see [Run.Excludes].
func (r *Rank) Incomplete() string {
	c := &r.Counters
	reason := ""
	if c.lackErrno != 0 {
		reason = " (" + errnoText(c.lackErrno) + ")"
	}
	switch {
	case c.Lacks > 0 && c.lackWhat == lackMemory|lackFile:
		return "the agent got neither memory nor files" + reason
	case c.Lacks > 0 && c.lackWhat&lackMemory != 0:
		return "the agent got no memory" + reason
	case c.Lacks > 0 && c.lackWhat&lackFile != 0:
		return "the agent could not make a file in memory" + reason
	case c.Lacks > 0:
		return "the agent was refused something" + reason
	case r.NeedsSize():
		return "--max-size was too small for all of the agent's tables"
	case c.LostRows > 0:
		return "the agent had no room for all of its tables"
	}
	return ""
}

// NeedsRoom reports whether the process is incomplete because its files in memory had no room.
func (r *Rank) NeedsRoom() bool {
	const noSpace = 28
	return r.Incomplete() != "" && !r.NeedsSize() && (r.Counters.Lacks == 0 || r.Counters.lackErrno == noSpace)
}

// NeedsSize reports whether the process is incomplete because its share of --max-size was used up.
func (r *Rank) NeedsSize() bool {
	return r.Counters.Lacks == 0 && r.Counters.LostRows > 0 && slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Code == NoteBudget })
}

// Excludes reports whether a rank counts in no mean, because it is incomplete. If all ranks are, means are of them.
func (run *Run) Excludes(r *Rank) bool {
	if r.Incomplete() == "" {
		return false
	}
	for _, other := range run.Ranks {
		if other.Incomplete() == "" {
			return true
		}
	}
	return false
}

// IncompleteRanks are the ranks that are incomplete, in order.
func (run *Run) IncompleteRanks() (ranks []int) {
	for _, r := range run.Ranks {
		if r.Incomplete() != "" {
			ranks = append(ranks, r.Rank)
		}
	}
	return ranks
}

func errnoText(errno uint64) string {
	if name := errnoNames[errno]; name != "" {
		return name
	}
	return fmt.Sprintf("error %d", errno)
}
