package profile

import "time"

// Averaged are the ranks that means are of: see [recording.Run.Excludes].
func (p *Profile) Averaged() []*Rank {
	if p.whole == nil {
		for _, r := range p.Ranks {
			if !p.Excludes(r) {
				p.whole = append(p.whole, r)
			}
		}
	}
	return p.whole
}

// Excludes reports whether a rank is in no mean: see [recording.Run.Excludes].
func (p *Profile) Excludes(r *Rank) bool {
	return p.Run != nil && r.Process != nil && p.Run.Excludes(r.Process)
}

// Spread is how a number differs over the ranks, without those that are incomplete. Ranks without calls have 0.
type Spread struct {
	Min, Mean, Max   float64
	MinRank, MaxRank int   // the first ones with the extremes
	MaxRanks         []int // all with the maximum
}

// Imbalance is how far the maximum is above the mean, relative to the mean: 0.5 is 50 %. It is 0 if the mean is 0.
func (s Spread) Imbalance() float64 {
	if s.Mean <= 0 {
		return 0
	}
	return s.Max/s.Mean - 1
}

// SpreadOf returns the spread of a number over all ranks of the profile.
func (p *Profile) SpreadOf(ranks []RankTotals, of func(*Totals) float64) Spread {
	values := make(map[*Rank]float64, len(ranks))
	for i := range ranks {
		values[ranks[i].Rank] = of(&ranks[i].Totals)
	}
	return p.SpreadOverRanks(func(r *Rank) float64 { return values[r] })
}

// SpreadOverRanks returns the spread of a property of ranks.
func (p *Profile) SpreadOverRanks(of func(*Rank) float64) (s Spread) {
	ranks := p.Averaged()
	for i, r := range ranks {
		v := of(r)
		if i == 0 || v < s.Min {
			s.Min, s.MinRank = v, r.Number
		}
		if i == 0 || v > s.Max {
			s.Max, s.MaxRank, s.MaxRanks = v, r.Number, s.MaxRanks[:0]
		}
		if v == s.Max {
			s.MaxRanks = append(s.MaxRanks, r.Number)
		}
		s.Mean += v / float64(len(ranks))
	}
	return s
}

// Time is a time in nanoseconds, for spreads.
func Time(t *Totals) float64 { return float64(t.Time) }

// Elapsed is the run time of all ranks together that are complete.
func (p *Profile) Elapsed() (sum time.Duration) {
	for _, r := range p.Averaged() {
		sum += r.Elapsed
	}
	return sum
}

// Share is a time as a part of the run time of all threads that called MPI, on all ranks.
func (p *Profile) Share(t time.Duration) float64 {
	var all time.Duration
	for _, r := range p.Ranks {
		all += r.threadTime()
	}
	return part(float64(t), all)
}

// threadTime is the run time of all threads that called MPI.
func (r *Rank) threadTime() time.Duration { return r.Elapsed * time.Duration(max(r.Threads, 1)) }

// ShareOf is the share of a function's time; 0 for the functions that start MPI, which are before the run time.
func (p *Profile) ShareOf(f *Function) float64 {
	if Initializes(f.Name) {
		return 0
	}
	return p.Share(f.Time)
}

// InMPI is the time in MPI of all main threads of ranks that are complete.
func (p *Profile) InMPI() (sum time.Duration) {
	for _, r := range p.Averaged() {
		sum += r.InMPI
	}
	return sum
}
