package samplerrun

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// traced is what a trace says about one run.
type traced struct {
	totals trace.Totals
	calls  map[int]map[string]int // by rank and function
	phases int
}

// traced reads the trace of a run and checks it: each flow connects one send with one receive of the same size, communicator and tag, calls
// of a thread nest, and times do not go back.
func (r *result) traced(t *testing.T) traced {
	t.Helper()
	type end struct {
		rank, peer, tag int
		object          *trace.Object
		bytes           uint64
		done            time.Duration
	}
	got := traced{calls: map[int]map[string]int{}}
	sends, receives := map[uint64]end{}, map[uint64]end{}
	last, ends := map[[2]int]time.Duration{}, map[[2]int]time.Duration{}
	all := trace.Read(r.run, trace.Options{Flows: true})
	flows := all.Totals
	for e := range all.Events {
		switch {
		case e.Phase != nil:
			got.phases++
		case e.Call == nil:
			continue
		}
		if e.Call == nil {
			continue
		}
		c := e.Call
		if got.calls[e.Rank.Rank] == nil {
			got.calls[e.Rank.Rank] = map[string]int{}
		}
		got.calls[e.Rank.Rank][c.Function]++
		thread := [2]int{e.Track, e.Thread} // a thread continues the track of one that ended during its first call
		if _, any := last[thread]; !any {
			last[thread], ends[thread] = c.Begin, c.Begin
		}
		if c.End < last[thread] || c.Begin > c.End || c.Depth == 0 && c.Begin < ends[thread] {
			t.Errorf("rank %d: %s from %v to %v after a call until %v", e.Rank.Rank, c.Function, c.Begin, c.End, last[thread])
		}
		if last[thread] = c.End; c.Depth == 0 {
			ends[thread] = c.End
		}
		lost := c.Lost && e.Rank.Counters.LostEvents > 0 // the room ended between a call's messages and the call
		if (c.Site == 0 || c.Lost) && !lost {
			t.Errorf("rank %d: %+v", e.Rank.Rank, c)
		}
		for _, m := range c.Messages {
			outside := m.Posted == 0 && m.Function == c.Function // its post is not in the trace
			if m.Posted == 0 && m.Flow != 0 && !outside || m.Posted > m.Done || m.Sequence == 0 && m.Flow != 0 || m.Object == nil {
				t.Errorf("rank %d: %s: %+v", e.Rank.Rank, c.Function, m)
			}
			if m.Flow == 0 {
				continue
			}
			of, here := sends, end{e.Rank.Rank, m.Peer, m.Tag, m.Object, m.Bytes, m.Done}
			if m.Received {
				of, here = receives, end{m.Peer, e.Rank.Rank, m.Tag, m.Object, m.Bytes, m.Done}
			}
			if _, ok := of[m.Flow]; ok {
				t.Errorf("flow %x twice", m.Flow)
			}
			of[m.Flow] = here
		}
	}
	got.totals = all.Totals
	if flows != got.totals {
		t.Errorf("first %+v, then %+v", flows, got.totals)
	}
	if len(sends) != int(flows.Flows) || len(receives) != len(sends) {
		t.Errorf("%d sends and %d receives with a flow; %+v", len(sends), len(receives), flows)
	}
	for id, s := range sends {
		got := receives[id]
		if s.done, got.done = 0, 0; got != s {
			t.Fatalf("flow %x from %+v to %+v", id, s, got)
		}
	}
	return got
}

// sent adds up what the ranks print.
func sent(t *testing.T, r *result) (n uint64) {
	t.Helper()
	for _, line := range strings.Fields(r.stdout) {
		k, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			t.Fatalf("%v; %s", err, r.stderr)
		}
		n += k
	}
	return n
}

// messages is what a rank sends in a round of "trace_known exchange".
const messages = 17

// Every call and message is in the trace, and every send has the flow of its receive, whatever the order in which receives complete.
func TestTraceKnown(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		const rounds = 20
		r := m.start(t, 4, []string{"trace=record"}, "trace_known", "exchange", strconv.Itoa(rounds))
		got, want := r.traced(t), sent(t, r)
		if w := got.totals; want != 4*2*rounds*messages || w.Sent != want || w.Received != want || w.Flows != want || w.Ambiguous != 0 || w.Unmatched != 0 || w.LostEvents != 0 {
			t.Errorf("%+v, want %d", w, want)
		}
		if got.phases != 4*2*rounds*2 {
			t.Errorf("%d phases", got.phases)
		}
		wanted := map[string]int{"MPI_Sendrecv": 1, "MPI_Irecv": 11, "MPI_Isend": 13, "MPI_Waitall": 6, "MPI_Send": 2, "MPI_Recv": 1, "MPI_Barrier": 2, "MPI_Wait": 6,
			"MPI_Send_init": 1, "MPI_Recv_init": 1, "MPI_Startall": 2, "MPI_Request_free": 2, "MPI_Mprobe": 2, "MPI_Mrecv": 2, "MPI_Allreduce": 1, "MPI_Pcontrol": 2}
		for rank, calls := range got.calls {
			for function, n := range wanted {
				if calls[function] != n*2*rounds {
					t.Errorf("rank %d: %d of %s, want %d", rank, calls[function], function, n*2*rounds)
				}
			}
			for _, function := range []string{"MPI_Init_thread", "MPI_Comm_dup", "MPI_Comm_free", "MPI_Finalize"} {
				if calls[function] != 1 {
					t.Errorf("rank %d: %d of %s", rank, calls[function], function)
				}
			}
		}
	})
}

// Only the selected functions are recorded, and messages keep the numbers that they have among all.
func TestTraceFunctions(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 2, []string{"trace=record", "functions=MPI_Send", "functions=MPI_Recv"}, "trace_known", "exchange", "5")
		got := r.traced(t)
		if w := got.totals; w.Flows != 2*2*5 || w.Sent != w.Flows || w.Received != w.Flows || w.Unmatched != 0 {
			t.Errorf("%+v", w)
		}
		for rank, calls := range got.calls {
			if len(calls) != 2 || calls["MPI_Send"] != 20 || calls["MPI_Recv"] != 10 {
				t.Errorf("rank %d: %v", rank, calls)
			}
		}
	})
}

// Receives of functions that are left out decide the order of messages, too.
func TestTraceOrderOfFunctions(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		const rounds = 5
		all := []string{"MPI_Isend", "MPI_Irecv", "MPI_Start", "MPI_Wait", "MPI_Waitall"}
		for without, want := range map[string]uint64{"": 2 * 3 * rounds, "MPI_Start": 2 * 3 * rounds, "MPI_Irecv": 2 * 3 * rounds, "MPI_Wait": 0} {
			config := []string{"trace=record"}
			for _, f := range all {
				if f != without {
					config = append(config, "functions="+f)
				}
			}
			if w := m.start(t, 2, config, "trace_known", "order", strconv.Itoa(rounds)).traced(t).totals; w.Flows != want {
				t.Errorf("without %q: %+v", without, w)
			}
		}
	})
}

// Receives that are posted while nothing is recorded keep their place in the order of messages.
func TestTraceParts(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		const rounds = 20
		got := m.start(t, 2, []string{"trace=record"}, "trace_known", "parts", strconv.Itoa(rounds)).traced(t)
		if w := got.totals; w.Flows != 2*3*rounds || w.Sent != w.Flows || w.Ambiguous+w.Unmatched != 0 || got.calls[0]["MPI_Irecv"] != rounds {
			t.Errorf("%+v, %v", w, got.calls[0])
		}
	})
}

// A receive that fails may have taken a message, so those that follow have no flow.
func TestTraceFailedReceives(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		got := m.start(t, 2, []string{"trace=record"}, "trace_known", "truncated", "6").traced(t)
		if w := got.totals; w.Sent != 2*3*6 || w.Received != 2*2*6 || w.Flows != 0 || got.calls[0]["MPI_Recv"] != 3*5 {
			t.Errorf("%+v, %v", w, got.calls[0])
		}
	})
}

// Partitioned messages have the flow of the receive that was initialized as the same one, whatever the order in which they start, and do not change the
// numbers of others. Calls that mark partitions as ready have the request.
func TestTracePartitioned(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		const rounds = 10
		r := m.start(t, 2, []string{"trace=record"}, "trace_known", "partitioned", strconv.Itoa(rounds))
		got, want := r.traced(t), sent(t, r)
		if m.family == "mpich" && want != 2*rounds*2*3 {
			t.Errorf("%d messages", want)
		}
		if w := got.totals; w.Flows != want || w.Sent != want || w.Partitioned+w.Ambiguous+w.Unmatched != 0 {
			t.Errorf("%+v of %d", w, want)
		}
		starts, ready := map[[2]uint32]uint64{}, map[[2]uint32]int{} // by rank and request
		for e := range trace.Read(r.run, trace.Options{}).Events {
			if e.Call == nil {
				continue
			}
			for _, m := range e.Call.Messages {
				if m.Partitions == 2 && !m.Received {
					starts[[2]uint32{uint32(e.Rank.Rank), m.Request}]++
				}
			}
			if c := e.Call; c.Function == "MPI_Pready" {
				if ready[[2]uint32{uint32(e.Rank.Rank), c.Request}]++; c.Peer != 1-e.Rank.Rank || c.Tag != 1 || c.Object.String() != "MPI_COMM_WORLD" {
					t.Errorf("%+v", c)
				}
			}
		}
		if len(starts) != int(want)/6*2 || len(ready) != len(starts) {
			t.Errorf("%d requests started, %d ready", len(starts), len(ready))
		}
		for request, n := range starts {
			if n != 2 || ready[request] != 4 {
				t.Errorf("request %d: %d starts, %d partitions", request, n, ready[request])
			}
		}
	})
}

// Messages that two threads send at the same time have no flow. All others have the right one.
func TestTraceThreads(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		ambiguous := 0
		for n := 0; n < 5 && ambiguous == 0; n++ { // the calls of threads that take turns do not overlap
			r := m.start(t, 2, []string{"trace=record"}, "trace_known", "threads", "300")
			got, want := r.traced(t), sent(t, r)
			if w := got.totals; w.Sent != want || w.Received != want || w.Flows+w.Ambiguous != want || w.Flows < 20 || w.Unmatched != 0 {
				t.Errorf("%+v of %d", w, want)
			}
			ambiguous = int(got.totals.Ambiguous)
		}
		if ambiguous == 0 {
			t.Error("no message of threads that call at the same time is ambiguous")
		}
	})
}

// Messages of threads that each use a communicator or tags of their own have their order, also those of calls that send and receive.
func TestTraceStreams(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 2, []string{"trace=record"}, "trace_known", "streams", "200")
		got, want := r.traced(t), sent(t, r)
		if w := got.totals; w.Sent != want || w.Received != want || w.Flows != want || w.Ambiguous != 0 || w.Unmatched != 0 {
			t.Errorf("%+v of %d", w, want)
		}
	})
}

// Two threads send with tags of their own, so these messages have their order. Their receives can match the same messages.
func TestTraceAnyTag(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 2, []string{"trace=record"}, "trace_known", "any", "20")
		got, want := r.traced(t), sent(t, r)
		if w := got.totals; want != 2*2*20 || w.Sent != want || w.Received != want || w.Flows != want/2 || w.Ambiguous != want/2 || w.Unmatched != 0 {
			t.Errorf("%+v of %d", w, want)
		}
	})
}

// A call that was left by longjmp has what its arguments say. It did not fail.
func TestTraceLeftCalls(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		const rounds = 20
		r := m.start(t, 2, []string{"trace=record"}, "trace_known", "left", strconv.Itoa(rounds))
		left := 0
		for e := range trace.Read(r.run, trace.Options{}).Events {
			c := e.Call
			if c == nil || c.Function != "MPI_Recv" {
				continue
			}
			left++
			if !c.Abandoned || c.Failed || c.Peer != 1-e.Rank.Rank || c.Tag != 9 || c.Object.String() != "MPI_COMM_WORLD" || len(c.Messages) != 0 {
				t.Errorf("rank %d: %+v", e.Rank.Rank, c)
			}
		}
		if left != 2*rounds {
			t.Errorf("%d receives", left)
		}
	})
}

// handlers is a trace of "trace_known handler" or "stepped": calls by name, those of handlers that a note counts, and all calls of handlers.
func handlers(t *testing.T, m *mpi, mode string, rounds int) (calls map[string]uint64, totals trace.Totals, noted, handled uint64) {
	r := m.start(t, 2, []string{"trace=record"}, "trace_known", mode, strconv.Itoa(rounds))
	all := trace.Read(r.run, trace.Options{Flows: true})
	calls = map[string]uint64{}
	for e := range all.Events {
		if e.Call != nil {
			calls[e.Call.Function]++
		}
	}
	for _, rank := range r.run.Ranks {
		for _, n := range rank.Notes {
			var one uint64
			if k, _ := fmt.Sscanf(n.Text, "%d MPI calls in signal handlers", &one); k == 1 {
				noted += one
			}
		}
	}
	if damage := r.run.Damage(); len(damage) > 0 {
		t.Errorf("damage %v", damage)
	}
	return calls, all.Totals, noted, sent(t, r)
}

// Calls in a signal handler never damage the recording that they interrupt. Those that do interrupt one are counted in a note.
func TestTraceHandlers(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		const rounds = 20000
		calls, totals, noted, handled := handlers(t, m, "handler", rounds)
		if calls["MPI_Sendrecv"] != 2*rounds || totals.Flows != 2*rounds || handled == 0 {
			t.Errorf("%d calls, %+v", calls["MPI_Sendrecv"], totals)
		}
		if got := calls["MPI_Comm_rank"] - 2; got+noted != handled {
			t.Errorf("%d calls recorded and %d noted of %d", got, noted, handled)
		}
	})
}

// A handler may interrupt a call after any of its instructions, also where the agent blocks signals.
func TestTraceSteppedHandlers(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		const rounds = 400
		calls, totals, noted, handled := handlers(t, m, "stepped", rounds)
		if calls["MPI_Sendrecv"] != 2*rounds || calls["MPI_Comm_size"]-2 != 2*rounds || totals.Flows != 2*rounds || handled != 4*rounds {
			t.Errorf("%v, %+v, %d calls by handlers", calls, totals, handled)
		}
		if got := calls["MPI_Comm_rank"] - 2; got+noted != handled {
			t.Errorf("%d calls recorded and %d noted of %d", got, noted, handled)
		}
	})
}

// What was recorded before a kill, MPI_Abort or the loss of room is whole.
func TestTraceEnds(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		t.Run("abort", func(t *testing.T) {
			got := m.start(t, 2, []string{"trace=record"}, "trace_known", "abort", "10").traced(t)
			if w := got.totals; w.Flows != 2*10*messages || w.LostEvents != 0 || got.calls[0]["MPI_Abort"] != 1 {
				t.Errorf("%+v, %v", w, got.calls[0])
			}
		})
		t.Run("kill", func(t *testing.T) {
			got := m.start(t, 2, []string{"trace=record"}, "trace_known", "kill", "10").traced(t)
			if w := got.totals; w.Flows != 2*10*messages || w.LostEvents != 0 {
				t.Errorf("%+v", w)
			}
		})
		for _, policy := range []string{"stop", "last"} {
			t.Run(policy, func(t *testing.T) {
				r := m.start(t, 2, []string{"trace=record", "max_size=500000", "policy=" + policy}, "trace_known", "exchange", "400")
				got, want := r.traced(t), sent(t, r)
				w, lost := got.totals, uint64(0)
				for _, k := range r.run.Ranks {
					lost += k.Counters.LostEvents
				}
				if w.LostEvents != lost || (w.OldEvents > 0) != (policy == "last") {
					t.Errorf("%+v; %d lost", w, lost)
				}
				if policy == "stop" && lost == 0 || w.Flows == 0 || w.Flows > want/2 || w.Flows+w.Ambiguous+w.Unmatched < 500 {
					t.Errorf("%+v of %d; %d lost", w, want, lost)
				}
				begins := slices.ContainsFunc(r.run.Ranks, func(k *recording.Rank) bool { return got.calls[k.Rank]["MPI_Init_thread"] == 1 })
				if begins != (policy == "stop") {
					t.Errorf("%s: the beginning is in the trace: %v", policy, begins)
				}
			})
		}
	})
}
