package campaign

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"mpitx/settings"
	"mpitx/tune/stats"
)

// Times of one program in microseconds, one run after the other, beside other programs: testdata/noise.txt has several series.
//
//go:embed testdata/noise.txt
var recorded string

func noise(t *testing.T) (all [][]float64) {
	for line := range strings.Lines(recorded) {
		var series []float64
		for _, word := range strings.Fields(line) {
			var x float64
			if _, err := fmt.Sscan(word, &x); err != nil {
				t.Fatal(err)
			}
			series = append(series, x)
		}
		all = append(all, series)
	}
	return all
}

// simulated makes the runs of a program whose noise was recorded. gains are those of the arms, as parts of the time.
func simulated(series []float64, seed uint64, gains ...float64) Runner {
	at := start(series, seed)
	return func(e Experiment, c *Candidate) (Outcome, error) {
		x := series[(at+e.Number)%len(series)]
		gain := 0.0
		if e.Arm > 0 && e.Arm <= len(gains) {
			gain = gains[e.Arm-1]
		} else if e.Arm > len(gains) { // the combination
			for _, g := range gains {
				gain = max(gain, g)
			}
		}
		took := time.Duration(x * (1 - gain) * float64(time.Microsecond))
		return Outcome{Took: took, Time: took}, nil
	}
}

func start(series []float64, seed uint64) int {
	return rand.New(rand.NewPCG(seed, 7)).IntN(len(series))
}

func plan(seed uint64, candidates int) (p Plan) {
	p = Plan{Seed: seed, Limits: Limits{Runs: 400}, Usual: time.Second}
	for k := range candidates {
		p.Candidates = append(p.Candidates, Candidate{Name: fmt.Sprint(k), Group: fmt.Sprint(k % 4)})
	}
	return p
}

// Of 1,000 campaigns whose candidates do nothing, at most 50 recommend one.
func TestNothing(t *testing.T) {
	all := noise(t)
	wrong, runs := 0, 0
	for seed := range uint64(1000) {
		r, err := Run(plan(seed, 1+int(seed%12)), simulated(all[seed%uint64(len(all))], seed, make([]float64, 12)...))
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == Faster {
			wrong++
		}
		runs += len(r.Outcomes)
	}
	t.Logf("%d of 1,000 recommend something, after %d runs on average", wrong, runs/1000)
	if wrong > 50 {
		t.Errorf("%d of 1,000 campaigns without an effect recommend something", wrong)
	}
}

// Gains are found at least as often as the calculation of power says, and the candidate that has it is part of what is recommended.
func TestGains(t *testing.T) {
	for k, series := range noise(t) {
		for _, gain := range []float64{0.05, 0.10, 0.20} {
			found, right, expected := 0, 0, 0.0
			const times = 40
			for seed := range uint64(times) {
				p := plan(seed, 1)
				r, err := Run(p, simulated(series, seed, gain))
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict == Faster {
					found++
				}
				expected += power(series, start(series, seed), gain) / times

				p = plan(seed, 8)
				r, err = Run(p, simulated(series, seed, 0, 0, 0, gain, 0, 0, 0, 0))
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict == Faster && strings.Contains(r.Best.Name, "3") {
					right++
				}
			}
			t.Logf("series %d, a gain of %.0f %%: found in %d of %d (%.0f expected), among eight in %d", k, 100*gain, found, times, expected*times, right)
			if float64(found) < (expected-0.15)*times {
				t.Errorf("series %d: a gain of %.0f %% was found in %d of %d campaigns, %.0f expected", k, 100*gain, found, times, expected*times)
			}
			if float64(right) < (expected-0.3)*times {
				t.Errorf("series %d: a gain of %.0f %% was found among eight candidates in %d of %d campaigns", k, 100*gain, right, times)
			}
		}
	}
}

// power is the chance that the last look shows a gain in runs with the noise of a part of a series.
func power(series []float64, from int, gain float64) float64 {
	last := looks[len(looks)-1]
	var d []float64
	for k := range last {
		d = append(d, math.Log(series[(from+2*k)%len(series)]/series[(from+2*k+1)%len(series)]))
	}
	return stats.Chance(d, math.Log(1-gain), Level/float64(len(looks)), last)
}

// A campaign that was stopped anywhere, also within a line of its journal, comes to the same end without making a run again.
func TestResume(t *testing.T) {
	series := noise(t)[0]
	p := plan(3, 6)
	gains := []float64{0, 0.1, 0, 0.05, 0, 0}
	whole, err := Run(p, simulated(series, 3, gains...))
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Outcomes) < 30 {
		t.Fatalf("%d runs", len(whole.Outcomes))
	}
	path := filepath.Join(t.TempDir(), "runs")
	made := map[int]int{}
	var killed error
	for stop := 0; ; stop += 7 {
		j, err := OpenJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		killed = nil
		simulate := simulated(series, 3, gains...)
		r, err := Run(p, j.Run(func(e Experiment, c *Candidate) (Outcome, error) {
			if e.Number >= stop {
				killed = errors.New("killed")
				return Outcome{}, killed
			}
			made[e.Number]++
			return simulate(e, c)
		}))
		j.Close()
		if killed == nil {
			if err != nil || !reflect.DeepEqual(r, whole) {
				t.Errorf("the end differs: %v", err)
			}
			break
		}
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err == nil { // the next line was begun
			f.WriteString(`{"number":`)
			f.Close()
		}
	}
	for number, times := range made {
		if times != 1 {
			t.Errorf("run %d was made %d times", number, times)
		}
	}
	content, _ := os.ReadFile(path)
	if n := bytes.Count(content, []byte("\n")); n != len(whole.Outcomes) {
		t.Errorf("%d lines for %d runs", n, len(whole.Outcomes))
	}
	if size := len(content) / len(whole.Outcomes) * 1000; size > 1<<20 {
		t.Errorf("1,000 runs take %d bytes", size)
	}

	p.Seed++
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path); err == nil || !strings.Contains(err.Error(), "another mpitx tune") {
		t.Errorf("a journal that is open: %v", err)
	}
	if _, err := Run(p, j.Run(simulated(series, 3, gains...))); err == nil || !strings.Contains(err.Error(), "another campaign") {
		t.Errorf("a journal of another plan: %v", err)
	}
	j.Close()
	os.WriteFile(path, []byte("not a journal\n"), 0o666)
	if _, err := OpenJournal(path); err == nil {
		t.Error("a file that is no journal was taken")
	}
}

// Runs of a kernel that take longer than the program does not use up the time of the comparison, and no run begins that the budget has no
// time for.
func TestKernelBudget(t *testing.T) {
	for _, gain := range []float64{0, 0.3} {
		p := plan(1, 6)
		p.Limits, p.Kernel = Limits{Budget: 2 * time.Minute}, true
		r, err := Run(p, func(e Experiment, c *Candidate) (Outcome, error) {
			o := Outcome{Took: 9 * time.Second, Time: time.Second + time.Duration(e.Number)}
			if e.Stage == Confirming {
				o.Took = time.Second
			}
			if e.Arm == 1 {
				o.Time -= time.Duration(gain * float64(time.Second))
			}
			return o, nil
		})
		if err != nil || r.Took() > p.Budget || len(r.Of(0, Screening)) == 0 || (r.Verdict == Faster) != (gain > 0) {
			t.Errorf("%v of %v, %v: %v", r.Took(), p.Budget, r.Verdict, err)
		}
	}
}

// A campaign that was stopped anywhere goes on with another budget and another number of runs. One that is at its end does not.
func TestExtend(t *testing.T) {
	series := noise(t)[0]
	for _, first := range []Limits{{Runs: 14}, {Runs: 60}, {Runs: 100, Budget: 90 * time.Second}} {
		for stop := 0; stop < 60; stop += 3 {
			p := plan(3, 6)
			p.Limits = first
			path := filepath.Join(t.TempDir(), "runs")
			run := func(stop int) (*Result, error) {
				j, err := OpenJournal(path)
				if err != nil {
					t.Fatal(err)
				}
				defer j.Close()
				if stop < 0 {
					if err := j.Extend(&p, Limits{Runs: 200, Budget: time.Hour}); err != nil {
						return nil, err
					}
				}
				simulate := simulated(series, 3, 0, 0.1, 0, 0.05, 0, 0)
				return Run(p, j.Run(func(e Experiment, c *Candidate) (Outcome, error) {
					if e.Number == stop {
						return Outcome{}, errors.New("killed")
					}
					return simulate(e, c)
				}))
			}
			before, err := run(stop)
			ended := err == nil
			content, _ := os.ReadFile(path)
			r, err := run(-1)
			again, _ := os.ReadFile(path)
			switch {
			case ended && before.Best != nil:
				if err == nil || !strings.Contains(err.Error(), "the campaign is at its end") {
					t.Errorf("%+v at its end: %v", first, err)
				}
			case err != nil || !bytes.HasPrefix(again, content) || len(again) == len(content):
				t.Errorf("%+v, stopped before run %d: %v", first, stop, err)
			default:
				if more, err := run(1000); err != nil || !reflect.DeepEqual(more, r) { // without an extension
					t.Errorf("%+v, stopped before run %d: another end: %v", first, stop, err)
				}
			}
		}
	}
}

// Candidates that fail are left out, a program that fails ends the campaign, and a budget that is too small is refused before any run.
func TestFailures(t *testing.T) {
	series := make([]float64, 100)
	random := rand.New(rand.NewPCG(1, 1))
	for k := range series {
		series[k] = 1e6 * (1 + 0.02*random.Float64())
	}
	p := plan(1, 3)
	p.Candidates[2].Group = "1"
	simulate := simulated(series, 1, 0.3, 0.2, 0)
	r, err := Run(p, func(e Experiment, c *Candidate) (Outcome, error) {
		o, err := simulate(e, c)
		if e.Arm == 1 {
			o.Failed = "exit code 1"
		}
		return o, err
	})
	if err != nil || r.Verdict != Faster || r.Best.Name != "1" || r.Trials[0].Failed != "exit code 1" || r.Best != &r.Plan.Candidates[1] {
		t.Errorf("%v %+v: %v", r.Verdict, r.Best, err)
	}
	if _, err = Run(p, func(Experiment, *Candidate) (Outcome, error) { return Outcome{Failed: "exit code 3"}, nil }); err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("%v", err)
	}
	p.Runs = 11
	never := func(Experiment, *Candidate) (Outcome, error) { t.Error("a run"); return Outcome{}, nil }
	var small *BudgetError
	if _, err = Run(p, never); !errors.As(err, &small) || small.Runs != 12 {
		t.Errorf("%v", err)
	}
	p.Runs, p.Budget = 0, 5*time.Second
	if _, err = Run(p, never); !errors.As(err, &small) || small.Time != 12*time.Second {
		t.Errorf("%v", err)
	}
	if r, err = Run(Plan{}, never); err != nil || r.Verdict != NoGain {
		t.Errorf("%+v: %v", r, err)
	}
}

// A candidate that fails in the comparison is dropped, and the next one is compared. A program that fails without settings, too, is to blame.
func TestFailsLater(t *testing.T) {
	series := make([]float64, 100)
	for k := range series {
		series[k] = 1e6 + float64(k%7)
	}
	simulate := simulated(series, 1, 0, 0.3, 0)
	fails := func(failing func(Experiment) bool) Runner {
		return func(e Experiment, c *Candidate) (Outcome, error) {
			o, err := simulate(e, c)
			if failing(e) {
				o = Outcome{Failed: "crash: dying"}
			}
			return o, err
		}
	}
	p := plan(1, 3)
	p.Runs = 20 // for one candidate, without screening
	r, err := Run(p, fails(func(e Experiment) bool { return e.Arm == 1 && e.Round == 1 }))
	if err != nil || r.Verdict != Faster || r.BestArm() != 2 || r.Pairs < fewestPairs || !strings.Contains(r.Failure(1), " of 2 runs: crash: dying") || r.Trials[0].Failed == "" || !r.Trials[2].Left {
		t.Errorf("%v, arm %d, %d pairs, %q: %v", r.Verdict, r.BestArm(), r.Pairs, r.Failure(1), err)
	}
	r, err = Run(p, fails(func(e Experiment) bool { return e.Arm > 0 }))
	if err != nil || r.Verdict != Failed || r.Best != nil || r.Pairs != 0 || r.Failure(1) != "failed: crash: dying" {
		t.Errorf("%v %v, %d pairs, %q: %v", r.Verdict, r.Best, r.Pairs, r.Failure(1), err)
	}
	if _, err = Run(p, fails(func(e Experiment) bool { return e.Round == 2 })); err == nil || !strings.Contains(err.Error(), "fails at random") {
		t.Errorf("%v", err)
	}
	p.Runs = 400 // the best of two groups are combined, and the combination fails
	simulate = simulated(series, 1, 0.1, 0.3, 0)
	together := func(e Experiment, c *Candidate) (Outcome, error) {
		o, err := simulate(e, c)
		if e.Arm == 4 {
			o.Time = o.Time * 8 / 10
		}
		if e.Arm == 4 && e.Stage == Confirming {
			o = Outcome{Failed: "crash: dying"}
		}
		return o, err
	}
	r, err = Run(p, together)
	if err != nil || r.Verdict != Faster || r.BestArm() != 2 || len(r.Combinations) != 1 || !strings.Contains(r.Failure(4), "crash: dying") {
		t.Errorf("%v, arm %d, %q: %v", r.Verdict, r.BestArm(), r.Failure(4), err)
	}
}

// A campaign never makes more runs than its budget has, and says which candidates it left out.
func TestBudget(t *testing.T) {
	series := noise(t)[0]
	for runs := 12; runs < 300; runs += 5 {
		p := plan(uint64(runs), 20)
		p.Runs = runs
		r, err := Run(p, simulated(series, 5, make([]float64, 20)...))
		if err != nil || len(r.Outcomes) > runs {
			t.Errorf("%d runs of %d: %v", len(r.Outcomes), runs, err)
		}
		left := 0
		for _, trial := range r.Trials {
			if trial.Left {
				left++
			} else if trial.Pairs == 0 && len(r.Trials)-left > 1 && !r.Trials[1].Left && r.BestArm() != trial.Candidate+1 {
				t.Errorf("%d runs: %+v", runs, trial)
			}
		}
		if runs < 60 && left == 0 {
			t.Errorf("%d runs are enough for 20 candidates", runs)
		}
	}
}

// A file of rules and an algorithm of one function are not combined: only one of them counts.
func TestExcludes(t *testing.T) {
	file := []settings.NameValue{{Name: "coll_tuned_use_dynamic_rules", Value: "true"}, {Name: "coll_tuned_dynamic_rules_filename", Value: "f"}}
	one := []settings.NameValue{{Name: "coll_tuned_use_dynamic_rules", Value: "true"}, {Name: "coll_tuned_bcast_algorithm", Value: "chain"}}
	if !excludes(file, one) || !excludes(one, file) || excludes(one, one) || excludes(file, []settings.NameValue{{Name: "pml", Value: "ob1"}}) {
		t.Error("excludes")
	}
}
