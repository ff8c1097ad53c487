package compare

import (
	"fmt"
	"time"

	"mpitx/recording/profile"
)

// The measures of each table. Their names are those of reports.
var (
	runMeasures = []Measure{{Name: "elapsed_ns", Unit: "ns"}, {Name: "useful_ns", Unit: "ns"}, {Name: "in_mpi_ns", Unit: "ns"}, {Name: "init_ns", Unit: "ns"},
		{Name: "parallel_efficiency", Unit: "part"}, {Name: "load_balance", Unit: "part"}, {Name: "communication_efficiency", Unit: "part"}}
	functionMeasures = []Measure{{Name: "rank_mean_ns", Unit: "ns"}, {Name: "time_ns", Unit: "ns"}}
	phaseMeasures    = []Measure{{Name: "elapsed_ns", Unit: "ns"}, {Name: "in_mpi_ns", Unit: "ns"}, {Name: "entered"}, {Name: "parallel_efficiency", Unit: "part"}}
	rankMeasures     = []Measure{{Name: "useful_ns", Unit: "ns"}, {Name: "in_mpi_ns", Unit: "ns"}, {Name: "elapsed_ns", Unit: "ns"}}
	pairMeasures     = []Measure{{Name: "bytes", Unit: "B"}, {Name: "messages"}}
	totalMeasures    = []Measure{{Name: "calls"}, {Name: "messages_sent"}, {Name: "bytes_sent", Unit: "B"}, {Name: "messages_received"}, {Name: "bytes_received", Unit: "B"},
		{Name: "bytes_out", Unit: "B"}, {Name: "bytes_in", Unit: "B"}}
)

func totals(t *profile.Totals) []float64 {
	return []float64{float64(t.Calls), float64(t.MessagesSent), float64(t.BytesSent), float64(t.MessagesReceived), float64(t.BytesReceived), float64(t.BytesOut), float64(t.BytesIn)}
}

// withTotals is a list of measures followed by those of totals.
func withTotals(measures []Measure) []Measure {
	return append(measures[:len(measures):len(measures)], totalMeasures...)
}

func numbers(t *profile.Totals, first ...float64) []float64 { return append(first, totals(t)...) }

// profiles compares the profiles.
func (c *Comparison) profiles() {
	run, phases, ranks := c.table(c.withCores(runMeasures)...), c.table(withTotals(phaseMeasures)...), c.table(c.withCores(rankMeasures)...)
	functions, sites := c.table(withTotals(functionMeasures)...), c.table(withTotals(functionMeasures)...)
	peers, oneSided := c.table(pairMeasures...), c.table(pairMeasures...)
	places := c.matchSites()
	c.each(func(at place, in *Input) {
		p := in.Profile
		whole := p.Averaged()
		n := float64(max(len(whole), 1))
		var useful, inMPI, initialized time.Duration
		for _, r := range whole {
			useful, inMPI = useful+r.Useful(), inMPI+r.InMPI
			if c.excluded[r.Number] {
				continue
			}
			it := ranks.add(at, fmt.Sprint(r.Number), Item{Source: r.Number}, append(numbers(&r.Totals, float64(r.Useful()), float64(r.InMPI), float64(r.Elapsed)), c.onCores(1, r)...)...)
			it.unsure(at, "useful_ns", float64(r.InMPIError))
			it.unsure(at, "in_mpi_ns", float64(r.InMPIError))
		}
		for _, f := range p.Functions {
			if profile.Initializes(f.Name) && f.Within == "" {
				initialized += timeOf(f, p)
			}
			functions.addFunction(at, p, f, f.Name+"\x00"+f.Within, Item{Name: f.Name, Within: f.Within})
		}
		for _, s := range p.Sites {
			if len(s.Stack) > 0 {
				m := places[s]
				sites.addFunction(at, p, s, m.key, Item{Name: s.Name, Within: s.Within, Site: m.text[Base], NewSite: m.text[New]})
			}
		}
		e := p.Efficiency
		it := run.add(at, "", Item{}, append(numbers(&p.Total, float64(e.Elapsed), float64(useful)/n, float64(inMPI)/n, float64(initialized)/n, e.Parallel, e.LoadBalance, e.Communication),
			c.onCores(n, whole...)...)...)
		it.unsure(at, "useful_ns", float64(p.InMPIError())/n)
		it.unsure(at, "in_mpi_ns", float64(p.InMPIError())/n)
		it.unsure(at, "parallel_efficiency", e.Error)
		for _, ph := range p.Phases {
			var in, failure time.Duration
			ranks := 0
			for _, r := range ph.Ranks {
				if !p.Excludes(r.Rank) {
					in += r.InMPI
					failure = profile.Together(failure, r.InMPIError)
					ranks++
				}
			}
			e := ph.Efficiency
			it := phases.add(at, ph.Name, Item{Name: ph.Name}, numbers(&ph.Totals, float64(e.Elapsed), float64(in)/float64(max(ranks, 1)), float64(ph.Entered), e.Parallel)...)
			it.unsure(at, "in_mpi_ns", float64(failure)/float64(max(ranks, 1)))
			it.unsure(at, "parallel_efficiency", e.Error)
		}
		peers.addPairs(at, p.Pairs)
		oneSided.addPairs(at, p.OneSided)
	})
	c.Run, c.Functions, c.Sites, c.Phases = run.finish(), functions.finish(), sites.finish(), phases.finish()
	c.Ranks, c.Peers, c.OneSided = ranks.finish(), peers.finish(), oneSided.finish()
}

func (t *table) addFunction(at place, p *profile.Profile, f *profile.Function, key string, fresh Item) {
	it := t.add(at, key, fresh, numbers(&f.Totals, float64(timeOf(f, p))/float64(max(len(p.Averaged()), 1)), float64(f.Time))...)
	it.unsure(at, "rank_mean_ns", float64(f.TimeError)/float64(max(len(p.Averaged()), 1)))
	it.unsure(at, "time_ns", float64(f.TimeError))
	for i := range f.Ranks {
		it.ranks[at.side][f.Ranks[i].Rank.Number] += float64(f.Ranks[i].Time)
	}
}

// timeOf is the time of a function on the ranks that means are of.
func timeOf(f *profile.Function, p *profile.Profile) (sum time.Duration) {
	if len(p.Averaged()) == len(p.Ranks) {
		return f.Time
	}
	for i := range f.Ranks {
		if !p.Excludes(f.Ranks[i].Rank) {
			sum += f.Ranks[i].Time
		}
	}
	return sum
}

func (t *table) addPairs(at place, pairs []profile.Pair) {
	for i := range pairs {
		p := &pairs[i]
		t.add(at, fmt.Sprint(p.Source, " ", p.Destination), Item{Source: p.Source, Destination: p.Destination}, float64(p.Bytes()), float64(p.Messages()))
	}
}
