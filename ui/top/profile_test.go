package top

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/recording/recordingtest"
)

type (
	call = recordingtest.Call
	peer = recordingtest.Peer
)

const second = uint64(time.Second)

// profiled is a job that began long ago and goes on. Its ranks have profiles.
type profiled struct {
	*job
	ranks []*recordingtest.Profile
	feed  *Feed
	now   time.Time
}

const longAgo = 1e6 * time.Second // so that the test's own time does not show

func newProfiled(t testing.TB, ranks int) *profiled {
	j := &profiled{job: &job{t: t, dir: filepath.Join(t.TempDir(), "run1"), size: ranks}, now: time.Now()}
	for r := range ranks {
		s := recordingtest.NewStream(uint64(r+1), int32(r))
		s.Header(recordingtest.Header{Rank: int32(r), Size: int32(ranks), Clock: 1, NsPerTick: 1, Host: "n", Program: "app"})
		s.Clock(0, 0, j.now.Add(-longAgo).UnixNano(), 0)
		j.streams = append(j.streams, s)
		j.ranks = append(j.ranks, recordingtest.NewProfile(s, 0))
	}
	return j
}

// start opens the run while its ranks run.
func (j *profiled) start() {
	j.flush()
	for r := range j.ranks {
		j.live(r, 0)
	}
	j.feed = j.open()
	j.feed.clock = func() time.Time { return j.now }
}

// passes lets time pass, in which each rank adds to its profile.
func (j *profiled) passes(d time.Duration, add func(r int, p *recordingtest.Profile)) {
	j.now = j.now.Add(d)
	for r, p := range j.ranks {
		add(r, p)
	}
	j.flush()
	j.feed.profiler.rest = time.Time{}
	j.feed.All()
}

// ring is a job whose ranks send to the next one. Rank 2 waits the most.
func ring(t testing.TB, ranks int) *profiled {
	j := newProfiled(t, ranks)
	step := func(r int, p *recordingtest.Profile, calls uint64) {
		wait := 2 * calls * second / 1000
		if r == 2 {
			wait *= 3
		}
		p.Calls(call{Function: "MPI_Isend", Calls: calls, Ticks: calls * second / 10000, MessagesSent: calls, BytesSent: 1000 * calls},
			call{Function: "MPI_Wait", Calls: 2 * calls, Ticks: wait, MessagesReceived: calls, BytesReceived: 1000 * calls},
			call{Function: "MPI_Allreduce", Calls: calls / 10, Ticks: calls * second / 5000, Gave: calls, Got: calls})
		p.Peers(peer{Rank: int32((r + 1) % ranks), MessagesSent: calls, BytesSent: 1000 * calls}, peer{Rank: int32((r + ranks - 1) % ranks), MessagesReceived: calls, BytesReceived: 1000 * calls})
	}
	for r, p := range j.ranks {
		p.Calls(call{Function: "MPI_Init", Calls: 1, Ticks: second / 5})
		step(r, p, 100)
	}
	j.start()
	j.feed.Frame(Ask{Profile: true})
	steps := 24
	if ranks > 50 {
		steps = 4
	}
	for i := range steps {
		j.passes(500*time.Millisecond, func(r int, p *recordingtest.Profile) { step(r, p, uint64(50+10*(i/4%3))) })
	}
	return j
}

// steady is a job whose screens do not depend on the test's time.
func (j *profiled) steady(width, height int) *user {
	u := sit(j.t, j.feed, unicodeTerm, width, height)
	u.m.find = func() (Source, string, error) { return still{fixed{j.feed}}, "", nil }
	u.m.reopen = true
	u.m.source = nil
	u.do(u.m.read(true))
	u.send(nil)
	return u
}

type still struct{ fixed }

func (s still) Frame(a Ask) *Frame {
	f := s.fixed.Frame(a)
	f.Time = 100 * time.Second
	return f
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-3*math.Abs(want)+1e-9 {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

// Totals, and rates of the last second: of functions and of messages.
func TestProfile(t *testing.T) {
	j := newProfiled(t, 2)
	for _, p := range j.ranks {
		p.Calls(call{Function: "MPI_Init", Calls: 1, Ticks: second})
		p.Calls(call{Function: "MPI_Send", Calls: 1000, Ticks: 10 * second, MessagesSent: 1000, BytesSent: 5000})
		p.Peers(peer{Rank: 1, MessagesSent: 1000, BytesSent: 5000})
	}
	j.start()
	ask := Ask{Profile: true, Matrix: true, Metric: OfTime, Trend: 4}
	if f := j.feed.Frame(Ask{}); !f.HasProfile || f.Functions != nil || f.Matrix != nil {
		t.Fatalf("not asked for: %+v", f)
	}
	f := j.feed.Frame(ask)
	send := f.function(Key{Variable: "MPI_Send"})
	if send == nil || send.Calls != 2000 || send.Sent() != 10000 || send.Time != 20*time.Second || !math.IsNaN(send.Now) || !math.IsNaN(send.CallsRate) || f.Watched {
		t.Fatalf("first: %+v", send)
	}
	for range 4 {
		j.passes(500*time.Millisecond, func(r int, p *recordingtest.Profile) {
			p.Calls(call{Function: "MPI_Send", Calls: uint64(100 * (r + 1)), Ticks: second / 10 * uint64(r+1), MessagesSent: 100, BytesSent: 500})
			p.Peers(peer{Rank: 1, MessagesSent: 100, BytesSent: 500})
		})
	}
	f = j.feed.Frame(ask)
	send = f.function(Key{Variable: "MPI_Send"})
	near(t, "share of time now", send.Now, (0.2+0.4)/2)
	near(t, "calls per second", send.CallsRate, 200+400)
	near(t, "bytes per second", send.BytesRate, 2000)
	near(t, "share of the run", send.Share, 21.2/2e6)
	near(t, "trend", send.Trend[3], (0.2+0.4)*1e9)
	if send.Spread.MaxRank != 1 || !f.Watched {
		t.Errorf("slowest %d, watched %v", send.Spread.MaxRank, f.Watched)
	}
	if p := f.Matrix.Pairs; len(p) != 2 || p[0].Messages != 1400 || p[0].Source != 0 || p[0].Destination != 1 {
		t.Fatalf("%+v", p)
	} else {
		near(t, "messages per second", p[0].MessagesRate, 200)
		near(t, "bytes of messages per second", p[0].BytesRate, 1000)
	}
	// A function that is called for the first time was not called before.
	j.passes(500*time.Millisecond, func(_ int, p *recordingtest.Profile) {
		p.Calls(call{Function: "MPI_Barrier", Calls: 10, Ticks: second / 10})
	})
	f = j.feed.Frame(ask)
	near(t, "first calls", f.function(Key{Variable: "MPI_Barrier"}).CallsRate, 40)
	near(t, "first time", f.function(Key{Variable: "MPI_Barrier"}).Now, 0.2)
}

// The time of a call that has not returned grows.
func TestOpenCall(t *testing.T) {
	j := newProfiled(t, 1)
	p := j.ranks[0]
	p.Calls(call{Function: "MPI_Init", Calls: 1, Ticks: second}, call{Function: "MPI_Recv", Calls: 1, Ticks: 0, Abandoned: 1})
	p.Open("MPI_Recv", 5, uint64(longAgo)-10*second, uint64(longAgo))
	j.start()
	j.feed.Frame(Ask{Profile: true})
	if c := j.feed.cells[functionKey("MPI_Recv", OfTime)]; len(c) != 1 || c[0].columns[0].raw < 9*float64(second) {
		t.Errorf("%+v", c)
	}
}

// The time of a long call that becomes known late counts when it was spent.
func TestLateTime(t *testing.T) {
	j := newProfiled(t, 1)
	recv := func(ticks uint64) { j.ranks[0].Calls(call{Function: "MPI_Recv", Calls: 1, Ticks: ticks}) }
	recv(second)
	j.start()
	ask := Ask{Profile: true, Metric: OfTime, Trend: 6}
	j.feed.Frame(ask)
	for i := range 6 {
		j.passes(500*time.Millisecond, func(int, *recordingtest.Profile) {
			if i == 4 {
				recv(3 * second / 2)
			}
		})
	}
	recvd := j.feed.Frame(ask).function(Key{Variable: "MPI_Recv"})
	for i, want := range []float64{0, 0, 1e9, 1e9, 1e9, 0} {
		near(t, fmt.Sprint("trend ", i), recvd.Trend[i], want)
	}
	near(t, "now", recvd.Now, 0)
}

func TestProfileFrames(t *testing.T) {
	j := ring(t, 4)
	for _, size := range widths {
		u := j.steady(size[0], size[1])
		frame := func(name string) { u.golden(fmt.Sprintf("%s-%dx%d", name, size[0], size[1])) }
		frame("functions")
		u.press("enter")
		frame("function-ranks")
		u.press("3", "j", "l", "l")
		frame("matrix")
	}
	j = ring(t, 200)
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 60}} {
		u := j.steady(size[0], size[1])
		u.press("3", "v", "down", "down", "down", "right", "right", "right")
		u.golden(fmt.Sprintf("matrix-many-%dx%d", size[0], size[1]))
		u.press("enter")
		u.golden(fmt.Sprintf("matrix-group-%dx%d", size[0], size[1]))
	}
}

// Keys of the views of functions and of the matrix.
func TestProfileKeys(t *testing.T) {
	j := ring(t, 4)
	u := j.steady(120, 36)
	u.sees("MPI_Wait: share of time, each rank over time")
	u.press("v")
	u.sees("MPI_Wait: calls per second")
	u.press("j")
	u.sees("MPI_Allreduce: calls per second")
	u.types("values bytes")
	u.sees("MPI_Allreduce: bytes per second")
	u.types("filter all")
	u.sees("MPI_Allreduce")
	u.seesNot("MPI_Isend")
	u.press("F", "1")
	u.sees("VARIABLE")
	u.press("2")
	u.sees("MPI_Isend")
	u.types("show MPI_Wait")
	u.press(">", ">", ">", ">")
	if u.m.entries[0].key.Variable != "MPI_Wait" {
		t.Errorf("by time: %s", u.m.entries[0].key.Variable)
	}
	u.press("enter")
	u.sees("ranks of MPI_Wait")
	u.press("q")
	u.sees("FUNCTION")
	u.press("3")
	u.sees("bytes of messages since the start")
	u.sees("rank 0 to rank 0: no messages")
	u.press("right")
	u.sees("rank 0 to rank 1: 1.54MB in 1.54k messages")
	for y, l := range u.lines() { // a click
		if strings.HasPrefix(strings.TrimSpace(l), "3 ") {
			u.send(tea.MouseClickMsg{X: strings.Index(l, "1.54MB"), Y: y, Button: tea.MouseLeft})
			break
		}
	}
	u.sees("rank 3 to rank 0: 1.54MB in 1.54k messages")
	u.press("m", "v")
	u.sees("messages per second, from the rank")
	u.press("m")
	u.sees("bytes of messages per second")
	u.types("variables")
	u.sees("VARIABLE")
}

// Without a profile there are no such views.
func TestNoProfile(t *testing.T) {
	u := sit(t, story(t), unicodeTerm, 120, 30)
	u.press("2")
	u.sees("the run has no profile; mpitx profile records one")
	u.sees("VARIABLE")
	if strings.Contains(u.screen(), "2 functions") {
		t.Error("a hint for a view that is not there")
	}
}

// Ranks that have died spend no time in functions now.
func TestProfileOfDead(t *testing.T) {
	j := ring(t, 2)
	ask := Ask{Profile: true}
	if now := j.feed.Frame(ask).function(Key{Variable: "MPI_Wait"}).Now; !(now > 0) {
		t.Fatalf("before: %v", now)
	}
	for r := range j.ranks {
		if err := os.Remove(filepath.Join(j.dir, j.manifest(r))); err != nil {
			t.Fatal(err)
		}
	}
	j.passes(500*time.Millisecond, func(int, *recordingtest.Profile) {})
	if now := j.feed.Frame(ask).function(Key{Variable: "MPI_Wait"}).Now; !math.IsNaN(now) {
		t.Errorf("after: %v", now)
	}
}

// An ended run is read once, and has no times but those of the whole run.
func TestProfileEnded(t *testing.T) {
	j := newProfiled(t, 2)
	for _, p := range j.ranks {
		p.Calls(call{Function: "MPI_Init", Calls: 1, Ticks: second}, call{Function: "MPI_Send", Calls: 1000, Ticks: 10 * second, MessagesSent: 1000, BytesSent: 5000})
		p.Stream.Clock(200*second, int64(200*second), j.now.Add(200*time.Second-longAgo).UnixNano(), 0)
		p.Stream.End(1)
	}
	j.flush()
	j.feed = j.open()
	u := j.steady(120, 30)
	u.sees("MPI_Send")
	u.golden("functions-ended-120x30")
	reads := j.feed.profiler.reads
	u.press("r", "r")
	if j.feed.profiler.reads != reads {
		t.Error("an ended run was read again")
	}
}

// The cost of a screen of functions or of the matrix, twice a second.
func BenchmarkProfile(b *testing.B) {
	for _, ranks := range []int{4, 256} {
		for _, key := range []string{"2", "3"} {
			b.Run(fmt.Sprintf("%d-%s", ranks, viewNames[key[0]-'1']), func(b *testing.B) {
				j := ring(b, ranks)
				u := j.steady(160, 50)
				u.press(key)
				b.ResetTimer()
				for range b.N {
					j.now = j.now.Add(time.Minute)
					u.do(u.m.read(true))
					u.m.Render()
				}
				b.ReportMetric(2*100*b.Elapsed().Seconds()/float64(b.N), "percent")
			})
		}
	}
}
