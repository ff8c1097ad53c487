package clocks

import (
	"cmp"
	"math"
	"slices"
)

// point is what a message proves about two clocks: when the first one shows at, the second one shows at most at+ahead. Of a message in the
// other direction it is at least at+ahead, and ahead is kept with the other sign, so that the same is true of both: the smallest say most.
type point struct{ at, ahead int64 }

const (
	mostTime   = 1 << 59 // of a point; others are damage
	mostPoints = 64      // of one direction in a part
	mostParts  = 256     // of a pair
	allParts   = 1 << 16 // of all pairs
	mostPairs  = 1 << 18
	firstShift = 20 // parts take 1 ms
)

// part is a part of the time, with the points of a pair: some, of which those that matter are kept.
type part struct {
	number int64
	points [2][]point // of messages from the first node, and from the second
}

func (s *part) add(direction int, p point) {
	all := append(s.points[direction], p)
	if len(all) > mostPoints {
		all = hull(all)
		for len(all) > mostPoints/2 { // keep every second one
			kept := all[:0]
			for i := 0; i < len(all); i += 2 {
				kept = append(kept, all[i])
			}
			all = kept
		}
	}
	s.points[direction] = all
}

// hull keeps the points of which a line can touch one from below, without others below it. It sorts them.
func hull(points []point) []point {
	slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ahead, b.ahead)) })
	return chain(nil, points)
}

// chain appends sorted points to a hull.
func chain(kept, points []point) []point {
	for _, p := range points {
		if n := len(kept); n > 0 && kept[n-1].at == p.at {
			continue // it is above
		}
		for len(kept) > 1 && !below(kept[len(kept)-2], kept[len(kept)-1], p) {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, p)
	}
	return kept
}

// below reports whether b is below the line from a to c.
func below(a, b, c point) bool {
	return float64(b.ahead-a.ahead)*float64(c.at-a.at) < float64(c.ahead-a.ahead)*float64(b.at-a.at)
}

// pair is the messages between two nodes.
type pair struct {
	parts    map[int64]*part
	messages [2]uint64 // from the first node to the second, and back
	back     uint64    // that were received before they were sent
}

// points are those of all pairs, by the numbers of their nodes, the lower one first. Memory is bounded: if there are too many parts, they get
// longer.
type points struct {
	pairs map[[2]int]*pair
	shift uint
	parts int

	first, last int64 // the times of messages, by whatever clock
}

func newPoints() *points {
	return &points{pairs: map[[2]int]*pair{}, shift: firstShift, first: math.MaxInt64, last: math.MinInt64}
}

// add adds a message from one node to another, with the times by their clocks.
func (x *points) add(from, to int, sent, received int64) {
	if from == to || max(sent, received) > mostTime || min(sent, received) < -mostTime {
		return
	}
	key, direction, p := [2]int{from, to}, 0, point{sent, received - sent}
	if from > to {
		key, direction, p = [2]int{to, from}, 1, point{received, received - sent}
	}
	of := x.pairs[key]
	if of == nil {
		if len(x.pairs) >= mostPairs {
			return
		}
		of = &pair{parts: map[int64]*part{}}
		x.pairs[key] = of
	}
	of.messages[direction]++
	if received < sent {
		of.back++
	}
	x.first, x.last = min(x.first, sent, received), max(x.last, sent, received)
	number := p.at >> x.shift
	s := of.parts[number]
	if s == nil {
		s = &part{number: number}
		of.parts[number] = s
		x.parts++
	}
	s.add(direction, p)
	for len(of.parts) > mostParts || x.parts > max(allParts, len(x.pairs)) {
		x.widen()
	}
}

// widen joins each two parts.
func (x *points) widen() {
	x.shift++
	x.parts = 0
	for _, of := range x.pairs {
		before := of.parts
		of.parts = map[int64]*part{}
		for _, s := range before {
			number := s.number >> 1
			joined := of.parts[number]
			if joined == nil {
				of.parts[number] = s
				s.number = number
				x.parts++
				continue
			}
			for direction, points := range s.points {
				for _, p := range points {
					joined.add(direction, p)
				}
			}
		}
	}
}

// sorted are the parts of a pair in order, with their hulls.
func (of *pair) sorted() []*part {
	var all []*part
	for _, s := range of.parts {
		for d := range s.points {
			s.points[d] = hull(s.points[d])
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *part) int { return cmp.Compare(a.number, b.number) })
	return all
}
