package queues

import (
	"slices"
	"testing"
	"time"

	"mpitx/recording/finding"
	"mpitx/recording/processor"
)

// exchanged is what one rank saw of another one: late receives, late messages, and how long each of them waited.
func exchanged(rank, peer int, unexpected uint64, late time.Duration, expected uint64, wait time.Duration) Peer {
	p := Peer{Rank: rank, Comm: "MPI_COMM_WORLD", Peer: peer, Unexpected: unexpected, Expected: expected}
	p.Spans[InUnexpected] = Times{unexpected, time.Duration(unexpected) * late, late}
	p.Spans[InPosted] = Times{expected, time.Duration(expected) * wait, wait}
	return p
}

// Waits that are short, rare or part of every exchange give no finding.
func TestBounds(t *testing.T) {
	us := time.Microsecond
	for _, c := range []struct {
		what string
		peer Peer
		kind string // ""; none
	}{
		{"a ping-pong", exchanged(0, 1, 500_000, 150*time.Nanosecond, 500_000, 150*time.Nanosecond), ""},
		{"10 µs each", exchanged(0, 1, 0, 0, 2000, 10*us), LateSender},
		{"less than 10 µs each", exchanged(0, 1, 0, 0, 4000, 9990*time.Nanosecond), ""},
		{"2 % of the time", exchanged(0, 1, 0, 0, 1, 20_000*us), LateSender},
		{"less than 2 % of the time", exchanged(0, 1, 0, 0, 1, 19_999*us), ""},
		{"a tenth of the messages", exchanged(0, 1, 10, 2000*us, 90, us), LateReceives},
		{"less than a tenth", exchanged(0, 1, 10, 2000*us, 91, us), ""},
		{"an unknown peer", exchanged(0, -1, 0, 0, 10, 10_000*us), ""},
	} {
		q := &Queues{Source: "PERUSE", To: time.Second, Peers: []Peer{c.peer}}
		if f := q.Findings(5); c.kind == "" && len(f) > 0 || c.kind != "" && (len(f) != 1 || f[0].Kind != c.kind) {
			t.Errorf("%s: %+v", c.what, f)
		}
	}
}

// Pairs that say the same are one finding.
func TestSame(t *testing.T) {
	ms := time.Millisecond
	late := func(rank, peer int) Peer { return exchanged(rank, peer, 0, 0, 10, 10*ms) }
	for _, c := range []struct {
		what      string
		peers     []Peer
		relations []relation
		distance  int
	}{
		{"a ring", []Peer{late(0, 3), late(1, 0), late(2, 1), late(3, 2)}, []relation{apart}, 1},
		{"a ring the other way", []Peer{late(0, 1), late(1, 2), late(2, 3), late(3, 0)}, []relation{apart}, -1},
		{"a chain", []Peer{late(1, 0), late(2, 1), late(3, 2)}, []relation{apart}, 1},
		{"a gather", []Peer{late(0, 1), late(0, 2), late(0, 3)}, []relation{sameRank}, 0},
		{"a scatter", []Peer{late(1, 0), late(2, 0), late(3, 0)}, []relation{samePeer}, 0},
		{"all to all", []Peer{late(0, 1), late(0, 2), late(1, 0), late(1, 2), late(2, 0), late(2, 1)}, []relation{mutual}, 0},
		{"two ranks", []Peer{late(0, 1), late(1, 0)}, []relation{mutual}, 0},
		{"pairs of neighbours", []Peer{late(0, 1), late(1, 0), late(2, 3), late(3, 2)}, []relation{both}, 1},
		{"both neighbours", []Peer{late(0, 1), late(0, 3), late(1, 0), late(1, 2), late(2, 1), late(2, 3), late(3, 0), late(3, 2)}, []relation{both}, 1},
		{"opposite ranks", []Peer{late(0, 2), late(1, 3), late(2, 0), late(3, 1)}, []relation{both}, 2},
		{"two ranks and a third", []Peer{late(0, 1), late(1, 0), late(2, 0)}, []relation{both, onePair}, 1},
		{"one that waits far longer", []Peer{late(0, 1), late(0, 2), exchanged(0, 3, 0, 0, 10, 41*ms)}, []relation{onePair, sameRank}, 0},
		{"another communicator", []Peer{late(0, 1), {Rank: 0, Peer: 2, Comm: "ring", Expected: 10, Spans: late(0, 2).Spans}}, []relation{onePair, onePair}, 0},
		{"another kind", []Peer{late(0, 1), exchanged(0, 2, 10, 10*ms, 0, 0)}, []relation{onePair, onePair}, 0},
	} {
		q := &Queues{Source: "PERUSE", To: time.Second, Peers: c.peers}
		found := q.Findings(20)
		var relations []relation
		pairs, messages := 0, uint64(0)
		for _, f := range found {
			relations = append(relations, f.relation)
			pairs, messages = pairs+len(f.Pairs), messages+f.Messages
		}
		if !slices.Equal(relations, c.relations) || found[0].distance != c.distance || pairs != len(c.peers) || messages != uint64(10*len(c.peers)) {
			t.Errorf("%s: %+v", c.what, found)
		}
	}
}

// Events that only count messages leave the findings to the calls.
func TestFindingsOfCalls(t *testing.T) {
	q := &Queues{Source: mpichSource, To: time.Second, Peers: []Peer{{Rank: 0, Peer: 1, Comm: "context 0", Unexpected: 100}}}
	if f := q.Findings(5); len(f) != 0 {
		t.Errorf("%+v", f)
	}
	q.AddCalls(&Queues{Source: "calls", Derived: true, To: time.Second, Peers: []Peer{exchanged(0, 1, 100, time.Millisecond, 0, 0)}})
	if f := q.Findings(5); len(f) != 1 || f[0].Kind != LateReceives || !f[0].Derived || f[0].Certainty != finding.Possible {
		t.Errorf("%+v", f)
	}
}

// Messages that still wait at the end are not in the mean wait, as nobody knows how long they wait.
func TestMessagesOfWaits(t *testing.T) {
	p := exchanged(0, 1, 4, 100*time.Millisecond, 0, 0)
	p.Unexpected++
	q := &Queues{Source: "PERUSE", To: time.Second, Peers: []Peer{p}}
	if f := q.Findings(5); len(f) != 1 || f[0].Messages != 4 || f[0].Of != 5 || f[0].Share != 0.4 || !slices.Equal(f[0].Ranks, []int{0}) {
		t.Errorf("%+v", f)
	}
}

// The time grows with the number of pairs, not with its square.
func TestManyPairs(t *testing.T) {
	q := &Queues{Source: "PERUSE", To: time.Second}
	const ranks = 400
	for i := range ranks * ranks {
		if rank, peer := i/ranks, i%ranks; rank != peer {
			q.Peers = append(q.Peers, exchanged(rank, peer, 0, 0, 10, 10*time.Millisecond))
		}
	}
	start := time.Now()
	if f := q.Findings(5); len(f) != 1 || f[0].relation != mutual || len(f[0].Pairs) != ranks*(ranks-1) {
		t.Errorf("%d findings", len(f))
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Without enough cores, only waits that this cannot explain are findings.
func TestFindingsWithoutCores(t *testing.T) {
	r := &processor.Rank{Cores: 1, Inside: time.Second, Outside: time.Second, ThreadWait: 200 * time.Millisecond}
	p := &processor.Processor{Ranks: []*processor.Rank{r}, Groups: []processor.Group{{Ranks: []*processor.Rank{r}, Cores: 1}}}
	for wait, want := range map[time.Duration]int{210 * time.Millisecond: 0, 230 * time.Millisecond: 1} {
		q := &Queues{Source: "PERUSE", To: 2 * time.Second, Peers: []Peer{exchanged(0, 1, 0, 0, 2, wait)}}
		q.NoCores(p)
		if f := q.Findings(5); len(f) != want || len(q.Shortages) != 1 {
			t.Errorf("%v: %+v, %+v", wait, f, q.Shortages)
		}
	}
}
