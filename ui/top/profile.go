package top

import (
	"math"
	"slices"
	"time"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/recording/profile"
)

// Metric is what a row counts.
type Metric uint8

// The metrics. All but the first are of a function.
const (
	OfVariable Metric = iota
	OfTime
	OfCalls
	OfBytes // sent and received
)

const (
	idleAfterRead = 20          // a profile is not read again for so many times as long as reading it took
	recently      = time.Second // the time that rates of messages cover
)

// functionColumns are the columns of a function: what it counts is kept like a variable. Their names give them their units.
var functionColumns = map[Metric]*recording.Column{
	OfTime:  {Variable: "mpitx:time", Class: catalog.ClassTimer, Type: catalog.TypeUint64, Count: 1},
	OfCalls: {Variable: "mpitx:calls", Class: catalog.ClassCounter, Type: catalog.TypeUint64, Count: 1},
	OfBytes: {Variable: "mpitx:bytes_", Class: catalog.ClassAggregate, Type: catalog.TypeUint64, Count: 1},
}

func functionKey(name string, of Metric) Key {
	return Key{Variable: name, Class: functionColumns[of].Class, Metric: of}
}

// profiler keeps the run's profile as it was read the last time, and earlier numbers of messages.
type profiler struct {
	wanted bool // somebody looks at it
	last   *profile.Profile
	err    error
	time   time.Duration // when it was read, since the job's start
	wall   time.Time     // likewise
	rest   time.Time     // it is not read before
	ended  bool          // it was read after all processes had ended
	begin  time.Duration // when it was read first
	reads  int
	before []traffic // the first one is at least a moment old
}

type traffic struct {
	time            time.Duration
	pairs, oneSided map[[2]int]profile.Pair
}

// readProfile reads the profile, unless it was read a moment ago.
func (f *Feed) readProfile() {
	p, wall, running := &f.profiler, f.clock(), f.run.Running()
	if !profile.Has(f.run) || p.ended || wall.Before(p.rest) {
		return
	}
	_, away := f.run.Unreachable()
	start := time.Now()
	now, err := profile.Read(f.run, profile.Cut{NoArrivals: true})
	p.rest = wall.Add(idleAfterRead * time.Since(start))
	if p.err = err; err != nil {
		return
	}
	t := p.time + wall.Sub(p.wall)
	if p.reads == 0 {
		if t = lastSign(now); running { // reads that come with the ticks then end bins
			t = t.Truncate(f.line.width)
		}
		p.begin = t
	}
	f.reach(t)
	f.now = max(f.now, t)
	for _, fn := range now.Functions {
		f.takeFunction(fn.Title(), fn.Ranks, t)
	}
	p.remember(now, t)
	p.last, p.time, p.wall, p.ended = now, t, wall, !running && len(away) == 0
	p.reads++
}

// lastSign is the last time at which something is known about a process.
func lastSign(p *profile.Profile) (last time.Duration) {
	for _, r := range p.Ranks {
		from, _ := p.Run.Span(r.Process)
		last = max(last, from+r.Elapsed)
	}
	return last
}

// takeFunction takes in the totals of a function. The time of a call that has not returned counts, too: otherwise a rank that waits would show
// no time in the function, and then all of it at once.
func (f *Feed) takeFunction(name string, ranks []profile.RankTotals, t time.Duration) {
	for i := range ranks {
		r := f.known[ranks[i].Rank.Process]
		if r == nil {
			continue
		}
		elapsed := ranks[i].Time
		if ranks[i].Rank.Open == name {
			elapsed += ranks[i].Rank.OpenFor
		}
		f.put(name, OfTime, r, t, uint64(max(elapsed, 0)))
		r.cells[functionKey(name, OfTime)].spend(&f.line, float64(max(ranks[i].Rank.Threads, 1)))
		f.put(name, OfCalls, r, t, ranks[i].Calls)
		f.put(name, OfBytes, r, t, ranks[i].Sent()+ranks[i].Received())
	}
}

// put takes in a number of a function on a rank. A function that the profile did not have when it was read the last time was at 0 then.
func (f *Feed) put(name string, of Metric, r *rank, t time.Duration, x uint64) {
	key := functionKey(name, of)
	c := r.cells[key]
	if c == nil {
		c = f.newCell(key, r, sum)
		k := newColumn(functionColumns[of], c)
		c.columns = []*column{k}
		if f.profiler.reads > 0 {
			f.sampleCell(c, f.profiler.time, 0)
		}
	}
	f.sampleCell(c, t, max(x, c.columns[0].last[0]))
}

func (f *Feed) sampleCell(c *cell, t time.Duration, x uint64) {
	b, bridge := f.line.bin(t), f.line.bins
	c.before(&f.line, b, bridge)
	c.columns[0].take([]recording.Cell{{Value: recording.UnsignedValue(x)}})
	c.after(&f.line, b, bridge, t)
}

// spend moves time to where it was spent: the time of a long call may be known only after its end, and it grows at most as fast as the time of
// all threads.
func (c *cell) spend(l *timeline, threads float64) {
	_, grown := c.now()
	least := func(t time.Duration) float64 { return grown - threads*float64(c.time-t) }
	for _, m := range []*mark{&c.start, &c.marks[0], &c.marks[1]} {
		m.grown = max(m.grown, least(m.time))
	}
	h := &c.history
	for b := min(c.bin-1, h.last); b >= 0; b-- {
		x := least(time.Duration(b+1) * l.width)
		if x < grown && !(h.at(b) < x) {
			break
		}
		h.ring[b%len(h.ring)] = x
	}
}

func (p *profiler) remember(now *profile.Profile, t time.Duration) {
	index := func(pairs []profile.Pair) map[[2]int]profile.Pair {
		all := make(map[[2]int]profile.Pair, len(pairs))
		for _, pair := range pairs {
			all[[2]int{pair.Source, pair.Destination}] = pair
		}
		return all
	}
	p.before = append(p.before, traffic{t, index(now.Pairs), index(now.OneSided)})
	for len(p.before) > 2 && t-p.before[1].time >= recently {
		p.before = p.before[1:]
	}
}

// Rates are those of a function lately: the part of the ranks' time, and per second; NaN: not known.
type Rates struct{ Now, CallsRate, BytesRate float64 }

// Function is a function over all ranks.
type Function struct {
	Key
	profile.FunctionRow
	Rates
	Trend []float64
	Ranks []RankFunction // of the function that was asked for
}

// RankFunction is a function on one rank.
type RankFunction struct {
	profile.RankTotals
	Rates
}

// functions are the rows of all functions, those with the most run time first.
func (f *Feed) functions(ask Ask, trend int) (rows []Function) {
	p := f.profiler.last
	if p == nil {
		return nil
	}
	rows = make([]Function, 0, len(p.Functions))
	metric := max(ask.Metric, OfTime)
	for _, fn := range p.Functions {
		name := fn.Title()
		row := Function{Key: functionKey(name, metric), FunctionRow: p.Row(fn)}
		row.Now = math.NaN() // nothing runs
		if threads := f.runningThreads(); threads > 0 {
			row.Now = f.rateOf(name, OfTime) / 1e9 / threads
		}
		row.CallsRate, row.BytesRate = f.rateOf(name, OfCalls), f.rateOf(name, OfBytes)
		if f.profiler.reads == 1 && f.profiler.ended { // over the whole run
			s := p.Efficiency.Elapsed.Seconds()
			row.CallsRate, row.BytesRate = float64(fn.Calls)/s, float64(fn.Sent()+fn.Received())/s
		}
		if cells := f.cells[row.Key]; trend > 0 && len(cells) > 0 && f.profiler.reads > 1 {
			row.Trend = f.trend(cells, recording.Rate, trend)
		}
		if ask.Row != nil && *ask.Row == row.Key {
			row.Ranks = f.functionRanks(fn, name)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b Function) int { // those that start MPI last
		switch starts := profile.Initializes(a.Name); {
		case starts == profile.Initializes(b.Name):
			return 0
		case starts:
			return 1
		}
		return -1
	})
	return rows
}

func (f *Feed) functionRanks(fn *profile.Function, name string) (rows []RankFunction) {
	for i := range fn.Ranks {
		r := &fn.Ranks[i]
		row := RankFunction{*r, Rates{math.NaN(), math.NaN(), math.NaN()}}
		if k := f.known[r.Rank.Process]; k != nil {
			rate := func(of Metric) float64 { return f.value(k.cells[functionKey(name, of)], recording.Rate).Rate }
			row.Now, row.CallsRate, row.BytesRate = rate(OfTime)/1e9, rate(OfCalls), rate(OfBytes)
		}
		rows = append(rows, row)
	}
	return rows
}

// rateOf is the sum of a function's rates on all ranks; NaN: there is none.
func (f *Feed) rateOf(name string, of Metric) float64 {
	rate := math.NaN()
	for _, c := range f.cells[functionKey(name, of)] {
		rate = sum.add(rate, f.value(c, recording.Rate).Rate)
	}
	return rate
}

// runningThreads is the number of threads that have called MPI, on the ranks that run.
func (f *Feed) runningThreads() (n float64) {
	for _, r := range f.profiler.last.Ranks {
		if r.Process.State == recording.StateRunning {
			n += float64(max(r.Threads, 1))
		}
	}
	return n
}

// Pair is the messages from one rank to another one, or its one-sided operations.
type Pair struct {
	Source, Destination     int
	Messages, Bytes         uint64
	MessagesRate, BytesRate float64 // per second, lately; NaN: not known
}

// Matrix is the messages between all ranks, and one-sided operations.
type Matrix struct{ Pairs, OneSided []Pair }

func (f *Feed) matrix() *Matrix {
	p := &f.profiler
	if p.last == nil {
		return nil
	}
	now, before := p.before[len(p.before)-1], p.before[0]
	over := (now.time - before.time).Seconds()
	rows := func(pairs []profile.Pair, before map[[2]int]profile.Pair) (rows []Pair) {
		for i := range pairs {
			pair := &pairs[i]
			old := before[[2]int{pair.Source, pair.Destination}]
			rows = append(rows, Pair{pair.Source, pair.Destination, pair.Messages(), pair.Bytes(), float64(pair.Messages()-old.Messages()) / over, float64(pair.Bytes()-old.Bytes()) / over})
			if over == 0 || p.ended {
				rows[i].MessagesRate, rows[i].BytesRate = math.NaN(), math.NaN()
			}
		}
		return rows
	}
	return &Matrix{rows(p.last.Pairs, before.pairs), rows(p.last.OneSided, before.oneSided)}
}

func (f *Feed) profile(out *Frame, ask Ask, trend int) {
	p := &f.profiler
	out.HasProfile = profile.Has(f.run)
	if ask.Profile || ask.Matrix {
		if p.wanted = true; p.reads == 0 {
			f.readProfile()
			out.Time = f.now
		}
	}
	if out.Watched = p.reads > 1; p.err != nil {
		out.Profile = p.err.Error()
	}
	if ask.Profile {
		out.Functions = f.functions(ask, trend)
	}
	if ask.Matrix {
		out.Matrix = f.matrix()
	}
}
