package trace

import (
	"slices"
	"testing"

	"mpitx/recording/recordingtest"
)

// A call lists the sends that it completes, also if these, or what says so, are in an earlier block.
func TestCompletedSends(t *testing.T) {
	run := save(t, func(x *recordingtest.Trace) {
		start := func(request uint32, at uint64) {
			m := message(request, recordingtest.TraceSent, at)
			m.Function, m.Request = "MPI_Isend", request
			x.Add(m)
		}
		wait := func(at uint64) {
			x.Add(recordingtest.TraceEvent{Function: "MPI_Waitall", Begin: at, End: at + 10, Peer: None, Tag: None})
		}
		start(3, 1000) // an older one with the same request
		x.Done(1110, 3)
		wait(1100)
		start(3, 2000)
		x.Write(1, 1)
		start(4, 2100)
		start(4, 2200)
		x.Done(3010, 4)
		x.Done(3010, 3)
		x.Done(3010, 9) // which is not in the trace
		x.Write(1, 1)
		x.Done(3010, 4)
		wait(3000)
		start(3, 4000)
		wait(5000)
	}, func(x *recordingtest.Trace) {
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 1000, End: 1010, Peer: None, Tag: None})
	})
	x := NewIndex(run, nil)
	if n := len(x.Tracks[0].blocks); n != 3 {
		t.Fatalf("%d blocks", n)
	}
	var got [][]int64
	id := CallID{Track: x.Tracks[0]}
	for {
		next, _, _, ok := x.Next(id, 0, 1, func(f string, _ *Object) bool { return f == "MPI_Waitall" })
		if !ok {
			break
		}
		id = next
		f, _ := x.Call(id)
		var began []int64
		for i := range f.Completed {
			c := &f.Completed[i]
			if again, ok := x.Call(c.Send.ID); !ok || again.Begin != c.Send.Begin || c.Message.Received || c.Message.Request != c.Send.Request {
				t.Errorf("%+v", c)
			}
			began = append(began, int64(c.Send.Begin))
		}
		got = append(got, began)
	}
	if want := [][]int64{{0}, {1000, 1100, 1200}, nil}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v instead of %v", got, want)
	}
}
