package profile

import (
	"fmt"
	"time"

	"mpitx/recording/finding"
	"mpitx/recording/processor"
	"mpitx/text"
)

// readProcessor reads what the processors did.
func (p *Profile) readProcessor() {
	p.Processor = processor.Read(p.Run, nil)
	if p.Processor == nil {
		return
	}
	for _, r := range p.Ranks {
		for _, of := range p.Processor.Ranks {
			if of.Process == r.Process && of.Elapsed() > 0 {
				of.Open = r.OpenFor
				r.Processor = of
			}
		}
	}
}

// Computed is the part of the useful time in which the main thread ran on a core.
func (r *Rank) Computed() processor.Range {
	useful := r.Useful()
	if r.Processor == nil {
		return processor.Range{Least: useful, Most: useful}
	}
	unseen := max(useful-r.Processor.Outside, 0) // for which the processor's part is not known
	least := max(min(useful-unseen-r.Processor.Waited.Most-r.Processor.Slept.Most, r.Processor.Ran.Most), 0)
	return processor.Range{Least: least, Most: min(useful, r.Processor.Ran.Most+unseen)}
}

// OnProcessor is a time of the whole run in nanoseconds; 0 if it is not known.
func (r *Rank) OnProcessor(of func(*processor.Rank) time.Duration) float64 {
	if r.Processor == nil {
		return 0
	}
	return float64(of(r.Processor))
}

// slept is the part of the useful time in which it slept.
func (r *Rank) slept() processor.Range {
	if r.Processor == nil {
		return processor.Range{}
	}
	useful := r.Useful()
	least := max(useful-r.Processor.Ran.Most-r.Processor.Waited.Most, 0)
	return processor.Range{Least: min(least, r.Processor.Slept.Least), Most: min(useful, r.Processor.Slept.Most)}
}

// processorEfficiency is 0 if it is not known within a hundredth, or of the whole run.
func (p *Profile) processorEfficiency() (had, balance float64) {
	const exact = 0.01
	var useful, waited, computed, most time.Duration
	known := len(p.Cut.Phases) == 0
	for _, r := range p.Averaged() {
		if r.Processor == nil || !r.Processor.Waited.Known(exact, r.Elapsed) || !r.Processor.Ran.Known(exact, r.Elapsed) {
			known = false
			continue
		}
		useful += r.Useful()
		waited += min(r.Processor.Waited.Least, r.Useful())
		computed += r.Processor.Ran.Least
		most = max(most, r.Processor.Ran.Least)
	}
	if !known || useful == 0 || most == 0 {
		return 0, 0
	}
	return 1 - part(float64(waited), useful), part(float64(computed)/float64(len(p.Averaged())), most)
}

// excess is by how much a rank has more of something than the mean, at least.
type excess struct {
	rank, least *Rank // the one with the most, and with the least of it
	most, mean  time.Duration
	equal       bool    // the others have nearly the same
	weight      float64 // part of the run
}

func (p *Profile) excessOf(of func(*Rank) processor.Range) (e excess) {
	var sum, fewest, second time.Duration
	for _, r := range p.Averaged() {
		x := of(r)
		sum += x.Most
		if e.rank == nil || x.Least > e.most {
			e.rank, e.most, second = r, x.Least, e.most
		} else {
			second = max(second, x.Least)
		}
		if e.least == nil || x.Most < fewest {
			e.least, fewest = r, x.Most
		}
	}
	if len(p.Averaged()) > 1 {
		e.mean = sum / time.Duration(len(p.Averaged()))
		e.equal = part(float64(second-fewest), e.most) < 0.1
		e.weight = part(float64(e.most-e.mean), p.Efficiency.Elapsed)
	}
	return e
}

// alike reports whether a time is nearly as long as a longer one.
func alike(less, more time.Duration) bool { return part(float64(less), more) > 0.9 }

// loadImbalance finds a rank that computes longer than the others. Waiting for a core and sleeping are not computing.
func loadImbalance(p *Profile) []found {
	e := p.excessOf((*Rank).Computed)
	if e.weight <= 0 || alike(e.mean, e.most) {
		return nil
	}
	balance, name := p.Efficiency.LoadBalance, "load balance"
	if p.disturbed() {
		balance, name = part(float64(e.mean), e.most), "load balance of computing"
	}
	does, next, least := "computes", "the work of rank %d outside of MPI", "; rank %d has the least"
	if e.rank.Processor == nil { // it may have slept or waited for a core
		does, next, least = "is outside of MPI", "what rank %d does there", "; rank %d has the least time there"
	}
	next = fmt.Sprintf(next, e.rank.Number)
	if !e.equal {
		next += fmt.Sprintf(least, e.least.Number)
	}
	return []found{{Finding: finding.Finding{Kind: "load imbalance", Ranks: []int{e.rank.Number}, Share: e.weight,
		Text: fmt.Sprintf("%s is %s: rank %d %s for %s, the mean is %s", name, text.RoughPercent(balance), e.rank.Number, does, text.Duration(e.most), text.Duration(e.mean)),
		Next: next, Figures: finding.Figures{"load_balance": balance, "most_ns": float64(e.most), "mean_ns": float64(e.mean)}}}}
}

// disturbed reports whether ranks did something else outside of MPI than to compute.
func (p *Profile) disturbed() bool {
	for _, r := range p.Averaged() {
		if part(float64(r.Useful()-r.Computed().Most), r.Elapsed) > 0.01 {
			return true
		}
	}
	return false
}

// lostCore is how long a virtual machine may take a core away in a run. To the kernel in it, a thread then sleeps, if it slept at all since the last
// reading.
const lostCore = 10 * time.Millisecond

// sleeping finds a rank that sleeps outside of MPI for longer than the others.
func sleeping(p *Profile) []found {
	e := p.excessOf((*Rank).slept)
	if e.weight <= 0 || alike(e.mean, e.most) || e.most-e.mean < lostCore {
		return nil
	}
	return []found{{Finding: finding.Finding{Kind: "sleep", Ranks: []int{e.rank.Number}, Share: e.weight,
		Figures: finding.Figures{"most_ns": float64(e.most), "mean_ns": float64(e.mean)},
		Text:    fmt.Sprintf("rank %d sleeps outside of MPI for %s, the mean is %s", e.rank.Number, text.Duration(e.most), text.Duration(e.mean)),
		Next:    fmt.Sprintf("what rank %d waits for there: a timer, a file, or other threads", e.rank.Number)}}}
}

// doubt is how much of a finding may be due to missing cores.
type doubt struct {
	p        *Profile
	part     float64 // of the run
	withheld int
}

func (p *Profile) doubt() *doubt {
	return &doubt{p: p, part: part(float64(p.Processor.Delay()), p.Efficiency.Elapsed)}
}

// doubtful are the kinds of findings about how long something takes. The others are about what was counted.
var doubtful = map[string]bool{"waiting": true, "late arrival": true, "polling": true, "barrier": true, "slow calls": true, "long calls": true, "phase": true}

// sure reports whether a finding holds even if all that ranks waited for cores is part of it.
func (d *doubt) sure(f *found) bool {
	if !doubtful[f.Kind] || d.part < 0.01 {
		return true
	}
	if f.Share-d.part < significant {
		d.withheld++
		return false
	}
	if d.part >= significant {
		f.Certainty = finding.Possible
		f.Text += fmt.Sprintf(" (up to %s of the run may be for want of a core)", text.RoughPercent(d.part))
	}
	return true
}

// shortages are the findings that cores were missing.
func (d *doubt) shortages() (list []finding.Finding) {
	for _, s := range d.p.Processor.Shortages() {
		f := s.Finding()
		f.Next = "which other threads and programs run there"
		if s.Group.Short() {
			f.Next = "whether the job can have more cores, or needs fewer ranks"
		}
		if d.withheld > 0 && len(list) == 0 {
			f.Text += "; what calls would take with enough cores cannot be told"
		}
		list = append(list, f)
	}
	return list
}
