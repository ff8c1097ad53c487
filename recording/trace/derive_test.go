package trace

import (
	"fmt"
	"slices"
	"testing"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// derived lists what is derived, as "NAME rank time words".
func derived(run *recording.Run, patterns ...string) (lines []string) {
	t := Read(run, Options{Flows: true, Derive: Derivable(run, patterns...)})
	for e := range t.Events {
		if d := e.Derived; d != nil {
			line := fmt.Sprint(d.Name[len("PERUSE_"):], " ", e.Rank.Rank, " ", int64(d.Time), " ", d.Operation, d.Bound)
			if d.Duration != 0 || d.Count != 0 {
				line += fmt.Sprint(" ", int64(d.Duration), " ", d.Count)
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("derived\n%q, want\n%q", got, want)
	}
}

// Requests are activated when calls begin, and notified when calls return. A transfer begins after both sides are there, whichever call
// ends first; the end of a nonblocking send is not visible. Times count from the first event, at 1000.
func TestDeriveRequests(t *testing.T) {
	const sent, received = recordingtest.TraceSent, recordingtest.TraceReceived
	run := save(t, func(x *recordingtest.Trace) {
		x.Add(message(1, sent, 2000)) // to 2010
		late := message(2, sent, 2100)
		late.Function, late.End = "MPI_Ssend", 2900
		x.Add(late)
		free := message(3, sent, 3000)
		free.Function = "MPI_Isend"
		x.Add(free)
	}, func(x *recordingtest.Trace) {
		x.Add(message(1, received, 2050))
		early := message(2, received, 2080)
		early.End = 2700
		x.Add(early)
		lost := message(9, received, 4000)
		lost.Tag = 5
		x.Add(lost) // nobody sent it
	})
	at := int64(0)
	for e := range Read(run, Options{}).Events {
		if e.Call != nil && e.Rank.Rank == 0 {
			at = int64(e.Call.Begin) - 2000
			break
		}
	}
	when := func(name string, rank int, ticks int64, words string) string {
		return fmt.Sprint(name, " ", rank, " ", ticks+at, " ", words)
	}
	want := []string{
		when("COMM_REQ_ACTIVATE", 0, 2000, "send"), when("COMM_REQ_COMPLETE", 0, 2010, "sendnot_after"), when("COMM_REQ_NOTIFY", 0, 2010, "send"),
		when("COMM_REQ_ACTIVATE", 0, 2100, "send"), when("COMM_REQ_COMPLETE", 0, 2900, "sendnot_after"), when("COMM_REQ_NOTIFY", 0, 2900, "send"),
		when("COMM_REQ_ACTIVATE", 0, 3000, "send"),
		when("COMM_REQ_ACTIVATE", 1, 2050, "recv"), when("COMM_REQ_XFER_BEGIN", 1, 2050, "recvnot_before"), when("COMM_REQ_XFER_END", 1, 2060, "recvnot_after"),
		when("COMM_REQ_COMPLETE", 1, 2060, "recvnot_after"), when("COMM_REQ_NOTIFY", 1, 2060, "recv"),
		when("COMM_REQ_ACTIVATE", 1, 2080, "recv"), when("COMM_REQ_XFER_BEGIN", 1, 2100, "recvnot_before"), when("COMM_REQ_XFER_END", 1, 2700, "recvnot_after"),
		when("COMM_REQ_COMPLETE", 1, 2700, "recvnot_after"), when("COMM_REQ_NOTIFY", 1, 2700, "recv"),
		when("COMM_REQ_ACTIVATE", 1, 4000, "recv"), when("COMM_REQ_COMPLETE", 1, 4010, "recvnot_after"), when("COMM_REQ_NOTIFY", 1, 4010, "recv"),
	}
	same(t, derived(run, "PERUSE_COMM_*"), want...)
	same(t, derived(run, "PERUSE_COMM_MSG_*", "PERUSE_WIN_*"))
	if len(derived(run)) != 0 {
		t.Error("nobody asked")
	}
}

// Other calls: what Appendix E proposes.
func TestDeriveCalls(t *testing.T) {
	run := save(t, func(x *recordingtest.Trace) {
		x.Asked("PERUSE_*", "demo")
		for i, name := range []string{"MPI_Win_fence", "MPI_Win_create", "MPI_Comm_spawn_multiple", "MPI_File_write_all_begin_c", "MPI_File_write_all_end", "MPI_File_read_ordered_begin",
			"MPI_File_read_ordered_end", "MPI_File_seek_shared", "MPI_File_get_position_shared", "MPI_File_open", "MPI_Barrier", "MPI_Win_lock_all"} {
			x.Add(recordingtest.TraceEvent{Function: name, Begin: uint64(1000 + 100*i), End: uint64(1010 + 100*i), Object: 1, Peer: None, Tag: None})
		}
	})
	if got := Asked(run); !slices.Equal(got, []string{"PERUSE_*", "demo"}) {
		t.Errorf("asked for %q", got)
	}
	at := int64(0)
	for e := range Read(run, Options{}).Events {
		at = int64(e.Call.Begin) - 1000
		break
	}
	when := func(name string, ticks int64, words string) string {
		return fmt.Sprint(name, " 0 ", ticks+at, " ", words)
	}
	same(t, derived(run), when("WIN_SYNC_BEGIN", 1000, "fence"), when("WIN_SYNC_END", 1010, "fence"), when("SPAWN_START", 1200, ""), when("SPAWN_END", 1210, ""),
		when("FILE_T_FIRST_PHASE_IN_SPLIT_IO", 1300, "at_most 10 0"), when("FILE_T_SECOND_PHASE_IN_SPLIT_IO", 1400, "at_most 10 0"),
		when("FILE_T_FIRST_PHASE_IN_SPLIT_IO", 1500, "at_most 10 0"), when("FILE_T_GET_SHARED_POINTER", 1500, "at_most 10 0"),
		when("FILE_T_SECOND_PHASE_IN_SPLIT_IO", 1600, "at_most 10 0"), when("FILE_T_GET_SHARED_POINTER", 1700, "at_most 10 0"),
		when("WIN_SYNC_BEGIN", 2100, "lock_all"), when("WIN_SYNC_END", 2110, "lock_all"))
}

// The library's own requests in collective calls. Requests that the library reports are not derived as well.
func TestDeriveCollectives(t *testing.T) {
	const activate = "PERUSE_COMM_REQ_ACTIVATE"
	run := save(t, func(x *recordingtest.Trace) {
		x.DeclarePeruse()
		x.Asked("PERUSE_COMM_*")
		x.Peruse(1500, activate, 1) // of no call
		x.Peruse(2010, activate, 2)
		x.Peruse(2020, activate, 1)
		x.Peruse(2050, activate, 1)
		x.Peruse(2060, "PERUSE_COMM_REQ_COMPLETE", 1)
		x.Peruse(2110, activate, 1)
		x.Write(2, 100) // the agent's tools write chains of their own
		x.Add(recordingtest.TraceEvent{Function: "MPI_Allreduce", Begin: 2000, End: 2100, Object: 1, Peer: None, Tag: None})
		send := message(1, recordingtest.TraceSent, 2105)
		x.Add(send)
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 2200, End: 2300, Object: 1, Peer: None, Tag: None})
	})
	at := int64(0)
	for e := range Read(run, Options{}).Events {
		if e.Call != nil {
			at = int64(e.Call.Begin) - 2000
			break
		}
	}
	when := func(name, words string) string { return fmt.Sprint(name, " 0 ", 2000+at, " ", words) }
	same(t, derived(run), when("COMM_N_SENDS", "at_least 0 2"), when("COMM_N_RECVS", " 0 1"), when("COMM_T_BTWN_OPS", " 20 0"))
}

// A nonblocking send ends with the call that completes its request. Of two with one request, the program learns together that they ended.
func TestDeriveSendEnds(t *testing.T) {
	const sent = recordingtest.TraceSent
	run := save(t, func(x *recordingtest.Trace) {
		start := func(request uint32, at uint64) {
			m := message(request, sent, at)
			m.Function, m.Request = "MPI_Isend", request
			x.Add(m)
		}
		wait := func(at uint64, requests ...uint32) {
			for _, r := range requests {
				x.Done(at+10, r)
			}
			x.Add(recordingtest.TraceEvent{Function: "MPI_Waitall", Begin: at, End: at + 10, Peer: None, Tag: None})
		}
		start(1, 1000)
		start(2, 1100)
		wait(2000, 1)
		wait(2100, 2, 9) // 9 is not in the trace
		start(3, 3000)
		start(3, 3100)
		wait(3200, 3)
		wait(3300, 3)
		start(3, 4000)
		start(3, 4100)
		wait(4200, 3, 3)
	}, func(x *recordingtest.Trace) {
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 1000, End: 1010, Peer: None, Tag: None})
	})
	var want []string
	for _, at := range []int{1010, 1110, 2310, 3210, 3210} {
		want = append(want, fmt.Sprint("COMM_REQ_NOTIFY 0 ", at, " send"))
	}
	for _, at := range []int{1010, 1110, 2210, 2310, 3210, 3210} {
		want = append(want, fmt.Sprint("COMM_REQ_COMPLETE 0 ", at, " sendnot_after"))
	}
	same(t, derived(run, "PERUSE_COMM_REQ_COMPLETE", "PERUSE_COMM_REQ_NOTIFY"), want...)
}
