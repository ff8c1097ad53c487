// Package clocks puts the clocks of a run's nodes in step by its messages: none is received before it was sent. A message says how much one
// clock is at most ahead of another one, a message back how much at least. Between these bounds a line is fitted for each pair of nodes, or
// several ones if the rates of the clocks change. docs/trace.md says what follows from it.
package clocks

import (
	"math"
	"slices"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// Correct puts the clocks of a run in step, unless that was done before. Runs that go on, have one node or no trace stay as they are, and
// nothing is read.
func Correct(run *recording.Run) {
	if run.Clocks == nil && len(run.Nodes) > 1 && !run.Running() && trace.Has(run) {
		run.SetClocks(Fit(run))
	}
}

// Keep puts the clocks of a run in step, and keeps the result in the run: those who open it need not read the trace for it. If it cannot be
// written, they do.
func Keep(run *recording.Run) {
	if Correct(run); run.Clocks != nil {
		_ = run.KeepClocks()
	}
}

// Fit reads the messages of a run, and finds how its nodes' clocks differ.
func Fit(run *recording.Run) *recording.Clocks {
	run.SetClocks(nil)
	return fitBy(run, func(again func() func(from, to *recording.Rank, sent, received int64)) {
		trace.Arrows(run, func() func(trace.Arrow) {
			give := again()
			pings(run, give)
			return func(a trace.Arrow) { give(a.From, a.To, int64(a.Sent), int64(a.Received)) }
		})
	})
}

// fitBy finds how the clocks of nodes differ by messages: read gives all of them to what again returns; if it calls that once more, those
// that it gave before are void.
func fitBy(run *recording.Run, read func(again func() func(from, to *recording.Rank, sent, received int64))) *recording.Clocks {
	numbers := map[*recording.Node]int{}
	for i, n := range run.Nodes {
		numbers[n] = i
	}
	m := model{nodes: len(run.Nodes), root: -1}
	for _, r := range run.Ranks { // the lowest one comes first
		if m.root < 0 && r.Rank >= 0 {
			m.root = numbers[r.Node]
		}
		_, to := run.Span(r)
		m.end = max(m.end, int64(to))
	}
	m.root = max(m.root, 0)
	m.fit(func(again func() func(message)) {
		read(func() func(from, to *recording.Rank, sent, received int64) {
			give := again()
			return func(from, to *recording.Rank, sent, received int64) {
				if from.Node != to.Node {
					give(message{numbers[from.Node], numbers[to.Node], sent, received})
				}
			}
		})
	})
	c := &recording.Clocks{Base: run.ClockBase(), Curves: []recording.NodeCurve{}, Pairs: []recording.ClockPair{}}
	for i, n := range run.Nodes {
		if m.curves[i] != nil {
			c.Curves = append(c.Curves, recording.NodeCurve{Node: i, Host: n.Host, Curve: m.curves[i]})
		}
	}
	for _, p := range m.pairs {
		p.Hosts = [2]string{run.Nodes[p.Nodes[0]].Host, run.Nodes[p.Nodes[1]].Host}
		c.Pairs = append(c.Pairs, p.ClockPair)
	}
	return c
}

// message is a message between two nodes, with the times by their clocks.
type message struct {
	from, to       int
	sent, received int64
}

// model is nodes by their numbers.
type model struct {
	nodes, root int
	end         int64 // of the recording

	curves map[int]recording.Curve // from each node's time to the root's; a node that is missing stays as it is
	pairs  []fitted
}

// fitted is a pair of nodes with messages between them.
type fitted struct {
	recording.ClockPair
	curve    recording.Curve // from the first clock to the second one; nil: unknown
	error    float64
	from, to int64 // the first and the last message, by the first clock
}

// fit fits all clocks to messages. read gives them to what again returns, and calls it at least once, first; what earlier calls have got is
// void.
func (m *model) fit(read func(again func() func(message))) {
	var all *points
	read(func() func(message) {
		all = newPoints()
		return func(x message) { all.add(x.from, x.to, x.sent, x.received) }
	})
	from, to := all.first, max(all.last, m.end)
	pointing := map[[2]int][]*part{}
	for key, of := range all.pairs {
		p := fitted{ClockPair: recording.ClockPair{Nodes: key}}
		p.Messages, p.Before = of.messages[0]+of.messages[1], of.back
		p.OneWay = of.messages[0] == 0 || of.messages[1] == 0
		f := fitter{parts: of.sorted(), shift: all.shift}
		p.from, p.to = f.span()
		f.from, f.to = from, to
		p.curve, p.error = f.run()
		m.pairs = append(m.pairs, p)
		pointing[key] = f.parts
	}
	slices.SortFunc(m.pairs, func(a, b fitted) int { return slices.Compare(a.Nodes[:], b.Nodes[:]) })
	m.span()
	left := false
	for i := range m.pairs {
		p := &m.pairs[i]
		between := m.between(p.Nodes[0], p.Nodes[1])
		if p.Known {
			p.Apart = between.At(time.Duration(p.from)) - time.Duration(p.from)
			if p.to > p.from {
				p.Drift = float64(between.At(time.Duration(p.to))-time.Duration(p.to)-p.Apart) / float64(p.to-p.from)
			}
		}
		left = left || !inside(between, pointing[p.Nodes])
	}
	if left {
		m.count(read)
	}
}

// span is from the first to the last point.
func (f *fitter) span() (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, s := range f.parts {
		for _, all := range s.points {
			if len(all) > 0 {
				from, to = min(from, all[0].at), max(to, all[len(all)-1].at)
			}
		}
	}
	return from, to
}

// between converts times of one node to those of another, as they are corrected.
func (m *model) between(a, b int) recording.Curve {
	return m.curves[a].Then(m.curves[b].Inverse())
}

// inside reports whether a curve is on the right side of all points, and of all messages, which are beyond the lines between those.
func inside(curve recording.Curve, parts []*part) bool {
	for _, s := range parts {
		for direction, all := range s.points {
			sign := 1 - 2*int64(direction)
			right := func(p point) bool { return p.ahead-sign*int64(curve.At(time.Duration(p.at))-time.Duration(p.at)) > 1 }
			for i, p := range all {
				if !right(p) {
					return false
				}
				if i == 0 {
					continue
				}
				before := all[i-1]
				for _, k := range curve {
					if at := int64(k.From); at > before.at && at < p.at {
						share := float64(at-before.at) / float64(p.at-before.at)
						if !right(point{at, before.ahead + int64(share*float64(p.ahead-before.ahead))}) {
							return false
						}
					}
				}
			}
		}
	}
	return true
}

// count reads the messages once more, and counts those that still point back.
func (m *model) count(read func(again func() func(message))) {
	at := map[[2]int]*fitted{}
	for i := range m.pairs {
		at[m.pairs[i].Nodes] = &m.pairs[i]
	}
	read(func() func(message) {
		for _, p := range at {
			p.After = 0
		}
		return func(x message) {
			p := at[[2]int{min(x.from, x.to), max(x.from, x.to)}]
			if p != nil && m.curves[x.to].At(time.Duration(x.received)) < m.curves[x.from].At(time.Duration(x.sent)) {
				p.After++
			}
		}
	})
}
