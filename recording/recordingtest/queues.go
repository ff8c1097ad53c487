package recordingtest

import (
	"cmp"
	"slices"
)

// SaveQueues writes a run of two ranks in which rank 0 receives five messages from rank 1, with the events of PERUSE that Open MPI
// raises. Three come before their receive and wait 2, 4 and 6 ms for it. Two receives are posted 40 ms before their message.
func SaveQueues(dir string) error {
	var chunks []byte
	for rank := range int32(2) {
		s := NewStream(uint64(rank)+1, rank)
		s.Header(Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/late", Family: "openmpi", Library: "Open MPI v4.1.4"})
		s.Clock(100*ms, 100*ms, 1_700_000_000_000_000_000, 0)
		s.Clock(1000*ms, 1000*ms, 1_700_000_000_900_000_000, 0)
		p := NewProfile(s, 1)
		p.Objects(Object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 1})
		p.Stream.EventType(0, "peruse", 40, Field{Name: "request", Type: 4}, Field{Name: "event", Type: 3, Meaning: 1}, Field{Name: "object", Type: 3}, Field{Name: "peer", Type: 7},
			Field{Name: "peer_in_comm", Type: 7}, Field{Name: "tag", Type: 7}, Field{Name: "count", Type: 7}, Field{Name: "datatype", Type: 3}, Field{Name: "operation", Type: 3})
		if rank == 0 {
			s.Events(lateEvents(p)...)
		}
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return Save(dir, "node1", chunks)
}

func lateEvents(p *Profile) (events []Event) {
	add := func(at uint64, request uint64, tag uint32, names ...string) {
		for i, name := range names {
			b := le.AppendUint64(nil, request)
			for _, v := range []uint32{p.Text("PERUSE_COMM_" + name), 1, 1, 1, tag, 4, 1, 2} {
				b = le.AppendUint32(b, v)
			}
			events = append(events, Event{Tag: 16, Ticks: at + uint64(i)*1000, Body: b})
		}
	}
	for i := range uint64(3) {
		add((200+2*i)*ms, 0, uint32(i), "MSG_ARRIVED", "SEARCH_POSTED_Q_BEGIN", "MSG_INSERT_IN_UNEX_Q", "SEARCH_POSTED_Q_END")
	}
	for i := range uint64(3) {
		add((202+4*i)*ms, 0x1000, uint32(i), "SEARCH_UNEX_Q_BEGIN", "REQ_MATCH_UNEX", "MSG_REMOVE_FROM_UNEX_Q", "SEARCH_UNEX_Q_END", "REQ_XFER_BEGIN", "REQ_XFER_END", "REQ_COMPLETE")
	}
	for i := range uint64(2) {
		add((300+100*i)*ms, 0x2000, 9, "REQ_ACTIVATE", "SEARCH_UNEX_Q_BEGIN", "SEARCH_UNEX_Q_END", "REQ_INSERT_IN_POSTED_Q")
		add((340+100*i)*ms, 0x2000, 9, "MSG_ARRIVED", "SEARCH_POSTED_Q_BEGIN", "REQ_REMOVE_FROM_POSTED_Q", "MSG_MATCH_POSTED_REQ", "SEARCH_POSTED_Q_END", "REQ_XFER_BEGIN", "REQ_XFER_END", "REQ_COMPLETE", "REQ_NOTIFY")
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Ticks, b.Ticks) })
	return events
}

// SaveLate writes the trace of two ranks on a library without events: rank 1 sends two messages of 8 bytes to rank 0, which posts its
// receive of the first one 10 ms after it was sent, and that of the second one 40 ms before it is sent. Both end 1 ms later.
func SaveLate(dir string) error {
	var chunks []byte
	for rank := range int32(2) {
		s := NewStream(uint64(rank)+1, rank)
		s.Header(Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/late", Family: "mpich", Library: "MPICH 4.0.2"})
		s.Clock(100*ms, 100*ms, 1_700_000_000_000_000_000, 0)
		s.Clock(1000*ms, 1000*ms, 1_700_000_000_900_000_000, 0)
		t := NewTrace(s)
		t.Objects(Object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 1})
		for i, at := range [2]uint64{200 * ms, 340 * ms} {
			e := TraceEvent{Function: "MPI_Send", Begin: at, End: at + ms, Site: 0x400100 + uint64(i), Bytes: 8, Object: 1, Tag: 7, Sequence: uint32(i) + 1, Flags: TraceSent}
			if rank == 0 {
				begin := [2]uint64{210 * ms, 300 * ms}[i]
				e = TraceEvent{Function: "MPI_Recv", Begin: begin, End: max(begin, at) + ms, Site: 0x400200 + uint64(i), Bytes: 8, Object: 1, Peer: 1, Tag: 7, Sequence: uint32(i) + 1, Flags: TraceReceived}
			}
			t.Add(e)
		}
		t.Write(1, 1)
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return Save(dir, "node1", chunks)
}
