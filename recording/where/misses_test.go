package where

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// on puts a call on a communicator of all ranks.
func (j *Job) on(name string, ranks ...int) *Job {
	for _, p := range j.Processes {
		o := &Object{Name: name, Kind: "communicator", Identity: "world/" + name, Rank: p.Rank, Size: len(j.Processes)}
		p.Objects = append(p.Objects, o)
		if slices.Contains(ranks, p.Rank) {
			t := p.Threads[0]
			t.Object = o
			for i := range t.Pending {
				t.Pending[i].Object = o
			}
		}
	}
	return j
}

func says(j *Job) string {
	var got []string
	for _, f := range Analyze(j).Findings {
		got = append(got, f.Certainty.String()+" "+f.Text)
	}
	return strings.Join(got, "\n")
}

func isend(to, tag int) Request   { return Request{Call: "MPI_Isend", Peer: to, Tag: tag} }
func irecv(from, tag int) Request { return Request{Call: "MPI_Irecv", Peer: from, Tag: tag} }

// A message that a rank sends is not the one that its receiver waits for. Whatever could still be received makes that less certain, or no finding.
func TestNearMisses(t *testing.T) {
	const certain = "certain the communicators differ: 0 sends to 1 with tag 7 on MPI_COMM_WORLD in MPI_Send, and 1 waits for a message from 0 with tag 7 on copy in MPI_Recv"
	for _, c := range []struct {
		name string
		job  *Job
		want string
	}{
		{"another communicator", job(0, send(1, 7), receive(0, 7)).on("copy", 1).sent(0, 1, 7), certain},
		{"after messages that were received", job(0, send(1, 7), receive(0, 7)).on("copy", 1).sent(0, 1, 7).sent(0, 1, 7).received(0, 1, 7), certain},
		{"another sender", job(0, send(1, 7), receive(0, 7), send(1, 7)).on("copy", 1).sent(0, 1, 7).sent(2, 1, 7),
			certain + "\ncertain rank 2 waits for 1 to receive a message, tag 7"},
		{"any tag", job(0, send(1, 7), receive(0, AnyTag)).on("copy", 1).sent(0, 1, 7).sent(0, 1, math.MinInt32), strings.Replace(certain, "from 0 with tag 7", "from 0 with any tag", 1)},
		{"any source, which can only be one", job(0, send(1, 7), receive(AnySource, 7)).on("copy", 1).sent(0, 1, 7), certain},
		{"any source of three", job(0, send(1, 7), receive(AnySource, 7), computes).on("copy", 1).sent(0, 1, 7), "certain rank 0 waits for 1 to receive a message, tag 7; 1 waits for a message from any rank, tag 7 on copy"},
		{"tag and communicator", job(0, send(1, 7), receive(0, 8)).on("copy", 1).sent(0, 1, 7),
			"certain the communicators and the tags differ: 0 sends to 1 with tag 7 on MPI_COMM_WORLD in MPI_Send, and 1 waits for a message from 0 with tag 8 on copy in MPI_Recv"},
		{"requests", job(0, waits(isend(1, 7)), waits(irecv(0, 7))).on("copy", 1).sent(0, 1, 7).posted(1),
			"certain the communicators differ: 0 sends to 1 with tag 7 on MPI_COMM_WORLD in MPI_Wait, and 1 waits for a message from 0 with tag 7 on copy in MPI_Wait"},
		{"a request that is tested", job(0, send(1, 7), waitall("MPI_Test", irecv(0, 7))).on("copy", 1).sent(0, 1, 7).posted(1),
			"possible possible: the communicators differ: 0 sends to 1 with tag 7 on MPI_COMM_WORLD in MPI_Send, and 1 waits for a message from 0 with tag 7 on copy in MPI_Test"},
		{"a message is under way", job(0, send(1, 7), receive(0, 7)).on("copy", 1).sent(0, 1, 7).sent(0, 1, 7), "certain rank 0 waits for 1 to receive a message, tag 7; 1 is in MPI_Recv on copy"},
		{"a receive is posted", job(0, send(1, 7), receive(0, 7)).on("copy", 1).sent(0, 1, 7).posted(1), "possible rank 0 waits for 1 to receive a message, tag 7; 1 is in MPI_Recv on copy"},
		{"a receive is posted, for long", job(0, send(1, 7), receive(0, 7)).on("copy", 1).sent(0, 1, 7).posted(1).since(1, 20*second), "possible possible: " + strings.TrimPrefix(certain, "certain ")},
		{"another thread receives it", job(0, send(1, 7), receive(0, 7)).on("copy", 1).thread(1, receive(0, 7)).sent(0, 1, 7), ""},
		{"another thread works", job(0, send(1, 7), receive(0, 7)).on("copy", 1).thread(1, computes).sent(0, 1, 7),
			"certain rank 0 waits for 1 to receive a message, tag 7; 1 waits for a message from 0, tag 7 on copy, and another thread of it computes for 5.0 s, after MPI_Send"},
		{"the sender's other thread works", job(0, send(1, 7), receive(0, 7)).on("copy", 1).thread(0, computes).sent(0, 1, 7),
			"certain rank 1 waits for a message from 0, tag 7 on copy; 0 waits for 1 to receive a message, tag 7, and another thread of it computes for 5.0 s, after MPI_Send"},
		{"a moment", job(0, send(1, 7), receive(0, 7)).on("copy", 1).sent(0, 1, 7).moment(1), "certain rank 0 waits for 1 to receive a message, tag 7; 1 is active"},
		{"the receiver computes", job(0, send(1, 7), computes).on("copy").sent(0, 1, 7), "certain rank 0 waits for 1 to receive a message, tag 7; 1 computes for 5.0 s, after MPI_Send"},
		{"one of several requests", job(0, send(1, 7), waitall("MPI_Waitany", irecv(0, 7), irecv(0, 8))).on("copy", 1).sent(0, 1, 7).posted(1).posted(1),
			"certain cycle: 0 → 1 → 0: 0 waits for 1 to receive a message, tag 7; 1 waits in MPI_Waitany for one of 2 requests (a message from 0, tag 7 on copy; a message from 0, tag 8 on copy)\n" +
				"possible possible: " + strings.Replace(strings.TrimPrefix(certain, "certain "), "MPI_Recv", "MPI_Waitany", 1)},
		{"exchanges, for long", job(0, exchange(1, 1), exchange(0, 0)).on("copy", 1).sent(0, 1, 1).sent(1, 0, 1).since(0, 20*second).since(1, 20*second),
			"possible possible: the communicators differ: 1 sends to 0 with tag 1 on copy in MPI_Sendrecv, and 0 waits for a message from 1 with tag 1 on MPI_COMM_WORLD in MPI_Sendrecv"},
		{"several requests, for long", job(0, waitall("MPI_Waitall", isend(1, 7), isend(2, 7), irecv(1, 7), irecv(2, 7)), waitall("MPI_Waitall", isend(0, 7), irecv(0, 7)), collective("MPI_Barrier", 1)).on("copy", 1).entering(2, 1).
			sent(0, 1, 7).sent(0, 2, 7).sent(1, 0, 7).sent(2, 0, 7).received(0, 2, 7).posted(0).posted(0).posted(1).since(0, 20*second).since(1, 20*second),
			"possible possible: the communicators differ: 1 sends to 0 with tag 7 on copy in MPI_Waitall, and 0 waits for a message from 1 with tag 7 on MPI_COMM_WORLD in MPI_Waitall"},
		{"requests of which one is for a rank that computes", job(0, waitall("MPI_Waitall", isend(1, 7), irecv(2, 7)), receive(0, 7), computes).on("copy", 1).sent(0, 1, 7).posted(0).since(1, 20*second),
			"possible 1 waits for a message from 0, tag 7 on copy; 0 waits in MPI_Waitall for 2 requests (1 to receive a message, tag 7; a message from 2, tag 7); 2 computes for 5.0 s, after MPI_Send"},
		{"a communicator that is not known", func() *Job {
			j := job(0, send(1, 7), receive(0, 7)).on("copy", 1).sent(0, 1, 7)
			j.Processes[1].Threads[0].Object.Identity = ""
			return j
		}(), "certain rank 0 waits for 1 to receive a message, tag 7; 1 waits for a message from 0 of copy, tag 7 on copy"},
	} {
		if got := says(c.job); got != c.want {
			t.Errorf("%s:\n%s\nnot\n%s", c.name, got, c.want)
		}
	}
}

// What ranks of a job that died had waited for is said as while it lived, if they had waited for long.
func TestMissesOfTheDead(t *testing.T) {
	across := func() *Job {
		return job(0, on("fluid", "MPI_Allreduce", 1), on("fluid", "MPI_Allreduce", 1), on("solid", "MPI_Allreduce", 1)).objects().
			condition(0, Dead).condition(1, Dead).condition(2, Dead)
	}
	const died = "certain ranks 0-2 have died"
	for _, c := range []struct {
		name string
		job  *Job
		want string
	}{
		{"objects", across(), died + "\ncertain before that, mismatched collectives: rank 2 calls MPI_Allreduce on solid, the others on fluid"},
		{"objects, for a moment", across().since(0, second/2).since(1, second/2).since(2, second/2), died},
		{"one object", job(2, collective("MPI_Barrier", 2), bcast(0, 2)).condition(0, Dead).condition(1, Dead),
			"certain ranks 0-1 have died\ncertain before that, mismatched collectives on MPI_COMM_WORLD (call 2): rank 0 is in MPI_Barrier, rank 1 is in MPI_Bcast"},
		{"a communicator", job(0, send(1, 7), receive(0, 7)).on("copy", 1).sent(0, 1, 7).condition(0, Dead).condition(1, Dead),
			"certain ranks 0-1 have died\ncertain before that, the communicators differ: 0 sends to 1 with tag 7 on MPI_COMM_WORLD in MPI_Send, and 1 waits for a message from 0 with tag 7 on copy in MPI_Recv"},
	} {
		if got := says(c.job); got != c.want {
			t.Errorf("%s:\n%s\nnot\n%s", c.name, got, c.want)
		}
	}
}

// A rank that sleeps is the conclusion, and not a cycle of ranks that wait for it for certain and only perhaps for each other.
func TestSleeperBehindACycle(t *testing.T) {
	sleeper := func(t *Thread) { t.Call, t.Inside, t.Outside = "MPI_Recv", false, "nanosleep" }
	barrier := collective("MPI_Barrier", 1)
	const asleep = "; 1 sleeps in nanosleep for 5.0 s, after MPI_Recv"
	for _, c := range []struct {
		name string
		job  *Job
		want []string // lines
	}{
		{"an exchange whose message was received", job(1, exchange(2, 1), sleeper, barrier, barrier).entering(0, 0).entering(1, 0).sent(0, 2, 1).received(0, 2, 1), []string{
			"certain 0 exchanges messages: to 2, tag 1, from 1, tag 1; 2-3 are in MPI_Barrier on MPI_COMM_WORLD, which 0-1 have not entered" + asleep}},
		{"an exchange whose message may be buffered", job(1, exchange(2, 1), sleeper, barrier, barrier).entering(0, 0).entering(1, 0).sent(0, 2, 1), []string{
			"possible 0 exchanges messages: to 2, tag 1, from 1, tag 1; 2-3 are in MPI_Barrier on MPI_COMM_WORLD, which 0-1 have not entered" + asleep}},
		{"all requests, some of which send", job(1, waitall("MPI_Waitall", irecv(1, 1), isend(2, 1)), sleeper, barrier).entering(0, 0).entering(1, 0).sent(0, 2, 1), []string{
			"possible 0 waits in MPI_Waitall for 2 requests (a message from 1, tag 1; 2 to receive a message, tag 1); 2 is in MPI_Barrier on MPI_COMM_WORLD, which 0-1 have not entered" + asleep}},
		{"a reduction that another root needs", job(1, collective("MPI_Reduce", 1), sleeper, receive(0, 7)).entering(1, 0).entering(2, 0), []string{
			"possible 2 waits for a message from 0, tag 7; 0 is in MPI_Reduce on MPI_COMM_WORLD, which 1-2 have not entered" + asleep}},
		{"a cycle that is possible, and a sleeper", job(1, barrier, sleeper, polls(irecv(0, 7))).entering(1, 0).entering(2, 0), []string{
			"certain rank 0 is in MPI_Barrier on MPI_COMM_WORLD, which 1-2 have not entered" + asleep,
			"possible possible cycle: 0 → 2 → 0: 0 is in MPI_Barrier on MPI_COMM_WORLD, which 1-2 have not entered; 2 polls with MPI_Iprobe, MPI_Test for a message from 0, tag 7; rank 2 polls and may go on"}},
		{"a cycle that is certain", job(1, exchange(2, 2), sleeper, exchange(0, 0), barrier).entering(0, 0).entering(1, 0).entering(2, 0).on("copy", 2), []string{
			"certain cycle: 0 → 2 → 0, all in MPI_Sendrecv",
			"possible possible: the communicators differ: 2 sends to 0 with tag 1 on copy in MPI_Sendrecv, and 0 waits for a message from 2 with tag 1 on MPI_COMM_WORLD in MPI_Sendrecv",
			"certain rank 3 is in MPI_Barrier on MPI_COMM_WORLD, which 0-2 have not entered" + asleep}},
		{"no sleeper", job(1, exchange(2, 1), receive(0, 9), barrier, barrier).entering(0, 0).entering(1, 0).sent(0, 2, 1).received(0, 2, 1), []string{
			"certain cycle: 0 → 1 → 0: 0 exchanges messages: to 2, tag 1, from 1, tag 1; 1 waits for a message from 0, tag 9",
			"certain ranks 2-3 are in MPI_Barrier on MPI_COMM_WORLD, which 0-1 have not entered"}},
	} {
		if got := says(c.job); got != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nnot\n%s", c.name, got, strings.Join(c.want, "\n"))
		}
	}
}
