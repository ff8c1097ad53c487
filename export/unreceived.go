package export

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/recording/trace"
	"mpitx/text"
)

const (
	mostUnreceived = 10 // lines
	mostOfLine     = 3  // of ranks in a line
)

// unreceivedLine is messages that differ in nothing but ranks.
type unreceivedLine struct {
	trace.Unreceived
	pairs    []string
	from, to []int
}

// UnreceivedLines are sentences about messages that were never received.
func UnreceivedLines(all []trace.Unreceived) (lines []string) {
	var order []*unreceivedLine
	at := map[string]*unreceivedLine{}
	for i := range all {
		u := &all[i]
		key := fmt.Sprint(u.Function, "\x00", u.Place, "\x00", u.Tag, "\x00", u.Object.String(), "\x00", u.Ended, "\x00", nearKey(u))
		l := at[key]
		if l == nil {
			l = &unreceivedLine{Unreceived: *u}
			l.Count = 0
			order, at[key] = append(order, l), l
		}
		l.Count += u.Count
		l.from, l.to = append(l.from, u.Rank.Rank), append(l.to, u.To)
		l.pairs = append(l.pairs, fmt.Sprintf("%d to %d", u.Rank.Rank, u.To))
	}
	for i, l := range order {
		if i == mostUnreceived {
			return append(lines, fmt.Sprintf("and messages of %d more call sites or tags were never received", len(order)-i))
		}
		lines = append(lines, l.text())
	}
	return lines
}

func nearKey(u *trace.Unreceived) string {
	n := u.Nearest
	if n == nil {
		return ""
	}
	return fmt.Sprint(n.Function, "\x00", n.Place, "\x00", n.Tag, "\x00", n.Object.String(), "\x00", n.Waiting, n.Peer == trace.Any)
}

func (l *unreceivedLine) text() string {
	plural := l.Count != 1
	pick := func(one, many string) string {
		if plural {
			return many
		}
		return one
	}
	never := pick("was", "were") + " never received"
	if !l.Ended {
		never = "had not been received when the " + map[bool]string{true: "receivers", false: "receiver"}[len(unique(l.to)) > 1] + " ended"
	}
	words := fmt.Sprintf("%d message%s %s: %s sent %s to %s", l.Count, pick("", "s"), never, text.Ranks(unique(l.from)), pick("it", "them"), text.Ranks(unique(l.to)))
	switch {
	case len(l.pairs) > mostOfLine:
		words += fmt.Sprintf(" (%s, %d more)", strings.Join(l.pairs[:mostOfLine], ", "), len(l.pairs)-mostOfLine)
	case len(l.pairs) > 1:
		words += " (" + strings.Join(l.pairs, ", ") + ")"
	}
	words += fmt.Sprintf(" with tag %d on %s, by %s", l.Tag, l.Object.String(), placed(l.Function, l.Place))
	if l.Nearest != nil {
		words += "; " + l.nearest()
	}
	return words
}

// nearest says which receive came nearest.
func (l *unreceivedLine) nearest() string {
	n := l.Nearest
	tag, source := fmt.Sprintf("tag %d", n.Tag), fmt.Sprintf("rank %d", n.Peer)
	if n.Tag == trace.Any {
		tag = "any tag"
	}
	if n.Peer == trace.Any {
		source = "any rank"
	}
	on := ""
	if n.Object != l.Object && n.Object != nil {
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
