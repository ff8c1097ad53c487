package trace

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/recording/finding"
	"mpitx/text"
)

const mostOfLine = 3 // pairs of ranks in a sentence

// unreceivedGroup is messages that differ in nothing but ranks.
type unreceivedGroup struct {
	Unreceived
	pairs    []string
	from, to []int
}

// UnreceivedFindings are about messages that were never received: one for all that differ in nothing but ranks. Resolve comes first.
func UnreceivedFindings(all []Unreceived) (list []finding.Finding) {
	var order []*unreceivedGroup
	at := map[string]*unreceivedGroup{}
	for i := range all {
		u := &all[i]
		key := fmt.Sprint(u.Function, "\x00", u.Place, "\x00", u.Tag, "\x00", u.Object.String(), "\x00", u.Ended, "\x00", u.Nearest.key())
		g := at[key]
		if g == nil {
			g = &unreceivedGroup{Unreceived: *u}
			g.Count, g.Bytes = 0, 0
			order, at[key] = append(order, g), g
		}
		g.Count += u.Count
		g.Bytes += u.Bytes
		g.from, g.to = append(g.from, u.Rank.Rank), append(g.to, u.To)
		g.pairs = append(g.pairs, fmt.Sprintf("%d to %d", u.Rank.Rank, u.To))
	}
	for _, g := range order {
		list = append(list, finding.Finding{Kind: "lost messages", Subject: placed(g.Function, g.Place), Ranks: unique(slices.Concat(g.from, g.to)), Text: g.text(),
			Figures: finding.Figures{"messages_lost": float64(g.Count), "bytes": float64(g.Bytes), "tag": float64(g.Tag)}})
	}
	return list
}

func (n *Near) key() string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(n.Function, "\x00", n.Place, "\x00", n.Tag, "\x00", n.Object.String(), "\x00", n.Waiting, n.Peer == Any)
}

func (g *unreceivedGroup) text() string {
	pick := func(one, many string) string { return text.Verb(int(g.Count), one, many) }
	never := pick("was", "were") + " never received"
	if !g.Ended {
		never = "had not been received when the " + text.Plural(len(unique(g.to)), "receiver") + " ended"
	}
	words := fmt.Sprintf("%s %s: %s sent %s to %s", text.Count(g.Count, "message"), never, text.Ranks(unique(g.from)), pick("it", "them"), text.Ranks(unique(g.to)))
	switch {
	case len(g.pairs) > mostOfLine:
		words += fmt.Sprintf(" (%s, %d more)", strings.Join(g.pairs[:mostOfLine], ", "), len(g.pairs)-mostOfLine)
	case len(g.pairs) > 1:
		words += " (" + strings.Join(g.pairs, ", ") + ")"
	}
	words += fmt.Sprintf(" with tag %d on %s, by %s", g.Tag, g.Object.String(), placed(g.Function, g.Place))
	if g.Nearest != nil {
		words += "; " + g.nearest()
	}
	return words
}

// nearest says which receive came nearest.
func (g *unreceivedGroup) nearest() string {
	n := g.Nearest
	tag, source := fmt.Sprintf("tag %d", n.Tag), fmt.Sprintf("rank %d", n.Peer)
	if n.Tag == Any {
		tag = "any tag"
	}
	if n.Peer == Any {
		source = "any rank"
	}
	on := ""
	if n.Object != g.Object && n.Object != nil {
		on = " on " + n.Object.String()
	}
	if n.Waiting {
		return fmt.Sprintf("rank %d waited for %s from %s%s, in %s", n.Rank.Rank, tag, source, on, placed(n.Function, n.Place))
	}
	return fmt.Sprintf("the last message that rank %d received from %s had %s%s, in %s", n.Rank.Rank, source, tag, on, placed(n.Function, n.Place))
}

func placed(function, place string) string {
	if place == "" {
		return function
	}
	return function + " at " + place
}

func unique(ranks []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(ranks)))
}
