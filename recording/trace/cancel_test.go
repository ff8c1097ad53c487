package trace

import (
	"maps"
	"testing"

	"mpitx/recording/recordingtest"
)

// Sends of 1 to 5 bytes, with MPI_Cancel on the second and the fourth: a message that was cancelled is not received, and
// later ones have lower numbers at the receiver. Messages whose order depends on an outcome that is not known have no flow.
func TestCancelledSends(t *testing.T) {
	const sent, received = recordingtest.TraceSent, recordingtest.TraceReceived
	const none, asked, cancelled, completed = -1, 0, 1, 2
	for name, c := range map[string]struct {
		outcomes [2]int // of the second and the fourth send
		arrive   []int  // sizes
		flows    []int
		want     Totals
	}{
		"none":               {[2]int{none, none}, []int{1, 2, 3, 4, 5}, []int{1, 2, 3, 4, 5}, Totals{Flows: 5}},
		"cancelled":          {[2]int{cancelled, cancelled}, []int{1, 3, 5}, []int{1, 3, 5}, Totals{Flows: 3, Cancelled: 2}},
		"one is cancelled":   {[2]int{cancelled, completed}, []int{1, 3, 4, 5}, []int{1, 3, 4, 5}, Totals{Flows: 4, Cancelled: 1}},
		"not known":          {[2]int{asked, none}, []int{1, 3, 4, 5}, []int{1}, Totals{Flows: 1, Ambiguous: 3, Unmatched: 1}},
		"last not known":     {[2]int{cancelled, asked}, []int{1, 3, 4, 5}, []int{1, 3}, Totals{Flows: 2, Ambiguous: 2, Cancelled: 1}},
		"completed and kept": {[2]int{completed, completed}, []int{1, 2, 3, 4, 5}, []int{1, 2, 3, 4, 5}, Totals{Flows: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			run := save(t, func(x *recordingtest.Trace) {
				var sends []recordingtest.TraceEvent
				for n := range uint32(5) {
					m := message(n+1, sent, 2000+100*uint64(n))
					m.Function, m.Request = "MPI_Isend", n+10
					sends = append(sends, m)
					x.Add(m)
				}
				for i, outcome := range c.outcomes {
					if outcome != none {
						x.Cancel(2600, asked, sends[1+2*i])
					}
					if outcome > asked {
						x.Cancel(9000, uint32(outcome), sends[1+2*i]) // after the receives
					}
				}
			}, func(x *recordingtest.Trace) {
				for n, size := range c.arrive {
					m := message(uint32(n+1), received, 3000+100*uint64(n))
					m.Bytes = uint64(size)
					x.Add(m)
				}
			})
			all := Read(run, Options{Flows: true})
			c.want.Calls, c.want.Sent, c.want.Received = uint64(5+len(c.arrive)), 5, uint64(len(c.arrive))
			if all.Totals != c.want {
				t.Errorf("%+v, want %+v", all.Totals, c.want)
			}
			flows, got, want, gone := map[uint64]uint64{}, map[uint64]bool{}, map[uint64]bool{}, uint64(0)
			for e := range all.Events {
				if e.Call == nil {
					continue
				}
				m := e.Call.Messages[0]
				if m.Cancelled {
					gone++
				}
				switch {
				case m.Flow == 0:
				case flows[m.Flow] == 0:
					flows[m.Flow] = m.Bytes
				case flows[m.Flow] != m.Bytes:
					t.Errorf("an arrow from %d to %d bytes", flows[m.Flow], m.Bytes)
				default:
					got[m.Bytes] = true
				}
			}
			for _, n := range c.flows {
				want[uint64(n)] = true
			}
			if !maps.Equal(got, want) || gone != c.want.Cancelled || len(flows) != len(c.flows) {
				t.Errorf("flows of %v, want %v; %d cancelled", got, c.flows, gone)
			}
		})
	}
}

// A send whose call is not in the trace was cancelled: no message of its communicator, peer and tag has a flow.
func TestCancelOfUnknownSend(t *testing.T) {
	const sent, received = recordingtest.TraceSent, recordingtest.TraceReceived
	run := save(t, func(x *recordingtest.Trace) {
		for n := range uint32(3) {
			x.Add(message(n+2, sent, 2000+100*uint64(n)))
		}
		m := message(1, sent, 0)
		m.Request = 7
		x.Cancel(2500, 0, m)
		x.Cancel(2600, 1, m)
	}, func(x *recordingtest.Trace) {
		for n := range uint32(3) {
			x.Add(message(n+1, received, 3000+100*uint64(n)))
		}
	})
	if got := Read(run, Options{Flows: true}).Totals; got.Flows != 0 || got.Ambiguous != 2 || got.Unmatched != 2 {
		t.Errorf("%+v", got)
	}
}

// A receive that was cancelled waits for nothing: those that were posted later keep the order in which they completed.
func TestCancelledReceive(t *testing.T) {
	const sent, received, posts = recordingtest.TraceSent, recordingtest.TraceReceived, recordingtest.TracePosts
	run := save(t, func(x *recordingtest.Trace) {
		for n := range uint32(2) {
			x.Add(message(n+1, sent, 2000+100*uint64(n)))
		}
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 9000, End: 9010, Peer: None, Tag: None})
	}, func(x *recordingtest.Trace) {
		for request := uint32(1); request <= 3; request++ {
			x.Add(recordingtest.TraceEvent{Function: "MPI_Irecv", Begin: 1600 + uint64(request), End: 1600 + uint64(request), Object: 1, Peer: 0, Tag: 1, Request: request, Flags: posts})
		}
		x.Cancel(2800, 0, recordingtest.TraceEvent{Request: 1, Object: 1, Peer: 0, Tag: 1, Flags: received})
		x.Cancel(2900, 1, recordingtest.TraceEvent{Request: 1, Object: 1, Peer: 0, Tag: 1, Flags: received})
		for request := uint32(2); request <= 3; request++ {
			m := message(request-1, received, 3000+100*uint64(request))
			m.Function, m.Request = "MPI_Wait", request
			x.Add(m)
		}
		x.Lost(9000, 1) // without the cancellation, the order would not be known
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 9000, End: 9010, Peer: None, Tag: None})
		x.Stream.Counters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
	})
	if got := Read(run, Options{Flows: true}).Totals; got.Flows != 2 || got.Ambiguous != 0 {
		t.Errorf("%+v", got)
	}
}
