package diff

import (
	"cmp"
	"slices"
	"strings"
)

// Pairs are looked for in buckets of entries that share something, so that the time is in proportion to the number of entries. Entries
// share a bucket if their descriptions are equal, or if removing, adding, replacing or reordering words turns one name into the other.
const (
	largestBucket  = 24   // entries of both sides; what more share says little
	leastConfident = 0.66 // of a pair that is reported
)

// pair is an entry of each side that may be the same.
type pair struct {
	a, b  *entry
	score float64
}

// renamed reports pairs of entries that are likely the same, and returns the others. all are the entries of each side.
func (c *comparison) renamed(only, all [2][]*entry) (rest [2][]*entry) {
	if len(only[0]) == 0 || len(only[1]) == 0 {
		return only
	}
	for s := range all {
		for _, x := range all[s] {
			x.words = wordsOf(x.name)
			x.words = x.words[:min(len(x.words), mostWords)]
		}
		for _, x := range only[s] {
			x.describe()
		}
	}
	pairs, alone := candidates(only)
	g := newGroups(only, all, pairs)
	best := map[*entry][2]float64{} // and the second best
	kept := pairs[:0]
	for _, p := range pairs {
		if p.score = g.score(&p, alone); p.score < leastConfident {
			continue
		}
		kept = append(kept, p)
		for _, x := range []*entry{p.a, p.b} {
			switch two := best[x]; {
			case p.score > two[0]:
				best[x] = [2]float64{p.score, two[0]}
			case p.score > two[1]:
				best[x] = [2]float64{two[0], p.score}
			}
		}
	}
	slices.SortFunc(kept, func(p, q pair) int { // ties in an order that does not depend on the side
		if n := cmp.Compare(q.score, p.score); n != 0 {
			return n
		}
		x, y := p.names()
		z, w := q.names()
		return cmp.Or(strings.Compare(x, z), strings.Compare(y, w))
	})
	used := map[*entry]bool{}
	for _, p := range kept {
		if used[p.a] || used[p.b] {
			continue
		}
		if p.score-max(best[p.a][1], best[p.b][1]) < 0.03 { // another one is as likely
			p.score -= 0.15
		}
		if p.score >= leastConfident {
			used[p.a], used[p.b] = true, true
			c.changed(p.a, p.b, p.score)
		}
	}
	for s := range only {
		rest[s] = slices.DeleteFunc(only[s], func(x *entry) bool { return used[x] })
	}
	return rest
}

// names are the IDs of both entries in alphabetical order.
func (p *pair) names() (string, string) {
	x, y := p.a.ID(), p.b.ID()
	return min(x, y), max(x, y)
}

// place is an entry in a bucket.
type place struct {
	bucket uint64
	side   int32
	at     int32 // in the list of its side
}

// candidates finds the pairs that share a bucket. alone are the buckets with one entry of each side.
func candidates(only [2][]*entry) (pairs []pair, alone map[uint64]bool) {
	n := 0 // the most places that there can be
	for s := range only {
		for _, x := range only[s] {
			n += 2*len(x.words) + 2
		}
	}
	places := make([]place, 0, n)
	var shared []uint64
	for s := range only {
		for i, x := range only[s] {
			shared = x.buckets(shared[:0])
			for _, bucket := range shared {
				places = append(places, place{bucket, int32(s), int32(i)})
			}
		}
	}
	slices.SortFunc(places, func(p, q place) int { // most of the time of large comparisons
		if p.bucket != q.bucket {
			return cmp.Compare(p.bucket, q.bucket)
		}
		return cmp.Or(cmp.Compare(p.side, q.side), cmp.Compare(p.at, q.at))
	})
	places = slices.Compact(places)
	alone = map[uint64]bool{}
	var found []uint64
	for len(places) > 0 {
		n := 1
		for n < len(places) && places[n].bucket == places[0].bucket {
			n++
		}
		here := places[:n]
		places = places[n:]
		first, _ := slices.BinarySearchFunc(here, int32(1), func(p place, side int32) int { return cmp.Compare(p.side, side) })
		if n == 2 && first == 1 {
			alone[here[0].bucket] = true
		}
		if n > largestBucket {
			continue
		}
		for _, p := range here[:first] {
			for _, q := range here[first:] {
				found = append(found, uint64(p.at)<<32|uint64(q.at))
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	pairs = make([]pair, 0, len(found))
	for _, f := range found {
		pairs = append(pairs, pair{a: only[0][f>>32], b: only[1][uint32(f)]})
	}
	return pairs, alone
}

// buckets appends hashes of what an entry can share with another one.
func (x *entry) buckets(all []uint64) []uint64 {
	n := len(x.words)
	whole := hashOf(1)
	for _, w := range x.words {
		whole = mix(whole, w)
	}
	all = append(all, whole)
	for without := range x.words {
		h := hashOf(1)
		for i, w := range x.words {
			if i != without {
				h = mix(h, w)
			}
		}
		all = append(all, h)
	}
	for i := 1; i < n; i++ {
		all = append(all, mix(mix(hashOf(2), x.words[i-1]), x.words[i]))
	}
	sum := hashOf(3)
	for _, w := range x.words {
		sum += w
	}
	all = append(all, sum)
	if x.text != 0 {
		all = append(all, x.text)
	}
	return all
}
