package profile

import (
	"fmt"
	"slices"
	"time"

	"mpitx/recording/finding"
	"mpitx/text"
)

const (
	fewest  = 10   // calls that must have been observed
	surely  = 1e-6 // the probability that any rank of the run comes last so often by chance
	mistake = 0.05 // the part of calls that may contradict how the communicators of ranks were matched
)

// lateArrivals finds ranks that come last to collective calls more often than by chance, and so late that it matters.
func lateArrivals(p *Profile) (list []found) {
	for _, a := range p.Arrivals {
		if len(a.Ranks) == 0 || !a.ordered() {
			continue
		}
		l := slices.MaxFunc(a.Ranks, func(x, y Latecomer) int { return int(a.held(&x) - a.held(&y)) })
		if !p.ComesLate(&l) {
			continue
		}
		held := a.held(&l)
		list = append(list, found{site: p.siteOf(a), rank: p.rank(l.Rank), named: true, Finding: finding.Finding{Kind: "late arrival", Subject: a.site().Where(), Ranks: []int{l.Rank},
			Share: part(float64(held), p.elapsedOf(l.Rank)),
			Text: fmt.Sprintf("rank %d comes last to %s in %d of %d observed calls, typically %s after the second last: %s of the run time in all", l.Rank, a.site().Where(), l.Last, l.TookPart,
				text.Duration(l.AfterSecond.Median), text.RoughPercent(part(float64(held), p.elapsedOf(l.Rank)))),
			Next: fmt.Sprintf("what rank %d does before this call", l.Rank),
			Figures: finding.Figures{"observed": float64(l.TookPart), "last": float64(l.Last), "after_second_median_ns": float64(l.AfterSecond.Median),
				"after_second_mean_ns": float64(l.AfterSecond.Mean), "after_first_mean_ns": float64(l.AfterFirst.Mean), "held_ns": float64(held)}}})
	}
	return list
}

// ComesLate reports whether a rank came last more often than by chance.
func (p *Profile) ComesLate(l *Latecomer) bool {
	tried := 0
	for _, a := range p.Arrivals {
		tried += len(a.Ranks)
	}
	return l.TookPart >= fewest && l.byChance()*float64(tried) <= surely
}

// siteOf is the call site among all; nil: none is the same place.
func (p *Profile) siteOf(a *Arrivals) *Function {
	for _, s := range p.Sites {
		if s.Name == a.Function && s.Within == "" && slices.EqualFunc(s.Places(), a.site().Places(), func(x, y Frame) bool { return x.key() == y.key() }) {
			return s
		}
	}
	return nil
}

func (p *Profile) elapsedOf(rank int) time.Duration { return p.rank(rank).Elapsed }
