package where

import (
	"slices"
	"strings"
	"testing"
)

// windows adds a window of all ranks, which is the object of their calls on windows.
func (j *Job) windows() *Job {
	for _, p := range j.Processes {
		w := &Object{Name: "tasks", Kind: "window", Identity: "world/tasks", Rank: p.Rank, Size: len(j.Processes)}
		p.Objects = append(p.Objects, w)
		for _, t := range p.Threads {
			if strings.HasPrefix(t.Call, "MPI_Win_") && t.Inside || t.Call == "MPI_Put" {
				t.Object = w
			}
		}
	}
	return j
}

// epoch adds an epoch on the window.
func (j *Job) epoch(rank int, e Epoch) *Job {
	p := j.Processes[rank]
	if e.Kind <= Shared && e.Proved == 0 {
		e.Proved = NoRank
	}
	e.Window = p.Objects[1]
	p.Epochs = append(p.Epochs, &e)
	return j
}

func onTarget(call string, target int) func(*Thread) {
	return func(t *Thread) { t.Call, t.Role, t.Peer = call, Target, target }
}

func onWindow(call string) func(*Thread) { return func(t *Thread) { t.Call = call } }

const at = 3 // the target of locks, unless they say otherwise

func waiting(kind EpochKind) Epoch { return Epoch{Kind: kind, Target: at} }
func returned(kind EpochKind) Epoch {
	return Epoch{Kind: kind, Target: at, Held: true, Site: "main a.c:7"}
}
func proved(kind EpochKind) Epoch {
	return Epoch{Kind: kind, Target: at, Held: true, Proved: at, Site: "main a.c:7"}
}

func TestLocks(t *testing.T) {
	barrier := collective("MPI_Barrier", 1)
	lock := onTarget("MPI_Win_lock", at)
	for _, c := range []struct {
		name string
		job  *Job
		want []string
	}{
		{"a holder that waits for a rank that waits for the lock", job(0, computes, barrier, lock, computes).entering(1, 1).windows().epoch(1, proved(Exclusive)).epoch(2, waiting(Exclusive)),
			[]string{"cycle: 1 → 2 → 1: 1 is in MPI_Barrier on MPI_COMM_WORLD, which 0,2-3 have not entered; 2 waits for the lock of tasks at 3, which 1 holds (main a.c:7)"}},
		{"a holder that computes", job(0, computes, computes, lock, receive(1, 1)).windows().epoch(1, proved(Exclusive)).epoch(2, waiting(Exclusive)),
			[]string{"2 waits for the lock of tasks at 3, which 1 holds (main a.c:7); 3 waits for a message from 1, tag 1; 1 computes"}},
		{"a rank that has locked, and may not hold it", job(0, receive(2, 1), computes, lock, receive(0, 1)).windows().epoch(0, returned(Exclusive)).epoch(2, waiting(Exclusive)),
			[]string{"possible cycle: 0 → 2 → 0: 0 waits for a message from 2, tag 1; 2 waits for the lock of tasks at 3, which 0 has locked (main a.c:7) and not unlocked", "rank 3 waits"}},
		{"the same, and the target computes", job(0, computes, computes, lock, computes).windows().epoch(0, returned(Exclusive)).epoch(2, waiting(Exclusive)),
			[]string{"rank 2 waits for the lock of tasks at 3, which 0 has locked (main a.c:7) and not unlocked, or for 3 to call MPI; 0,3 compute"}},
		{"a target that computes, and nobody else", job(0, computes, computes, lock, computes).windows().epoch(2, waiting(Exclusive)),
			[]string{"rank 2 waits for 3 to call MPI, in MPI_Win_lock on tasks; 3 computes"}},
		{"ranks that wait for a target that computes", job(0, computes, onTarget("MPI_Win_unlock", at), lock, computes).windows().epoch(1, returned(Exclusive)).epoch(2, returned(Exclusive)),
			[]string{"1 waits for 3 to call MPI, in MPI_Win_unlock on tasks; 2 waits for 3 to call MPI, in MPI_Win_lock on tasks; 3 computes"}},
		{"a target in MPI, and nobody else", job(0, computes, computes, lock, receive(0, 1)).windows().epoch(2, waiting(Exclusive)), []string{"rank 3 waits for a message from 0"}},
		{"a target that waits for the rank", job(0, computes, computes, lock, receive(2, 1)).windows().epoch(2, waiting(Exclusive)), []string{"rank 3 waits for a message from 2, tag 1; 2 is in MPI_Win_lock"}},
		{"shared holders", job(0, computes, computes, lock, computes).windows().epoch(0, proved(Shared)).epoch(1, proved(Shared)).epoch(2, waiting(Exclusive)),
			[]string{"rank 2 waits for the lock of tasks at 3, which 0-1 hold (main a.c:7); 0-1 compute"}},
		{"a shared holder does not keep others from sharing", job(0, receive(2, 1), computes, lock, computes).windows().epoch(0, proved(Shared)).epoch(2, waiting(Shared)),
			[]string{"0 waits for a message from 2, tag 1; 2 waits for 3 to call MPI"}},
		{"an exclusive lock that waits may go first", job(0, computes, lock, lock, receive(0, 1)).windows().epoch(0, proved(Shared)).epoch(1, waiting(Exclusive)).epoch(2, waiting(Shared)),
			[]string{"2 waits for the lock of tasks at 3, for which 1 waits as well; 1 waits for the lock of tasks at 3, which 0 holds (main a.c:7); 0 computes"}},
		{"a lock of all targets", job(0, receive(2, 1), computes, lock, receive(0, 1)).windows().epoch(0, Epoch{Kind: Shared, Target: allTargets, Held: true, Proved: at}).epoch(2, waiting(Exclusive)),
			[]string{"cycle: 0 → 2 → 0", "rank 3 waits"}},
		{"a lock of all targets, proved at another one", job(0, receive(2, 1), computes, lock, receive(0, 1)).windows().epoch(0, Epoch{Kind: Shared, Target: allTargets, Held: true, Proved: 1}).epoch(2, waiting(Exclusive)),
			[]string{"possible cycle: 0 → 2 → 0", "rank 3 waits"}},
		{"a lock of another target", job(0, receive(2, 1), computes, lock, receive(0, 1)).windows().epoch(0, Epoch{Kind: Exclusive, Target: 1, Held: true, Proved: 1}).epoch(2, waiting(Exclusive)),
			[]string{"3 waits for a message from 0, tag 1; 0 waits for a message from 2, tag 1; 2 is in MPI_Win_lock on tasks"}},
		{"a rank that holds the lock waits for nobody but the target", job(0, receive(2, 1), computes, onTarget("MPI_Win_flush", at), computes).windows().epoch(0, waiting(Exclusive)).epoch(2, proved(Exclusive)),
			[]string{"0 waits for a message from 2, tag 1; 2 waits for 3 to call MPI, in MPI_Win_flush on tasks; 3 computes"}},
		{"an operation of an epoch whose lock another one holds", job(0, receive(2, 1), computes, onTarget("MPI_Put", at), receive(0, 1)).windows().epoch(0, proved(Exclusive)).epoch(2, returned(Exclusive)),
			[]string{"cycle: 0 → 2 → 0", "rank 3 waits"}},
		{"all targets are locked, of which one is held", job(0, receive(2, 1), computes, onWindow("MPI_Win_lock_all"), receive(0, 1)).windows().epoch(0, proved(Exclusive)).epoch(2, Epoch{Kind: Shared, Target: allTargets}),
			[]string{"cycle: 0 → 2 → 0: 0 waits for a message from 2, tag 1; 2 waits for the lock of tasks at 3, which 0 holds (main a.c:7)", "rank 3 waits"}},
		{"a holder whose epochs are not all known", job(0, receive(2, 1), computes, lock, receive(0, 1)).windows().epoch(0, returned(Exclusive)).epoch(1, Epoch{Kind: Lost}).epoch(2, waiting(Exclusive)),
			[]string{"possible cycle: 0 → 2 → 0", "rank 3 waits"}},
	} {
		t.Run(c.name, func(t *testing.T) { wantFindings(t, c.job, c.want) })
	}
}

// wantFindings compares the beginnings of the findings. A cycle must be wanted.
func wantFindings(t *testing.T, j *Job, want []string) {
	t.Helper()
	var got []string
	for _, f := range Analyze(j).Findings {
		got = append(got, f.Text)
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(text string) bool { return strings.HasPrefix(text, w) }) {
			t.Errorf("no %q in\n  %s", w, strings.Join(got, "\n  "))
		}
	}
	for _, text := range got {
		wanted := slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(text, w) })
		if head, _, _ := strings.Cut(text, ":"); !wanted && (strings.Contains(head, "cycle") || strings.Contains(head, "mismatch")) {
			t.Errorf("%s", text)
		}
	}
}

func begun(kind EpochKind, n, ended uint64, members ...int) Epoch {
	return Epoch{Kind: kind, Members: members, Begun: n, Ended: ended}
}

func TestPostStart(t *testing.T) {
	start, complete, wait := onWindow("MPI_Win_start"), onWindow("MPI_Win_complete"), onWindow("MPI_Win_wait")
	for _, c := range []struct {
		name string
		job  *Job
		want []string
	}{
		{"a rank that waits for a message before it posts", job(0, start, receive(0, 1), computes).windows().epoch(0, begun(Access, 3, 2, 1)).epoch(1, begun(Exposure, 2, 2, 0)),
			[]string{"cycle: 0 → 1 → 0: 0 is in MPI_Win_start on tasks, for which 1 has not called MPI_Win_post; 1 waits for a message from 0, tag 1"}},
		{"a rank that computes before it posts", job(0, start, computes, computes).windows().epoch(0, begun(Access, 1, 0, 1)),
			[]string{"rank 0 is in MPI_Win_start on tasks, for which 1 has not called MPI_Win_post; 1 computes"}},
		{"all have posted, and one computes", job(0, start, computes, receive(0, 1)).windows().epoch(0, begun(Access, 1, 0, 1)).epoch(1, begun(Exposure, 1, 0, 0)),
			[]string{"2 waits for a message from 0, tag 1; 0 waits for 1 to call MPI, in MPI_Win_start on tasks; 1 computes"}},
		{"completes for one of two that has not posted", job(0, complete, receive(0, 1), computes).windows().epoch(0, begun(Access, 1, 0, 1, 2)).epoch(2, begun(Exposure, 1, 0, 0)),
			[]string{"possible cycle: 0 → 1 → 0: 0 is in MPI_Win_complete on tasks, for which 1 has not called MPI_Win_post"}},
		{"epochs with different groups", job(0, start, receive(0, 1), computes).windows().epoch(0, begun(Access, 1, 1, 1, 2)).epoch(0, begun(Access, 1, 0, 1)).epoch(1, begun(Exposure, 2, 0, 0)),
			[]string{"rank 1 waits for a message from 0"}},
		{"waits for a rank that waits for it", job(0, wait, receive(0, 1), computes).windows().epoch(0, begun(Exposure, 2, 1, 1)).epoch(1, begun(Access, 2, 1, 0)),
			[]string{"cycle: 0 → 1 → 0: 0 is in MPI_Win_wait on tasks, for which 1 has not left MPI_Win_complete; 1 waits for a message from 0"}},
		{"waits for a rank that computes", job(0, wait, computes, computes).windows().epoch(0, begun(Exposure, 1, 0, 1)),
			[]string{"rank 0 is in MPI_Win_wait on tasks, for which 1 has not left MPI_Win_complete; 1 computes"}},
		{"waits for a rank that may have completed for it", job(0, wait, complete, receive(0, 1)).windows().epoch(0, begun(Exposure, 1, 0, 1)).epoch(1, begun(Access, 1, 0, 0, 2)).epoch(2, begun(Exposure, 0, 0, 1)),
			[]string{"possible cycle: 0 → 1 → 2 → 0"}},
		{"a group that is not known", job(0, wait, receive(0, 1), computes).windows().epoch(0, begun(Exposure, 1, 0, 1)).epoch(1, Epoch{Kind: Access, Begun: 1, Unknown: true}),
			[]string{"rank 1 waits for a message from 0"}},
	} {
		t.Run(c.name, func(t *testing.T) { wantFindings(t, c.job, c.want) })
	}
}

// A thread that repeats a read waits for nobody that is known, and makes no progress.
func TestReads(t *testing.T) {
	polls := func(t *Thread) { t.Call, t.Role, t.Peer = "MPI_Win_flush", Target, 1 }
	j := job(0, polls, collective("MPI_Barrier", 1)).entering(1, 1).windows()
	p := j.Processes[0]
	p.Threads[0].Class = Poll
	p.Threads[0].Reads = &Polled{Call: "MPI_Fetch_and_op", Window: p.Objects[1], Target: 1, Site: "main a.c:7"}
	wantFindings(t, j, []string{"rank 1 is in MPI_Barrier on MPI_COMM_WORLD, which 0 has not entered; 0 polls window tasks on rank 1 for 5.0 s, with MPI_Fetch_and_op (main a.c:7)"})
	if idle, ok := Progress(j); idle != 5*second || !ok {
		t.Errorf("%v %v", idle, ok)
	}
	if doing := Analyze(j).Groups[0].Doing; doing != "polls with MPI_Fetch_and_op" {
		t.Errorf("%q", doing)
	}
}
