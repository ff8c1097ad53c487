package grid

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/settings"
	"mpitx/tune/kernel"
)

func planOf(seed uint64) Plan {
	all := []Algorithm{{Name: "linear", Value: 1}, {Name: "ring", Value: 2}, {Name: "tree", Value: 3}}
	return Plan{
		Library: "a simulated library", Seed: seed, Ranks: 8, Sizes: Coarse(8, 1<<18, 8), CommSizes: []int{4, 8}, Screening: 3, Extra: 3, Bisecting: 3,
		Settings:    []settings.NameValue{{Name: "dynamic", Value: "true"}},
		Collectives: []Collective{{Function: "allreduce", Variable: "allreduce_algorithm", Algorithms: all}, {Function: "bcast", Variable: "bcast_algorithm", Algorithms: all}},
	}
}

// library is a simulated library: noise of runs and of operations, with some that are far out.
type library struct {
	*rand.Rand
	factor func(o kernel.Operation) float64 // of the time with an algorithm, relative to the library's own choice
	quiet  bool                             // no times are far out
	runs   int
}

func (m *library) measure(all []kernel.Operation) (results []kernel.Result, err error) {
	m.runs++
	run := math.Exp(0.3 * m.NormFloat64())
	for k, o := range all {
		t := (2000 + float64(o.Bytes)) * run * math.Exp(0.1*m.NormFloat64())
		if !m.quiet && m.IntN(10) == 0 {
			t *= 1 + 3*m.Float64()
		}
		if o.Name != "" {
			t *= m.factor(o)
		}
		results = append(results, kernel.Result{Index: k, Median: t, Low: t, High: t, N: 100, Start: "window"})
	}
	return results, nil
}

func same(kernel.Operation) float64 { return 1 }

func simulate(t *testing.T, plan Plan, factor func(kernel.Operation) float64) *Result {
	t.Helper()
	return simulateOn(t, &library{Rand: rand.New(rand.NewPCG(plan.Seed, 1)), factor: factor}, plan)
}

func simulateOn(t *testing.T, m *library, plan Plan) *Result {
	t.Helper()
	c := &Campaign{Plan: plan, Measure: m.measure, Journal: &Journal{}}
	r, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// If all algorithms are as fast as the library's own choice, at most 50 of 1,000 tables say anything.
func TestIdentical(t *testing.T) {
	wrong, candidates := 0, 0
	for seed := range uint64(1000) {
		r := simulate(t, planOf(seed), same)
		if len(r.Choices) > 0 {
			wrong++
		}
		for _, f := range r.Findings {
			if f.Candidate != "" {
				candidates++
			}
			if f.Winner && (f.High >= 0 || f.Confirmed == 0) {
				t.Errorf("%+v", f)
			}
		}
	}
	if wrong > 50 || candidates < 1000 {
		t.Errorf("%d tables of 1000 differ from the library's own choice; %d candidates", wrong, candidates)
	}
	t.Logf("%d of 1000", wrong)
}

// An algorithm that is faster between two sizes is found there, and its bounds between coarse sizes.
func TestCrossovers(t *testing.T) {
	const low, high = 300, 40000
	missed := 0
	for seed := range uint64(20) {
		r := simulateOn(t, &library{Rand: rand.New(rand.NewPCG(seed, 1)), quiet: true, factor: func(o kernel.Operation) float64 {
			switch {
			case o.Function == "bcast" && o.Value == 2 && low <= o.Bytes && o.Bytes < high:
				return 0.4
			case o.Function == "bcast" && o.Value == 3 && o.Bytes >= high:
				return 0.5
			}
			return 1.1
		}}, planOf(seed))
		for _, ranks := range []int{4, 8} {
			of := slices.DeleteFunc(slices.Clone(r.Choices), func(c Choice) bool { return c.Ranks != ranks })
			if len(of) != 2 || of[0].Algorithm.Name != "ring" || of[1].Algorithm.Name != "tree" || of[0].Variable != "bcast_algorithm" {
				t.Errorf("seed %d: %+v", seed, of)
				continue
			}
			near := func(size int64, to float64) bool { return float64(size) >= to/1.3 && float64(size) <= to*1.3 }
			if of[1].To != 1<<18 || of[0].To != of[1].From-1 || of[0].Change > -0.3 {
				t.Errorf("seed %d: %+v", seed, of)
			}
			if !near(of[0].From, low) || !near(of[1].From, high) {
				missed++
			}
		}
	}
	if missed > 4 { // of 40, for the noise
		t.Errorf("bounds were missed in %d tables", missed)
	}
}

// Bisecting without noise ends next to the true bound, on the safe side.
func TestBisecting(t *testing.T) {
	for _, bound := range []int64{9, 60, 100, 511, 512, 5000} {
		b := &boundary{low: 8, high: 8192, below: Own, above: 0}
		for {
			m, ok := middle(b.low, b.high)
			if !ok {
				break
			}
			if m <= b.low || m >= b.high {
				t.Fatalf("%d is not between %d and %d", m, b.low, b.high)
			}
			x := 0.1
			if m >= bound {
				x = -0.1
			}
			if b.side(map[int][]float64{0: {x, x, x}}, 3) {
				b.low = m
			} else {
				b.high = m
			}
		}
		if b.high < bound || b.low >= bound || b.high-b.low > 4 && float64(b.high) > 1.25*float64(b.low) {
			t.Errorf("bound %d: from %d to %d", bound, b.low, b.high)
		}
	}
	unsure := map[int][]float64{0: {-1, -1, 0.1}, 1: {-0.5, -0.5, -0.5}}
	for _, c := range []struct {
		below, above int
		want         bool
	}{{Own, 0, true}, {0, Own, false}, {Own, 1, false}, {1, Own, true}, {0, 1, true}, {1, 0, false}, {2, 1, false}} {
		if got := (&boundary{below: c.below, above: c.above}).side(unsure, 3); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The rules for some collectives cannot depend on the size: an algorithm has to win at all.
func TestSizeless(t *testing.T) {
	for always, want := range map[bool]int{true: 2, false: 0} {
		plan := planOf(1)
		plan.Collectives = plan.Collectives[1:]
		plan.Collectives[0].Sizeless = true
		r := simulate(t, plan, func(o kernel.Operation) float64 {
			if o.Value == 3 && (always || o.Bytes > 5000) {
				return 0.3
			}
			return 1
		})
		if len(r.Choices) != want || want > 0 && (r.Choices[0].From != 8 || r.Choices[0].To != 1<<18) {
			t.Errorf("%v: %+v", always, r.Choices)
		}
	}
}

var errKilled = errors.New("killed")

// A campaign that is killed again and again, once within a line, has the result of one that is not, and repeats no run.
func TestResume(t *testing.T) {
	plan := planOf(5)
	factor := func(o kernel.Operation) float64 {
		if o.Value == 2 && o.Bytes > 300 {
			return 0.5
		}
		return 1
	}
	text := func(r *Result) string {
		r.Seconds = 0
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	path := filepath.Join(t.TempDir(), "journal")
	m := &library{Rand: rand.New(rand.NewPCG(plan.Seed, 1)), factor: factor}
	for k := 0; ; k++ {
		if k == 100 {
			t.Fatal("the campaign does not go on")
		}
		j, err := OpenJournal(path, plan)
		if err != nil {
			t.Fatal(err)
		}
		if j.Done() != m.runs {
			t.Fatalf("the journal has %d runs of %d", j.Done(), m.runs)
		}
		until := m.runs + 3
		c := &Campaign{Plan: plan, Journal: j, Measure: func(all []kernel.Operation) ([]kernel.Result, error) {
			if m.runs == until {
				return nil, errKilled
			}
			return m.measure(all)
		}}
		r, err := c.Run()
		j.Close()
		if err == nil {
			if want := text(simulate(t, plan, factor)); text(r) != want || k < 3 || r.Runs != m.runs {
				t.Errorf("after %d parts: %d runs, %s\nwant %s", k, r.Runs, text(r), want)
			}
			break
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(`{"stage": "screen`)
		f.Close()
	}
	plan.Seed++
	var other OtherPlan
	if _, err := OpenJournal(path, plan); !errors.As(err, &other) {
		t.Errorf("another seed: %v", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plan.Seed--
	damaged := strings.Replace(string(content), `"stage":"screening"`, `"stage":0`, 1)
	os.WriteFile(path, []byte(damaged), 0o600)
	if _, err := OpenJournal(path, plan); err == nil || !strings.Contains(err.Error(), "line 2 ") {
		t.Errorf("a damaged journal: %v", err)
	}
}

// A budget ends a campaign between runs. The result says where, and concludes nothing that was not confirmed.
func TestBudget(t *testing.T) {
	m := &library{Rand: rand.New(rand.NewPCG(1, 1)), factor: func(o kernel.Operation) float64 { return 0.3 }}
	j := &Journal{}
	c := &Campaign{Plan: planOf(1), Journal: j, Budget: time.Hour, Measure: func(all []kernel.Operation) ([]kernel.Result, error) {
		if m.runs == 4 {
			j.done[0].Seconds = 3600
		}
		return m.measure(all)
	}}
	r, err := c.Run()
	if err != nil || r.Runs != 5 || len(r.Choices) != 0 || !strings.HasPrefix(r.Incomplete, "the budget is used up after 2 of ") {
		t.Fatalf("%v: %+v", err, r)
	}
	m, j = &library{Rand: rand.New(rand.NewPCG(1, 1)), factor: m.factor}, &Journal{}
	again := &Campaign{Plan: planOf(1), Journal: j, Budget: time.Hour, Measure: func(all []kernel.Operation) ([]kernel.Result, error) {
		if len(j.done) > 0 { // the first one took more than half of the budget: a second one has no time
			t.Fatal("a run that the budget has no time for")
		}
		return m.measure(all)
	}, Step: func(string, int, int) { j.done[0].Seconds = 3000 }}
	if _, err := again.Run(); err != nil {
		t.Error(err)
	}
	for _, f := range r.Findings {
		if f.Candidate == "" || f.Left == "" || f.Winner {
			t.Errorf("%+v", f)
		}
	}
}

// An algorithm that crashes is left out at all sizes, one whose call fails at this size; all others are measured.
func TestCrash(t *testing.T) {
	m := &library{Rand: rand.New(rand.NewPCG(1, 1)), factor: same}
	c := &Campaign{Plan: planOf(1), Journal: &Journal{}, Measure: func(all []kernel.Operation) ([]kernel.Result, error) {
		results, _ := m.measure(all)
		crashed := false
		for k, o := range all {
			r := &results[k]
			if o.Function == "bcast" && o.Value == 1 && o.Bytes == 64 {
				*r = kernel.Result{Index: k, Error: "a call failed", Code: 7}
			}
			if o.Function == "allreduce" && o.Value == 3 && !crashed {
				crashed = true
				*r = kernel.Result{Index: k, Error: "killed", Crashed: true}
			} else if crashed {
				*r = kernel.Result{Index: k, Skipped: true}
			}
		}
		return results, nil
	}}
	r, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	var dropped []string
	for _, d := range r.Dropped {
		dropped = append(dropped, fmt.Sprint(d.Function, d.Ranks, d.Bytes, d.Algorithm))
	}
	want := []string{"allreduce4-1tree", "allreduce8-1tree", "bcast464linear", "bcast864linear"}
	for k := range want {
		if k >= len(dropped) || strings.ReplaceAll(dropped[k], " ", "") != want[k] {
			t.Fatalf("%q, want %q", dropped, want)
		}
	}
	for _, f := range r.Findings {
		for _, m := range f.Tried {
			if m.Failed == "" && m.Runs < 3 || m.Failed != "" && f.Function == "bcast" && f.Bytes != 64 {
				t.Errorf("%+v: %+v", f.Cell, m)
			}
		}
		if f.Own.Runs < 3 {
			t.Errorf("%+v: %+v", f.Cell, f.Own)
		}
	}
	c = &Campaign{Plan: planOf(1), Journal: &Journal{}, Measure: func(all []kernel.Operation) ([]kernel.Result, error) {
		results, _ := m.measure(all)
		for k, o := range all {
			if o.Name == "" {
				results[k] = kernel.Result{Index: k, Error: "killed", Crashed: true}
				break
			}
		}
		return results, nil
	}}
	if _, err := c.Run(); err == nil || !strings.Contains(err.Error(), "the library's own ") {
		t.Errorf("%v", err)
	}
}

// Algorithms with segments are measured only at places where they are among the fast ones without, and the segments shorter than the messages.
func TestSegments(t *testing.T) {
	plan := planOf(3)
	bcast := &plan.Collectives[1]
	bcast.Algorithms = []Algorithm{{Name: "linear", Value: 1}, {Name: "chain", Value: 2}, {Name: "pipeline", Value: 3}, {Name: "binomial", Value: 4}, {Name: "split_binary_tree", Value: 5}}
	bcast.addSegments()
	if len(bcast.Algorithms) != 5+4*len(segments) {
		t.Fatal(bcast.Algorithms)
	}
	measured := map[int64]map[int64]bool{} // algorithms with segments by size
	m := &library{Rand: rand.New(rand.NewPCG(3, 1)), quiet: true, factor: func(o kernel.Operation) float64 {
		if o.Segment > 0 {
			if measured[o.Bytes] == nil {
				measured[o.Bytes] = map[int64]bool{}
			}
			measured[o.Bytes][o.Value] = true
			if o.Function != "bcast" || o.Segment >= o.Bytes || o.Value == 5 && o.Segment >= o.Bytes/2 {
				t.Errorf("%+v", o)
			}
		}
		switch {
		case o.Function != "bcast":
			return 1
		case o.Bytes > 1<<14 && o.Value == 3 && o.Segment == 8<<10:
			return 0.4
		}
		return []float64{1, 1, 1.2, 0.8, 3, 0.9}[o.Value]
	}}
	r := simulateOn(t, m, plan)
	for _, size := range plan.Sizes {
		if want := size > 1<<10; measured[size][3] != want || measured[size][5] != want || measured[size][4] || measured[size][2] {
			t.Errorf("%d bytes: %v", size, measured[size])
		}
	}
	found := 0
	for _, c := range r.Choices {
		if c.To == 1<<18 {
			found++
			if c.Algorithm.Text() != "pipeline/8k" {
				t.Errorf("%+v", c)
			}
		}
	}
	if found != 2 {
		t.Errorf("%+v", r.Choices)
	}
}
