package where

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/recording/finding"
)

const second = time.Second

// world is MPI_COMM_WORLD in a rank that has entered some collective calls on it.
func world(rank int, entered uint64) *Object {
	return &Object{Name: "MPI_COMM_WORLD", Kind: "communicator", Identity: "world", Rank: rank, Collectives: entered}
}

// process is a rank with one thread.
func process(rank int, entered uint64, set func(t *Thread)) *Process {
	w := world(rank, entered)
	t := &Thread{ID: 100 + rank, Inside: true, Object: w, HasObject: true, Peer: NoRank, Tag: NoTag, Bytes: -1, Since: 5 * second, Idle: 5 * second}
	set(t)
	t.Class = ClassOf(t.Call, t.Collective > 0, strings.HasPrefix(t.Call, "MPI_Test") || t.Call == "MPI_Iprobe")
	return &Process{Rank: rank, Threads: []*Thread{t}, Objects: []*Object{w}, Messages: &Messages{Sent: make([]uint32, 1<<messageBits), Received: make([]uint32, 1<<messageBits)}}
}

func receive(from, tag int) func(*Thread) {
	return func(t *Thread) { t.Call, t.Role, t.Peer, t.Tag = "MPI_Recv", Source, from, tag }
}

func send(to, tag int) func(*Thread) {
	return func(t *Thread) { t.Call, t.Role, t.Peer, t.Tag = "MPI_Send", Destination, to, tag }
}

func exchange(to, from int) func(*Thread) {
	return func(t *Thread) {
		t.Call, t.Role, t.Peer, t.Tag, t.Exchange, t.Source, t.SourceTag = "MPI_Sendrecv", Destination, to, 1, true, from, 1
	}
}

func collective(call string, number uint64) func(*Thread) {
	return func(t *Thread) { t.Call, t.Collective = call, number }
}

func bcast(root int, number uint64) func(*Thread) {
	return func(t *Thread) { t.Call, t.Collective, t.Role, t.Peer = "MPI_Bcast", number, Root, root }
}

func computes(t *Thread) { t.Call, t.Inside = "MPI_Send", false }

func waitall(call string, requests ...Request) func(*Thread) {
	return func(t *Thread) {
		t.Call, t.HasObject, t.Looked = call, false, true
		for _, r := range requests {
			r.Object = t.Object
			t.Pending = append(t.Pending, r)
		}
		t.Object = nil
	}
}

func waits(requests ...Request) func(*Thread) { return waitall("MPI_Wait", requests...) }

func polls(requests ...Request) func(*Thread) {
	return func(t *Thread) {
		waitall("MPI_Test", requests...)(t)
		t.Tests = []string{"MPI_Iprobe", "MPI_Test"}
	}
}

// job makes a job of processes with entered collective calls each.
func job(entered uint64, states ...func(*Thread)) *Job {
	j := &Job{Size: len(states)}
	for rank, set := range states {
		j.Processes = append(j.Processes, process(rank, entered, set))
	}
	return j
}

// entering sets the number of collective calls that a rank has entered.
func (j *Job) entering(rank int, n uint64) *Job {
	j.Processes[rank].Objects[0].Collectives = n
	return j
}

// recent sets the last collective calls of a rank.
func (j *Job) recent(rank int, entries ...Entry) *Job {
	o := j.Processes[rank].Objects[0]
	o.Recent, o.Collectives = entries, entries[len(entries)-1].Number
	return j
}

// failed: a collective call of a rank failed.
func (j *Job) failed(rank int) *Job {
	j.Processes[rank].Objects[0].Failed = true
	return j
}

// started: a rank has started a persistent collective n times.
func (j *Job) started(rank int, number, n uint64) *Job {
	j.Processes[rank].Objects[0].Starts = map[uint64]uint64{number: n}
	return j
}

func (j *Job) condition(rank int, c Condition) *Job {
	j.Processes[rank].Condition = c
	return j
}

func (j *Job) since(rank int, d time.Duration) *Job {
	j.Processes[rank].Threads[0].Since = d
	return j
}

// moment: a rank has just made progress.
func (j *Job) moment(rank int) *Job {
	t := j.Processes[rank].Threads[0]
	t.Since, t.Idle = -1, 0
	return j
}

func (j *Job) pid(rank, pid int) *Job {
	j.Processes[rank].PID = pid
	return j
}

// thread adds a thread to a process.
func (j *Job) thread(rank int, set func(*Thread)) *Job {
	p := j.Processes[rank]
	p.Threads = append(p.Threads, process(rank, p.Objects[0].Collectives, set).Threads...)
	return j
}

// inner adds a call in a callback of a process's call.
func (j *Job) inner(rank int, set func(*Thread)) *Job {
	j.Processes[rank].Threads[0].Inner = process(rank, 0, set).Threads[0]
	return j
}

func (j *Job) working(rank int) *Job {
	j.Processes[rank].Working = 1
	return j
}

// sent: a rank has sent a message; received: another one has received it.
func (j *Job) sent(from, to, tag int) *Job {
	j.Processes[from].Messages.Sent[messagePlace(from, to, tag)]++
	return j
}

func (j *Job) received(from, to, tag int) *Job {
	j.Processes[to].Messages.Received[messagePlace(from, to, tag)]++
	return j
}

func (j *Job) posted(rank int) *Job {
	j.Processes[rank].Messages.Posted++
	return j
}

func (j *Job) uncounted(rank int) *Job {
	j.Processes[rank].Messages = nil
	return j
}

func dormant(j *Job, rank int) *Job {
	j.Processes[rank].Dormant = 1
	return j
}

func sleeps(t *Thread) { t.Call, t.Inside, t.Sleeps = "MPI_Send", false, true }

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name string
		job  *Job
		want []string // the whole text of each finding
	}{
		{"nobody waits", job(0, computes, computes), nil},
		{"send-send", job(0, send(1, 7), send(0, 7)), []string{"cycle: 0 → 1 → 0, all in MPI_Send"}},
		{"recv-recv", job(0, receive(1, 7), receive(2, 7), receive(0, 7)), []string{"cycle: 0 → 1 → 2 → 0, all in MPI_Recv"}},
		{"a message under way that was sent early", job(0, receive(1, 7), receive(0, 7)).sent(1, 0, 7), []string{"rank 1 waits for a message from 0, tag 7; 0 is in MPI_Recv on MPI_COMM_WORLD"}},
		{"a message that was received", job(0, receive(1, 7), receive(0, 7)).sent(1, 0, 7).received(1, 0, 7), []string{"cycle: 0 → 1 → 0, all in MPI_Recv"}},
		{"a message that cannot match", job(0, receive(1, 7), receive(0, 7)).sent(1, 0, 8), []string{"cycle: 0 → 1 → 0, all in MPI_Recv"}},
		{"a message that was long under way", job(0, receive(1, 7), receive(0, 7)).sent(1, 0, 7).since(0, 20*second), []string{"possible cycle: 0 → 1 → 0, all in MPI_Recv"}},
		{"messages that were not counted", job(0, receive(1, 7), receive(0, 7)).uncounted(1), []string{"possible cycle: 0 → 1 → 0, all in MPI_Recv"}},
		{"a send that a posted receive may accept", job(0, send(1, 7), receive(0, 8)).posted(1), []string{"possible: the tags differ: 0 sends to 1 with tag 7 in MPI_Send, and 1 waits for a message from 0 with tag 8 in MPI_Recv"}},
		{"a moment, between two steps", job(1, exchange(1, 1), bcast(0, 1)).entering(0, 0).moment(0).moment(1), nil},
		{"a message under way", job(0, send(1, 7), receive(0, 7)), nil},
		{"a message under way to any source", job(0, send(1, 7), receive(AnySource, AnyTag)), nil},
		{"itself", job(0, receive(0, 1)), []string{"cycle: 0 → 0, in MPI_Recv: it waits for itself"}},
		{"a chain", job(0, computes, receive(0, 1), receive(1, 2), receive(2, 3)),
			[]string{"3 waits for a message from 2, tag 3; 2 waits for a message from 1, tag 2; 1 waits for a message from 0, tag 1; 0 computes for 5.0 s, after MPI_Send"}},
		{"a chain into a barrier", job(3, receive(2, 7), computes, collective("MPI_Barrier", 3)).entering(0, 2).entering(1, 2),
			[]string{"cycle: 0 → 2 → 0: 0 waits for a message from 2, tag 7; 2 is in MPI_Barrier on MPI_COMM_WORLD, which 0-1 have not entered"}},
		{"a rank missing in a barrier", job(4, collective("MPI_Barrier", 4), computes, collective("MPI_Barrier", 4)).entering(1, 3),
			[]string{"ranks 0,2 are in MPI_Barrier on MPI_COMM_WORLD, which 1 has not entered; 1 computes for 5.0 s, after MPI_Send"}},
		{"different collectives", job(2, collective("MPI_Barrier", 2), bcast(0, 2), collective("MPI_Barrier", 2)),
			[]string{"mismatched collectives on MPI_COMM_WORLD (call 2): rank 1 is in MPI_Bcast, ranks 0,2 are in MPI_Barrier"}},
		{"different collectives, after one that failed", job(2, collective("MPI_Barrier", 2), bcast(0, 2)).failed(1),
			[]string{"possible mismatched collectives on MPI_COMM_WORLD (call 2): rank 0 is in MPI_Barrier, rank 1 is in MPI_Bcast"}},
		{"different roots", job(2, bcast(1, 2), bcast(0, 2), bcast(0, 2)),
			[]string{"mismatched roots of MPI_Bcast on MPI_COMM_WORLD (call 2): rank 0 uses root 1, ranks 1-2 use root 0"}},
		{"a collective more", job(5, collective("MPI_Barrier", 5), collective("MPI_Barrier", 6)).recent(1, Entry{"MPI_Bcast", 0, 5}, Entry{"MPI_Barrier", NoRank, 6}),
			[]string{"mismatched collectives on MPI_COMM_WORLD (call 5): rank 0 is in MPI_Barrier, rank 1 was in MPI_Bcast",
				"cycle"}},
		{"a collective more that is long ago", job(5, collective("MPI_Barrier", 5), collective("MPI_Barrier", 26)).entering(1, 26),
			[]string{"possible mismatched collectives on MPI_COMM_WORLD: rank 0 is in collective call 5, MPI_Barrier, which rank 1 has left: it made a different call there",
				"cycle"}},
		{"roots that differed in a call that all have left", job(6, computes, collective("MPI_Barrier", 6), computes).recent(0, Entry{"MPI_Bcast", 0, 5}, Entry{"MPI_Allreduce", NoRank, 6}).
			recent(1, Entry{"MPI_Bcast", 1, 5}, Entry{"MPI_Barrier", NoRank, 6}).recent(2, Entry{"MPI_Bcast", 0, 5}, Entry{"MPI_Bcast", 2, 6}).entering(1, 6),
			[]string{"mismatched collectives on MPI_COMM_WORLD (call 6): rank 1 is in MPI_Barrier, rank 0 was in MPI_Allreduce, rank 2 was in MPI_Bcast",
				"mismatched roots of MPI_Bcast on MPI_COMM_WORLD (call 5): rank 1 used root 1, ranks 0,2 used root 0"}},
		{"two calls of the same function", job(2, collective("MPI_Allreduce", 2), collective("MPI_Allreduce", 3), computes).entering(1, 3).entering(2, 1),
			[]string{"possible mismatched collectives on MPI_COMM_WORLD: rank 0 is in collective call 2, MPI_Allreduce, which rank 1 has left: it made a different call there",
				"0 is in MPI_Allreduce on MPI_COMM_WORLD (call 2), which 2 has not entered; 1 is in MPI_Allreduce on MPI_COMM_WORLD (call 3), which 0,2 have not entered; 2 computes for 5.0 s, after MPI_Send"}},
		{"equal calls that all have left", job(6, computes, computes).recent(0, Entry{"MPI_Bcast", 1, 5}, Entry{"MPI_Bcast_c", 0, 6}).recent(1, Entry{"MPI_Bcast", 1, 5}, Entry{"MPI_Bcast", 0, 6}), nil},
		{"a collective that others have left", job(5, collective("MPI_Barrier", 5), computes).recent(1, Entry{"MPI_Barrier", NoRank, 5}), nil},
		{"different collectives that do not block", job(2, waits(Request{Call: "MPI_Iallreduce", Collective: 2}), waits(Request{Call: "MPI_Ibcast", Collective: 2}), waits(Request{Call: "MPI_Iallreduce", Collective: 2})),
			[]string{"mismatched collectives on MPI_COMM_WORLD (call 2): rank 1 waits for MPI_Ibcast, ranks 0,2 wait for MPI_Iallreduce"}},
		{"a collective that does not block, and a rank that has not entered it", job(2, waits(Request{Call: "MPI_Ibarrier", Collective: 2}), receive(0, 9)).entering(1, 1),
			[]string{"cycle: 0 → 1 → 0: 0 waits for MPI_Ibarrier on MPI_COMM_WORLD, which 1 has not entered; 1 waits for a message from 0, tag 9"}},
		{"a persistent collective", job(2, waits(Request{Call: "MPI_Barrier_init", Collective: 2, Starts: 3}), computes).started(1, 2, 2),
			[]string{"rank 0 waits for MPI_Barrier_init on MPI_COMM_WORLD, which 1 has not started; 1 computes for 5.0 s, after MPI_Send"}},
		{"a persistent collective that all have started", job(2, waits(Request{Call: "MPI_Barrier_init", Collective: 2, Starts: 3}), computes).started(1, 2, 3), nil},
		{"nonblocking consensus in which a rank is missing", job(2, polls(Request{Call: "MPI_Iprobe", Peer: AnySource, Tag: 7}, Request{Call: "MPI_Ibarrier", Collective: 2}),
			polls(Request{Call: "MPI_Iprobe", Peer: AnySource, Tag: 7}, Request{Call: "MPI_Ibarrier", Collective: 2}), receive(0, 9)).entering(2, 1),
			[]string{"possible cycle: 0 → 2 → 0: 0 polls with MPI_Iprobe, MPI_Test for a message from any rank, tag 7 or MPI_Ibarrier on MPI_COMM_WORLD, which 2 has not entered; " +
				"2 waits for a message from 0, tag 9; rank 0 polls and may go on; rank 1 waits with them"}},
		{"a collective that others have just left", job(5, collective("MPI_Allreduce", 5), computes).entering(1, 5).moment(0), nil},
		{"a message of another tag before it", job(0, receive(1, 7), send(0, 8)).moment(1), []string{"rank 0 waits for a message from 1, tag 7; 1 is active"}},
		{"the wrong tag", job(0, receive(1, 7), send(0, 8)), []string{"the tags differ: 1 sends to 0 with tag 8 in MPI_Send, and 0 waits for a message from 1 with tag 7 in MPI_Recv"}},
		{"a stopped rank", job(0, receive(1, 7), receive(0, 7)).condition(1, Stopped),
			[]string{"rank 1 is stopped by a signal (SIGSTOP); kill -CONT continues it", "rank 0 waits for a message from 1, tag 7; 1 is stopped"}},
		{"a job that died", job(0, send(1, 7), send(0, 7)).condition(0, Dead).condition(1, Dead), []string{"ranks 0-1 have died", "before that, cycle: 0 → 1 → 0, all in MPI_Send"}},
		{"a job that died in different collectives", job(2, collective("MPI_Barrier", 2), collective("MPI_Allreduce", 2)).condition(0, Dead).condition(1, Dead),
			[]string{"ranks 0-1 have died", "before that, mismatched collectives on MPI_COMM_WORLD (call 2): rank 0 is in MPI_Barrier, rank 1 is in MPI_Allreduce"}},
		{"a job that died while it ran", job(0, send(1, 7), send(0, 7)).condition(0, Dead).condition(1, Dead).since(0, second/2), []string{"ranks 0-1 have died", "before that, rank 1 waits for 0 to receive a message, tag 7; 0 has died"}},
		{"ranks of which one had ended", job(0, receive(1, 7), computes).condition(0, Dead).condition(1, Exited), []string{"rank 0 has died", "before that, rank 0 waits for a message from 1, tag 7; 1 has exited"}},
		{"several ranks missing in a barrier", job(4, collective("MPI_Barrier", 4), computes, computes).entering(1, 3).entering(2, 3),
			[]string{"rank 0 is in MPI_Barrier on MPI_COMM_WORLD, which 1-2 have not entered; 1-2 compute for 5.0 s, after MPI_Send"}},
		{"stopped ranks", job(0, computes, computes).condition(0, Stopped).condition(1, Stopped).pid(0, 70).pid(1, 71),
			[]string{"ranks 0-1 are stopped by a signal (SIGSTOP); kill -CONT 70 71 continues them"}},
		{"a dead rank", job(0, receive(1, 7), computes).condition(1, Dead), []string{"rank 1 has died", "rank 0 waits for a message from 1, tag 7; 1 has died"}},
		{"a rank in MPI_Finalize", job(0, receive(1, 7), collective("MPI_Finalize", 0)).condition(1, Finalized),
			[]string{"rank 0 waits for a message from 1, tag 7; 1 has called MPI_Finalize"}},
		{"requests", job(0, waitall("MPI_Waitall", Request{Call: "MPI_Irecv", Peer: 1, Tag: 7}, Request{Call: "MPI_Isend", Peer: 1, Tag: 8}), computes),
			[]string{"rank 0 waits in MPI_Waitall for 2 requests (a message from 1, tag 7; 1 to receive a message, tag 8); 1 computes for 5.0 s, after MPI_Send"}},
		{"some of the requests may have completed", job(0, waitall("MPI_Waitall", Request{Call: "MPI_Irecv", Peer: 1, Tag: 7}, Request{Call: "MPI_Irecv", Peer: 2, Tag: 7}), receive(0, 1), computes),
			[]string{"cycle: 0 → 1 → 0: 0 waits in MPI_Waitall for 2 requests (a message from 1, tag 7; a message from 2, tag 7); 1 waits for a message from 0, tag 1"}},
		{"one of the requests has completed", job(0, waitall("MPI_Waitall", Request{Call: "MPI_Irecv", Peer: 1, Tag: 7}, Request{Call: "MPI_Irecv", Peer: 2, Tag: 7}), receive(0, 1), computes).sent(1, 0, 7),
			[]string{"1 waits for a message from 0, tag 1; 0 waits in MPI_Waitall for 2 requests (a message from 1, tag 7; a message from 2, tag 7); 2 computes for 5.0 s, after MPI_Send"}},
		{"requests in a cycle", job(0, waitall("MPI_Waitall", Request{Call: "MPI_Irecv", Peer: 1, Tag: 7}, Request{Call: "MPI_Irecv", Peer: 2, Tag: 7}), receive(0, 1), receive(0, 1)),
			[]string{"cycle: 0 → 1 → 0: 0 waits in MPI_Waitall for 2 requests (a message from 1, tag 7; a message from 2, tag 7); 1 waits for a message from 0, tag 1; rank 2 waits with them"}},
		{"a request and a send under way", job(0, waitall("MPI_Wait", Request{Call: "MPI_Irecv", Peer: 1, Tag: 7}), send(0, 7)), nil},
		{"a collective request", job(0, waitall("MPI_Wait", Request{Call: "MPI_Ibarrier"}), computes), nil},
		{"any source, all wait", job(0, receive(AnySource, 7), receive(AnySource, 7), receive(AnySource, 7)),
			[]string{"cycle: 0 → 1 → 0, all in MPI_Recv; rank 2 waits with them"}},
		{"a thread that would send", job(0, receive(1, 7), receive(0, 7)).thread(1, computes),
			[]string{"rank 0 waits for a message from 1, tag 7; 1 waits for a message from 0, tag 7, and another thread of it computes for 5.0 s, after MPI_Send"}},
		{"a thread that has made no call", job(0, receive(1, 7), receive(0, 7)).working(1),
			[]string{"rank 0 waits for a message from 1, tag 7; 1 waits for a message from 0, tag 7, and another thread of it may call MPI"}},
		{"all threads wait", job(0, receive(1, 7), receive(0, 7)).thread(1, receive(0, 8)),
			[]string{"cycle: 0 → 1 → 0, all in MPI_Recv"}},
		{"a thread sleeps that a signal may wake", job(0, receive(1, 7), receive(0, 7)).thread(1, sleeps),
			[]string{"possible cycle: 0 → 1 → 0, all in MPI_Recv; another thread of rank 1 may call MPI"}},
		{"a thread without calls sleeps", dormant(job(0, receive(1, 7), receive(0, 7)), 1),
			[]string{"possible cycle: 0 → 1 → 0, all in MPI_Recv; another thread of rank 1 may call MPI"}},
		{"threads that wait for different ranks", job(0, receive(1, 7), receive(0, 7), computes).thread(1, receive(2, 8)),
			[]string{"0 waits for a message from 1, tag 7; 1 waits for a message from 2, tag 8; 2 computes for 5.0 s, after MPI_Send"}},
		{"a thread that receives another tag", job(0, receive(1, 7), send(0, 8)).thread(0, computes),
			[]string{"rank 1 waits for 0 to receive a message, tag 8; 0 waits for a message from 1, tag 7, and another thread of it computes for 5.0 s, after MPI_Send"}},
		{"a callback", job(2, collective("MPI_Allreduce", 2), collective("MPI_Allreduce", 2)).inner(1, receive(0, 7)),
			[]string{"rank 1 waits for a message from 0, tag 7, in a callback of MPI_Allreduce; 0 is in MPI_Allreduce on MPI_COMM_WORLD"}},
		{"any of two requests", job(0, waitall("MPI_Waitany", Request{Call: "MPI_Irecv", Peer: 1, Tag: 7}, Request{Call: "MPI_Irecv", Peer: 2, Tag: 7}), receive(0, 1), computes),
			[]string{}},
		{"polls", job(0, waitall("MPI_Test", Request{Call: "MPI_Irecv", Peer: 1, Tag: 7}), waitall("MPI_Test", Request{Call: "MPI_Irecv", Peer: 0, Tag: 7})),
			[]string{"possible cycle: 0 → 1 → 0, all in MPI_Test; ranks 0-1 poll and may go on"}},
		{"polls two in turn, of which one computes", job(0, waitall("MPI_Test", Request{Call: "MPI_Iprobe", Peer: 1, Tag: 7}, Request{Call: "MPI_Iprobe", Peer: 2, Tag: 8}),
			waitall("MPI_Test", Request{Call: "MPI_Iprobe", Peer: 0, Tag: 7}, Request{Call: "MPI_Iprobe", Peer: 2, Tag: 8}), computes),
			[]string{"rank 0 polls with MPI_Test for a message from 1, tag 7 or a message from 2, tag 8; 2 computes for 5.0 s, after MPI_Send",
				"rank 1 polls with MPI_Test for a message from 0, tag 7 or a message from 2, tag 8; 2 computes for 5.0 s, after MPI_Send"}},
		{"a broadcast does not need all to enter it", job(1, bcast(2, 1), receive(0, 7), computes).entering(1, 0).entering(2, 0),
			[]string{"1 waits for a message from 0, tag 7; 0 is in MPI_Bcast on MPI_COMM_WORLD, which 1-2 have not entered; 2 computes for 5.0 s, after MPI_Send"}},
		{"a broadcast that waits for nobody but a rank that waits for it", job(1, bcast(2, 1), receive(0, 7), bcast(2, 1)).entering(1, 0),
			[]string{"possible cycle: 0 → 1 → 0: 0 is in MPI_Bcast on MPI_COMM_WORLD, which 1 has not entered; 1 waits for a message from 0, tag 7",
				"rank 2 is in MPI_Bcast on MPI_COMM_WORLD, which 1 has not entered"}},
		{"a barrier that some are far from", job(1, exchange(1, 1), exchange(0, 0), collective("MPI_Barrier", 1), collective("MPI_Barrier", 1)).entering(0, 0).entering(1, 0).moment(0).moment(1),
			[]string{"ranks 2-3 are in MPI_Barrier on MPI_COMM_WORLD, which 0-1 have not entered; 0-1 are active"}},
		{"probes", job(0, func(t *Thread) { t.Call, t.Role, t.Peer, t.Tag = "MPI_Iprobe", Source, 1, 7 }, computes),
			[]string{"rank 0 waits for a message from 1, tag 7; 1 computes for 5.0 s, after MPI_Send"}},
		{"exchanges with a stopped rank", job(0, exchange(1, 3), exchange(2, 0), exchange(3, 1), exchange(0, 2)).condition(1, Stopped),
			[]string{"rank 1 is stopped by a signal (SIGSTOP); kill -CONT continues it",
				"0 exchanges messages: to 1, tag 1, from 3, tag 1; 3 exchanges messages: to 0, tag 1, from 2, tag 1; 2 exchanges messages: to 3, tag 1, from 1, tag 1; 1 is stopped"}},
		{"exchanges that nobody answers", job(0, exchange(1, 1), receive(0, 2)), []string{"cycle: 0 → 1 → 0: 0 exchanges messages: to 1, tag 1, from 1, tag 1; 1 waits for a message from 0, tag 2"}},
		{"any source", job(0, receive(AnySource, 7), computes, computes), []string{"rank 0 waits for a message from any rank, tag 7; 1-2 compute for 5.0 s, after MPI_Send"}},
		{"any source, several", job(0, receive(AnySource, 7), receive(AnySource, 7), computes), []string{"ranks 0-1 wait for a message from any rank, tag 7; 2 computes for 5.0 s, after MPI_Send"}},
		{"any source, and the others do different things", job(0, receive(AnySource, 7), computes, sleeps), []string{"rank 0 waits for a message from any rank, tag 7"}},
		{"a message under way from a rank that computes", job(0, func(t *Thread) { computes(t); t.Call = "MPI_Isend" }, receive(0, 7)).sent(0, 1, 7),
			[]string{"rank 1 waits for a message from 0, tag 7, which is under way; 0 computes for 5.0 s, after MPI_Isend"}},
		{"a message under way, for a moment", job(0, computes, receive(0, 7)).sent(0, 1, 7).moment(1), nil},
		{"polling in a job that died", job(0, polls(Request{Call: "MPI_Ibarrier", Collective: 2}), receive(0, 9)).entering(0, 2).entering(1, 1).since(0, second/10).condition(0, Dead).condition(1, Dead),
			[]string{"ranks 0-1 have died", "before that, possible cycle: 0 → 1 → 0: 0 polls with MPI_Iprobe, MPI_Test for MPI_Ibarrier on MPI_COMM_WORLD, which 1 has not entered; 1 waits for a message from 0, tag 9; rank 0 polls and may go on"}},
		{"any source, and another thread computes", job(0, receive(AnySource, 7), computes, computes).thread(0, computes), nil},
		{"MPI_PROC_NULL", job(0, receive(ProcNull, 7), computes), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range Analyze(c.job).Findings {
				got = append(got, f.Text)
			}
			if c.name == "any of two requests" { // rank 1 waits for rank 0, which may go on
				c.want = []string{"rank 1 waits for a message from 0, tag 1; 0 waits in MPI_Waitany for one of 2 requests (a message from 1, tag 7; a message from 2, tag 7)"}
			}
			if len(c.want) > 1 && c.want[1] == "cycle" {
				got = got[:min(1, len(got))]
				c.want = c.want[:1]
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// A second look takes back what has moved since the first one, and names what it may name.
func TestTwoLooks(t *testing.T) {
	looks := func(second *Job) []finding.Finding {
		n := 0
		return Analyze(Look(func() *Job {
			if n++; n == 1 {
				return job(0, receive(1, 7), receive(0, 7))
			}
			return second
		})).Findings
	}
	cycle := []finding.Finding{{Kind: "cycle", Ranks: []int{0, 1}, Text: "cycle: 0 → 1 → 0, all in MPI_Recv",
		Figures: finding.Figures{"waiting_ranks": 2, "waited_ns": 5e9}}}
	if got := looks(job(0, receive(1, 7), receive(0, 7))); !reflect.DeepEqual(got, cycle) {
		t.Errorf("%+v", got)
	}
	later := job(0, receive(1, 7), receive(0, 7))
	later.Processes[1].Threads[0].Calls++
	if got := looks(later); len(got) != 1 || got[0].Text != "rank 0 waits for a message from 1, tag 7; 1 is active" {
		t.Errorf("%+v", got)
	}
}

// Ranks of a communicator are translated to MPI_COMM_WORLD by what the other processes say.
func TestCommunicators(t *testing.T) {
	j := &Job{Size: 4}
	for rank := range 4 {
		own := &Object{Name: "half", Kind: "communicator", Identity: "world/1", Rank: 3 - rank} // reversed
		p := process(rank, 0, func(t *Thread) { t.Call, t.Role, t.Peer, t.Tag, t.Object = "MPI_Recv", Source, 0, 1, own })
		p.Objects = append(p.Objects, own)
		j.Processes = append(j.Processes, p)
	}
	r := Analyze(j)
	want := "cycle: 3 → 3, in MPI_Recv: it waits for itself; "
	if len(r.Findings) == 0 || !strings.HasPrefix(r.Findings[0].Text+"; ", want) {
		t.Errorf("%+v", r.Findings)
	}
	if len(r.Groups) != 1 || r.Groups[0].Peer != "3" || r.Groups[0].Object != "half" {
		t.Errorf("%+v", r.Groups)
	}
	for _, p := range j.Processes { // unknown in other processes
		p.Objects[1].Identity = ""
	}
	if r = Analyze(j); len(r.Findings) != 0 || r.Groups[0].Peer != "0 of half" {
		t.Errorf("%+v", r)
	}
}

// In an intercommunicator, peers are ranks of the other group.
func TestIntercommunicators(t *testing.T) {
	j := &Job{Size: 4}
	for rank := range 4 {
		inter := &Object{Name: "inter", Kind: "communicator", Identity: "world/2", Rank: rank / 2, Size: 4, Inter: true, Side: uint64(1 + rank%2)}
		p := process(rank, 0, func(t *Thread) { t.Call, t.Role, t.Peer, t.Tag, t.Object = "MPI_Recv", Source, rank/2, 1, inter })
		p.Objects = append(p.Objects, inter)
		j.Processes = append(j.Processes, p)
	}
	var got []string
	for _, f := range Analyze(j).Findings {
		got = append(got, f.Text)
	}
	if want := []string{"cycle: 0 → 1 → 0, all in MPI_Recv", "cycle: 2 → 3 → 2, all in MPI_Recv"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestGroups(t *testing.T) {
	j := job(1, collective("MPI_Barrier", 1), computes, collective("MPI_Barrier", 1), collective("MPI_Barrier", 1)).entering(1, 0)
	j.Size = 5
	j.Processes = append(j.Processes, &Process{Rank: 4, Condition: Missing})
	var got []string
	for _, g := range Analyze(j).Groups {
		got = append(got, fmt.Sprint(g.Ranks, " ", g.Doing, " ", g.Object))
	}
	want := []string{"[1] computes after MPI_Send ", "[4] missing ", "[0 2 3] in MPI_Barrier MPI_COMM_WORLD"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestProgress(t *testing.T) {
	polls := waitall("MPI_Test", Request{Call: "MPI_Irecv", Peer: 1, Tag: 7})
	for _, c := range []struct {
		name string
		job  *Job
		idle time.Duration
		ok   bool
	}{
		{"all compute", job(0, computes, computes), 5 * second, false},
		{"one waits", job(0, computes, receive(0, 1)), 5 * second, true},
		{"one polls", job(0, computes, polls), 5 * second, true},
		{"one has just made progress", job(0, func(t *Thread) { computes(t); t.Idle = second }, receive(0, 1)), second, true},
		{"waits for a stopped rank", job(0, computes, receive(0, 1)).condition(0, Stopped), 5 * second, true},
		{"all have ended", job(0, computes, receive(0, 1)).condition(0, Exited).condition(1, Exited), -1, false},
	} {
		if idle, ok := Progress(c.job); idle != c.idle || ok != c.ok {
			t.Errorf("%s: %v %v", c.name, idle, ok)
		}
	}
}
