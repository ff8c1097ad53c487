package profile

import "time"

// Efficiency is how well ranks use their time, as the POP project defines it. Useful time is the main thread's time outside of MPI.
// Parallel is LoadBalance times Communication. All are 0 if nothing is known.
type Efficiency struct {
	Elapsed       time.Duration `json:"elapsed_ns"`    // of the rank with the longest time
	Parallel      float64       `json:"parallel"`      // mean useful time / elapsed time
	LoadBalance   float64       `json:"load_balance"`  // mean useful time / greatest useful time
	Communication float64       `json:"communication"` // greatest useful time / elapsed time

	// Error is that of Parallel, if times in MPI are estimated.
	Error float64 `json:"parallel_error,omitzero"`

	// Of the whole run; 0 if unknown.
	Processor float64 `json:"processor,omitzero"`         // the part of all useful time in which ranks did not wait for a core
	Computing float64 `json:"computing_balance,omitzero"` // load balance of the time in which ranks ran outside of MPI
}

// efficiency computes the efficiencies of ranks from their elapsed and useful times, and the error of the sum of the latter.
func efficiency(elapsed, useful []time.Duration, failure time.Duration) (e Efficiency) {
	var sum, most time.Duration
	for i, u := range useful {
		e.Elapsed = max(e.Elapsed, elapsed[i])
		most = max(most, u)
		sum += u
	}
	if e.Elapsed <= 0 || most <= 0 {
		return e
	}
	mean := float64(sum) / float64(len(useful))
	e.Parallel, e.LoadBalance, e.Communication = mean/float64(e.Elapsed), mean/float64(most), float64(most)/float64(e.Elapsed)
	e.Error = float64(failure) / float64(len(useful)) / float64(e.Elapsed)
	return e
}

func (p *Profile) efficiencies() {
	var elapsed, useful []time.Duration
	for _, r := range p.Averaged() {
		elapsed, useful = append(elapsed, r.Elapsed), append(useful, r.Useful())
	}
	p.Efficiency = efficiency(elapsed, useful, p.InMPIError())
	p.Efficiency.Processor, p.Efficiency.Computing = p.processorEfficiency()
	for _, ph := range p.Phases {
		elapsed, useful = elapsed[:0], useful[:0]
		failure := time.Duration(0)
		for i := range ph.Ranks {
			r := &ph.Ranks[i]
			if p.Run.Excludes(r.Rank.Process) {
				continue
			}
			elapsed, useful = append(elapsed, r.Elapsed), append(useful, max(r.Elapsed-r.InMPI, 0))
			failure = Together(failure, r.InMPIError)
		}
		ph.Efficiency = efficiency(elapsed, useful, failure)
	}
}
