package processor

import (
	"testing"
	"time"

	"mpitx/recording"
)

const ms = time.Millisecond

// on is a rank that may use some cores, and ran for a second.
func on(number int, host string, mask uint64, waited, inMPI time.Duration) *Rank {
	cores := onesIn([]uint64{mask})
	return &Rank{Process: &recording.Rank{Host: host}, Number: number, Cores: cores, mask: []uint64{mask}, Inside: 100 * ms, Outside: 900 * ms,
		ThreadWait: waited + inMPI, Waited: Range{waited, waited}}
}

func of(ranks ...*Rank) *Processor {
	p := &Processor{Ranks: ranks}
	p.group()
	return p
}

func says(t *testing.T, p *Processor, want ...string) {
	t.Helper()
	list := p.Shortages()
	if len(list) != len(want) {
		t.Fatalf("%d shortages, not %d: %+v", len(list), len(want), list)
	}
	for i, s := range list {
		if s.Text != want[i] {
			t.Errorf("%s\nnot %s", s.Text, want[i])
		}
	}
}

func TestShortages(t *testing.T) {
	limited := func(r *Rank, quota float64, group uint64) *Rank {
		r.quota, r.quotaGroup = quota, group
		return r
	}
	says(t, nil)
	says(t, of(on(0, "a", 3, 0, 0), on(1, "a", 3, 0, 0), on(2, "a", 3, 0, 0))) // they share cores, but sleep
	says(t, of(on(0, "a", 3, 610*ms, 0), on(1, "a", 3, 100*ms, 0), on(2, "a", 2, 0, 0), on(3, "a", 1, 0, 0)),
		"4 ranks on 2 cores: rank 0 waited 61 % of the run for a core")
	says(t, of(on(0, "a", 1, 0, 0), on(1, "a", 2, 300*ms, 0)), "2 ranks on 2 cores: rank 1 waited 30 % of the run for a core, which other threads or programs had")
	says(t, of(on(0, "a", 1, 200*ms, 0), on(1, "b", 1, 0, 0), on(2, "a", 1, 0, 0)), "2 ranks on 1 core: rank 0 waited 20 % of the run for a core") // on two hosts
	says(t, of(on(0, "a", 1, 0, 900*ms), on(1, "a", 1, 10*ms, 900*ms)),
		"2 ranks on 1 core: ranks were ready to run without a core for 90-91 % of the run, in MPI, where yielding while they wait for others looks the same")
	says(t, of(on(0, "a", 1, 200*ms, 0), on(1, "a", 1, 0, 0), on(2, "b", 1, 300*ms, 0), on(3, "b", 1, 0, 0)),
		"2 ranks on 1 core: rank 2 waited 30 % of the run for a core; 1 other group of ranks had too few cores as well")
	says(t, of(limited(on(0, "a", 1, 0, 0), 1.5, 7), limited(on(1, "a", 2, 400*ms, 0), 1.5, 7)),
		"2 ranks on 2 cores (limited to the time of 1.5): rank 1 waited 40 % of the run for a core")
	says(t, of(limited(on(0, "a", 1, 0, 0), 1, 7), limited(on(1, "a", 2, 400*ms, 0), 1, 8)), // each its own limit
		"2 ranks on 2 cores: rank 1 waited 40 % of the run for a core, which other threads or programs had")
	unsure, unknown := on(0, "a", 1, 200*ms, 0), on(0, "a", 1, 200*ms, 0)
	unsure.Waited.Most = 400 * ms
	says(t, of(unsure), "1 rank on 1 core: rank 0 waited at least 20 % of the run for a core, which other threads or programs had")
	unknown.Cores = 2000 // more than the mask has
	says(t, of(unknown), "1 rank: rank 0 waited 20 % of the run for a core, which other threads or programs had")
	sampled := on(0, "a", 1, 0, 500*ms)
	sampled.Inside, sampled.Outside, sampled.span = 0, 0, time.Second
	says(t, of(sampled), "1 rank on 1 core: rank 0 was ready to run without a core for 50 % of the run; in MPI, yielding while it waits for others looks the same")
	says(t, of(on(0, "a", 3, 550*ms, 0), on(1, "a", 3, 620*ms, 0), on(2, "a", 3, 600*ms, 0)), "3 ranks on 2 cores: ranks waited 55-62 % of the run for a core")
	threads, more := on(0, "a", 3, 0, 0), on(0, "a", 3, 300*ms, 200*ms) // the first one waits for the other
	threads.Others = []*Rank{on(0, "a", 3, 0, 100*ms), more}
	says(t, of(threads, on(1, "a", 3, 0, 0)), "2 ranks on 2 cores: a thread of rank 0 waited 30 % of the run for a core, which other threads or programs had")
	if d := of(threads).Delay(); d != 600*ms {
		t.Errorf("delay of threads %v", d)
	}
	if d := of(on(0, "a", 1, 200*ms, 100*ms), on(1, "a", 1, 0, 50*ms)).Delay(); d != 350*ms {
		t.Errorf("delay %v", d)
	}
}
