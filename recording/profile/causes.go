package profile

import (
	"slices"
	"time"
)

// oneCause joins findings that have the same cause: the cause's finding stays, with the numbers of the others. Of those that are about
// waiting it names the first whose other rank is known.
func (p *Profile) oneCause(all []found) (causes []found) {
	joined := make([]bool, len(all))
	for _, kind := range []string{"load imbalance", "waiting"} {
		for i := range all {
			if cause := &all[i]; cause.Kind == kind && !joined[i] {
				var effects []int
				for k := range all {
					if k != i && !joined[k] && p.follows(&all[k], cause) {
						effects = append(effects, k)
					}
				}
				slices.SortStableFunc(effects, func(a, b int) int { return unnamed(all[a]) - unnamed(all[b]) })
				said := ""
				for _, k := range effects {
					f := &all[k]
					if joined[k] = true; f.Kind != said { // the first of its kind stands for the rest
						cause.Text += "; " + f.Text
					}
					cause.Also = append(cause.Also, f.Finding)
					if f.phase != nil {
						cause.Next += "; " + f.Next + " shows this phase alone"
					}
					said, cause.Share = f.Kind, max(cause.Share, f.Share)
				}
			}
		}
	}
	for i, f := range all {
		if !joined[i] {
			causes = append(causes, f)
		}
	}
	return causes
}

func unnamed(f found) int {
	if f.named {
		return 0
	}
	return 1
}

// follows reports whether most of what a finding is about follows from the cause of another one.
func (p *Profile) follows(f, cause *found) bool {
	useful := func(r *Rank) float64 { return float64(r.Useful()) }
	switch balance := p.SpreadOverRanks(useful); {
	case cause.Kind == "load imbalance" && f.Kind == "waiting": // the rank has less to do
		return balance.Max-useful(f.rank) >= f.Share*float64(f.rank.Elapsed)/2
	case cause.Kind == "load imbalance" && f.Kind == "late arrival":
		return f.rank.Number == balance.MaxRank && balance.Max-balance.Mean >= f.Share*float64(f.rank.Elapsed)/4
	case cause.Kind == "load imbalance" && f.phase != nil: // the imbalance is in the phase
		most, sum, slowest := time.Duration(0), time.Duration(0), -1
		for i := range f.phase.Ranks {
			r := &f.phase.Ranks[i]
			u := max(r.Elapsed-r.InMPI, 0)
			if sum += u; u > most {
				most, slowest = u, r.Rank.Number
			}
		}
		return slowest == balance.MaxRank && float64(most)-float64(sum)/float64(len(p.Ranks)) >= (balance.Max-balance.Mean)/2
	case cause.Kind == "waiting" && f.phase != nil: // the rank waits in the phase: at least for so long as the times do not fit elsewhere
		for i := range f.phase.Ranks {
			if r := &f.phase.Ranks[i]; r.Rank == cause.rank {
				return cause.site.timeOn(cause.rank)+r.InMPI-cause.rank.InMPI >= max(r.InMPI/2, 1)
			}
		}
	}
	return false
}

// timeOn is the function's time on a rank.
func (f *Function) timeOn(rank *Rank) (sum time.Duration) {
	for i := range f.Ranks {
		if f.Ranks[i].Rank == rank {
			sum += f.Ranks[i].Time
		}
	}
	return sum
}
