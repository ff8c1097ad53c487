// Package processor reads what the processors did for the ranks of a run: for how long they ran, waited for a core, or slept.
package processor

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"mpitx/recording"
)

// Range is a time that is known to lie between two.
type Range struct {
	Least time.Duration `json:"least_ns"`
	Most  time.Duration `json:"most_ns"`
}

// Known reports whether the time is known to within a part of a whole.
func (r Range) Known(part float64, whole time.Duration) bool {
	return float64(r.Most-r.Least) <= part*float64(whole)
}

// Rank is a process. The split is that of the thread that initialized MPI.
type Rank struct {
	Process   *recording.Rank
	Number    int
	Cores     int           // that the thread may use; 0: unknown
	Time      time.Duration // for which threads of the process have run
	Wait      time.Duration // for which they were ready to run and had no core
	Estimated bool          // the kernel does not count waits: they are taken from interruptions

	Inside, Outside     time.Duration // in MPI and outside of it, as far as calls were timed
	Open                time.Duration // in MPI, for which a call has not returned; set by those who know
	Ran, Waited, Slept  Range         // parts of Outside
	ThreadWait, RanBoth time.Duration // in MPI and outside of it: waited for a core, ran

	Others []*Rank // the other threads of the process that call MPI

	span       time.Duration // of its record
	mask       []uint64
	quota      float64
	quotaGroup uint64
}

// MarshalJSON writes the number: documents refer to ranks by it.
func (r *Rank) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(r.Number), 10), nil }

// Elapsed is the time for which the split is known; 0 if calls were not timed.
func (r *Rank) Elapsed() time.Duration { return r.Inside + r.Outside }

// waitShare is how much of the time of a process one of its threads has waited for a core, in MPI and outside of it.
func (r *Rank) waitShare(of *Rank) float64 {
	whole := of.runTime()
	if of.Elapsed() == 0 {
		whole = of.span
	}
	return min(part(r.ThreadWait, whole), 1)
}

// runTime is the time of the run. Waits are known until the last call that has returned.
func (r *Rank) runTime() time.Duration { return r.Elapsed() + r.Open }

// Processor is about all ranks of a run.
type Processor struct {
	Ranks  []*Rank // by rank
	Groups []Group
}

// Group is a set of ranks that share cores: each shares some with another one.
type Group struct {
	Host  string  `json:"host"`
	Ranks []*Rank `json:"ranks"`
	Cores int     `json:"cores,omitzero"` // that they may use together; 0: unknown
	Quota float64 `json:"quota,omitzero"` // of how many cores a control group lets them use the time; 0: no limit
}

// Short reports whether there are more ranks than cores.
func (g *Group) Short() bool {
	return g.Cores > 0 && (len(g.Ranks) > g.Cores || g.Quota > 0 && float64(len(g.Ranks)) > g.Quota)
}

const table = "processor"

// Read reads the processor's part of a run; nil if an older mpitx recorded it. wanted chooses ranks; nil: all.
func Read(run *recording.Run, wanted func(*recording.Rank) bool) *Processor {
	p := &Processor{}
	others := map[*recording.Rank][]*Rank{}
	ours := func(t *recording.Table) bool { return t.Name == table }
	for row := range run.Rows(recording.Options{Table: ours, ByThread: true, Rank: wanted}) {
		switch r, main := read(row); {
		case row.Table.Rank.Rank < 0:
		case !main:
			others[r.Process] = append(others[r.Process], r)
		default:
			from, to := run.Span(r.Process)
			r.span = to - from
			p.Ranks = append(p.Ranks, r)
		}
	}
	if len(p.Ranks) == 0 {
		return nil
	}
	slices.SortStableFunc(p.Ranks, func(a, b *Rank) int { return a.Number - b.Number })
	for _, r := range p.Ranks {
		r.Others = others[r.Process]
	}
	p.group()
	return p
}

// read reads the row of a thread; main: it initialized MPI.
func read(row *recording.Row) (r *Rank, main bool) {
	values := map[string][]recording.Value{}
	for i := range row.Table.Fields {
		f := &row.Table.Fields[i]
		values[f.Name] = row.FieldValues(f)
	}
	count := func(name string) uint64 {
		if v := values[name]; len(v) > 0 {
			n, _ := v[0].Uint64()
			return n
		}
		return 0
	}
	span := func(name string) time.Duration { return time.Duration(min(count(name), math.MaxInt64/4)) }
	between := func(name string) Range {
		least := span(name + "_least")
		return Range{least, max(span(name+"_most"), least)}
	}
	r = &Rank{Process: row.Table.Rank, Number: row.Table.Rank.Rank, Cores: int(min(count("cores"), 1<<20)), Estimated: count("estimated") != 0,
		Time: span("process_time"), Wait: span("process_wait"), Inside: span("inside"), Outside: span("outside"),
		ThreadWait: span("wait"), RanBoth: span("time"), Ran: between("ran"), Waited: between("waited"), Slept: between("slept"), quotaGroup: count("quota_group")}
	if count("partial") != 0 { // calls that were left out count as time outside of MPI
		r.Inside, r.Outside, r.Ran, r.Waited, r.Slept = 0, 0, Range{}, Range{}, Range{}
	}
	if v := values["quota"]; len(v) > 0 {
		r.quota = v[0].Float64()
	}
	for _, v := range values["mask"] {
		n, _ := v.Uint64()
		r.mask = append(r.mask, n)
	}
	return r, count("main") != 0
}

func onesIn(mask []uint64) (n int) {
	for _, w := range mask {
		n += bits.OnesCount64(w)
	}
	return n
}

// group finds the ranks that share cores.
func (p *Processor) group() {
	type shared struct {
		mask  []uint64
		ranks []*Rank
	}
	hosts := map[string][]shared{}
	var order []string
	for _, r := range p.Ranks {
		host := r.Process.Host
		if hosts[host] == nil {
			order = append(order, host)
		}
		of := shared{slices.Clone(r.mask), []*Rank{r}}
		hosts[host] = append(slices.DeleteFunc(hosts[host], func(s shared) bool {
			if !overlap(s.mask, of.mask) && (r.quota == 0 || s.ranks[0].quotaGroup != r.quotaGroup) {
				return false
			}
			for i := range min(len(of.mask), len(s.mask)) {
				of.mask[i] |= s.mask[i]
			}
			of.ranks = append(of.ranks, s.ranks...)
			return true
		}), of)
	}
	for _, host := range order {
		for _, s := range hosts[host] {
			slices.SortFunc(s.ranks, func(a, b *Rank) int { return a.Number - b.Number })
			p.Groups = append(p.Groups, Group{host, s.ranks, coresOf(s.ranks, s.mask), quotaOf(s.ranks)})
		}
	}
	slices.SortStableFunc(p.Groups, func(a, b Group) int { return a.Ranks[0].Number - b.Ranks[0].Number })
}

func overlap(a, b []uint64) bool {
	for i := range min(len(a), len(b)) {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// coresOf counts the cores of ranks; 0 if a rank has cores that are not in its mask.
func coresOf(ranks []*Rank, mask []uint64) int {
	for _, r := range ranks {
		if r.Cores == 0 || onesIn(r.mask) != r.Cores {
			return 0
		}
	}
	return onesIn(mask)
}

// quotaOf is the limit that ranks have together; 0 if there is none that holds for all of them.
func quotaOf(ranks []*Rank) float64 {
	for _, r := range ranks {
		if r.quota <= 0 || r.quotaGroup != ranks[0].quotaGroup {
			return 0
		}
	}
	return ranks[0].quota
}
