package profile

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// job writes a run: each function writes the profile of one rank, which runs for a second.
func job(t testing.TB, ranks ...func(p *recordingtest.Profile)) *recording.Run {
	t.Helper()
	return save(t, chunksOf(ranks...))
}

func chunksOf(ranks ...func(p *recordingtest.Profile)) (chunks []byte) {
	for rank, write := range ranks {
		s := recordingtest.NewStream(uint64(rank)+1, int32(rank))
		s.Header(recordingtest.Header{Rank: int32(rank), Size: int32(len(ranks)), Clock: 2, NsPerTick: 0.5, Host: "n"})
		s.Clock(1000, 1e9, 1e18, 0)
		s.Module(0x10000*uint64(rank+1), 0x10000*uint64(rank+2), 0x10000*uint64(rank+1), "/bin/app", "id")
		s.Clock(1000+2e9, 2e9, 1e18+1e9, 0)
		write(recordingtest.NewProfile(s, 2))
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return chunks
}

func save(t testing.TB, chunks []byte) *recording.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", chunks); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

func mustRead(t testing.TB, run *recording.Run, cut Cut) *Profile {
	t.Helper()
	p, err := Read(run, cut)
	for _, damage := range run.Damage() {
		t.Error(damage)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type (
	call   = recordingtest.Call
	peer   = recordingtest.Peer
	phase  = recordingtest.Phase
	wait   = recordingtest.Wait
	object = recordingtest.Object
)

const ms = 2e6 // ticks

// two is a job in which rank 0 sends and rank 1 receives, in two threads, within and outside of the phase "solve".
func two(t testing.TB) *recording.Run {
	return job(t, func(p *recordingtest.Profile) {
		p.Objects(object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 7}, object{ID: 2, Size: 1, Name: "MPI_COMM_SELF", Group: 8})
		p.Calls(call{Function: "MPI_Init", Calls: 1, Ticks: 900 * ms},
			call{Function: "MPI_Send", Object: 1, Stack: []uint64{0x10100, 0x10200}, Calls: 10, Ticks: 100 * ms, MessagesSent: 10, BytesSent: 1000},
			call{Function: "MPI_Send", Object: 1, Stack: []uint64{0x10108}, Phase: "solve", Calls: 5, Ticks: 50 * ms, MessagesSent: 5, BytesSent: 50},
			call{Function: "MPI_Send", Object: 2, Stack: []uint64{0x10100, 0x10200}, Thread: 9, Calls: 1, Ticks: 200 * ms, MessagesSent: 1, BytesSent: 7},
			call{Function: "MPI_Bcast", Within: "MPI_Send", Calls: 3, Ticks: 30 * ms})
		p.Peers(peer{Rank: 1, MessagesSent: 10, BytesSent: 1000}, peer{Rank: 1, Phase: "solve", MessagesSent: 5, BytesSent: 50},
			peer{Rank: 0, Thread: 9, MessagesSent: 1, BytesSent: 7}, peer{Job: 1, Rank: 0, MessagesSent: 4, BytesSent: 40},
			peer{Rank: 1, OneSided: true, MessagesSent: 2, BytesSent: 16})
		p.Phases(phase{Name: "solve", Entered: 2, Ticks: 450 * ms, Self: 400 * ms, First: 1000 + 100*ms, Last: 1000 + 600*ms},
			phase{Name: "solve", Thread: 9, Entered: 1, Ticks: 900 * ms, First: 1000 + 100*ms, Last: 1000 + 600*ms})
		p.Sizes(recordingtest.Size{Function: "MPI_Send", Messages: map[uint64]uint64{0: 1, 7: 1, 8: 2, 100: 10, 1 << 45: 1}})
	}, func(p *recordingtest.Profile) {
		p.Objects(object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 7})
		p.Calls(call{Function: "MPI_Recv", Object: 1, Stack: []uint64{0x20300}, Calls: 14, Ticks: 280 * ms, MessagesReceived: 14, BytesReceived: 1040},
			call{Function: "MPI_Reduce", Object: 1, Calls: 2, Ticks: 300 * ms, Nested: 100 * ms, Gave: 8, Got: 9, Abandoned: 1})
		p.Peers(peer{Rank: 0, MessagesReceived: 14, BytesReceived: 1040}, peer{Rank: 0, OneSided: true, MessagesReceived: 3, BytesReceived: 24})
		p.Phases(phase{Name: "solve", Entered: 2, Ticks: 200 * ms, First: 1000 + 50*ms, Last: 1000 + 700*ms})
	})
}

func function(p *Profile, name string) *Function {
	for _, f := range p.Functions {
		if f.Name == name && f.Within == "" {
			return f
		}
	}
	return &Function{}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, not %+v", what, got, want)
	}
}

// Rows of threads, phases, objects and call sites are merged into functions, and those of ranks as well.
func TestRead(t *testing.T) {
	p := mustRead(t, two(t), Cut{})
	send := function(p, "MPI_Send")
	equal(t, "MPI_Send", send.Totals, Totals{Calls: 16, Time: 350 * time.Millisecond, MessagesSent: 16, BytesSent: 1057})
	equal(t, "its ranks", len(send.Ranks), 1)
	equal(t, "shortest", send.Shortest, 10*time.Millisecond)
	equal(t, "longest", send.Longest, 200*time.Millisecond)
	equal(t, "durations", send.Durations.Count(), 16)
	reduce := function(p, "MPI_Reduce")
	equal(t, "MPI_Reduce", reduce.Totals, Totals{Calls: 2, Time: 300 * time.Millisecond, BytesOut: 8, BytesIn: 9, Abandoned: 1})
	equal(t, "total", p.Total.Calls, 1+16+14+2)
	equal(t, "functions", len(p.Functions), 5)
	for _, f := range p.Functions {
		if f.Within != "" && (f.Name != "MPI_Bcast" || f.Calls != 3) {
			t.Errorf("inner function %+v", f)
		}
	}
	equal(t, "sites", len(p.Sites), 6)
	equal(t, "threads", p.Ranks[0].Threads, 2)
	// Init is before the run time; the nested part of a call counts in the other call only.
	equal(t, "in MPI", []time.Duration{p.Ranks[0].InMPI, p.Ranks[1].InMPI}, []time.Duration{150 * time.Millisecond, 480 * time.Millisecond})
	equal(t, "elapsed", []time.Duration{p.Ranks[0].Elapsed, p.Ranks[1].Elapsed}, []time.Duration{time.Second, time.Second})
	equal(t, "efficiency", p.Efficiency, Efficiency{Elapsed: time.Second, Parallel: 0.685, LoadBalance: 0.685 / 0.85, Communication: 0.85})
	equal(t, "pairs", p.Pairs, []Pair{
		{Source: 0, Destination: 0, MessagesSent: 1, BytesSent: 7, SourceKnown: true, DestinationKnown: true},
		{Source: 0, Destination: 1, MessagesSent: 15, BytesSent: 1050, MessagesReceived: 14, BytesReceived: 1040, SourceKnown: true, DestinationKnown: true}})
	equal(t, "one-sided", p.OneSided, []Pair{{Source: 0, Destination: 1, MessagesSent: 2, BytesSent: 16, MessagesReceived: 3, BytesReceived: 24, SourceKnown: true, DestinationKnown: true, OneSided: true}})
	equal(t, "one-sided operations", p.OneSided[0].Messages(), 5) // puts of rank 0 and gets of rank 1
	equal(t, "one-sided bytes", p.OneSided[0].Bytes(), 40)
	equal(t, "other jobs", p.Others, Totals{MessagesSent: 4, BytesSent: 40})
	sizes := p.Sizes[0].Messages
	equal(t, "sizes", []uint64{sizes[0], sizes[3], sizes[4], sizes[7], sizes[39]}, []uint64{1, 1, 2, 10, 1})
	equal(t, "messages", p.Sizes[0].Count(), 15)
}

// The same place of a program is one site on all ranks, whatever address it was loaded to.
func TestSites(t *testing.T) {
	at := func(p *recordingtest.Profile) {
		p.Calls(call{Function: "MPI_Send", Stack: []uint64{0x10000*uint64(p.Stream.Rank+1) + 0x42}, Calls: 1, Ticks: ms})
	}
	p := mustRead(t, job(t, at, at, at), Cut{})
	equal(t, "sites", len(p.Sites), 1)
	equal(t, "stack", p.Sites[0].Stack, []Address{{"/bin/app", "6964", 0x42}})
	equal(t, "ranks", len(p.Sites[0].Ranks), 3)
	equal(t, "place", p.Sites[0].Place(), "app+0x42")
}

// Waits are of functions and of call sites, by ranks of the run. A cut by phases cuts them; communicators are not known.
func TestWaits(t *testing.T) {
	receive := func(phase string, stack uint64) call {
		return call{Function: "MPI_Recv", Phase: phase, Object: 1, Stack: []uint64{stack}, Calls: 10, Ticks: 100 * ms}
	}
	run := job(t, func(p *recordingtest.Profile) {
		p.Objects(object{ID: 1, Size: 3, Name: "MPI_COMM_WORLD", Group: 7})
		p.Calls(receive("", 0x10100), receive("solve", 0x10100), receive("", 0x10200))
		p.Waits(wait{Function: "MPI_Recv", Rank: 2, Stack: []uint64{0x10100}, Calls: 4, Ticks: 50 * ms, SharedCalls: 2, SharedTicks: 20 * ms},
			wait{Function: "MPI_Recv", Rank: 2, Phase: "solve", Stack: []uint64{0x10100}, Calls: 3, Ticks: 30 * ms},
			wait{Function: "MPI_Recv", Rank: 1, Stack: []uint64{0x10200}, Calls: 1, Ticks: 9 * ms},
			wait{Function: "MPI_Recv", Job: -1000000, Rank: -1000000, Stack: []uint64{0x10200}, Calls: 1, Ticks: 8 * ms})
	}, func(p *recordingtest.Profile) {}, func(p *recordingtest.Profile) {})
	milli := time.Millisecond
	p := mustRead(t, run, Cut{})
	rank := p.Ranks[0]
	equal(t, "waits in MPI_Recv", function(p, "MPI_Recv").Waits, []Wait{{rank, 1, 1, 9 * milli, 0, 0}, {rank, 2, 7, 80 * milli, 2, 20 * milli}})
	equal(t, "waits at the first site", p.Sites[0].Waits, []Wait{{rank, 2, 7, 80 * milli, 2, 20 * milli}})
	equal(t, "waits at the second site", p.Sites[1].Waits, []Wait{{rank, 1, 1, 9 * milli, 0, 0}})
	p.Resolve(func(Address) []Frame { return []Frame{{Function: "main", File: "main.c", Line: 1}} })
	equal(t, "waits of joined sites", p.Sites[0].Waits, function(p, "MPI_Recv").Waits)
	p = mustRead(t, run, Cut{Phases: []string{"solve"}})
	equal(t, "waits in solve", function(p, "MPI_Recv").Waits, []Wait{{p.Ranks[0], 2, 3, 30 * milli, 0, 0}})
	equal(t, "waits on MPI_COMM_WORLD", len(function(mustRead(t, run, Cut{Objects: []string{"MPI_COMM_WORLD"}}), "MPI_Recv").Waits), 0)
}

// Sites are joined if their source lines are equal.
func TestResolve(t *testing.T) {
	p := mustRead(t, job(t, func(p *recordingtest.Profile) {
		p.Calls(call{Function: "MPI_Send", Stack: []uint64{0x10010}, Calls: 1, Ticks: ms}, call{Function: "MPI_Send", Stack: []uint64{0x10020}, Calls: 1, Ticks: 3 * ms},
			call{Function: "MPI_Recv", Stack: []uint64{0x10020}, Calls: 1, Ticks: 2 * ms}, call{Function: "MPI_Recv", Stack: []uint64{0x99}, Calls: 1, Ticks: ms})
	}, func(p *recordingtest.Profile) {
		p.Calls(call{Function: "MPI_Send", Stack: []uint64{0x20010}, Calls: 1, Ticks: ms})
	}), Cut{})
	asked := 0
	p.Resolve(func(a Address) []Frame {
		if asked++; a.Path == "" {
			return nil
		}
		return []Frame{{Function: "pack", File: "/src/pack.h", Line: 3, Inlined: true}, {Function: "main", File: "/src/main.c", Line: 9}}
	})
	equal(t, "asked", asked, 3)
	equal(t, "sites", len(p.Sites), 3)
	send := p.Sites[0]
	equal(t, "site", []any{send.Name, send.Calls, send.Time, send.Shortest, send.Longest, len(send.Ranks), send.Durations.Count()},
		[]any{"MPI_Send", uint64(3), 5 * time.Millisecond, time.Millisecond, 3 * time.Millisecond, 2, uint64(3)})
	equal(t, "place", send.Place(), "pack.h:3")
	equal(t, "lines", send.Lines(), []string{"pack at /src/pack.h:3 (inlined)", "main at /src/main.c:9"})
	equal(t, "unknown place", p.Sites[2].Place(), "0x99")

	// Without their sources, copies of a program have the same sites. Another program at the same path has others.
	at := func(path, build string, offset uint64) *Function {
		return &Function{Name: "MPI_Send", Totals: Totals{Calls: 1}, Stack: []Address{{path, build, offset}}}
	}
	p.Sites = []*Function{at("/node1/app", "aa", 1), at("/node2/app", "aa", 1), at("/node1/app", "aa", 2), at("/node1/app", "bb", 1), at("/node1/app", "", 1), at("/node2/app", "", 1), at("/node1/other", "", 1)}
	p.Resolve(func(Address) []Frame { return nil })
	var calls []uint64
	for _, s := range p.Sites {
		calls = append(calls, s.Calls)
	}
	equal(t, "copies", calls, []uint64{2, 2, 1, 1, 1})
}

func TestPhases(t *testing.T) {
	p := mustRead(t, two(t), Cut{})
	equal(t, "phases", len(p.Phases), 2)
	outside, solve := p.Phases[0], p.Phases[1]
	equal(t, "names", []string{outside.Name, solve.Name}, []string{"", "solve"})
	equal(t, "solve", solve.Totals, Totals{Calls: 5, Time: 50 * time.Millisecond, MessagesSent: 5, BytesSent: 50})
	equal(t, "entered", solve.Entered, 5)
	// The main thread's time counts: 350 of 400 ms and 200 of 200 ms are useful.
	equal(t, "efficiency", solve.Efficiency, Efficiency{Elapsed: 400 * time.Millisecond, Parallel: 275. / 400, LoadBalance: 275. / 350, Communication: 350. / 400})
	equal(t, "outside", []time.Duration{outside.Ranks[0].Elapsed, outside.Ranks[1].Elapsed}, []time.Duration{600 * time.Millisecond, 800 * time.Millisecond})
}

// A phase that only another thread enters has that thread's time, in MPI and outside of it; the time outside of phases is the main thread's.
func TestPhaseOfThread(t *testing.T) {
	p := mustRead(t, job(t, func(p *recordingtest.Profile) {
		p.Calls(call{Function: "MPI_Send", Calls: 1, Ticks: 100 * ms}, call{Function: "MPI_Recv", Phase: "io", Thread: 9, Calls: 4, Ticks: 300 * ms})
		p.Phases(phase{Name: "io", Thread: 9, Entered: 1, Ticks: 400 * ms, Self: 400 * ms, First: 1000 + 100*ms, Last: 1000 + 500*ms})
	}), Cut{})
	outside, io := p.Phases[0].Ranks[0], p.Phases[1].Ranks[0]
	equal(t, "io", []time.Duration{io.Elapsed, io.InMPI}, []time.Duration{400 * time.Millisecond, 300 * time.Millisecond})
	equal(t, "outside", []time.Duration{outside.Elapsed, outside.InMPI, p.Ranks[0].InMPI}, []time.Duration{p.Ranks[0].Elapsed, 100 * time.Millisecond, 100 * time.Millisecond})
}

func TestCut(t *testing.T) {
	run := two(t)
	p := mustRead(t, run, Cut{Phases: []string{"solve"}})
	equal(t, "calls in solve", p.Total.Calls, 5)
	equal(t, "pairs in solve", []uint64{uint64(len(p.Pairs)), p.Pairs[0].Messages()}, []uint64{1, 5})
	equal(t, "elapsed in solve", p.Ranks[0].Elapsed, 400*time.Millisecond)
	equal(t, "in MPI in solve", p.Ranks[0].InMPI, 50*time.Millisecond)
	p = mustRead(t, run, Cut{Phases: []string{Outside}})
	equal(t, "calls outside", p.Total.Calls, 28)
	equal(t, "elapsed outside", p.Ranks[0].Elapsed, 600*time.Millisecond)
	p = mustRead(t, run, Cut{Ranks: []int{1}})
	equal(t, "calls on rank 1", p.Total.Calls, 16)
	equal(t, "received by rank 1", []uint64{p.Pairs[0].Messages(), p.Pairs[0].Bytes()}, []uint64{14, 1040}) // there is no record of the source
	p = mustRead(t, run, Cut{Objects: []string{"MPI_COMM_SELF"}})
	equal(t, "calls on MPI_COMM_SELF", p.Total.Calls, 1)
	equal(t, "pairs on MPI_COMM_SELF", len(p.Pairs), 0)
	for _, cut := range []Cut{{Phases: []string{"slove"}}, {Ranks: []int{2}}, {Objects: []string{"world"}}} {
		if _, err := Read(run, cut); err == nil {
			t.Errorf("no error for %v", cut)
		}
	}
}

// The time in a call that has not returned is time in MPI; nothing is known after a dead process's last sign of life.
func TestOpenCall(t *testing.T) {
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 2, NsPerTick: 0.5, Host: "n"})
	s.Clock(1000, 1e9, 1e18, 0)
	p := recordingtest.NewProfile(s, 1)
	p.Calls(call{Function: "MPI_Send", Calls: 3, Ticks: 100 * ms})
	p.Open("MPI_Recv", 4, 1000+300*ms, 1000+1000*ms)
	s.Seal()
	r := mustRead(t, save(t, s.Out), Cut{}).Ranks[0]
	equal(t, "state", r.Process.State, recording.StateDied)
	equal(t, "open", []any{r.Open, r.OpenFor, r.Elapsed, r.InMPI}, []any{"MPI_Recv", 700 * time.Millisecond, time.Second, 800 * time.Millisecond})
}

// Communicators are matched by how they were made, whatever their identifiers are.
func TestObjects(t *testing.T) {
	p := mustRead(t, job(t, func(p *recordingtest.Profile) {
		p.Objects(object{ID: 1, Size: 4, Name: "MPI_COMM_WORLD", Group: 1}, object{ID: 3, Size: 2, Name: "row", MadeBy: "MPI_Comm_split", Parent: 1, Group: 2},
			object{ID: 4, Size: 2, MadeBy: "MPI_Comm_split", Parent: 3, Group: 3}, object{ID: 5, Size: 2, MadeBy: "MPI_Comm_split", Parent: 3, Group: 4, Freed: true})
		p.Calls(call{Function: "MPI_Barrier", Object: 1, Calls: 1, Ticks: ms}, call{Function: "MPI_Bcast", Object: 3, Calls: 2, Ticks: 2 * ms},
			call{Function: "MPI_Bcast", Object: 4, Calls: 3, Ticks: 3 * ms}, call{Function: "MPI_Bcast", Object: 5, Calls: 4, Ticks: 4 * ms},
			call{Function: "MPI_Waitall", Calls: 7, Ticks: 5 * ms})
	}, func(p *recordingtest.Profile) {
		p.Objects(object{ID: 1, Size: 4, Name: "MPI_COMM_WORLD", Group: 1}, object{ID: 7, Size: 2, Name: "row", MadeBy: "MPI_Comm_split", Parent: 1, Group: 5},
			object{ID: 9, Size: 2, MadeBy: "MPI_Comm_split", Parent: 7, Group: 6}, object{ID: 10, Parent: 10, Name: "itself"})
		p.Calls(call{Function: "MPI_Bcast", Object: 7, Calls: 2, Ticks: 2 * ms}, call{Function: "MPI_Bcast", Object: 9, Calls: 3, Ticks: 3 * ms},
			call{Function: "MPI_Bcast", Object: 77, Calls: 1, Ticks: ms})
	}), Cut{})
	type line struct {
		name, by, parent string
		size, groups     int
		calls            uint64
		ranks, freed     int
		known            bool
	}
	var got []line
	for _, o := range p.Objects {
		l := line{o.Name, o.MadeBy, "", o.Size, o.Groups, o.Calls, len(o.Ranks), o.Freed, o.Known}
		if o.Parent != nil {
			l.parent = o.Parent.Name
		}
		got = append(got, l)
	}
	equal(t, "objects", got, []line{
		{"", "", "", 0, 1, 8, 2, 0, false},
		{"", "MPI_Comm_split", "row", 2, 2, 6, 2, 0, true},
		{"row", "MPI_Comm_split", "MPI_COMM_WORLD", 2, 2, 4, 2, 0, true},
		{"", "MPI_Comm_split", "row", 2, 1, 4, 1, 1, true},
		{"MPI_COMM_WORLD", "", "", 4, 1, 1, 1, 0, true},
	})
}

func TestNoProfile(t *testing.T) {
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Seal()
	if _, err := Read(save(t, s.Out), Cut{}); err != ErrNone {
		t.Error(err)
	}
	s = recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Table(0, "profile calls", 1, 16, recordingtest.Field{Name: "function", Type: 3, Meaning: 1})
	s.Seal()
	s.Rows(0, 64, make([]byte, 16), []byte{2, 0, 0, 0, 1, 0, 0, 0})
	run := save(t, s.Out)
	if _, err := Read(run, Cut{}); err == nil || err.Error() != `the table "profile calls" of rank 0 has no field "phase": a newer mpitx wrote the run; read it with that version` {
		t.Error(err)
	}
}

// Percentiles lie within 12 % of the exact ones, also for ranks whose clocks tick differently.
func TestPercentiles(t *testing.T) {
	var durations []uint64
	for i := range 1000 {
		durations = append(durations, uint64(1000*(i+1)))
	}
	p := mustRead(t, job(t, func(p *recordingtest.Profile) {
		p.Calls(call{Function: "MPI_Send", Calls: 1000, Durations: durations})
	}), Cut{})
	for percent, want := range map[float64]float64{50: 250e3, 95: 475e3, 99: 495e3} {
		if got := float64(p.Functions[0].Percentile(percent)); got < want*0.88 || got > want*1.12 {
			t.Errorf("p%.0f: %v, not %v", percent, got, want)
		}
	}
	one := mustRead(t, job(t, func(p *recordingtest.Profile) { p.Calls(call{Function: "MPI_Send", Calls: 1, Ticks: 7777}) }), Cut{}).Functions[0]
	equal(t, "p50 of one call", one.Percentile(50), 7777/2)

	slow, fast := Histogram{tick: 1}, Histogram{tick: 0.3}
	for i := range 1000 {
		slow.counts[bucketOf(float64(i+1)*500)]++
		fast.counts[bucketOf(float64(i+1)*500/0.3)]++
	}
	exact := slow.quantile(0.9)
	slow.add(&fast)
	equal(t, "count", slow.Count(), 2000)
	if got := slow.quantile(0.9); float64(got) < float64(exact)*0.94 || float64(got) > float64(exact)*1.06 {
		t.Errorf("p90: %v, not %v", got, exact)
	}
}

func TestBuckets(t *testing.T) {
	for i := range buckets {
		if got := bucketOf(edge(i)); got != i {
			t.Errorf("edge %v of bucket %d is in %d", edge(i), i, got)
		}
	}
	equal(t, "before the first edge", bucketOf(0), 0)
	equal(t, "after the last", bucketOf(1e30), buckets-1)
}

func TestSpread(t *testing.T) {
	p := mustRead(t, two(t), Cut{})
	s := p.SpreadOf(function(p, "MPI_Recv").Ranks, Time)
	equal(t, "spread", fmt.Sprint(s), fmt.Sprint(Spread{0, 140e6, 280e6, 0, 1, []int{1}}))
	same := p.SpreadOverRanks(func(*Rank) float64 { return 1 })
	equal(t, "ranks with the same", fmt.Sprint(same), fmt.Sprint(Spread{1, 1, 1, 0, 0, []int{0, 1}}))
	equal(t, "imbalance", s.Imbalance(), 1.0)
	equal(t, "share", p.Share(600*time.Millisecond), 0.2) // of three threads
}

// BenchmarkRead reads the profiles of 256 ranks with 64 call sites each.
func BenchmarkRead(b *testing.B) {
	var ranks []func(*recordingtest.Profile)
	for rank := range 256 {
		ranks = append(ranks, func(p *recordingtest.Profile) {
			for site := range uint64(64) {
				p.Calls(call{Function: "MPI_Send", Stack: []uint64{uint64(rank+1)*0x10000 + 16*site}, Calls: 10, Ticks: ms})
			}
			for peer := range int32(32) {
				p.Peers(recordingtest.Peer{Rank: peer, MessagesSent: 1, BytesSent: 8})
			}
		})
	}
	run := job(b, ranks...)
	for b.Loop() {
		p, err := Read(run, Cut{})
		if err != nil || len(p.Sites) != 64 || len(p.Pairs) != 256*32 {
			b.Fatal(err)
		}
		p.Findings()
	}
}

// A communicator without a name is chosen by how it was made, which is what reports call it.
func TestCutUnnamed(t *testing.T) {
	run := job(t, func(p *recordingtest.Profile) {
		p.Objects(object{ID: 1, Size: 1, Name: "MPI_COMM_WORLD"}, object{ID: 2, Size: 1, MadeBy: "MPI_Comm_split", Parent: 1})
		p.Calls(call{Function: "MPI_Send", Object: 1, Calls: 1}, call{Function: "MPI_Send", Object: 2, Calls: 7})
	})
	p := mustRead(t, run, Cut{Objects: []string{"MPI_Comm_split of MPI_COMM_WORLD"}})
	equal(t, "calls", p.Total.Calls, 7)
}
