package where

import (
	"slices"
	"strings"

	"mpitx/recording/finding"
	"mpitx/text"
)

// across says of ranks that wait for each other in collective calls on different objects which of them are on which: "rank 3 calls MPI_Allreduce on
// solid, the others on fluid". ok is false if some wait otherwise, or all are on one object.
func (k *knot) across(set []int) (f finding.Finding, ok bool) {
	type call struct{ name, object string }
	ranks, objects := map[call][]int{}, map[string]bool{}
	var calls []call
	for _, rank := range set {
		if len(k.waits[rank]) != 1 {
			return f, false
		}
		t := k.waits[rank][0].thread
		if t.Class != Collective || t.Object == nil || t.Object.Identity == "" {
			return f, false
		}
		c := call{strings.TrimSuffix(t.Call, "_c"), objectText(t.Object)}
		if ranks[c] == nil {
			calls = append(calls, c)
		}
		ranks[c] = append(ranks[c], rank)
		objects[t.Object.Identity] = true
	}
	if len(objects) < 2 || len(calls) < 2 {
		return f, false
	}
	slices.SortStableFunc(calls, func(a, b call) int { return len(ranks[a]) - len(ranks[b]) })
	var parts []string
	for i, c := range calls {
		who := text.Ranks(ranks[c])
		if i > 0 && i == len(calls)-1 && len(set) == len(k.job.Processes) {
			who = "the others"
			if len(ranks[c]) == 1 {
				who = "the other"
			}
		}
		words := who + " " + text.Verb(len(ranks[c]), "calls ", "call ") + c.name + " on " + c.object
		if i > 0 && c.name == calls[i-1].name {
			words = who + " on " + c.object
		}
		parts = append(parts, words)
	}
	what := "mismatched collectives: "
	if k.level != finding.Certain {
		what = "possibly " + what
	}
	return finding.Finding{Kind: "mismatch", Ranks: set, Certainty: k.level, Text: what + strings.Join(parts, ", "), Figures: k.waited(set)}, true
}
