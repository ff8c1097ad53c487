package timeline

import (
	"strings"
	"testing"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// twoRanks is a run with the calls of two ranks.
func twoRanks(t testing.TB, calls [2]func(x *recordingtest.Trace)) *recording.Run {
	t.Helper()
	return endedRanks(t, calls, true)
}

// endedRanks is a run with the calls of two ranks, which have ended or were killed.
func endedRanks(t testing.TB, calls [2]func(x *recordingtest.Trace), ended bool) *recording.Run {
	t.Helper()
	var chunks []byte
	for rank := range int32(2) {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app"})
		s.Clock(0, 0, 1_700_000_000_000_000_000, 0)
		x := recordingtest.NewTrace(s)
		x.Objects(recordingtest.Object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 1})
		calls[rank](x)
		x.Write(1, 100+uint64(rank))
		s.Clock(300*ms, 300*ms, 1_700_000_000_300_000_000, 0)
		if ended {
			s.End(1)
		}
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return saved(t, func(dir string) error { return recordingtest.Save(dir, "node1", chunks) })
}

// lateReceiver is a run in which MPI_Waitall of rank 0 receives a message that came early, and waits for a send whose receive is posted late.
func lateReceiver(t testing.TB) *recording.Run {
	event := func(function string, begin, end uint64, flags uint32, request uint32) recordingtest.TraceEvent {
		return recordingtest.TraceEvent{Function: function, Begin: begin * ms, End: end * ms, Site: 0x400100, Object: 1, Tag: 7, Bytes: 8000, Request: request, Flags: flags}
	}
	return twoRanks(t, [2]func(x *recordingtest.Trace){func(x *recordingtest.Trace) {
		receive, send := event("MPI_Irecv", 10, 11, posts, 1), event("MPI_Isend", 12, 13, sent, 2)
		got := event("MPI_Waitall", 20, 120, received, 1)
		for _, e := range []*recordingtest.TraceEvent{&receive, &send, &got} {
			e.Peer, e.Sequence = 1, 1
		}
		x.Add(receive)
		x.Add(send)
		x.Done(120*ms, 2)
		x.Add(got)
	}, func(x *recordingtest.Trace) {
		send, receive := event("MPI_Send", 12, 14, sent, 0), event("MPI_Recv", 118, 119, received, 0)
		send.Sequence, receive.Sequence = 1, 1
		x.Add(send)
		x.Add(receive)
	}})
}

// A call lists what it received and the sends that it completed, and names the peers of all.
func TestCompletedSend(t *testing.T) {
	u := sit(t, lateReceiver(t), Options{At: 50 * ms}, utf8, 120, 30)
	u.sees("MPI_Waitall  took 100.0 ms", "communicator MPI_COMM_WORLD  messages 2  peer 1  bytes 16.00 kB",
		"receive → MPI_Send            1    7  8.000 kB  0.012000000 s  0.120000000 s    108.0 ms  0.010000000 s",
		"completes send → MPI_Recv     1    7  8.000 kB  0.012000000 s  0.119000000 s    107.0 ms  0.118000000 s")
	u.press("tab", "down", "enter")
	u.sees("rank 1 on node1", "MPI_Recv  took 1.000 ms")
	u.press("enter")
	u.sees("rank 0 on node1", "MPI_Isend  took 1.000 ms")
}

// The most important columns of the list of messages stay, and none that is less important than one that is left out.
func TestMessageColumns(t *testing.T) {
	for width, columns := range map[int]string{60: "MESSAGE RANK SENT AT SEEN AFTER", 80: "MESSAGE RANK SENT AT SEEN AFTER POSTED AT",
		100: "MESSAGE RANK BYTES SENT AT RECEIVED AT SEEN AFTER POSTED AT", 120: "MESSAGE RANK TAG BYTES SENT AT RECEIVED AT SEEN AFTER POSTED AT"} {
		u := sit(t, lateReceiver(t), Options{At: 50 * ms}, utf8, width, 30)
		_, table, _ := strings.Cut(u.screen(), " MESSAGE ")
		head, _, _ := strings.Cut(table, "\n")
		if got := "MESSAGE " + strings.Join(strings.Fields(head), " "); got != columns {
			t.Errorf("%d: %q instead of %q", width, got, columns)
		}
	}
}
