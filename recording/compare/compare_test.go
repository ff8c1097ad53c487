package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
)

const second = int64(time.Second)

// job is a profile of ranks that ran for some seconds each, with the time of each in MPI.
func job(elapsed float64, inMPI ...float64) *profile.Profile {
	p := &profile.Profile{}
	length := time.Duration(elapsed * 1e9)
	for i, in := range inMPI {
		p.Ranks = append(p.Ranks, &profile.Rank{Number: i, Elapsed: length, InMPI: time.Duration(in * 1e9)})
	}
	p.Efficiency.Elapsed = length
	return p
}

// spent adds a call site in a build of the program, and its function, with the seconds of each rank. A line of 0 is an address.
func spent(p *profile.Profile, name, build, function string, line int, calls uint64, seconds ...float64) *profile.Function {
	f := &profile.Function{Name: name}
	for i, t := range seconds {
		totals := profile.Totals{Calls: calls / uint64(len(seconds)), Time: time.Duration(t * 1e9)}
		f.Ranks = append(f.Ranks, profile.RankTotals{Rank: p.Ranks[i], Totals: totals})
		f.Time += totals.Time
	}
	f.Calls = calls
	p.Functions = append(p.Functions, f)
	site := *f
	at := profile.Address{Path: "/bin/app", BuildID: build, Offset: uint64(0x1000 + len(p.Sites))}
	site.Stack = []profile.Address{at}
	if line > 0 {
		site.Frames = []profile.Frame{{Function: function, File: "/src/" + build + "/halo.c", Line: line, Address: at}}
	}
	p.Sites = append(p.Sites, &site)
	return &site
}

func input(name string, p *profile.Profile) Input {
	run := &recording.Run{}
	for i := range p.Ranks {
		run.Ranks = append(run.Ranks, &recording.Rank{Rank: i, Size: len(p.Ranks), Host: "node1", Program: "./app", State: recording.StateEnded})
	}
	return Input{Name: name, Run: run, Profile: p}
}

func pair(a, b *profile.Profile) *Comparison {
	return Compare([]Input{input("run1", a)}, []Input{input("run2", b)})
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

func TestDelta(t *testing.T) {
	for _, c := range []struct {
		name           string
		d              Delta
		change         float64
		spread, within bool
	}{
		{"one run each", Delta{Base: Sample{1}, New: Sample{3}}, 2, false, false},
		{"unknown", Delta{Base: nil, New: Sample{3}}, 0, false, false},
		{"equal", Delta{Base: Sample{2, 2}, New: Sample{2}}, 0, true, false},
		{"within the error of estimates", Delta{Base: Sample{1}, New: Sample{3}, BaseError: 1.5, NewError: 1.5}, 2, false, true},
		{"beyond the error of estimates", Delta{Base: Sample{1}, New: Sample{3}, BaseError: 1, NewError: 1}, 2, false, false},
		{"apart", Delta{Base: Sample{1, 2}, New: Sample{3, 4}}, 2, true, false},
		{"ranges overlap", Delta{Base: Sample{1, 2, 3.5}, New: Sample{3, 4, 5}}, 4 - 6.5/3, true, true},
		{"one run in the other's range", Delta{Base: Sample{1, 2, 4}, New: Sample{3}}, 3 - 7.0/3, true, true},
		{"four apart", Delta{Base: Sample{1, 2, 3, 4}, New: Sample{5, 6, 7, 8}}, 4, true, false},
		{"four overlap", Delta{Base: Sample{1, 2, 3, 5}, New: Sample{4, 6, 7, 8}}, 3.5, true, true},
		{"an outlier", Delta{Base: Sample{1, 2, 3, 4, 5, 6, 7, 20}, New: Sample{8, 9, 10, 11, 12, 13, 14, 15}}, 5.5, true, false},
	} {
		if math.Abs(c.d.Change()-c.change) > 1e-9 {
			t.Errorf("%s: change %f, not %f", c.name, c.d.Change(), c.change)
		}
		equal(t, c.name+": spread", c.d.Spread(), c.spread)
		equal(t, c.name+": within", c.d.WithinSpread(), c.within)
	}
	// Computed by hand: U, and its variance with the correction for ties.
	for _, c := range []struct {
		a, b Sample
		p    float64
	}{
		{Sample{1, 2, 3, 4}, Sample{5, 6, 7, 8}, 0.030383},
		{Sample{1, 1, 2, 3}, Sample{2, 3, 3, 4}, 0.134169},
		{Sample{1, 1, 1, 1}, Sample{1, 1, 1, 1}, 1},
	} {
		if p := mannWhitney(c.a, c.b); math.Abs(p-c.p) > 1e-5 {
			t.Errorf("%v and %v: p = %f, not %f", c.a, c.b, p, c.p)
		}
	}
}

// Sites match by function and line; by their order in a function if the source changed, or else as one; never by addresses of other builds.
func TestSites(t *testing.T) {
	type site struct {
		build, function string
		line            int
	}
	for _, c := range []struct {
		name      string
		base, new []site
		want      []string
	}{
		{"the same", []site{{"a", "step", 10}, {"a", "step", 11}}, []site{{"a", "step", 10}, {"a", "step", 11}}, []string{"halo.c:10", "halo.c:11"}},
		{"rebuilt", []site{{"a", "step", 10}, {"a", "step", 11}}, []site{{"b", "step", 10}, {"b", "step", 11}}, []string{"halo.c:10", "halo.c:11"}},
		{"one not reached", []site{{"a", "step", 10}, {"a", "step", 11}}, []site{{"a", "step", 11}}, []string{"halo.c:10 base", "halo.c:11"}},
		{"both reach one alone", []site{{"a", "step", 10}}, []site{{"a", "step", 11}}, []string{"halo.c:10 base", "halo.c:11 new"}},
		{"lines moved", []site{{"a", "step", 10}, {"a", "step", 11}}, []site{{"b", "step", 11}, {"b", "step", 12}}, []string{"halo.c:10 halo.c:11", "halo.c:11 halo.c:12"}},
		{"a call more", []site{{"a", "step", 10}, {"a", "step", 11}}, []site{{"b", "step", 20}, {"b", "step", 21}, {"b", "step", 22}}, []string{"step in halo.c"}},
		{"a function renamed", []site{{"a", "step", 10}, {"a", "step", 11}}, []site{{"b", "advance", 10}, {"b", "advance", 11}}, []string{"halo.c:10", "halo.c:11"}},
		{"a function renamed and moved", []site{{"a", "step", 10}, {"a", "step", 11}}, []site{{"b", "advance", 20}, {"b", "advance", 21}}, []string{"halo.c:10 halo.c:20", "halo.c:11 halo.c:21"}},
		{"a function renamed, another moved", []site{{"a", "step", 10}, {"a", "pack", 30}}, []site{{"b", "advance", 10}, {"b", "pack", 40}}, []string{"halo.c:10", "halo.c:30 halo.c:40"}},
		{"two functions renamed and moved", []site{{"a", "step", 10}, {"a", "pack", 30}}, []site{{"b", "advance", 20}, {"b", "fill", 40}},
			[]string{"halo.c:10 base", "halo.c:20 new", "halo.c:30 base", "halo.c:40 new"}},
		{"two functions of one build", []site{{"a", "step", 10}}, []site{{"a", "advance", 20}}, []string{"halo.c:10 base", "halo.c:20 new"}},
		{"another function with more calls", []site{{"a", "step", 10}}, []site{{"b", "advance", 20}, {"b", "advance", 21}}, []string{"halo.c:10 base", "halo.c:20 new", "halo.c:21 new"}},
		{"the source of one run is gone", []site{{"a", "step", 10}, {"a", "step", 11}}, []site{{"a", "", 0}, {"a", "", 0}}, []string{"halo.c:10", "halo.c:11"}},
		{"the source of another build is gone", []site{{"a", "step", 10}}, []site{{"b", "", 0}}, []string{"app+0x1000 new", "halo.c:10 base"}},
		{"a new function", []site{{"a", "step", 10}}, []site{{"b", "step", 10}, {"b", "pack", 30}}, []string{"halo.c:10", "halo.c:30 new"}},
		{"addresses of one build", []site{{"a", "", 0}, {"a", "", 0}}, []site{{"a", "", 0}, {"a", "", 0}}, []string{"app+0x1000", "app+0x1001"}},
		{"addresses of two builds", []site{{"a", "", 0}, {"a", "", 0}}, []site{{"b", "", 0}, {"b", "", 0}}, []string{"app"}},
		{"one address of two builds", []site{{"a", "", 0}}, []site{{"b", "", 0}}, []string{"app+0x1000"}},
		{"addresses of unknown builds", []site{{"", "", 0}, {"", "", 0}}, []site{{"", "", 0}, {"", "", 0}}, []string{"app"}},
	} {
		make := func(all []site) *profile.Profile {
			p := job(10, 1)
			for _, s := range all {
				spent(p, "MPI_Send", s.build, s.function, s.line, 1, 1)
			}
			return p
		}
		var got []string
		calls := 0.0
		for _, it := range pair(make(c.base), make(c.new)).Sites {
			text := it.Site + " " + it.NewSite
			if it.Side != Both {
				text = it.Site + " " + it.Side.String()
			}
			got = append(got, strings.TrimSpace(text))
			calls += it.Measure("calls").Base.Mean() + it.Measure("calls").New.Mean()
		}
		slices.Sort(got)
		equal(t, c.name, strings.Join(got, ", "), strings.Join(c.want, ", "))
		equal(t, c.name+": calls", calls, float64(len(c.base)+len(c.new)))
	}
}

// Programs that were copied under another name for each job match by their code; those of two builds by what they are.
func TestSitesOfRenamedPrograms(t *testing.T) {
	for _, c := range []struct {
		base, new, baseBuild, newBuild string
		want                           Side
	}{{"/scratch/1/app.1", "/scratch/2/app.2", "a", "a", Both}, {"/scratch/1/app.1", "/scratch/2/app.2", "a", "b", Both}, {"/lib/libgrid.so.1", "/lib/libgrid.so.2", "a", "b", Both},
		{"/lib/libgrid.so.1", "/lib/libmesh.so.1", "a", "b", Base}} {
		p, q := job(10, 1), job(10, 1)
		spent(p, "MPI_Send", c.baseBuild, "", 0, 1, 1).Stack[0].Path = c.base
		spent(q, "MPI_Send", c.newBuild, "", 0, 1, 1).Stack[0].Path = c.new
		a, b := input("run1", p), input("run2", q)
		if strings.Contains(c.base, "scratch") {
			a.Run.Ranks[0].Program, b.Run.Ranks[0].Program = c.base+" input", c.new+" input"
		}
		sites := Compare([]Input{a}, []Input{b}).Sites
		if (len(sites) == 1 && sites[0].Side == Both) != (c.want == Both) {
			t.Errorf("%+v: %d sites", c, len(sites))
		}
	}
}

// known is a run in which rank 1 computes, and another in which it computes 2 s longer and ranks 0 and 2 wait.
func known() (a, b *profile.Profile) {
	a, b = job(10, 1, 1, 1), job(12, 3, 1, 3)
	spent(a, "MPI_Waitall", "a", "exchange", 88, 3000, 0.8, 0.8, 0.8)
	spent(b, "MPI_Waitall", "b", "exchange", 90, 3000, 2.8, 0.8, 2.8)
	spent(a, "MPI_Isend", "a", "exchange", 80, 3000, 0.1, 0.1, 0.1)
	spent(b, "MPI_Isend", "b", "exchange", 82, 3000, 0.1, 0.1, 0.1)
	spent(a, "MPI_Alltoall", "a", "transpose", 200, 30, 0.1, 0.1, 0.1)
	spent(b, "MPI_Alltoallv", "b", "transpose", 202, 30, 0.2, 0.1, 0.2)
	for _, p := range []*profile.Profile{a, b} {
		p.Phases = []*profile.Phase{{Name: "solve", Efficiency: profile.Efficiency{Elapsed: p.Ranks[0].Elapsed - time.Second}}, {Name: "", Efficiency: profile.Efficiency{Elapsed: time.Second}}}
	}
	a.Total.MessagesSent, b.Total.MessagesSent, a.Total.BytesSent, b.Total.BytesSent = 3000, 3000, 3e6, 6e6
	a.Sites[1].BytesSent, b.Sites[1].BytesSent = 3e6, 6e6
	a.Pairs = []profile.Pair{{Source: 0, Destination: 1, MessagesSent: 1500, BytesSent: 1.5e6, SourceKnown: true}, {Source: 1, Destination: 2, MessagesSent: 1500, BytesSent: 1.5e6, SourceKnown: true}}
	b.Pairs = []profile.Pair{{Source: 0, Destination: 1, MessagesSent: 1500, BytesSent: 1.5e6, SourceKnown: true}, {Source: 1, Destination: 2, MessagesSent: 1500, BytesSent: 4.5e6, SourceKnown: true}}
	return a, b
}

func texts(list []finding.Finding) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s: %s", f.Kind, f.Text)
		if f.Next != "" {
			fmt.Fprintf(&b, " / %s", f.Next)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestFindings(t *testing.T) {
	a, b := known()
	equal(t, "slower", texts(pair(a, b).Findings("mpitx compare run1 run2")), `
run time: the run takes 2.00 s more (10.0 → 12.0 s, +20 %): on average, ranks spend 1.33 s more in MPI and 667 ms more outside of it
outside of MPI: rank 1 is outside of MPI for 2.00 s more (9.00 → 11.0 s), the others for as long as before / what rank 1 does there
phase: phase "solve" takes 2.00 s more (9.00 → 11.0 s), 100 % of the run's growth / mpitx compare run1 run2 --phase solve
calls: MPI_Waitall in halo.c:88 (now halo.c:90) takes 1.33 s more a rank (0.80 → 2.13 s), 67 % of the run's growth, mostly on ranks 0, 2: 3000 calls, 0.80 → 2.13 ms each / rank 1, for which the others wait: it is outside of MPI for 2.00 s more
calls: only run2 has MPI_Alltoallv in halo.c:202: it takes 167 ms a rank in 30 calls, 8 % of the run's growth
messages: ranks send 3.00 → 6.00 MB in 3000 messages (+100 % bytes), most of the change by MPI_Isend in halo.c:80 (now halo.c:82), most of it from rank 1 to 2 / mpitx report run2 matrix
`[1:])
	equal(t, "functions", fmt.Sprint(pair(a, b).Differences), "[{build of app a b} {functions MPI_Alltoall MPI_Alltoallv}]")
	equal(t, "faster", strings.Count(texts(pair(b, a).Findings("x")), " of the run's gain"), 3)
}

// A rank that computes longer is not what its own calls wait for, and lists are sorted by absolute change.
func TestLate(t *testing.T) {
	a, b := job(10, 1, 1), job(14, 3, 2)
	spent(a, "MPI_Ssend", "a", "step", 5, 10, 0, 9)
	spent(b, "MPI_Ssend", "a", "step", 5, 10, 0, 10)
	spent(a, "MPI_Recv", "a", "step", 9, 10, 3, 0)
	spent(b, "MPI_Recv", "a", "step", 9, 10, 1, 0)
	spent(a, "MPI_Allreduce", "a", "step", 12, 10, 1, 0)
	spent(b, "MPI_Allreduce", "a", "step", 12, 10, 5, 0)
	c := pair(a, b)
	for i, want := range []string{"MPI_Allreduce", "MPI_Recv", "MPI_Ssend"} {
		equal(t, "order", c.Sites[i].Name, want)
	}
	b.Ranks[1].InMPI = time.Second // it computes for 3 s more, rank 0 for 2 s more
	c = pair(a, b)
	for name, want := range map[string]string{"MPI_Ssend": "mpitx report run2: whether", "MPI_Recv": ""} {
		for _, f := range c.Findings("") {
			if strings.HasPrefix(f.Text, name) && !strings.HasPrefix(f.Next, want) {
				t.Errorf("%s: look at %s", f.Text, f.Next)
			}
		}
	}
}

// Findings about time outside of MPI name the ranks whose time changed.
func TestOutsideOfRanks(t *testing.T) {
	// The times outside of MPI of the ranks, before and after.
	for _, c := range []struct {
		base, with []float64
		says       string
	}{
		{[]float64{1, 1, 1, 1}, []float64{0, 3, 0, 0}, "rank 1 is outside of MPI for 2.00 s more (1.00 → 3.00 s), the others for 1.00 s less each / what rank 1 does there"},
		{[]float64{0, 3, 0, 0}, []float64{1, 1, 1, 1}, "rank 1 is outside of MPI for 2.00 s less (3.00 → 1.00 s), the others for 1.00 s more each / what rank 1 does there"},
		{[]float64{1, 1, 1, 1}, []float64{0.2, 3, 0.2, 0.2}, "rank 1 is outside of MPI for 2.00 s more (1.00 → 3.00 s), the others for 800 ms less each / what rank 1 does there"},
		{[]float64{1, 1, 1, 1}, []float64{1, 3, 1, 1}, "rank 1 is outside of MPI for 2.00 s more (1.00 → 3.00 s), the others for as long as before / what rank 1 does there"},
		{[]float64{1, 1, 1, 1}, []float64{1.5, 4, 2, 1}, "rank 1 is outside of MPI for 3.00 s more (1.00 → 4.00 s), the others from as long to 1.00 s more / what rank 1 does there"},
		{[]float64{1, 1}, []float64{2, 1}, "rank 0 is outside of MPI for 1.00 s more (1.00 → 2.00 s), the other one for as long as before / what rank 0 does there"},
		{[]float64{1, 1, 1, 1}, []float64{2, 2, 0, 0}, "ranks 0, 1 are outside of MPI for 1.00 s more on average, ranks 2, 3 for 1.00 s less on average / how the work is divided between the ranks"},
		{[]float64{1.79, 0.9}, []float64{0.89, 1.785}, "rank 1 is outside of MPI for 885 ms more, rank 0 for 900 ms less / how the work is divided between the ranks"},
		{[]float64{3, 3}, []float64{3.098, 3.101}, ""}, // both changed alike, one by more than 1 % of the run
		{[]float64{1, 1, 1, 1}, []float64{2, 2.1, 1, 1}, "ranks 0, 1 are outside of MPI for 1.05 s more on average, the others for as long as before / the program itself"},
		{[]float64{1, 1, 1, 1}, []float64{2, 2.1, 2, 2}, "ranks are outside of MPI for 1.02 s more (1.00 → 2.02 s a rank)"}, // no rank stands out
		{[]float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, ""},
	} {
		run := func(useful []float64) *profile.Profile {
			var inMPI []float64
			for _, x := range useful {
				inMPI = append(inMPI, 10-x)
			}
			return job(10, inMPI...)
		}
		got := ""
		for _, f := range pair(run(c.base), run(c.with)).Findings("") {
			if f.Kind == "outside of MPI" {
				got += f.Text
				if f.Next != "" {
					got += " / " + f.Next
				}
			}
		}
		if got != c.says && (c.says == "" || !strings.HasPrefix(got, c.says)) {
			t.Errorf("%v to %v: %s", c.base, c.with, got)
		}
	}
}

// With several runs, changes that are smaller than the spread are no findings.
func TestSpread(t *testing.T) {
	run := func(elapsed, waited float64) Input {
		p := job(elapsed, waited, waited)
		spent(p, "MPI_Wait", "a", "step", 7, 100, waited, waited)
		return input("run", p)
	}
	noisy := Compare([]Input{run(10, 1), run(11, 2)}, []Input{run(10.5, 1.5), run(12, 3)})
	equal(t, "noisy", texts(noisy.Findings("")), "run time: the run takes 750 ms more (10.5 → 11.2 s, +7 %), which is within the spread; runs vary by 13 %\n")
	equal(t, "noisy: the change", noisy.Functions[0].Measures[0].Change(), float64(750*second/1000))
	equal(t, "noisy: --fail-above", len(noisy.Grown(0.01)), 0)
	clear := Compare([]Input{run(10, 1), run(10.2, 1.2)}, []Input{run(12, 3), run(12.4, 3.4)})
	equal(t, "clear", texts(clear.Findings("")), `
run time: the run takes 2.10 s more (10.1 → 12.2 s, +21 %): on average, ranks spend 2.10 s more in MPI and as long outside of it; runs vary by 3 %
calls: MPI_Wait in halo.c:7 takes 2.10 s more a rank (1.10 → 3.20 s), 100 % of the run's growth, on all ranks: 100 calls, 22.0 → 64.0 ms each; runs vary by 12 % / mpitx report run: whether ranks wait for each other, or the library and the network are slower
`[1:])
	equal(t, "clear: --fail-above 10", strings.Join(clear.Grown(0.10), "\n"), "the run time by 20.8 % (10.1 → 12.2 s)\nMPI_Wait by 20.8 % (1.10 → 3.20 s)")
	equal(t, "clear: --fail-above 21", len(clear.Grown(0.21)), 0)
}

func stat(name string, class catalog.Class, as recording.Transform, total, mean, most int64) recording.Stat {
	s := recording.Stat{Variable: name, Class: class, As: as, Count: 4, Min: recording.IntegerValue(0), Mean: float64(mean), Max: recording.IntegerValue(most)}
	if as == recording.Delta {
		s.Total = recording.IntegerValue(total)
	}
	return s
}

func TestVariables(t *testing.T) {
	sampled := func(stats ...recording.Stat) []Input {
		return []Input{{Name: "run", Run: &recording.Run{}, Stats: stats}}
	}
	c := Compare(sampled(stat("sent", catalog.ClassCounter, recording.Delta, 1000, 250, 300), stat("queue", catalog.ClassLevel, recording.Raw, 0, 1, 9),
		stat("same", catalog.ClassLevel, recording.Raw, 0, 5, 5), stat("old", catalog.ClassLevel, recording.Raw, 0, 5, 5), recording.Stat{Variable: "none"}),
		sampled(stat("sent", catalog.ClassCounter, recording.Delta, 1100, 275, 300), stat("queue", catalog.ClassLevel, recording.Raw, 0, 1, 90), stat("same", catalog.ClassLevel, recording.Raw, 0, 5, 5)))
	var got []string
	for _, it := range c.Variables {
		got = append(got, fmt.Sprint(it.Name, " ", it.Side, " ", it.Measures[0].Name, " ", it.Measures[0].Change(), " ", it.Measure("max").Change(), " ", it.Changed()))
	}
	equal(t, "variables", strings.Join(got, "\n"), "queue both mean 0 81 true\nsent both total 100 0 true\nold base mean 0 0 true\nsame both mean 0 0 false")
	equal(t, "findings", texts(c.Findings("")), "variable: queue: the maximum goes from 9 to 90\n")
	equal(t, "--fail-above 9", strings.Join(c.Grown(0.09), "\n"), "sent by 10.0 % (1000 → 1100)")
}

func TestDifferences(t *testing.T) {
	a, b := job(1, 0), job(1, 0, 0)
	spent(a, "MPI_Send", "aaaaaaaaaa", "step", 7, 1, 1)
	spent(b, "MPI_Send", "bbbbbbbbbb", "step", 7, 1, 1)
	from, to := input("run1", a), input("run2", b)
	for _, r := range to.Run.Ranks {
		r.Program, r.State, r.Host = "./app2 x", recording.StateRunning, "node2"
		r.Assignments = []recording.Assignment{{Cvar: "eager_limit", Read: "4096"}}
	}
	var got []string
	for _, d := range Compare([]Input{from}, []Input{to}).Differences {
		got = append(got, d.What+": "+d.Base+" / "+d.New)
	}
	equal(t, "differences", strings.Join(got, "\n"), "ranks: 1 / 2\nhosts: node1 / node2\nprogram: ./app / ./app2 x\nstate: ended / 2 running\nbuild of app: aaaaaaaa / bbbbbbbb\neager_limit: not set / 4096")
	from, to = input("run1", a), input("run2", a)
	from.Settings, to.Settings = map[string]string{"OMPI_MCA_btl": "self,vader", "UCX_TLS": "tcp", "OMPI_MCA_x": ""}, map[string]string{"OMPI_MCA_btl": "self,tcp", "UCX_TLS": "tcp"}
	equal(t, "settings", fmt.Sprint(Compare([]Input{from}, []Input{to}).Differences), "[{OMPI_MCA_btl self,vader self,tcp} {OMPI_MCA_x empty not set}]")
	to.Tools = []string{"counter (libfoo.so)", "logger"}
	equal(t, "tools", fmt.Sprint(Compare([]Input{from}, []Input{to}).Differences[0]), "{QMPI tools none counter (libfoo.so), logger}")
	from.Settings, to.Tools = nil, nil
	equal(t, "unknown settings", len(Compare([]Input{from}, []Input{to}).Differences), 0)
	c := pair(a, b)
	if len(c.SameRanks) > 0 || len(c.Sites) != 1 || c.Sites[0].ByRank != nil {
		t.Errorf("changes by rank of runs with different ranks: %+v", c.Sites)
	}
}

// onCores gives each rank what it did outside of MPI.
func onCores(p *profile.Profile, cores int, ran, waited float64) *profile.Profile {
	of := func(x float64) processor.Range {
		return processor.Range{Least: time.Duration(x * 1e9), Most: time.Duration(x * 1e9)}
	}
	g := processor.Group{Cores: cores}
	for _, r := range p.Ranks {
		r.Processor = &processor.Rank{Number: r.Number, Cores: 1, Inside: r.InMPI, Outside: r.Useful(), Ran: of(ran), Waited: of(waited),
			Slept: of(r.Useful().Seconds() - ran - waited), ThreadWait: of(waited).Least}
		g.Ranks = append(g.Ranks, r.Processor)
	}
	p.Processor = &processor.Processor{Ranks: g.Ranks, Groups: []processor.Group{g}}
	return p
}

// Runs without enough cores say so first; what follows from that is not said of calls, and computing is what ran.
func TestFindingsCores(t *testing.T) {
	a, b, c := onCores(job(10, 1, 1), 2, 9, 0), onCores(job(20, 3, 3), 1, 9, 8), onCores(job(20, 3, 3), 2, 17, 0)
	spent(a, "MPI_Barrier", "a", "main", 10, 20, 1, 1)
	spent(b, "MPI_Barrier", "a", "main", 10, 20, 3, 3)
	spent(c, "MPI_Barrier", "a", "main", 10, 20, 3, 3)
	equal(t, "short", texts(pair(a, b).Findings("")), `processor: run2: 2 ranks on 1 core: ranks waited 40 % of the run for a core; ranks waited 8.00 s more for cores (0 → 8.00 s a rank); whether calls became slower cannot be told
run time: the run takes 10.0 s more (10.0 → 20.0 s, +100 %): on average, ranks spend 2.00 s more in MPI and 8.00 s more outside of it
`)
	asleep := onCores(job(20, 3, 3), 1, 9, 0) // and as long as cores were missing
	for _, r := range asleep.Ranks {
		r.Processor.ThreadWait = 8 * time.Second
	}
	equal(t, "asleep", strings.Contains(texts(pair(a, asleep).Findings("")), "\nsleep: ranks sleep outside of MPI for 8.00 s more"), true)
	text := texts(pair(a, c).Findings(""))
	for _, want := range []string{"calls: MPI_Barrier in halo.c:10 takes 2.00 s more a rank", "computing: ranks compute outside of MPI for 8.00 s more"} {
		if !strings.Contains(text, want) || strings.HasPrefix(text, "processor:") {
			t.Errorf("not %q:\n%s", want, text)
		}
	}
}

// A rank that spends longer outside of MPI computes or sleeps there; if that is not known, it is only said that it is there.
func TestFindingsOutside(t *testing.T) {
	const waits = "MPI_Waitall in halo.c:88"
	for _, c := range []struct {
		what, does, kind string
		set              func(base, late *profile.Rank) // of rank 1, which is outside of MPI for 9 s, and for 11 s
	}{
		{"computes", "computes%s for 2.00 s more", "computing", func(_, r *profile.Rank) { r.Processor.Ran = processor.Range{Least: 11e9, Most: 11e9} }},
		{"sleeps", "sleeps%s for 2.00 s more", "sleep", func(_, r *profile.Rank) { r.Processor.Slept = processor.Range{Least: 2e9, Most: 2e9} }},
		{"a run of an older mpitx", "is%s for 2.00 s more", "outside of MPI", func(b, _ *profile.Rank) { b.Processor = nil }},
		{"not known exactly", "is%s for 2.00 s more", "outside of MPI", func(_, r *profile.Rank) { r.Processor.Slept.Most = 2e9 }},
		{"the end is not known", "is%s for 2.00 s more", "outside of MPI", func(_, r *profile.Rank) { r.Processor.Outside = 9e9 }},
		{"waits for a core", "is%s for 2.00 s more", "", func(_, r *profile.Rank) { r.Processor.Waited = processor.Range{Least: 2e9, Most: 2e9} }},
		{"computes and sleeps", "sleeps%s for 1.50 s more", "computing,sleep", func(_, r *profile.Rank) {
			r.Processor.Ran, r.Processor.Slept = processor.Range{Least: 9.5e9, Most: 9.5e9}, processor.Range{Least: 1.5e9, Most: 1.5e9}
		}},
	} {
		a, b := known()
		onCores(a, 3, 9, 0)
		onCores(b, 3, 9, 0)
		for _, r := range b.Ranks {
			r.Processor.Slept = processor.Range{}
		}
		c.set(a.Ranks[1], b.Ranks[1])
		var kinds []string
		for _, f := range pair(a, b).Findings("") {
			if f.Kind == "computing" || f.Kind == "sleep" || f.Kind == "outside of MPI" {
				kinds = append(kinds, f.Kind)
			}
			want := "rank 1, for which the others wait: it " + strings.Replace(c.does, "%s", " outside of MPI", 1)
			if c.kind == "computing" {
				want = "rank 1, for which the others wait: it " + strings.Replace(c.does, "%s", "", 1)
			}
			if strings.HasPrefix(f.Text, waits) && f.Next != want {
				t.Errorf("%s: %s, not %s", c.what, f.Next, want)
			}
			if f.Kind == c.kind && f.Kind != "" && !strings.HasPrefix(f.Text, "rank 1 "+strings.Replace(c.does, "%s", " outside of MPI", 1)) {
				t.Errorf("%s: %s", c.what, f.Text)
			}
		}
		slices.Sort(kinds)
		equal(t, c.what, strings.Join(kinds, ","), c.kind)
	}
}
