package profile

import (
	"strings"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/processor"
)

// made is a profile of ranks that ran for a second, with the useful time of each.
func made(useful ...time.Duration) *Profile {
	p := &Profile{}
	for i, u := range useful {
		p.Ranks = append(p.Ranks, &Rank{Number: i, Process: &recording.Rank{End: recording.EndFinalize}, Elapsed: time.Second, InMPI: time.Second - u})
	}
	p.efficiencies()
	return p
}

func balanced(ranks int) *Profile {
	var useful []time.Duration
	for range ranks {
		useful = append(useful, time.Second)
	}
	return made(useful...)
}

// spent adds a function, and a site of it, with times of ranks in milliseconds.
func (p *Profile) spent(name, file string, calls uint64, times ...int) *Function {
	f := &Function{Name: name}
	for i, t := range times {
		totals := Totals{Calls: calls / uint64(len(times)), Time: time.Duration(t) * time.Millisecond}
		f.Ranks = append(f.Ranks, RankTotals{p.Ranks[i], totals})
		f.Totals.add(&totals)
	}
	f.Durations = Histogram{tick: 1}
	f.Durations.counts[40] = calls
	f.Shortest, f.Longest = f.Mean(), f.Mean()
	site := *f
	if file != "" {
		site.Frames = []Frame{{File: "/src/" + file, Line: 118}}
	}
	p.Functions, p.Sites = append(p.Functions, f), append(p.Sites, &site)
	return f
}

// expect checks a finding of a kind; "" stands for none.
func expect(t *testing.T, p *Profile, kind, text, next string) {
	t.Helper()
	for _, f := range p.Findings() {
		if f.Kind != kind {
			continue
		}
		if f.Text != text || f.Next != next {
			t.Errorf("%s: %s\nlook at %s\nnot: %s\nlook at %s", kind, f.Text, f.Next, text, next)
		}
		return
	}
	if text != "" {
		t.Errorf("no finding %q among %+v", kind, p.Findings())
	}
}

func TestFindingWaiting(t *testing.T) {
	p := balanced(4)
	p.spent("MPI_Wait", "solver.c", 100, 20, 40, 30, 410)
	p.Pairs = []Pair{{Source: 2, Destination: 3, MessagesSent: 90, SourceKnown: true}, {Source: 1, Destination: 3, MessagesSent: 10, SourceKnown: true}}
	expect(t, p, "waiting", "rank 3 waits 41 % of its time in MPI_Wait: solver.c:118 (the others 3 %)",
		"what rank 2 does then: it sends 90 % of rank 3's messages")
	p = balanced(4)
	p.spent("MPI_Allreduce", "", 100, 20, 40, 30, 410)
	expect(t, p, "waiting", "rank 3 waits 41 % of its time in MPI_Allreduce (the others 3 %)", "what the other ranks do before this call: they come late")
	for _, times := range [][]int{{400, 400, 400, 410}, {0, 0, 0, 90}} { // everybody waits; a short time
		p = balanced(4)
		p.spent("MPI_Wait", "solver.c", 100, times...)
		expect(t, p, "waiting", "", "")
	}
	p = balanced(4)
	p.spent("MPI_Isend", "solver.c", 100, 20, 40, 30, 410)
	expect(t, p, "waiting", "", "")
	p = balanced(2)
	p.Ranks[1].Threads = 4 // its time is the sum over four threads
	p.spent("MPI_Recv", "solver.c", 100, 20, 2000)
	expect(t, p, "waiting", "rank 1 waits 50 % of its time in MPI_Recv: solver.c:118 (the others 2 %)", "what the other ranks do before this call: they come late")
}

// The table of waits says which ranks a rank waits for in one place, whoever else sends it messages.
func TestFindingWaitingFor(t *testing.T) {
	const others = " of its time in MPI_Wait%s: solver.c:118 (the others 3 %)"
	for _, c := range []struct {
		waits      []Wait // of rank 3, times in ms
		text, next string
	}{
		{[]Wait{{For: 2, Time: 380}, {For: 1, Time: 20}}, " for rank 2", "what rank 2 does then"},
		{[]Wait{{For: 1, SharedTime: 400}, {For: 2, SharedTime: 400}}, " for ranks 1-2", "what ranks 1-2 do then"},
		{[]Wait{{For: 0, Time: 140}, {For: 1, Time: 150}, {For: 2, Time: 110}}, " for ranks 0-2", "what ranks 0-2 do then"},
		{[]Wait{{For: 2, Time: 300}}, "", "what rank 1 does then: it sends 90 % of rank 3's messages"}, // too little is known
		{[]Wait{{For: 3, Time: 400}}, "", "what rank 1 does then: it sends 90 % of rank 3's messages"}, // itself
		{nil, "", "what rank 1 does then: it sends 90 % of rank 3's messages"},
	} {
		p := balanced(4)
		p.spent("MPI_Wait", "solver.c", 100, 20, 40, 30, 410)
		p.Pairs = []Pair{{Source: 1, Destination: 3, MessagesSent: 90, SourceKnown: true}, {Source: 2, Destination: 3, MessagesSent: 10, SourceKnown: true}}
		for _, w := range c.waits {
			w.Rank, w.Time, w.SharedTime = p.Ranks[3], w.Time*time.Millisecond, w.SharedTime*time.Millisecond
			p.Sites[0].addWait(&w)
		}
		expect(t, p, "waiting", "rank 3 waits 41 %"+strings.Replace(others, "%s", c.text, 1), c.next)
	}
}

func TestFindingOpenCall(t *testing.T) {
	p := balanced(4)
	for _, r := range p.Ranks {
		r.Elapsed = 100 * time.Second
	}
	p.Ranks[2].Open, p.Ranks[2].OpenFor = "MPI_Recv", 30*time.Second
	expect(t, p, "open call", "rank 2 has been in MPI_Recv for 30.0 s", "mpitx where RUN")
	p.Ranks[3].Open, p.Ranks[3].OpenFor = "MPI_Recv", 40*time.Second
	expect(t, p, "open call", "2 ranks have been in MPI_Recv for 40.0 s", "mpitx where RUN")
	p.Ranks[2].OpenFor, p.Ranks[3].OpenFor = 5*time.Second, 0
	expect(t, p, "open call", "", "")
}

func TestFindingPolling(t *testing.T) {
	p := balanced(2)
	p.spent("MPI_Iprobe", "comm.c", 80000, 200, 180)
	expect(t, p, "polling", "polling with MPI_Iprobe: comm.c:118 takes 19 % of the run time in 80000 calls",
		"whether the program could work, or call a blocking function, between the calls")
	p = balanced(2)
	p.spent("MPI_Iprobe", "comm.c", 80000, 20, 18)
	expect(t, p, "polling", "", "")
	p = balanced(2)
	p.spent("MPI_Test", "comm.c", 20, 200, 180)
	expect(t, p, "polling", "", "")
}

func TestFindingBarrier(t *testing.T) {
	p := balanced(2)
	p.spent("MPI_Barrier", "main.c", 10, 100, 140)
	expect(t, p, "barrier", "ranks spend 12 % of the run time in MPI_Barrier: main.c:118, in 10 calls", "whether the program needs this barrier")
	if n := len(p.Findings()); n != 1 {
		t.Errorf("%d findings about one call: %+v", n, p.Findings())
	}
	p = balanced(2)
	p.spent("MPI_Barrier", "main.c", 10, 40, 40)
	expect(t, p, "barrier", "", "")
}

func TestFindingSlowCalls(t *testing.T) {
	p := balanced(2)
	f := p.spent("MPI_Send", "", 1000, 200, 200)
	f.Durations.counts[40], f.Durations.counts[10], f.Durations.counts[80] = 0, 930, 70
	f.Shortest, f.Longest = 0, time.Second
	expect(t, p, "slow calls", "half of the calls of MPI_Send take at most 209 ns, but 5 % take 36.0 ms or more: 71 % of its time",
		"which ranks and sizes of messages these calls have")
	f.Durations.counts[10], f.Durations.counts[80] = 999, 1 // too few calls
	expect(t, p, "slow calls", "", "")
}

func TestFindingLongCalls(t *testing.T) {
	p := balanced(2)
	p.spent("MPI_File_write", "io.c", 40, 150, 150)
	expect(t, p, "long calls", "MPI_File_write: io.c:118 takes 15 % of the run time: 40 calls of 7.50 ms on average", "")
	p = balanced(2)
	p.spent("MPI_File_write", "io.c", 40, 90, 90)
	expect(t, p, "long calls", "", "")
}

func TestFindingLoadImbalance(t *testing.T) {
	p := made(500*time.Millisecond, 400*time.Millisecond, 300*time.Millisecond, 900*time.Millisecond)
	expect(t, p, "load imbalance", "load balance is 58 %: rank 3 is outside of MPI for 900 ms, the mean is 525 ms", "what rank 3 does there; rank 2 has the least time there")
	p = made(5*time.Millisecond, 400*time.Millisecond, time.Millisecond, 3*time.Millisecond) // the others hardly differ
	expect(t, p, "load imbalance", "load balance is 26 %: rank 1 is outside of MPI for 400 ms, the mean is 102 ms", "what rank 1 does there")
	expect(t, made(900*time.Millisecond, 850*time.Millisecond), "load imbalance", "", "")
	expect(t, made(10*time.Millisecond, 2*time.Millisecond), "load imbalance", "", "") // hardly any computation
}

// A rank is said to compute or sleep only if that is known and a considerable part of the run, also of a run that waits for cores.
func TestFindingProcessor(t *testing.T) {
	const ms = time.Millisecond
	job := func(ran, slept, waited time.Duration) *Profile {
		p := made(900*ms, 500*ms, 500*ms, 500*ms)
		for _, r := range p.Ranks {
			of := func(x time.Duration) processor.Range { return processor.Range{Least: x, Most: x} }
			r.Processor = &processor.Rank{Number: r.Number, Inside: r.InMPI, Outside: r.Useful(), Ran: of(20 * ms), Waited: of(waited), Slept: of(r.Useful() - 20*ms - waited), ThreadWait: waited}
			if r.Number == 0 {
				r.Processor.Ran, r.Processor.Slept = of(ran), of(slept)
			}
		}
		p.efficiencies()
		return p
	}
	const next = "the work of rank 0 outside of MPI"
	expect(t, job(420*ms, 0, 480*ms), "load imbalance", "load balance of computing is 29 %: rank 0 computes for 420 ms, the mean is 120 ms", next)
	expect(t, job(60*ms, 0, 480*ms), "load imbalance", "", "") // three times the others, in 3 % of the run
	expect(t, job(20*ms, 400*ms, 480*ms), "load imbalance", "", "")
	expect(t, job(20*ms, 400*ms, 480*ms), "sleep", "rank 0 sleeps outside of MPI for 400 ms, the mean is 100 ms", "what rank 0 waits for there: a timer, a file, or other threads")
	expect(t, job(20*ms, 40*ms, 480*ms), "sleep", "", "")
	alike := made(2000*ms, 1840*ms, 1840*ms, 1840*ms) // a considerable part of the run, but little of the time asleep
	for _, r := range alike.Ranks {
		slept := processor.Range{Least: r.Useful(), Most: r.Useful()}
		r.Processor = &processor.Rank{Number: r.Number, Inside: r.InMPI, Outside: r.Useful(), Slept: slept}
	}
	alike.efficiencies()
	expect(t, alike, "sleep", "", "")
}

func TestFindingPhase(t *testing.T) {
	p := balanced(2)
	phase := func(name string, elapsed time.Duration, parallel float64) *Phase {
		return &Phase{Name: name, Efficiency: Efficiency{Elapsed: elapsed, Parallel: parallel}}
	}
	p.Phases = []*Phase{phase("", time.Second, 0.1), phase("read", 50*time.Millisecond, 0.1), phase("solve", 800*time.Millisecond, 0.6)}
	expect(t, p, "phase", `phase "solve" loses the most time: its parallel efficiency is 60 %, in 800 ms`, "mpitx report RUN --phase solve")
	p.Phases[2].Efficiency.Parallel = 0.95
	expect(t, p, "phase", "", "")
}

// A rank that computes longer makes another one wait, in one phase: that is one finding with three numbers.
func TestFindingOneCause(t *testing.T) {
	job := func(elapsed, inMPI time.Duration) *Profile {
		p := made(900*time.Millisecond, 500*time.Millisecond, 490*time.Millisecond, 480*time.Millisecond)
		p.spent("MPI_Recv", "solver.c", 100, 10, 20, 30, 410)
		solve := &Phase{Name: "solve", Efficiency: Efficiency{Elapsed: elapsed, Parallel: 0.6}}
		for i, r := range p.Ranks {
			in := inMPI
			if i == 0 {
				in = 0
			}
			solve.Ranks = append(solve.Ranks, RankPhase{Rank: r, Elapsed: elapsed, InMPI: in})
		}
		p.Phases = []*Phase{{Name: ""}, solve}
		return p
	}
	p := job(800*time.Millisecond, 400*time.Millisecond)
	expect(t, p, "load imbalance", `load balance is 66 %: rank 0 is outside of MPI for 900 ms, the mean is 592 ms; rank 3 waits 41 % of its time in MPI_Recv: solver.c:118 (the others 2 %); `+
		`phase "solve" loses the most time: its parallel efficiency is 60 %, in 800 ms`, "what rank 0 does there; mpitx report RUN --phase solve shows this phase alone")
	if found := p.Findings(); len(found) != 1 || found[0].Share < 0.38 {
		t.Errorf("%+v", found)
	}
	// In this phase all ranks are equally busy.
	p = job(800*time.Millisecond, 5*time.Millisecond)
	expect(t, p, "phase", `phase "solve" loses the most time: its parallel efficiency is 60 %, in 800 ms`, "mpitx report RUN --phase solve")
	// Without an imbalance, a rank waits, in the phase or elsewhere.
	p = job(800*time.Millisecond, 500*time.Millisecond)
	p.Ranks[0].InMPI = 500 * time.Millisecond
	p.efficiencies()
	p.Phases[1].Efficiency.Parallel = 0.6
	expect(t, p, "waiting", `rank 3 waits 41 % of its time in MPI_Recv: solver.c:118 (the others 2 %); phase "solve" loses the most time: its parallel efficiency is 60 %, in 800 ms`,
		"what the other ranks do before this call: they come late; mpitx report RUN --phase solve shows this phase alone")
	p.Phases[1].Ranks[3].InMPI = 50 * time.Millisecond
	expect(t, p, "phase", `phase "solve" loses the most time: its parallel efficiency is 60 %, in 800 ms`, "mpitx report RUN --phase solve")
}

func TestFindingHotSpot(t *testing.T) {
	p := balanced(4)
	p.spent("MPI_Send", "", 100, 100, 100, 100, 100).MessagesSent = 100
	for source := 1; source < 4; source++ {
		p.Pairs = append(p.Pairs, Pair{Source: source, Destination: 0, BytesSent: 3000, SourceKnown: true}, Pair{Source: source, Destination: source, BytesSent: 1e6, SourceKnown: true})
	}
	p.Pairs = append(p.Pairs, Pair{Source: 0, Destination: 1, BytesSent: 1000, SourceKnown: true})
	expect(t, p, "hot spot", "rank 0 receives 90 % of all bytes of point-to-point messages",
		"whether the other ranks wait for rank 0; a collective, or spreading its work, may be faster")
	p.Functions[0].Time /= 10 // hardly any time in messages
	expect(t, p, "hot spot", "", "")
	p.Functions[0].Time *= 10
	p.Pairs = append(p.Pairs, Pair{Source: 0, Destination: 2, BytesSent: 5000, SourceKnown: true})
	expect(t, p, "hot spot", "rank 0 receives 60 % of all bytes of point-to-point messages", "whether the other ranks wait for rank 0; a collective, or spreading its work, may be faster")
	p.Pairs = append(p.Pairs, Pair{Source: 1, Destination: 3, BytesSent: 5000, SourceKnown: true})
	expect(t, p, "hot spot", "", "")
}

func TestFindingSmallMessages(t *testing.T) {
	p := balanced(2)
	p.spent("MPI_Isend", "", 100000, 100, 100).MessagesSent = 100000
	s := &Sizes{Function: "MPI_Isend"}
	s.Messages[4], s.Messages[20] = 90000, 10000
	p.Sizes = []*Sizes{s, {Function: "MPI_Irecv", Received: true}}
	expect(t, p, "small messages", "90 % of the messages have less than 256 bytes: 45000 a second on each rank, most of them by MPI_Isend",
		"whether several messages can be sent as one")
	s.Messages[4], s.Messages[9] = 0, 90000
	expect(t, p, "small messages", "", "")
}

func TestFindingLostMessages(t *testing.T) {
	p := balanced(2)
	p.Pairs = []Pair{{Source: 0, Destination: 1, MessagesSent: 10, MessagesReceived: 7, SourceKnown: true, DestinationKnown: true}}
	expect(t, p, "lost messages", "3 of 10 messages were not received, most of them from rank 0 to rank 1", "whether a receive is missing, or its request was freed or cancelled: mpitx trace names the messages")
	p.Ranks[1].Process.End = recording.EndNone // they may still be received
	expect(t, p, "lost messages", "", "")
	p.Ranks[1].Process.State, p.Ranks[1].OpenFor = recording.StateDied, 5*time.Second
	expect(t, p, "lost messages", "3 of 10 messages were not received, most of them from rank 0 to rank 1", "whether a receive is missing, or its request was freed or cancelled: mpitx trace names the messages")
}

// Findings are about a considerable part of the time, and sorted by it; a program without troubles has none.
func TestFindings(t *testing.T) {
	p := balanced(4)
	p.spent("MPI_Wait", "a.c", 100, 20, 40, 30, 410)
	p.spent("MPI_File_read", "b.c", 100, 900, 900, 900, 900)
	p.spent("MPI_Barrier", "c.c", 100, 60, 60, 60, 60)
	var kinds []string
	for _, f := range p.Findings() {
		kinds = append(kinds, f.Kind)
	}
	if got := strings.Join(kinds, ","); got != "long calls,waiting,barrier" {
		t.Error(got)
	}
	p = made(970*time.Millisecond, 980*time.Millisecond)
	p.spent("MPI_Allreduce", "a.c", 100, 20, 10)
	if found := p.Findings(); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found := (&Profile{}).Findings(); len(found) > 0 {
		t.Errorf("an empty profile: %+v", found)
	}
}

func TestFindingUnfreed(t *testing.T) {
	at := func(p *Profile, kind ObjectKind, on ...making) *Profile {
		u := &Unfreed{Kind: kind, Function: "MPI_Comm_dup", on: map[*Rank]*making{}, frames: []Frame{{File: "/src/leak.c", Line: 8}}}
		for i := range on {
			u.on[p.Ranks[i]] = &on[i]
		}
		p.Unfreed = append(p.Unfreed, u)
		p.sumUnfreed()
		return p
	}
	const next = "whether each can be freed when it is no longer needed"
	growing := making{100, 300, 0, time.Second / 2}
	p := at(balanced(2), Communicator, growing, making{alive: 1, made: 1})
	expect(t, p, "objects not freed", "100 of 300 communicators were never freed on each of 2 ranks, made by MPI_Comm_dup: leak.c:8", next)
	p.Ranks[1].Process.State = recording.StateRunning
	expect(t, p, "objects not freed", "100 of 300 communicators have not been freed so far on each of 2 ranks, made by MPI_Comm_dup: leak.c:8", next)
	p.Cut.Phases = []string{"solve"}
	expect(t, p, "objects not freed", "", "")
	p = at(balanced(2), Communicator, making{1024, 1024, 0, 0})
	p.Ranks[0].Process.Library = "MPICH Version: 4.0.2"
	expect(t, p, "objects not freed", "1024 of 1024 communicators were never freed, made by MPI_Comm_dup: leak.c:8; MPICH has 2048 context ids and ends the job when none is left", next)
	for _, on := range []making{{99, 99, 0, time.Second}, {0, 100000, 0, time.Second}, {900, 900, 0, time.Second / 5}} { // few, all freed, made at the start
		expect(t, at(balanced(2), Communicator, on), "objects not freed", "", "")
	}
}
