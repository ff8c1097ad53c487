package where

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/recording/finding"
	"mpitx/text"
)

// chains say, for each rank that others wait for and that does not wait itself, what it does and who waits for it. causes are about ranks for
// which ranks in possible cycles wait for certain.
func (g *graph) chains(in map[int]bool, sure map[int]finding.Certainty) (causes, all []finding.Finding) {
	waiting := map[int][]int{} // ends of chains: who waits for them
	for _, p := range g.job.Processes {
		first := g.links(p.Rank)
		if in[p.Rank] {
			first = g.otherwise(p.Rank, in, sure)
		}
		for _, end := range g.ends(p.Rank, first, in) {
			if !in[p.Rank] || !in[end] {
				waiting[end] = append(waiting[end], p.Rank)
			}
		}
	}
	type end struct {
		ranks   []int
		waiting string
	}
	var ends []*end
	for _, p := range g.job.Processes { // ends that the same ranks wait for, and that do the same, are one finding
		if who := waiting[p.Rank]; who != nil {
			key := text.RankList(who) + g.endText(p.Rank, in)
			k := slices.IndexFunc(ends, func(e *end) bool { return e.waiting == key })
			if k < 0 {
				k = len(ends)
				ends = append(ends, &end{waiting: key})
			}
			ends[k].ranks = append(ends[k].ranks, p.Rank)
		}
	}
	for _, e := range ends {
		who := waiting[e.ranks[0]]
		longest := g.path(who, e.ranks[0])
		words := ""
		if len(longest) > 1 {
			words = g.pathText(longest, e.ranks[0])
		} else {
			words = g.commonText(who, e.ranks[0])
		}
		if !in[e.ranks[0]] {
			words += "; " + text.RankList(e.ranks) + " " + inPlural(e.ranks, g.endText(e.ranks[0], in))
		}
		if len(longest) > 1 && len(who) > len(longest) {
			words += fmt.Sprintf(" (%s wait for %s in all)", text.Ranks(who), text.RankList(e.ranks))
		}
		f := finding.Finding{Kind: "wait", Ranks: compact(append(slices.Clone(who), e.ranks...)), Certainty: g.sureOf(who), Text: words, Figures: g.waited(who)}
		if slices.ContainsFunc(who, func(rank int) bool { return in[rank] }) {
			causes = append(causes, f)
		} else {
			all = append(all, f)
		}
	}
	said := slices.Clone(all)
	return causes, slices.DeleteFunc(all, func(f finding.Finding) bool { // said again, with what the last ones do
		return slices.ContainsFunc(said, func(more finding.Finding) bool { return strings.HasPrefix(more.Text, f.Text+"; ") })
	})
}

// otherwise are the ranks outside of all cycles for which a rank in a possible cycle waits for certain.
func (g *graph) otherwise(rank int, in map[int]bool, sure map[int]finding.Certainty) (on []int) {
	for _, w := range g.waits[rank] {
		if sure[rank] == finding.Possible && w.needs == needsAll && !w.ends && !w.loose {
			on = append(on, w.on...)
		}
	}
	return slices.DeleteFunc(compact(on), func(to int) bool { return in[to] })
}

// sureOf is how sure it is that ranks wait for what they seem to wait for.
func (g *graph) sureOf(who []int) finding.Certainty {
	for _, rank := range who {
		if slices.ContainsFunc(g.waits[rank], func(w wait) bool { return w.ends || w.loose || len(w.maybe) > 0 }) {
			return finding.Possible
		}
	}
	return finding.Certain
}

// ends are the ranks at the ends of all chains from a rank, which begin with some of those that it waits for: ranks that do not wait, or in a
// cycle.
func (g *graph) ends(rank int, first []int, in map[int]bool) (ends []int) {
	seen := map[int]bool{rank: true}
	queue := []int{rank}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		next := g.needed(at)
		if at == rank {
			next = first
		}
		for _, to := range next {
			switch {
			case seen[to]:
				continue
			case in[to] || len(g.needed(to)) == 0:
				ends = append(ends, to)
			default:
				queue = append(queue, to)
			}
			seen[to] = true
		}
	}
	return compact(ends)
}

// path is the longest of the shortest chains from some ranks to an end, without the end.
func (g *graph) path(who []int, end int) (longest []int) {
	first := end
	next := map[int]int{} // towards the end
	level := []int{end}
	for len(level) > 0 {
		var following []int
		for _, rank := range who {
			if _, known := next[rank]; known {
				continue
			}
			for _, to := range g.links(rank) {
				if slices.Contains(level, to) && (to == end || !g.works(to)) {
					next[rank] = to
					following = append(following, rank)
					break
				}
			}
		}
		if len(following) > 0 {
			first = following[0]
		}
		level = following
	}
	for at := first; at != end; at = next[at] {
		longest = append(longest, at)
		if _, ok := next[at]; !ok || len(longest) > len(who) {
			break
		}
	}
	return longest
}

const mostLinks = 6

// pathText is "0 waits for a message from 2, tag 7; 2 is in MPI_Barrier on MPI_COMM_WORLD".
func (g *graph) pathText(path []int, end int) string {
	var parts []string
	for i, rank := range path {
		if i == mostLinks {
			parts = append(parts, fmt.Sprintf("… %d more", len(path)-i))
			break
		}
		next := end
		if i+1 < len(path) {
			next = path[i+1]
		}
		subject := fmt.Sprint(rank)
		if g.works(rank) {
			subject = "a thread of " + subject
		}
		parts = append(parts, subject+" "+g.waitFor(rank, next).text)
	}
	return strings.Join(parts, "; ")
}

// subjects names ranks that wait, or of which threads wait.
func (g *graph) subjects(ranks []int) string {
	if !slices.ContainsFunc(ranks, g.works) {
		return text.Ranks(ranks)
	}
	return text.Verb(len(ranks), "a thread of ", "threads of ") + text.Ranks(ranks)
}

// commonText is what ranks wait for at the end of their chains. If they do different things, it names some of them.
func (g *graph) commonText(who []int, end int) string {
	const most = 3
	ranks := map[string][]int{}
	var texts []string
	for _, rank := range who {
		words := g.waitFor(rank, end).text
		if ranks[words] == nil {
			texts = append(texts, words)
		}
		ranks[words] = append(ranks[words], rank)
	}
	var parts []string
	for _, words := range texts[:min(len(texts), most)] {
		subject := g.subjects(ranks[words])
		if len(texts) > 1 && !slices.ContainsFunc(ranks[words], g.works) {
			subject = text.RankList(ranks[words])
		}
		parts = append(parts, subject+" "+inPlural(ranks[words], words))
	}
	if more := len(texts) - most; more > 0 {
		rest := 0
		for _, words := range texts[most:] {
			rest += len(ranks[words])
		}
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, "; ")
}

// inPlural puts what one rank does into the plural if there are more.
func inPlural(ranks []int, text string) string {
	if len(ranks) > 1 {
		for _, verb := range [][2]string{{"waits", "wait"}, {"polls", "poll"}, {"is", "are"}, {"has", "have"}, {"computes", "compute"}, {"sleeps", "sleep"}, {"was", "were"}, {"exchanges", "exchange"}} {
			if rest, ok := strings.CutPrefix(text, verb[0]); ok && (rest == "" || rest[0] == ' ' || rest[0] == ',') {
				return verb[1] + rest
			}
		}
	}
	return text
}

// endText is what the rank at the end of a chain does.
func (g *graph) endText(rank int, in map[int]bool) string {
	p := g.ranks[rank]
	switch {
	case p == nil:
		return "has no data"
	case in[rank]:
		return "waits in a cycle"
	}
	switch p.Condition {
	case Stopped:
		return "is stopped"
	case Dead, Exited:
		return p.ended()
	case Finalized:
		return "has called MPI_Finalize"
	case Unreachable:
		return "is on another node"
	case Missing:
		return "has not finished MPI_Init"
	}
	if p.active() {
		return "is active"
	}
	working := slices.IndexFunc(p.Threads, func(t *Thread) bool { return !t.Waits() && !t.Sleeps })
	text := ""
	switch {
	case len(p.Threads) == 0:
		return "has made no MPI call"
	case working >= 0:
		text = computesText(p.Threads[working])
		if p.Condition == Running && p.PID > 0 && !p.Threads[working].Inside { // a debugger tells where
			text += fmt.Sprintf(" (process %d on %s)", p.PID, p.Host)
		}
	case p.Working > 0:
		text = "may call MPI"
	default: // its message is under way
		t := p.Threads[max(slices.IndexFunc(p.Threads, (*Thread).Waits), 0)]
		text = "is in " + g.callText(t)
	}
	switch waits := g.waits[rank]; {
	case len(waits) == 0:
		return text
	case !g.works(rank):
		return waits[0].text
	default:
		return waits[0].text + ", and another thread of it " + text
	}
}

func computesText(t *Thread) string {
	words := t.outside()
	if d := text.RoughDuration(t.Since); d != "" {
		words += " for " + d
	}
	if t.Inside { // and polls
		return "is in " + t.Call + onObject(t)
	}
	if t.Call != "" {
		words += ", after " + t.Call
		if t.Site != "" {
			words += " at " + t.Site
		}
	}
	return words + t.otherThreads()
}
