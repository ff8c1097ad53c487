package recording

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mpitx/catalog"
	"mpitx/recording/recordingtest"
)

// series returns a column's values, sampled once a second.
func series(class catalog.Class, typ catalog.Datatype, as Transform, values ...uint64) []string {
	c := &Column{Class: class, Type: typ, Count: 1, size: typ.Size()}
	set := &Set{Columns: []*Column{c}, offsets: []int{0}, row: 8}
	s := newShown(set, &Rank{NsPerTick: 1}, &Options{As: as})
	var out []string
	for i, v := range values {
		cells := s.show(&record{set: set, ticks: uint64(i) * 1e9, row: le.AppendUint64(nil, v)})
		text := cells[0].Value.String()
		if cells[0].Status != OK {
			text += "/" + cells[0].Status.String()
		}
		out = append(out, text)
	}
	return out
}

func TestTransforms(t *testing.T) {
	f := math.Float64bits
	neg := func(v int64) uint64 { return uint64(v) }
	for _, k := range []struct {
		what   string
		class  catalog.Class
		typ    catalog.Datatype
		as     Transform
		values []uint64
		want   []string
	}{
		{"counter", catalog.ClassCounter, catalog.TypeUint64, Default, []uint64{7, 7, 17}, []string{"0", "0", "10"}},
		{"counter as raw", catalog.ClassCounter, catalog.TypeUint64, Raw, []uint64{math.MaxUint64}, []string{"18446744073709551615"}},
		{"rate", catalog.ClassCounter, catalog.TypeUint64, Rate, []uint64{7, 7, 17}, []string{"/pending", "0", "10"}},
		{"exact", catalog.ClassCounter, catalog.TypeUint64, Delta, []uint64{1, 9007199254740994}, []string{"0", "9007199254740993"}},
		{"32-bit wraps", catalog.ClassCounter, catalog.TypeUnsigned, Delta, []uint64{4294967290, 5, 4294967290, 6}, []string{"0", "11", "4294967296", "4294967308"}},
		{"64-bit wraps", catalog.ClassCounter, catalog.TypeUint64, Delta, []uint64{math.MaxUint64 - 1, 3}, []string{"0", "5"}},
		{"signed wraps", catalog.ClassCounter, catalog.TypeInt, Delta, []uint64{math.MaxInt32, 0x80000001}, []string{"0", "2"}},
		{"reset", catalog.ClassCounter, catalog.TypeUint64, Delta, []uint64{100, 110, 3, 8}, []string{"0", "10", "10/reset", "15"}},
		{"rate after a reset", catalog.ClassCounter, catalog.TypeUint64, Rate, []uint64{100, 3, 8}, []string{"/pending", "/reset", "5"}},
		{"16-bit reset", catalog.ClassAggregate, catalog.TypeUint16, Delta, []uint64{1000, 0}, []string{"0", "0/reset"}},
		{"great steps up", catalog.ClassCounter, catalog.TypeUint64, Delta, []uint64{0, 1<<63 + 5}, []string{"0", "9223372036854775813"}},
		{"timer", catalog.ClassTimer, catalog.TypeDouble, Default, []uint64{f(-1.5), f(-1), f(2)}, []string{"0", "0.5", "3.5"}},
		{"timer reset", catalog.ClassTimer, catalog.TypeDouble, Default, []uint64{f(5), f(1), f(2)}, []string{"0", "0/reset", "1"}},
		{"level", catalog.ClassLevel, catalog.TypeInt, Default, []uint64{5, neg(-3)}, []string{"5", "-3"}},
		{"level as delta", catalog.ClassLevel, catalog.TypeInt64, Delta, []uint64{5, neg(-3), 6}, []string{"0", "-8", "1"}},
		{"level as delta, far", catalog.ClassLevel, catalog.TypeInt64, Delta, []uint64{neg(math.MinInt64), math.MaxInt64}, []string{"0", "18446744073709551615"}},
		{"unsigned level falls", catalog.ClassLevel, catalog.TypeUint64, Delta, []uint64{math.MaxUint64, 0}, []string{"0", "-18446744073709551615"}},
		{"level as rate", catalog.ClassLevel, catalog.TypeUint64, Rate, []uint64{5, 3}, []string{"/pending", "-2"}},
		{"watermark", catalog.ClassHighWatermark, catalog.TypeUnsigned, Default, []uint64{5, 3}, []string{"5", "3"}},
		{"states have no rates", catalog.ClassState, catalog.TypeInt, Rate, []uint64{2}, []string{"2"}},
		{"text has no differences", catalog.ClassGeneric, catalog.TypeChar, Delta, []uint64{'x'}, []string{"x"}},
		{"bytes of -128", catalog.ClassLevel, catalog.TypeSignedChar, Raw, []uint64{0x80}, []string{"-128"}},
		{"float", catalog.ClassLevel, catalog.TypeFloat, Raw, []uint64{uint64(math.Float32bits(0.1))}, []string{"0.1"}},
	} {
		got := series(k.class, k.typ, k.as, k.values...)
		for i := range k.want {
			if got[i] != k.want[i] {
				t.Errorf("%s: %q, not %q", k.what, got, k.want)
				break
			}
		}
	}
}

// TestDeltaIsExact adds steps of less than half the range, with wraps. Delta is exactly their sum.
func TestDeltaIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]catalog.Datatype{catalog.TypeUint8, catalog.TypeInt16, catalog.TypeUnsigned, catalog.TypeInt64,
			catalog.TypeUint64}).Draw(t, "type")
		bits := 8 * typ.Size()
		half := uint64(1)<<(bits-1) - 1
		v := rapid.Uint64().Draw(t, "first")
		values, sum := []uint64{v}, uint64(0)
		for _, step := range rapid.SliceOfN(rapid.Uint64Range(0, min(half, 1<<60)), 0, 8).Draw(t, "steps") {
			v, sum = v+step, sum+step
			values = append(values, v)
		}
		got := series(catalog.ClassCounter, typ, Delta, values...)
		if want := UnsignedValue(sum).String(); got[len(got)-1] != want {
			t.Fatalf("%v: %v, not %s", values, got, want)
		}
	})
}

func TestStats(t *testing.T) {
	a, b := counting(1, 0, 21, 5), counting(2, 1, 11, 5)
	run := save(t, append(a.Out, b.Out...))
	s := run.Stats(Options{})
	if len(s) != 1 || s[0].As != Delta || s[0].Count != 2 || s[0].Min.String() != "10" || s[0].Max.String() != "20" || s[0].Mean != 15 ||
		s[0].Dev != 5 || s[0].Total.String() != "30" || s[0].MinRanks[0] != 1 || s[0].MaxRanks[0] != 0 {
		t.Errorf("%+v", s)
	}
	s = run.Stats(Options{As: Raw})
	if s[0].Count != 32 || s[0].Min.String() != "0" || s[0].Max.String() != "20" || len(s[0].MinRanks) != 2 || len(s[0].MaxRanks) != 1 {
		t.Errorf("%+v", s)
	}
}

// Sums of floating-point numbers are the same each time, to the last digit.
func TestStatsRepeat(t *testing.T) {
	var chunks []byte
	for rank := range int32(40) {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: 40, Clock: 1, NsPerTick: 1, Host: "n"})
		s.Clock(0, 0, 1e18, 0)
		s.Column(0, recordingtest.Column{Variable: "t", Class: int32(catalog.ClassTimer), Type: int32(catalog.TypeDouble), Count: 1, Size: 8})
		s.Set(0, 8, 0)
		for n, v := range []float64{0, math.Pi * math.Pow(7, float64(rank%11)) / 1e5} {
			s.Sample(0, uint64(n)*1000, le.AppendUint64(nil, math.Float64bits(v)), nil)
		}
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	run := save(t, chunks)
	first := run.Stats(Options{})
	if len(first) != 1 || first[0].Count != 40 || first[0].Unit != "s" {
		t.Fatalf("%+v", first)
	}
	for range 50 {
		if again := run.Stats(Options{}); again[0].Total.String() != first[0].Total.String() || again[0].Mean != first[0].Mean || again[0].Dev != first[0].Dev {
			t.Fatalf("%+v, then %+v", first, again)
		}
	}
}

// sampled makes a run of one rank with one variable, sampled at the given times in nanoseconds.
func sampled(t testing.TB, class catalog.Class, interval uint64, ticks, values []uint64, statuses ...byte) *Run {
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n", Interval: interval})
	s.Clock(0, 0, 1e18, 0)
	s.Column(0, recordingtest.Column{Variable: "v", Class: int32(class), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
	s.Set(0, 8, 0)
	for i, at := range ticks {
		var status []byte
		if i < len(statuses) && statuses[i] != 0 {
			status = statuses[i : i+1]
		}
		s.Sample(0, at, le.AppendUint64(nil, values[i]), status)
	}
	s.Seal()
	return save(t, s.Out)
}

// At uneven samples, each rate times its time is the growth, and so is the mean rate times the whole time.
func TestMeanRate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ticks, values := []uint64{0}, []uint64{0}
		for range rapid.IntRange(1, 20).Draw(rt, "samples") {
			n := len(ticks) - 1
			ticks = append(ticks, ticks[n]+rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(1, 1e10)).Draw(rt, "ns"))
			values = append(values, values[n]+rapid.Uint64Range(0, 1e12).Draw(rt, "growth"))
		}
		last := len(ticks) - 1
		ticks[last]++ // the last rate includes growth at the very end
		run := sampled(t, catalog.ClassCounter, 1e7, ticks, values)
		defer run.Close()
		sum := 0.0
		for in := range run.Instants(Options{As: Rate}) {
			if c := in.Cells[0]; c.Status == OK {
				sum += c.Value.Float64() * c.covers.Seconds()
			}
		}
		want := float64(values[last])
		if math.Abs(sum-want) > 1e-12*want {
			rt.Fatalf("rates times their time are %v, not %v", sum, want)
		}
		if mean := run.Stats(Options{As: Rate})[0].Mean; math.Abs(mean*float64(ticks[last])/1e9-want) > 1e-12*want {
			rt.Fatalf("the mean rate is %v, not %v", mean, want/float64(ticks[last])*1e9)
		}
	})
}

// A level is weighted by the time that is closer to its sample than to another.
func TestMeanLevel(t *testing.T) {
	for _, k := range []struct {
		what          string
		ticks, values []uint64
		statuses      []byte
		mean, dev     float64
	}{
		{"even", []uint64{0, 10, 20, 30}, []uint64{1, 2, 3, 10}, nil, 4, math.Sqrt(12.5)},
		{"one", []uint64{5}, []uint64{7}, nil, 7, 0},
		{"nothing happens for long", []uint64{0, 10, 20, 1000}, []uint64{6, 6, 0, 0}, nil, 6 * 20 / 1010., math.Sqrt(36*20/1010. - 6*20/1010.*6*20/1010.)},
		{"many in a moment", []uint64{0, 1, 2, 3, 4, 94}, []uint64{9, 9, 9, 9, 9, 0}, nil, 9 * 49.5 / 99.5, 9 * math.Sqrt(49.5*50) / 99.5},
		{"at once", []uint64{10, 10, 10}, []uint64{1, 2, 6}, nil, 3, math.Sqrt(14 / 3.)},
		{"a time without a value", []uint64{0, 10, 60, 110}, []uint64{4, 4, 99, 1}, []byte{0, 0, byte(Error), 0}, (4*40 + 1*30) / 70., math.Sqrt(9*40*30) / 70},
	} {
		run := sampled(t, catalog.ClassLevel, 10, k.ticks, k.values, k.statuses...)
		s := run.Stats(Options{})[0]
		if math.Abs(s.Mean-k.mean) > 1e-12 || math.Abs(s.Dev-k.dev) > 1e-12 {
			t.Errorf("%s: %v ± %v, not %v ± %v", k.what, s.Mean, s.Dev, k.mean, k.dev)
		}
	}
}

func TestPlus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(-1<<62, 1<<62-1).Draw(t, "a"), rapid.Int64Range(-1<<62, 1<<62-1).Draw(t, "b")
		if got := IntegerValue(a).plus(IntegerValue(b)); got.String() != IntegerValue(a+b).String() {
			t.Fatalf("%d + %d = %v", a, b, got)
		}
	})
}

// A part of a run has the values of the whole: differences count from the start of the run also then.
func TestPartIsAnExcerpt(t *testing.T) {
	values := func(run *Run, o Options, as Transform) (all []string) {
		o.As = as
		for in := range run.Instants(o) {
			all = append(all, fmt.Sprint(in.Time, in.Cells[0].Value, in.Cells[0].Status))
		}
		return all
	}
	for _, as := range []Transform{Raw, Delta, Rate} {
		run := save(t, counting(1, 0, 20, 5).Out)
		whole, part := values(run, Options{}, as), values(run, Options{From: 7000, To: 12000}, as)
		if len(part) != 5 || !slices.Equal(part, whole[7:12]) {
			t.Errorf("%s: %q of %q", as, part, whole)
		}
	}
}
