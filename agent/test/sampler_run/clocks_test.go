package samplerrun

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/trace"
)

// otherNode makes rank 1 a process of another node, whose clock is 5 ms ahead at the start and gains 50 ppm. Both have the same ticks, which
// say when things really happen.
const otherNode = "test_clock=1 5000000 50e-6 znode"

// apart is how much the times of two ranks differ, at most, at the same moments of the run.
func apart(run *recording.Run) (worst time.Duration) {
	a, b := run.Ranks[0], run.Ranks[1]
	for e := range run.Events(recording.Options{Bodies: true}) {
		if d := run.TimeAt(a, e.Ticks) - run.TimeAt(b, e.Ticks); e.Type != nil {
			worst = max(worst, d, -d)
		}
	}
	return worst
}

// roundTrip is the shortest time of a message and one back, and how many messages point back.
func roundTrip(run *recording.Run) (shortest time.Duration, back int) {
	least := map[int]time.Duration{0: time.Hour, 1: time.Hour}
	trace.Arrows(run, func() func(trace.Arrow) {
		back = 0
		return func(a trace.Arrow) {
			took := a.Received - a.Sent
			if least[a.From.Rank] = min(least[a.From.Rank], took); took < 0 {
				back++
			}
		}
	})
	return least[0] + least[1], back
}

// Clocks that are wrong are put in step by messages: those of the program, in both directions, or those of the agent.
func TestClocks(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, sync := range []string{"0", "1"} {
			r := m.start(t, 2, []string{"trace=record", otherNode, "sync=" + sync, fmt.Sprint("job_start_ns=", time.Now().UnixNano())}, "clock_traffic", "100", "answers")
			if r.code != 0 || len(r.run.Nodes) != 2 {
				t.Fatalf("exit %d, %d nodes\n%s%s", r.code, len(r.run.Nodes), r.stdout, r.stderr)
			}
			before := apart(r.run)
			clocks.Correct(r.run)
			half, back := roundTrip(r.run)
			half /= 2
			p := r.run.Clocks.Pairs[0]
			if wrong := apart(r.run); before < 5*time.Millisecond || wrong > 2*time.Microsecond+half || wrong > p.Error+time.Microsecond || back > 0 {
				t.Errorf("sync %s: %v apart, then %v with half a round trip of %v; %d messages point back; %+v", sync, before, wrong, half, back, p)
			}
			if !p.Known || p.OneWay || p.Before == 0 || p.After != 0 || p.Drift < 45e-6 || p.Drift > 55e-6 {
				t.Errorf("sync %s: %+v", sync, p)
			}
		}
	})
}

// With messages one way only, nothing is corrected, unless the agents have exchanged some at the start.
func TestClocksOneWay(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, sync := range []string{"0", "1"} {
			r := m.start(t, 2, []string{"trace=record", "test_clock=1 -5000000 -50e-6 znode", "sync=" + sync, fmt.Sprint("job_start_ns=", time.Now().UnixNano())}, "clock_traffic", "300")
			before := apart(r.run)
			clocks.Correct(r.run)
			_, back := roundTrip(r.run)
			p, wrong := r.run.Clocks.Pairs[0], apart(r.run)
			switch {
			case sync == "0" && (p.Known || !p.OneWay || p.Before == 0 || p.After != p.Before || back != int(p.After) || wrong != before):
				t.Errorf("%v apart, then %v; %+v, %d messages point back", before, wrong, p, back)
			case sync == "1" && (!p.Known || p.OneWay || p.After != 0 || back != 0 || wrong > p.Error || wrong > before/2):
				t.Errorf("%v apart, then %v; %+v, %d messages point back", before, wrong, p, back)
			}
		}
	})
}

// pinged counts the ranks that have exchanged messages with rank 0.
func pinged(run *recording.Run) (ranks int) {
	for _, r := range run.Ranks {
		for _, table := range r.Tables {
			if table != nil && table.Name == "clock pings" {
				ranks++
			}
		}
	}
	return ranks
}

// The agents exchange no messages if there is one node only, or if a process is missing from the run, which they say. The program runs as
// without them.
func TestSyncOfSome(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		config := []string{"trace=record", "sync=1"}
		if r := m.start(t, 2, config, "clock_traffic", "10"); r.code != 0 || pinged(r.run) != 0 || len(r.run.Ranks[0].Notes) > 0 {
			t.Errorf("one node: exit %d, %d ranks have sent messages, notes %v\n%s%s", r.code, pinged(r.run), r.run.Ranks[0].Notes, r.stdout, r.stderr)
		}
		for missing := range 3 {
			t.Run(fmt.Sprint("without ", missing), func(t *testing.T) {
				t.Parallel()
				without := fmt.Sprintf(`[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" != %d ] || unset LD_PRELOAD; exec "$@"`, missing)
				r := m.run(t, job{n: 3, config: append(config, otherNode), program: []string{"sh", "-c", without, "sh", m.compile(t, "clock_traffic.c"), "10"}})
				said := false
				for _, rank := range r.run.Ranks {
					for _, n := range rank.Notes {
						said = said || strings.Contains(n.Text, "--sync: no messages")
					}
				}
				if r.code != 0 || len(r.run.Ranks) != 2 || pinged(r.run) != 0 || !said {
					t.Errorf("exit %d, %d ranks, %d have sent messages, said: %v\n%s%s", r.code, len(r.run.Ranks), pinged(r.run), said, r.stdout, r.stderr)
				}
			})
		}
	})
}
