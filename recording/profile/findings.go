package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mpitx/recording/finding"
	"mpitx/text"
)

// found is a finding, and what it was made from.
type found struct {
	finding.Finding
	site  *Function // the finding says enough about it
	rank  *Rank     // that waits
	named bool      // the rank that it waits for is known
	phase *Phase
}

// A finding is about at least this part of the run time.
const significant = 0.05

// Findings returns what stands out in a profile: first that cores were missing, and then the most important. Few things stand out in a good
// program.
func (p *Profile) Findings() []finding.Finding {
	var all []found
	said := map[*Function]bool{}
	d := p.doubt()
	for _, find := range []func(*Profile) []found{openCalls, lateArrivals, waiting, polling, barriers, tails, loadImbalance, sleeping, worstPhases, hotSpots, smallMessages, lostMessages, unfreed, tcpOnNode, refusedCopies, doubleCopies, slowInterfaces, overLimit} {
		for _, f := range find(p) {
			if f.Share >= significant && !(f.site != nil && said[f.site]) && d.sure(&f) {
				all = append(all, f)
				said[f.site] = true
			}
		}
	}
	all = p.oneCause(all)
	for _, f := range longSites(p) {
		if !said[f.site] && d.sure(&f) {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.Share, a.Share) })
	list := d.shortages()
	for _, f := range all {
		list = append(list, f.Finding)
	}
	return list
}

// ---- waiting ----

// Waits reports whether a function returns only after something has happened on another rank.
func Waits(function string) bool {
	return blocking[plainName(function)] || collective(function)
}

var blocking = set("Recv Mrecv Sendrecv Sendrecv_replace Probe Mprobe Wait Waitall Waitany Waitsome Ssend Send Win_fence Win_wait " +
	"Win_lock Win_unlock Win_lock_all Win_unlock_all Win_flush Win_flush_all Win_start Win_complete Rendezvous Comm_accept Comm_connect")

// collective reports whether all ranks of a communicator call a function together.
func collective(function string) bool {
	name := plainName(function)
	return slices.ContainsFunc(collectives, func(c string) bool { return strings.HasPrefix(name, c) }) && !strings.HasSuffix(name, "_init")
}

var collectives = []string{"Allgather", "Allreduce", "Alltoall", "Barrier", "Bcast", "Gather", "Reduce", "Scan", "Exscan", "Scatter",
	"Neighbor_", "Comm_split", "Comm_dup", "Comm_create", "Win_create", "Win_allocate", "Win_free", "Cart_create", "Graph_create", "File_open",
	"File_close", "File_read_all", "File_write_all", "File_read_at_all", "File_write_at_all"}

// plainName is a function's name without MPI_ and the suffix of its large-count form.
func plainName(function string) string {
	return strings.TrimSuffix(strings.TrimPrefix(function, "MPI_"), "_c")
}

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// waiting finds ranks that wait in one place for much longer than the other ranks do.
func waiting(p *Profile) (list []found) {
	for _, s := range p.Sites {
		if s.Within != "" || !Waits(s.Name) || len(p.Ranks) < 2 {
			continue
		}
		times := map[*Rank]time.Duration{}
		for i := range s.Ranks {
			times[s.Ranks[i].Rank] = s.Ranks[i].Time
		}
		spread := p.SpreadOverRanks(func(r *Rank) float64 { return part(float64(times[r]), r.threadTime()) })
		r, share := p.rank(spread.MaxRank), spread.Max
		others := (spread.Mean*float64(len(p.Ranks)) - share) / float64(len(p.Ranks)-1)
		if share < 2*significant || share < 1.5*others {
			continue
		}
		f := found{site: s, rank: r, Finding: finding.Finding{Kind: "waiting", Subject: s.Where(), Ranks: []int{r.Number}, Share: share - others,
			Text:    fmt.Sprintf("rank %d waits %s of its time in %s (the others %s)", r.Number, text.RoughPercent(share), s.Where(), text.RoughPercent(others)),
			Figures: finding.Figures{"wait_share": share, "wait_share_of_others": others, "time_ns": float64(times[r])}}}
		if ranks := s.awaited(r); len(ranks) > 0 {
			f.named = true
			f.Text = fmt.Sprintf("rank %d waits %s of its time in %s (the others %s)", r.Number, text.RoughPercent(share), s.whereFor(text.Ranks(ranks)), text.RoughPercent(others))
			f.Next = fmt.Sprintf("what %s %s then", text.Ranks(ranks), map[bool]string{true: "does", false: "do"}[len(ranks) == 1])
		} else if source, fraction, ok := p.mainSource(r.Number); ok && !collective(s.Name) {
			f.named = true
			f.Next = fmt.Sprintf("what rank %d does then: it sends %s of rank %d's messages", source, text.RoughPercent(fraction), r.Number)
		} else {
			f.Next = "what the other ranks do before this call: they come late"
		}
		list = append(list, f)
	}
	return list
}

// openCalls finds ranks that have been in one call for long.
func openCalls(p *Profile) (list []found) {
	ranks := map[string][]*Rank{}
	for _, r := range p.Ranks {
		if part(float64(r.OpenFor), r.Elapsed) >= 2*significant && r.OpenFor >= time.Second {
			ranks[r.Open] = append(ranks[r.Open], r)
		}
	}
	for _, function := range slices.Sorted(maps.Keys(ranks)) {
		all := ranks[function]
		longest := slices.MaxFunc(all, func(a, b *Rank) int { return cmp.Compare(a.OpenFor, b.OpenFor) })
		who := fmt.Sprintf("rank %d has", longest.Number)
		if len(all) > 1 {
			who = fmt.Sprintf("%d ranks have", len(all))
		}
		list = append(list, found{Finding: finding.Finding{Kind: "open call", Subject: function, Ranks: numbersOf(all), Share: part(float64(longest.OpenFor), longest.Elapsed),
			Text: fmt.Sprintf("%s been in %s for %s", who, function, text.Duration(longest.OpenFor)), Next: "mpitx where RUN",
			Figures: finding.Figures{"open_ns": float64(longest.OpenFor)}}})
	}
	return list
}

// mainSource is the rank that most messages to a rank come from.
func (p *Profile) mainSource(rank int) (source int, fraction float64, ok bool) {
	var all, most uint64
	for i := range p.Pairs {
		if pair := &p.Pairs[i]; pair.Destination == rank && pair.Source != rank {
			n := max(pair.Messages(), pair.MessagesReceived)
			if all += n; n > most {
				most, source = n, pair.Source
			}
		}
	}
	return source, part(float64(most), time.Duration(all)), most > 0 && most*4 >= all*3
}

// polling finds functions that ask again and again.
func polling(p *Profile) (list []found) {
	for _, f := range p.Functions {
		name := plainName(f.Name)
		if f.Within != "" || f.Calls < 1000 || !strings.HasPrefix(name, "Test") && name != "Iprobe" && name != "Improbe" {
			continue
		}
		site := p.longestSite(f)
		list = append(list, found{site: site, Finding: finding.Finding{Kind: "polling", Subject: site.Where(), Share: p.Share(f.Time), Figures: callFigures(&f.Totals),
			Text: fmt.Sprintf("polling with %s takes %s of the run time in %d calls", site.Where(), text.RoughPercent(p.Share(f.Time)), f.Calls),
			Next: "whether the program could work, or call a blocking function, between the calls"}})
	}
	return list
}

// barriers finds time in MPI_Barrier.
func barriers(p *Profile) (list []found) {
	for _, s := range p.Sites {
		if s.Name == "MPI_Barrier" && s.Within == "" {
			list = append(list, found{site: s, Finding: finding.Finding{Kind: "barrier", Subject: s.Where(), Share: p.Share(s.Time), Figures: callFigures(&s.Totals),
				Text: fmt.Sprintf("ranks spend %s of the run time in %s, in %d calls", text.RoughPercent(p.Share(s.Time)), s.Where(), s.Calls),
				Next: "whether the program needs this barrier"}})
		}
	}
	return list
}

// tails finds functions of which few calls take most of the time.
func tails(p *Profile) (list []found) {
	for _, f := range p.Functions {
		if f.Within != "" || f.Durations.Count() < 100 {
			continue
		}
		typical, long := f.Percentile(50), f.Percentile(95)
		above := f.Durations.partAbove(0.95)
		if long < 10*typical || above < 0.5 || f.TimeError > f.Time/2 {
			continue
		}
		site := p.longestSite(f)
		list = append(list, found{site: site, Finding: finding.Finding{Kind: "slow calls", Subject: site.Where(), Share: p.Share(f.Time) * above,
			Text:    fmt.Sprintf("half of the calls of %s take at most %s, but 5 %% take %s or more: %s of its time%s", site.Where(), text.Duration(typical), text.Duration(long), text.RoughPercent(above), f.about()),
			Next:    "which ranks and sizes of messages these calls have",
			Figures: finding.Figures{"p50_ns": float64(typical), "p95_ns": float64(long), "share_of_slowest": above}}})
	}
	return list
}

// longSites finds the places in the program that take the most time.
func longSites(p *Profile) (list []found) {
	for _, s := range p.Sites {
		share := p.ShareOf(s)
		if unsure := p.Share(s.TimeError); s.Within == "" && share-unsure >= 2*significant {
			list = append(list, found{site: s, Finding: finding.Finding{Kind: "long calls", Subject: s.Where(), Share: share, Figures: callFigures(&s.Totals),
				Text: fmt.Sprintf("%s takes %s of the run time: %d calls of %s on average%s", s.Where(), text.RoughPercent(share), s.Calls, text.Duration(s.Mean()), s.about())}})
		}
	}
	return list
}

// ---- efficiency ----

// worstPhases finds the phase that wastes the most time.
func worstPhases(p *Profile) []found {
	if len(p.Phases) < 2 || len(p.Cut.Phases) > 0 {
		return nil
	}
	lost := func(ph *Phase) float64 {
		return part(float64(ph.Efficiency.Elapsed)*(1-ph.Efficiency.Parallel), p.Efficiency.Elapsed)
	}
	named := slices.DeleteFunc(slices.Clone(p.Phases), func(ph *Phase) bool { return ph.Name == "" || ph.Efficiency.Parallel == 0 })
	if len(named) == 0 {
		return nil
	}
	worst := slices.MaxFunc(named, func(a, b *Phase) int { return cmp.Compare(lost(a), lost(b)) })
	if worst.Efficiency.Parallel > 0.9 {
		return nil
	}
	return []found{{phase: worst, Finding: finding.Finding{Kind: "phase", Subject: worst.Name, Share: lost(worst),
		Text:    fmt.Sprintf("phase %q loses the most time: its parallel efficiency is %s, in %s", worst.Name, text.RoughPercent(worst.Efficiency.Parallel), text.Duration(worst.Efficiency.Elapsed)),
		Next:    fmt.Sprintf("mpitx report RUN --phase %s", worst.Name),
		Figures: finding.Figures{"parallel_efficiency": worst.Efficiency.Parallel, "elapsed_ns": float64(worst.Efficiency.Elapsed)}}}}
}

// ---- texts ----

// callFigures are the figures of calls.
func callFigures(t *Totals) finding.Figures {
	figures := finding.Figures{"calls": float64(t.Calls), "time_ns": float64(t.Time), "mean_ns": float64(t.Mean())}
	if t.Untimed > 0 {
		figures["time_error_ns"] = float64(t.TimeError)
	}
	return figures
}

// about says that a time is estimated; "" if it is not.
func (t *Totals) about() string {
	if t.Untimed == 0 {
		return ""
	}
	return fmt.Sprintf(" (estimated, ±%s)", text.ErrorPercent(float64(t.TimeError), float64(t.Time)))
}

func numbersOf(ranks []*Rank) (numbers []int) {
	for _, r := range ranks {
		numbers = append(numbers, r.Number)
	}
	return numbers
}

// Where is a function with its place in the program.
func (f *Function) Where() string {
	if place := f.Place(); place != "" {
		return f.Name + ": " + place
	}
	return f.Name
}

// whereFor is Where of calls that wait for others.
func (f *Function) whereFor(others string) string {
	if place := f.Place(); place != "" {
		return f.Name + " for " + others + ": " + place
	}
	return f.Name + " for " + others
}

// longestSite is the place where a function took the most time; the function itself if no places were counted.
func (p *Profile) longestSite(f *Function) *Function {
	for _, s := range p.Sites {
		if s.Name == f.Name && s.Within == f.Within {
			return s
		}
	}
	return f
}

func (p *Profile) rank(number int) *Rank {
	for _, r := range p.Ranks {
		if r.Number == number {
			return r
		}
	}
	return &Rank{Number: number}
}

// part is a ratio; 0 if the whole is 0.
func part(x float64, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return x / float64(whole)
}
