package queues

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// expected and unexpected are the events that Open MPI 4.1.4 raises for one message, one time unit apart (measured).
var (
	expected = []string{"SEARCH_UNEX_Q_BEGIN", "SEARCH_UNEX_Q_END", "REQ_INSERT_IN_POSTED_Q", "MSG_ARRIVED", "SEARCH_POSTED_Q_BEGIN", "REQ_REMOVE_FROM_POSTED_Q", "MSG_MATCH_POSTED_REQ",
		"SEARCH_POSTED_Q_END", "REQ_XFER_BEGIN", "REQ_XFER_CONTINUE", "REQ_XFER_END", "REQ_COMPLETE", "REQ_NOTIFY"}
	unexpected = []string{"MSG_ARRIVED", "SEARCH_POSTED_Q_BEGIN", "MSG_INSERT_IN_UNEX_Q", "SEARCH_POSTED_Q_END", "SEARCH_UNEX_Q_BEGIN", "REQ_MATCH_UNEX", "MSG_REMOVE_FROM_UNEX_Q",
		"SEARCH_UNEX_Q_END", "REQ_XFER_BEGIN", "REQ_XFER_CONTINUE", "REQ_XFER_END", "REQ_COMPLETE"}
	sent = []string{"REQ_ACTIVATE", "REQ_XFER_BEGIN", "REQ_XFER_END", "REQ_COMPLETE", "REQ_NOTIFY"}
)

const unit = time.Millisecond

func add(all []Event, request uint64, names ...string) []Event {
	for _, name := range names {
		all = append(all, Event{Time: time.Duration(len(all)) * unit, Name: "PERUSE_COMM_" + name, Request: request, Comm: "world", Peer: 1, Tag: 5})
	}
	return all
}

func compute(all []Event) *Queues {
	a := NewAdder("PERUSE", 0, time.Duration(len(all))*unit)
	for i := range all {
		a.Add(&all[i])
	}
	return a.Queues()
}

func spans(p *Peer) string {
	text := ""
	for s := range Spans {
		if t := p.Spans[s]; t.Count > 0 {
			text += fmt.Sprintf("%v %d×%d ", s, t.Count, t.Mean()/unit)
		}
	}
	return text
}

func TestOneMessage(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{expected, "transfer 1×2 complete_to_notify 1×1 in_posted 1×3 search_unexpected 1×1 search_posted 1×3 "},
		{unexpected, "transfer 1×2 in_unexpected 1×4 search_unexpected 1×3 search_posted 1×2 "},
		{sent, "activate_to_transfer 1×1 transfer 1×1 complete_to_notify 1×1 activate_to_notify 1×4 "},
	} {
		q := compute(add(nil, 7, c.names...))
		if len(q.Peers) != 1 || spans(&q.Peers[0]) != c.want || q.Unpaired != 0 {
			t.Errorf("%s: got %+v, %q, want %q", c.names[0], q, spans(&q.Peers[0]), c.want)
		}
	}
}

// The metrics count as Appendix B of PERUSE 2.0 does: a match of a posted receive is not one of an unexpected message, lengths are
// averaged over insertions, and messages of collectives and to the rank itself do not count.
func TestMetrics(t *testing.T) {
	all := add(nil, 7, "REQ_ACTIVATE", "REQ_INSERT_IN_POSTED_Q", "REQ_REMOVE_FROM_POSTED_Q", "REQ_XFER_BEGIN", "REQ_XFER_END", "REQ_COMPLETE", "REQ_NOTIFY", "REQ_REMOVE_FROM_POSTED_Q")
	all = add(all, 0, "MSG_INSERT_IN_UNEX_Q", "MSG_INSERT_IN_UNEX_Q")
	all = add(all, 8, "REQ_ACTIVATE", "REQ_MATCH_UNEX")
	all = add(all, 0, "MSG_REMOVE_FROM_UNEX_Q", "MSG_INSERT_IN_UNEX_Q")
	for _, e := range all {
		own, collective := e, e
		own.Peer, collective.Tag = e.Rank, -10
		if e.Request != 0 {
			own.Request, collective.Request = 9, 10
		}
		all = append(all, own, collective)
	}
	a := NewAdder(peruseSource, 0, time.Second)
	for i := range all {
		a.Add(&all[i])
	}
	q := a.Queues()
	got := ""
	for _, m := range q.Metrics {
		peer := "all"
		if m.Peer != nil {
			peer = fmt.Sprint(*m.Peer)
		}
		if m.IsTime() {
			m.Mean, m.Maximum = m.Mean/float64(unit), m.Maximum/float64(unit)
		}
		got += fmt.Sprintf("%d %s %s %d %.4g %.4g\n", m.Rank, peer, m.Name, m.Count, m.Mean, m.Maximum)
	}
	want := `0 all T_REQ_ACTIVATE_TO_MATCH 1 1 1
0 all T_REQ_ACTIVATE_TO_XFER_BEGIN 1 3 3
0 all T_XFER_BEGIN_TO_END 1 1 1
0 all T_COMPLETE_TO_NOTIFY 1 1 1
0 all T_ACTIVATE_TO_NOTIFY 1 6 6
0 all T_IN_UNEX_Q 1 4 4
0 all N_POSTED_Q_LEN 1 1 1
0 all N_UNEX_Q_LEN 3 1.667 2
0 1 N_POSTED_Q_LEN 1 1 1
0 1 N_UNEX_Q_LEN 3 1.667 2
`
	if got != want || q.MessageIDs {
		t.Errorf("message ids %t, got\n%s", q.MessageIDs, got)
	}
	a = NewAdder(peruseSource, 0, time.Second)
	if a.Add(&Event{Name: "PERUSE_COMM_MSG_INSERT_IN_UNEX_Q", Request: 3}); !a.Queues().MessageIDs {
		t.Error("the library identifies messages")
	}
	a = NewAdder(mpichSource, 0, time.Second)
	if a.Add(&Event{Name: "MSG_INSERT_IN_UNEX_Q", Peer: 1}); a.Queues().Metrics != nil {
		t.Error("MPICH's events have no tags and no requests")
	}
}

func TestLengths(t *testing.T) {
	in, out := "MSG_INSERT_IN_UNEX_Q", "MSG_REMOVE_FROM_UNEX_Q"
	q := compute(add(nil, 0, in, in, out, in, out, out, in, "MSG_ARRIVED")) // lengths 1 2 1 2 1 0 1 1
	if len(q.Queues) != 1 {
		t.Fatal(q.Queues)
	}
	got := q.Queues[0]
	if got.Inserted != 4 || got.Removed != 3 || got.Left != 1 || got.Longest != 2 || math.Abs(got.Mean-9.0/8) > 1e-9 || math.Abs(got.Series[7]-2) > 1e-9 || math.Abs(got.Series[39]-1) > 1e-9 || got.Series[27] != 0 {
		t.Errorf("%+v", got)
	}
	// What was inserted before recording began does not make a length negative.
	if q := compute(add(nil, 0, out, in)); q.Queues[0].Left != 1 || q.Unpaired != 1 {
		t.Errorf("%+v", q)
	}
}

// Whatever the events are, counts agree with each other, and the mean lies between 0 and the greatest length.
func TestAnyEvents(t *testing.T) {
	names := slices.Concat(expected, unexpected, sent)
	rapid.Check(t, func(t *rapid.T) {
		var all []Event
		for range rapid.IntRange(0, 200).Draw(t, "events") {
			all = append(all, Event{Time: time.Duration(len(all)) * unit, Name: "PERUSE_COMM_" + rapid.SampledFrom(names).Draw(t, "name"), Request: uint64(rapid.IntRange(0, 3).Draw(t, "request")),
				Rank: rapid.IntRange(0, 1).Draw(t, "rank"), Comm: "world", Peer: rapid.IntRange(-1, 1).Draw(t, "peer"), Tag: rapid.IntRange(0, 1).Draw(t, "tag")})
		}
		q := compute(all)
		for _, x := range q.Queues {
			sum := 0.0
			for _, y := range x.Series {
				sum += y / Parts
			}
			if x.Mean < 0 || x.Mean > float64(x.Longest)+1e-9 || x.Longest > x.Inserted || x.Left > x.Inserted || math.Abs(sum-x.Mean) > 1e-6 {
				t.Fatalf("%+v", x)
			}
		}
		for _, p := range q.Peers {
			for s, times := range p.Spans {
				if times.Longest > times.Total || times.Total < 0 || times.Count == 0 && times.Total != 0 {
					t.Fatalf("%v: %+v", Span(s), times)
				}
			}
			if p.Spans[InUnexpected].Count > p.Unexpected {
				t.Fatalf("%+v", p)
			}
		}
	})
}

// Searches count under both spellings of the specification, also if a library mixes them as Appendix A does.
func TestSpellings(t *testing.T) {
	for _, names := range [][]string{{"SEARCH_UNEX_Q_BEGIN", "SEARCH_UNEX_Q_END"}, {"SEARCH_UNEX_QUEUE_BEGIN", "SEARCH_UNEX_Q_END"}, {"SEARCH_UNEX_QUEUE_BEGIN", "SEARCH_UNEX_QUEUE_END"}} {
		q := compute(add(nil, 1, names...))
		if len(q.Peers) != 1 || q.Peers[0].Spans[SearchUnexpected] != (Times{1, unit, unit}) || q.Unpaired != 0 {
			t.Errorf("%v: %+v", names, q)
		}
	}
}
