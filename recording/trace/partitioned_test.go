package trace

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"mpitx/recording/recordingtest"
)

// Partitioned messages belong together by their requests' initialization and the number of their start, and ordinary ones of the same tag keep their
// order. Messages of which the initialization is not known are counted apart.
func TestPartitioned(t *testing.T) {
	const sent, received = recordingtest.TraceSent, recordingtest.TraceReceived
	parts := func(channel, start, bytes, flags uint32, at uint64) recordingtest.TraceEvent {
		m := message(start, flags|flagPartitioned, at)
		m.Message, m.Channel, m.Partitions, m.Bytes, m.Request = true, channel, 4, uint64(bytes), 10+channel
		return m
	}
	call := func(x *recordingtest.Trace, function string, at uint64) {
		x.Add(recordingtest.TraceEvent{Function: function, Begin: at, End: at + 10, Site: 1, Object: 1, Peer: None, Tag: None})
	}
	run := save(t, func(x *recordingtest.Trace) {
		for _, m := range [][3]uint32{{1, 1, 101}, {2, 1, 201}, {1, 2, 102}, {2, 2, 202}, {0, 1, 7}} {
			at := 2000 + 100*uint64(m[2]%10) + uint64(m[0])*20
			x.Add(parts(m[0], m[1], m[2], sent, at))
			call(x, "MPI_Start", at)
		}
		x.Add(message(1, sent, 2800))
	}, func(x *recordingtest.Trace) {
		x.Start(2000, 2010, 11)
		call(x, "MPI_Start", 2000)
		x.Write(1, 100)
		for i, m := range [][3]uint32{{2, 1, 201}, {1, 1, 101}, {2, 2, 202}, {1, 2, 102}, {0, 1, 7}} {
			if i == 1 {
				x.Add(message(1, received, 2990)) // while others are started
			}
			at := 3000 + 100*uint64(i)
			x.Add(parts(m[0], m[1], m[2], received, at))
			call(x, "MPI_Wait", at)
		}
	})
	all := Read(run, Options{Flows: true})
	flows := map[uint64][]uint64{}
	for e := range all.Events {
		if e.Call == nil {
			continue
		}
		for _, m := range e.Call.Messages {
			if m.Flow != 0 {
				flows[m.Flow] = append(flows[m.Flow], m.Bytes)
			}
			if m.Received && m.Bytes == 101 && m.Posted != run.TimeAt(e.Rank, 2000) {
				t.Errorf("started at %v", m.Posted)
			}
		}
	}
	var pairs []string
	for _, bytes := range flows {
		pairs = append(pairs, fmt.Sprint(bytes))
	}
	slices.Sort(pairs)
	if got, want := fmt.Sprint(pairs), "[[1 1] [101 101] [102 102] [201 201] [202 202]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if w := all.Totals; w.Sent != 6 || w.Received != 6 || w.Flows != 5 || w.Partitioned != 1 || w.Unmatched+w.Ambiguous != 0 {
		t.Errorf("%+v", w)
	}
	if left := all.Unreceived(); len(left) > 0 {
		t.Errorf("%+v", left)
	}

	x := NewIndex(run, nil)
	x.SetFlows(Match(run, func(_ time.Duration) bool { return true }))
	id, _, _, ok := x.Next(CallID{Track: x.Tracks[1]}, 0, 1, func(f string, _ *Object) bool { return f == "MPI_Wait" })
	f, _ := x.Call(id)
	if !ok || len(f.Messages) != 1 || f.Messages[0].Bytes != 201 {
		t.Fatalf("%+v", f)
	}
	if other, m, ok := x.Other(&f, &f.Messages[0]); !ok || other.Function != "MPI_Start" || m.Bytes != 201 || m.Partitions != 4 {
		t.Errorf("%+v %+v", other, m)
	}
}

// Earlier agents record neither order. Their messages of partitioned communication are counted, and their starts delay no ordinary message.
func TestPartitionedBefore(t *testing.T) {
	const sent, received = recordingtest.TraceSent, recordingtest.TraceReceived
	old := func(x *recordingtest.Trace, flags uint32, at uint64) {
		m := message(0, flags|flagPartitioned, at)
		m.Request = 5
		x.Add(m)
	}
	run := save(t, func(x *recordingtest.Trace) {
		old(x, sent, 2000)
		x.Add(message(1, sent, 2100))
	}, func(x *recordingtest.Trace) {
		x.Post(1900, 1910, 5)
		x.Add(message(1, received, 2200))
		old(x, received, 2300)
	})
	if w := Read(run, Options{Flows: true}).Totals; w.Flows != 1 || w.Partitioned != 1 || w.Unmatched+w.Ambiguous != 0 {
		t.Errorf("%+v", w)
	}
}
