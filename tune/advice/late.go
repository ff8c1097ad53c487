package advice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mpitx/recording/algorithm"
	"mpitx/recording/finding"
	"mpitx/recording/profile"
	"mpitx/text"
)

// lateness is the time that ranks waited for others that came late: no setting of collectives or messages makes it shorter.
type lateness struct {
	waited time.Duration
	known  bool   // false: waited is not known
	who    string // came late; "": different ranks
}

// explains reports whether lateness explains most of a time: that of a certain rank, or nearly all of it.
func (l *lateness) explains(took time.Duration) bool {
	return l.who != "" && 2*l.waited > took || 10*l.waited > 9*took
}

// inCollective is how late ranks came to the blocking calls of a collective operation, which took some time and calls.
func inCollective(p *profile.Profile, operation string, took time.Duration, calls uint64) (l lateness) {
	known, worst := uint64(0), time.Duration(0)
	for _, a := range p.Arrivals {
		if algorithm.Operation(a.Function) != operation || !blocking(a.Function, operation) {
			continue
		}
		known += a.Covered
		l.waited += a.Waited
		if len(a.Ranks) > 0 && a.Waited > worst {
			last := &a.Ranks[0]
			if worst, l.who = a.Waited, ""; p.ComesLate(last) {
				l.who = fmt.Sprintf("rank %d came last in %d of %d observed calls", last.Rank, last.Last, last.TookPart)
			}
		}
	}
	l.known = 2*known > calls
	if l.waited = min(l.waited, took); !l.known {
		l.waited = 0
	}
	return l
}

// sends are the functions that return no earlier than the library can go on with the message without the sender; receives only wait for messages.
var (
	sends    = []string{"mpi_send", "mpi_ssend", "mpi_rsend"}
	receives = []string{"mpi_recv", "mpi_mrecv", "mpi_probe", "mpi_mprobe", "mpi_wait", "mpi_waitall", "mpi_waitany", "mpi_waitsome"}
)

// inReceives is the least time that ranks waited for messages of ranks that were outside of MPI: what the times of both in the run have in
// common at least. It is not known if messages may be sent while the sender does something else.
func inReceives(p *profile.Profile) (l lateness) {
	plain := func(f *profile.Function) string { return strings.TrimSuffix(strings.ToLower(f.Name), "_c") }
	whole := time.Duration(0)
	for _, r := range p.Ranks {
		if r.Threads > 1 {
			return lateness{}
		}
		whole = max(whole, r.Elapsed)
	}
	outside, waited := map[int]time.Duration{}, map[[2]int]time.Duration{}
	for _, r := range p.Ranks {
		outside[r.Number] = r.Useful()
	}
	for _, f := range p.Functions {
		if f.MessagesSent > 0 && !slices.Contains(sends, plain(f)) {
			return lateness{}
		}
		if f.Within == "" && slices.Contains(receives, plain(f)) {
			for k := range f.Waits {
				w := &f.Waits[k]
				waited[[2]int{w.Rank.Number, w.For}] += w.Time
			}
		}
	}
	worst := time.Duration(0)
	for pair, time := range waited {
		if common := time + outside[pair[1]] - whole; common > 0 && pair[0] != pair[1] {
			l.waited += common
			if common > worst {
				worst, l.who = common, fmt.Sprintf("mostly rank %d for rank %d", pair[0], pair[1])
			}
		}
	}
	l.known = l.waited > 0
	return l
}

// lateFact says that lateness explains most of a time.
func (s *Subject) lateFact(subject, of, text string, l lateness) fact {
	share := s.Profile.Share(l.waited)
	return fact{name: "late ranks", subject: subject, part: share, share: share, words: map[string]string{"text": text, "of": of}, figures: finding.Figures{"waited_ns": float64(l.waited)}}
}

// lateWords say what sentences must add about lateness.
func (s *Subject) lateWords(l lateness, add, unknown string) string {
	if !l.known {
		return unknown
	}
	if share := s.Profile.Share(l.waited); share >= 0.01 {
		return fmt.Sprintf(add, text.RoughPercent(share))
	}
	return ""
}
