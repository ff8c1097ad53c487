package top

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/ui/term"
)

var le = binary.LittleEndian

// job writes a run directory as a job does.
type job struct {
	t       testing.TB
	dir     string
	streams []*recordingtest.Stream
	size    int
}

var columns = []recordingtest.Column{
	{Variable: "sent", Class: int32(catalog.ClassCounter), Type: int32(catalog.TypeUint64), Count: 1, Size: 8, Description: "Messages sent"},
	{Variable: "queue", Class: int32(catalog.ClassSize), Type: int32(catalog.TypeUint64), Count: 2, Size: 8, Object: 1, ObjectName: "MPI_COMM_WORLD"},
	{Variable: "phase", Class: int32(catalog.ClassState), Type: int32(catalog.TypeUint64), Count: 1, Size: 8, EnumName: "phases",
		Items: []recordingtest.Item{{Value: 0, Name: "idle"}, {Value: 1, Name: "busy"}}},
}

func newJob(t testing.TB, ranks int, declared ...recordingtest.Column) *job {
	j := &job{t: t, dir: filepath.Join(t.TempDir(), "run1"), size: ranks}
	if len(declared) == 0 {
		declared = columns
	}
	for r := range ranks {
		j.declare(r, declared)
	}
	j.flush()
	return j
}

func (j *job) declare(r int, declared []recordingtest.Column) {
	s := recordingtest.NewStream(uint64(r+1), int32(r))
	s.Header(recordingtest.Header{Rank: int32(r), Size: int32(j.size), Clock: 1, NsPerTick: 1, Host: "n", Program: "app", Interval: 1e7})
	s.Clock(0, 0, 1e18, 0)
	row, ids := 0, []uint32{}
	for i, c := range declared {
		s.Column(uint32(i), c)
		row += int(c.Count) * 8
		ids = append(ids, uint32(i))
	}
	s.Set(0, row, ids...)
	j.streams = append(j.streams, s)
}

// sample records numbers on a rank, without writing them yet.
func (j *job) sample(r int, at time.Duration, values ...uint64) {
	var row []byte
	for _, v := range values {
		row = le.AppendUint64(row, v)
	}
	j.streams[r].Sample(0, uint64(at), row, nil)
}

// flush appends to the node's file what there is.
func (j *job) flush() {
	j.t.Helper()
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		j.t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(j.dir, "node-n.mpxr"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		j.t.Fatal(err)
	}
	defer f.Close()
	for _, s := range j.streams {
		s.Seal()
		if _, err := f.Write(s.Out); err != nil {
			j.t.Fatal(err)
		}
		s.Out = nil
	}
}

// live makes a rank one that runs: as long as the test does.
func (j *job) live(r int, lost uint64) {
	j.t.Helper()
	if err := j.streams[r].SaveLive(j.dir, "n", os.Getpid(), lost); err != nil {
		j.t.Fatal(err)
	}
}

func (j *job) manifest(r int) string { return fmt.Sprintf("live-n-%d-0000000%d.mpxm", r, r) }

func (j *job) open() *Feed {
	j.t.Helper()
	run, err := recording.Open(j.dir)
	if err != nil {
		j.t.Fatal(err)
	}
	f := Open(run)
	j.t.Cleanup(f.Close)
	return f
}

func rowOf(t testing.TB, f *Frame, name string) *Row {
	t.Helper()
	for i := range f.Rows {
		if f.Rows[i].Variable == name {
			return &f.Rows[i]
		}
	}
	t.Fatalf("no row %s in %v", name, f.Rows)
	return nil
}

// A job that runs: what was there, then what comes, rank by rank; one that joins, one that dies.
func TestLive(t *testing.T) {
	j := newJob(t, 2)
	j.size = 3
	j.live(0, 7)
	j.live(1, 0)
	j.sample(0, time.Second, 100, 1, 2, 0)
	j.sample(1, time.Second, 1000, 0, 0, 1)
	j.flush()
	f := j.open()
	wall := time.Unix(0, 0)
	f.clock = func() time.Time { return wall }
	f.join()
	f.All()
	got := f.Frame(Ask{})
	if !got.Live || got.Lost != 7 || len(got.Ranks) != 2 || got.Samples != 2 {
		t.Fatalf("at first: %+v", got)
	}
	if r := rowOf(t, got, "sent"); r.As != recording.Delta || r.Sum != 0 || r.Ranks != 2 {
		t.Errorf("sent, of one sample: %+v", r)
	}
	if r := rowOf(t, got, "queue"); r.As != recording.Raw || r.Sum != 3 || r.Max != 3 || r.at(r.MaxAt) != "0" || r.Min != 0 || r.at(r.MinAt) != "1" || r.Mean != 1.5 {
		t.Errorf("queue: the elements of a rank are added: %+v", r)
	}
	if r := rowOf(t, got, "phase"); r.Number || r.Text != "busy and 1 other" && r.Text != "idle and 1 other" {
		t.Errorf("phase: %+v", r)
	}

	j.sample(0, 2*time.Second, 150, 5, 5, 0)
	j.flush()
	f.All()
	got = f.Frame(Ask{As: recording.Rate, Row: &Key{Variable: "sent", Class: catalog.ClassCounter}, History: 8})
	if r := rowOf(t, got, "sent"); r.Max != 50 || r.at(r.MaxAt) != "0" {
		t.Errorf("50 more in a second: %+v", r)
	}
	if d := got.Detail; len(d.Ranks) != 2 || d.Ranks[0].Raw != 150 || d.Ranks[0].Delta != 50 || d.Ranks[1].Raw != 1000 || len(d.History[0]) != 8 {
		t.Errorf("detail: %+v", got.Detail)
	}
	if got.Samples != 3 {
		t.Errorf("%d samples were read, of 3: old ones again?", got.Samples)
	}

	j.declare(2, columns)
	j.sample(2, 2*time.Second, 1, 0, 0, 0)
	j.flush()
	j.live(2, 0)
	if err := os.Remove(filepath.Join(j.dir, j.manifest(1))); err != nil {
		t.Fatal(err)
	}
	wall = wall.Add(10 * time.Second)
	f.All()
	got = f.Frame(Ask{})
	var words []string
	for i := range got.Ranks {
		words = append(words, got.Ranks[i].Word())
	}
	if fmt.Sprint(words) != "[silent died running]" {
		t.Errorf("the ranks are %v", words)
	}
	if s := fmt.Sprint(got.findings().Long()); s != "[rank 1 died before the end of the recording rank 0 recorded nothing lately, but did not end 7 samples were lost: they could not be taken or kept]" {
		t.Error(s)
	}
	got = f.Frame(Ask{As: recording.Rate, Row: &Key{Variable: "sent", Class: catalog.ClassCounter}})
	if d := got.Detail; !math.IsNaN(d.Ranks[0].Rate) || !math.IsNaN(d.Ranks[1].Rate) || d.Ranks[0].Delta != 50 {
		t.Errorf("a silent rank and a dead one have a rate: %+v", d.Ranks)
	}
	if err := os.RemoveAll(j.dir); err != nil {
		t.Fatal(err)
	}
	f.All()
	if got = f.Frame(Ask{}); got.Broken == "" || rowOf(t, got, "sent").Ranks == 0 {
		t.Errorf("the directory is gone: %q", got.Broken)
	}
}

// Counters that wrap, are set back, or are greater than a float can tell apart.
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		typ    int32
		values []uint64
		want   float64
	}{
		{int32(catalog.TypeUint64), []uint64{1 << 62, 1<<62 + 1}, 1},
		{int32(catalog.TypeUint64), []uint64{math.MaxUint64 - 1, 3}, 5},
		{int32(catalog.TypeUint64), []uint64{100, 150, 10, 30}, 70},
		{int32(catalog.TypeUint64), []uint64{5}, 0},
	} {
		j := newJob(t, 1, recordingtest.Column{Variable: "v", Class: int32(catalog.ClassCounter), Type: c.typ, Count: 1, Size: 8})
		for i, v := range c.values {
			j.sample(0, time.Duration(i+1)*time.Second, v)
		}
		j.flush()
		f := j.open()
		f.All()
		if r := rowOf(t, f.Frame(Ask{}), "v"); r.Sum != c.want {
			t.Errorf("%v: %v, not %v", c.values, r.Sum, c.want)
		}
	}
}

// A run that has ended is seen as a whole, however long it was, in a bounded number of bins.
func TestWhole(t *testing.T) {
	j := newJob(t, 1, columns[0])
	for i := range 5000 {
		j.sample(0, time.Duration(i)*time.Minute, uint64(i))
	}
	j.flush()
	f := j.open()
	f.All()
	d := f.Frame(Ask{As: recording.Delta, Row: &Key{Variable: "sent", Class: catalog.ClassCounter}, History: mostBins}).Detail
	h := d.History[0]
	if len(h) > mostBins || len(h) < mostBins/2 {
		t.Fatalf("%d bins", len(h))
	}
	for i := range h {
		if math.IsNaN(h[i]) || i > 0 && h[i] <= h[i-1] {
			t.Fatalf("bin %d of %v", i, h)
		}
	}
	if h[0] > 100 || h[len(h)-1] != 4999 {
		t.Errorf("from %v to %v", h[0], h[len(h)-1])
	}
	if rate := d.Ranks[0].Rate; math.Abs(rate-1./60) > 1e-6 {
		t.Errorf("a rate of %v", rate)
	}
	for i, x := range f.Frame(Ask{Row: &Key{Variable: "sent", Class: catalog.ClassCounter}, History: mostBins}).Detail.History[0] {
		if math.Abs(x-1./60) > 1e-6 { // also in the bins at both ends, which samples cover in part
			t.Errorf("a rate of %v in bin %d", x, i)
		}
	}
}

// No rank stands for others with the same value, in whatever order the ranks' samples came.
func TestTies(t *testing.T) {
	j := newJob(t, 4, columns[0], recordingtest.Column{Variable: "equal", Class: int32(catalog.ClassLevel), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
	for i, r := range []int{3, 1, 0, 2} {
		j.sample(r, time.Duration(i+1)*time.Second, uint64(r/3), 7)
	}
	j.flush()
	f := j.open()
	f.All()
	frame := f.Frame(Ask{As: recording.Raw})
	sent, equal := rowOf(t, frame, "sent"), rowOf(t, frame, "equal")
	if got := sent.at(sent.MinAt) + " " + sent.at(sent.MaxAt) + " " + equal.at(equal.MinAt) + " " + equal.at(equal.MaxAt); got != "0-2 3 all all" {
		t.Error(got)
	}
	sit(t, f, unicodeTerm, 100, 24).sees("  all")
	if rows := frame.Table().Rows; rows[1][7] != 0 || rows[1][10] != 0 {
		t.Errorf("for programs: %v", rows)
	}
}

// TREND and the heat map of a run that has ended show the same time: an outage in the middle is in the middle of both.
func TestTrendIsWhole(t *testing.T) {
	j := newJob(t, 1, columns[0])
	n := uint64(0)
	for i := range 1200 {
		if i < 600 || i >= 660 {
			n++
		}
		j.sample(0, time.Duration(i)*100*time.Millisecond, n)
	}
	j.streams[0].End(1)
	j.flush()
	f := j.open()
	f.All()
	u := sit(t, f, unicodeTerm, 120, 24)
	u.sees(", steps of 1.05s") // of one column: 122.9 s in 114 columns of the map
	lines := strings.Split(u.screen(), "\n")
	from := strings.Index(lines[2], "TREND")
	trend := []rune(lines[3])[from:]
	width := float64(120 - from)
	for i, c := range trend {
		if place := (float64(i) + 0.5) / width * 122.88; c == '▁' && (place < 59 || place > 68) || c != '▁' && place > 61.5 && place < 65 {
			t.Errorf("column %d at %.0f s is %c in %s", i, place, c, string(trend))
		}
	}
}

// Histories stay within their bounds.
func TestMemoryBound(t *testing.T) {
	f := &Feed{line: timeline{width: binOfLive, bins: mostBins}, cells: map[Key][]*cell{}}
	for f.count = 1; f.count < 1<<19; f.count *= 2 {
		f.fit()
		if f.line.bins > leastBins && f.count*f.line.bins*8 > historyBytes {
			t.Errorf("%d cells with %d bins", f.count, f.line.bins)
		}
	}
}

func TestGap(t *testing.T) {
	h := history{last: -1}
	h.put(1, 8, 2, false, 1)
	h.put(3, 8, 2, false, 3) // as late as the interval allows: no gap
	h.put(7, 8, 2, false, 7) // too late
	for b, want := range []float64{math.NaN(), 1, 1, 3, math.NaN(), math.NaN(), math.NaN(), 7, math.NaN()} {
		if got := h.at(b); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("bin %d: %v, not %v", b, got, want)
		}
	}
	h.put(100, 8, 2, false, 100)
	if got := h.at(99); !math.IsNaN(got) {
		t.Errorf("bin 99: %v", got)
	}
}

// BenchmarkRefresh is what a screen does twice a second of a job whose variables all have a new sample each time: it reads them, and
// draws. percent is of one processor, at two a second.
func BenchmarkRefresh(b *testing.B) {
	for _, size := range []struct{ ranks, variables int }{{4, 16}, {256, 50}, {1000, 16}} {
		b.Run(fmt.Sprintf("%dx%d", size.ranks, size.variables), func(b *testing.B) { refreshes(b, size.ranks, size.variables) })
	}
}

func refreshes(b *testing.B, ranks, variables int) {
	many := make([]recordingtest.Column, variables)
	for i := range many {
		many[i] = columns[0]
		many[i].Variable = fmt.Sprint("v", i)
	}
	j := newJob(b, ranks, many...)
	f := j.open()
	f.line.whole, f.line.width = false, binOfLive
	f.All()
	u := sit(b, f, term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}, 160, 50)
	values := make([]uint64, variables)
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		for i := range values {
			values[i] += uint64(n + i)
		}
		for r := range j.streams {
			j.sample(r, time.Duration(n)*binOfLive, values...)
		}
		j.flush()
		b.StartTimer()
		u.do(u.m.read(true))
		u.m.Render()
	}
	if got := u.m.frame.Samples; got != uint64(n*ranks) {
		b.Fatalf("%d samples were read, of %d", got, n*ranks)
	}
	b.ReportMetric(2*100*b.Elapsed().Seconds()/float64(b.N), "percent")
}

// A rank that is in MPI all the time is there for a second per second in every bin, also if its samples come late.
func TestLateSamples(t *testing.T) {
	j := newJob(t, 1, recordingtest.Column{Variable: "in_mpi", Class: int32(catalog.ClassTimer), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
	j.live(0, 0)
	for _, ms := range []time.Duration{10, 450, 700, 1020, 1490, 2100, 2510, 2990, 3300} {
		j.sample(0, ms*time.Millisecond, uint64(ms*time.Millisecond))
	}
	j.flush()
	f := j.open()
	f.All()
	d := f.Frame(Ask{As: recording.Rate, Row: &Key{Variable: "in_mpi", Class: catalog.ClassTimer}, History: 5}).Detail
	for i, x := range d.History[0] {
		if !(math.Abs(x-1e9) <= 1) {
			t.Errorf("bin %d: %g ns per second", i, x)
		}
	}
	if err := os.Remove(filepath.Join(j.dir, j.manifest(0))); err != nil {
		t.Fatal(err)
	}
	f.All() // it has died: its rate is that of the whole run
	got := f.Frame(Ask{As: recording.Rate, Row: &Key{Variable: "in_mpi", Class: catalog.ClassTimer}})
	if rate := got.Detail.Ranks[0].Rate; !got.Over || !(math.Abs(rate-1e9) <= 1) {
		t.Errorf("over %v, a rate of %g", got.Over, rate)
	}
}

// A rank that ended a little before the others is read out at its end, and is not missing from the sum at the end of TREND.
func TestUnevenEnd(t *testing.T) {
	j := newJob(t, 2, columns[0])
	for i := range 1000 {
		if i < 997 {
			j.sample(0, time.Duration(i)*100*time.Millisecond, 10*uint64(i))
		}
		j.sample(1, time.Duration(i)*100*time.Millisecond, 10*uint64(i))
	}
	j.streams[0].End(1)
	j.streams[1].End(1)
	j.flush()
	f := j.open()
	f.All()
	u := sit(t, f, unicodeTerm, 160, 24)
	u.sees("99.7s  rank 0: 100/s   min 100/s on rank 0, max 100/s on rank 1")
	trend := u.m.frame.Rows[0].Trend
	if last := trend[len(trend)-1]; last < 180 {
		t.Errorf("the trend ends with %v", last)
	}
}

// An incomplete rank is named, and is in no sum and no mean.
func TestIncomplete(t *testing.T) {
	j := newJob(t, 3)
	for r := range 3 {
		j.sample(r, time.Second, uint64(100*(r+1)), 0, 0, 0)
	}
	j.streams[1].Counters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 12, 1)
	j.flush()
	f := j.open()
	f.All()
	got := f.Frame(Ask{As: recording.Raw})
	if r := rowOf(t, got, "sent"); r.Ranks != 2 || r.Sum != 400 || r.Mean != 200 {
		t.Errorf("%+v", r)
	}
	if s := fmt.Sprint(got.findings().Long()); !strings.Contains(s, "rank 1: the recording is incomplete; numbers may be too small, and count in no sum and no mean of a variable") {
		t.Error(s)
	}
}

// All reads all samples that are there.
func (f *Feed) All() {
	for f.Poll() {
	}
}
