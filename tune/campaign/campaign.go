// Package campaign finds out by experiments which of several settings makes a program faster. It decides which run comes next, and what
// the runs say; others make them. The same plan and the same outcomes give the same decisions, so that a campaign that was stopped goes on
// from its [Journal].
//
// Candidates are screened in rounds: a round runs each of them and the program without settings once, in random order, and the slower half
// is dropped again and again. The best of each group are combined. What is left, one candidate, is compared with the program as it was in
// new runs, in pairs of random order. Only this comparison concludes, so the error level is that of one comparison, however many
// candidates there were; its looks at the pairs share the level.
package campaign

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"mpitx/settings"
	"mpitx/tune/stats"
)

// Candidate is what a campaign tries.
type Candidate struct {
	Name   string               `json:"name"`
	Set    []settings.NameValue `json:"set"`    // with what they need
	Group  string               `json:"group"`  // of candidates that exclude each other
	Rule   string               `json:"rule"`   // that proposed it
	Reason string               `json:"reason"` // why, with figures
}

// Plan is all that decides a campaign but the outcomes of its runs.
type Plan struct {
	Seed       uint64      `json:"seed"`
	Candidates []Candidate `json:"candidates"`
	Limits
	Usual  time.Duration `json:"usual_ns"`        // of one run, for the first plans
	Kernel bool          `json:"kernel,omitzero"` // all stages but the last run something else than the program
	Later  []Limits      `json:"later,omitempty"` // that were given when the campaign went on
}

// Limits are those of all runs of a campaign, from a run on.
type Limits struct {
	Runs   int           `json:"runs,omitzero"`      // at most; 0: any number
	Budget time.Duration `json:"budget_ns,omitzero"` // 0: any
	From   int           `json:"from,omitzero"`      // the number of the run
}

// Last are the limits that were given last.
func (p *Plan) Last() Limits { return p.limits(math.MaxInt) }

// limits are those in force before a run. What was planned before they changed stays.
func (p *Plan) limits(run int) Limits {
	now := p.Limits
	for _, l := range p.Later {
		if l.From <= run {
			now = l
		}
	}
	return now
}

// Stage is what a run is for.
type Stage string

// The stages.
const (
	Screening   Stage = "screening"
	Combining   Stage = "combining" // whether the best of all groups together are faster than the best one
	Confirming  Stage = "confirming"
	withoutArms       = 0 // the arm without settings
)

// Experiment is one run. Arm 0 is the program without settings, arm k the candidate k-1; the combination comes after them.
type Experiment struct {
	Number int   `json:"number"`
	Stage  Stage `json:"stage"`
	Round  int   `json:"round"`
	Arm    int   `json:"arm"`
}

// Outcome is what a run showed.
type Outcome struct {
	Experiment
	Took   time.Duration `json:"took_ns"`         // of the campaign's budget
	Time   time.Duration `json:"time_ns"`         // what is compared: the program's time from MPI_Init to MPI_Finalize
	Failed string        `json:"failed,omitzero"` // why there is no time

	Calls      map[string]uint64  `json:"calls,omitempty"`      // of each MPI function
	Algorithms map[string]float64 `json:"algorithms,omitempty"` // the percentage of a collective function's calls: "MPI_Bcast by tuned: binomial"
}

// Runner makes one run, with the settings of a candidate; those of arm 0 are none.
type Runner func(e Experiment, c *Candidate) (Outcome, error)

// Trial is what the screening of a candidate showed. It concludes nothing.
type Trial struct {
	Candidate int            `json:"candidate"`
	Pairs     int            `json:"pairs"`
	Interval  stats.Interval `json:"interval"` // its level is shared by all candidates
	Deviation float64        `json:"deviation"`
	Failed    string         `json:"failed,omitzero"`
	Left      bool           `json:"left,omitzero"` // not tried for the budget
	Needed    int            `json:"pairs_needed"`  // how many pairs would show the change in 4 of 5 campaigns; 0: very many
}

// Verdict is what a campaign concludes.
type Verdict string

// The verdicts.
const (
	Faster  Verdict = "faster"  // the winner is, with an error of at most Level
	NoGain  Verdict = "no gain" // no candidate was faster in the screening, or the best one is at most Worth faster
	Unknown Verdict = "unknown" // the interval of the best one touches 0
	Short   Verdict = "budget"  // it was used up before something could be compared
	Failed  Verdict = "failed"  // what was tried failed, or what was to be compared
)

// Level is the probability that a campaign of settings without effect recommends or warns of one, and Worth the least gain that is looked
// for.
const (
	Level = 0.05
	Worth = 0.01
)

// Result is what a campaign found out.
type Result struct {
	Plan      Plan           `json:"plan"`
	Trials    []Trial        `json:"trials"` // of each candidate
	Verdict   Verdict        `json:"verdict"`
	Best      *Candidate     `json:"best,omitempty"` // what was confirmed, or could not be
	Pairs     int            `json:"pairs"`          // of runs that compared it
	Interval  stats.Interval `json:"interval"`
	Level     float64        `json:"level"` // of this interval: the looks share what is left of that of the campaign
	Deviation float64        `json:"deviation"`
	Needed    int            `json:"pairs_needed"`
	Outcomes  []Outcome      `json:"-"`

	Combinations []Candidate `json:"combinations,omitempty"` // their arms follow those of the plan's candidates
}

// Took is the time of all runs.
func (r *Result) Took() (sum time.Duration) {
	for _, o := range r.Outcomes {
		sum += o.Took
	}
	return sum
}

// Of are the outcomes of one arm in some stages; all without any.
func (r *Result) Of(arm int, stages ...Stage) (all []Outcome) {
	for _, o := range r.Outcomes {
		if o.Arm == arm && (len(stages) == 0 || slices.Contains(stages, o.Stage)) {
			all = append(all, o)
		}
	}
	return all
}

// Failure is why runs of an arm failed, and in how many of them; "": none did.
func (r *Result) Failure(arm int) string {
	all := r.Of(arm)
	failed := slices.DeleteFunc(slices.Clone(all), func(o Outcome) bool { return o.Failed == "" })
	switch len(failed) {
	case 0:
		return ""
	case len(all):
		return "failed: " + failed[0].Failed
	}
	return fmt.Sprintf("failed in %d of %d runs: %s", len(failed), len(all), failed[0].Failed)
}

// BestArm is the arm of Best.
func (r *Result) BestArm() int {
	for k := range r.Plan.Candidates {
		if r.Best == &r.Plan.Candidates[k] {
			return k + 1
		}
	}
	for k := range r.Combinations {
		if r.Best == &r.Combinations[k] {
			return len(r.Plan.Candidates) + k + 1
		}
	}
	return 0
}

// BudgetError says that the budget is too small for an answer.
type BudgetError struct {
	Runs int // at least
	Time time.Duration
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("an answer takes at least %d runs, which is about %v", e.Runs, e.Time.Round(time.Second))
}

// Rounds of the screening: with all candidates, and with each half that is left.
const (
	firstRounds  = 3
	furtherRound = 2
	fewestLive   = 4 // candidates that are not halved again
	mostFinal    = 4 // groups whose best are combined
)

// looks are the numbers of pairs after which the confirmation may conclude.
var looks = []int{8, 12, 18, 27, 40}

// fewestPairs can conclude if there is only one look.
const fewestPairs = 6

// mostThorough is by how much the rounds of a screening may be multiplied.
const mostThorough = 3

// screeningRuns is how many runs the screening of candidates takes at least, with the combination of the best.
func screeningRuns(candidates int) int {
	if candidates < 2 {
		return 0
	}
	runs := firstRounds * (candidates + 1)
	for candidates > fewestLive {
		candidates = (candidates + 1) / 2
		runs += furtherRound * (candidates + 1)
	}
	return runs + firstRounds*3
}

type campaign struct {
	Result
	run  Runner
	arms []Candidate // by arm; the first is empty

	thorough int  // a screening has so many times the least rounds
	short    bool // the budget ended before a comparison
	rounds   map[Stage]int
	spent    float64 // of Level, by looks, also at an arm that failed later
}

// Run makes a campaign. Errors are those of run, which end it, a [BudgetError], and that the program fails without settings.
func Run(p Plan, run Runner) (*Result, error) {
	c := &campaign{Result: Result{Plan: p, Verdict: NoGain}, run: run, rounds: map[Stage]int{}}
	c.arms = append([]Candidate{{Name: "without settings"}}, p.Candidates...)
	c.Trials = make([]Trial, len(p.Candidates))
	for k := range c.Trials {
		c.Trials[k].Candidate = k
	}
	if len(p.Candidates) == 0 {
		return &c.Result, nil
	}
	err := c.search()
	c.judgeTrials()
	return &c.Result, err
}

// search screens candidates, as many as the budget allows, and compares the best. If that fails, it goes on with the next one.
func (c *campaign) search() error {
	for next := 0; next < len(c.Plan.Candidates); {
		live := c.affordable(next)
		if len(live) == 0 {
			break
		}
		next += len(live)
		var err error
		if len(live) > 1 {
			live, err = c.screen(live)
		}
		if err == nil && len(live) > 1 {
			live, err = c.combine(live)
		}
		if err != nil {
			return err
		}
		for _, arm := range live {
			if c.left(Confirming) < 2*fewestPairs {
				c.short = true
				break
			}
			if ended, err := c.confirm(arm); ended || err != nil {
				return err
			}
		}
	}
	if len(c.Outcomes) == 0 {
		return &BudgetError{2 * fewestPairs, 2 * fewestPairs * c.Plan.Usual}
	}
	c.Verdict = Failed
	if c.short {
		c.Verdict = Short
	}
	for k, t := range c.Trials {
		if !t.Left && c.Failure(k+1) == "" && !c.short {
			c.Verdict = NoGain
		}
	}
	if slices.ContainsFunc(c.Outcomes, func(o Outcome) bool { return o.Stage == Confirming && o.Failed != "" }) {
		c.Verdict = Failed
	}
	return nil
}

// left is how many more runs of a stage the budget allows.
func (c *campaign) left(stage Stage) int {
	runs, limits := math.MaxInt32, c.Plan.limits(len(c.Outcomes))
	if limits.Runs > 0 {
		runs = limits.Runs - len(c.Outcomes)
	}
	if limits.Budget > 0 {
		runs = min(runs, int((limits.Budget-c.Took())/c.usual(stage)))
	}
	return runs
}

// usual is the time of a run, as far as it is known.
func (c *campaign) usual(stage Stage) time.Duration {
	sum, n := time.Duration(0), 0
	for _, o := range c.Outcomes {
		if !c.Plan.Kernel || (o.Stage == Confirming) == (stage == Confirming) {
			sum, n = sum+o.Took, n+1
		}
	}
	if n == 0 {
		sum, n = c.Plan.Usual, 1
	}
	return max(sum/time.Duration(n), 1)
}

// spares reports whether the budget has one more run of a screening beside a comparison.
func (c *campaign) spares(stage Stage) bool {
	limits := c.Plan.limits(len(c.Outcomes))
	return stage == Confirming || limits.Budget == 0 || c.Took()+c.usual(stage)+2*fewestPairs*c.usual(Confirming) <= limits.Budget
}

// affordable are the arms that half of the budget can screen, from a candidate on; none if the budget allows no comparison.
func (c *campaign) affordable(next int) (arms []int) {
	n, runs := len(c.Plan.Candidates)-next, c.left(Screening)
	fits := func(n int) bool {
		return screeningRuns(n) <= max(runs/2, 0) && screeningRuns(n)+2*fewestPairs <= runs
	}
	for n > 1 && !fits(n) {
		n--
	}
	if runs < 2*fewestPairs {
		n = 0
	}
	c.thorough = 1
	for c.thorough < mostThorough && (c.thorough+1)*screeningRuns(n) <= runs/2 {
		c.thorough++
	}
	for k := next; k < len(c.Trials); k++ {
		if c.Trials[k].Left = k >= next+n; !c.Trials[k].Left {
			arms = append(arms, k+1)
		}
	}
	return arms
}

// round runs some arms and the program without settings once each, in random order. It returns the arms that have not failed.
func (c *campaign) round(stage Stage, arms []int) ([]int, error) {
	round := c.rounds[stage]
	c.rounds[stage]++
	order := append([]int{withoutArms}, arms...)
	random := rand.New(rand.NewPCG(c.Plan.Seed, uint64(len(c.Outcomes))))
	random.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	failed := map[int]bool{}
	for _, arm := range order {
		if !c.spares(stage) {
			c.short = true
			break
		}
		e := Experiment{Number: len(c.Outcomes), Stage: stage, Round: round, Arm: arm}
		o, err := c.run(e, &c.arms[arm])
		if err != nil {
			return nil, err
		}
		o.Experiment = e
		c.Outcomes = append(c.Outcomes, o)
		switch {
		case o.Failed == "":
		case arm == withoutArms:
			return nil, fmt.Errorf("the program fails at random: run %d failed without settings (%s); mend the program before it is tuned", e.Number, o.Failed)
		default:
			failed[arm] = true
			if arm <= len(c.Trials) {
				c.Trials[arm-1].Failed = o.Failed
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(arms), func(arm int) bool { return failed[arm] }), nil
}

// differences are the logarithms of an arm's times as parts of those without settings, of the rounds that have both.
func (c *campaign) differences(arm int, stages ...Stage) (all []float64) {
	type key struct {
		Stage
		int
	}
	base := map[key]time.Duration{}
	for _, o := range c.Of(withoutArms) {
		base[key{o.Stage, o.Round}] = o.Time
	}
	for _, o := range c.Of(arm, stages...) {
		if b := base[key{o.Stage, o.Round}]; o.Failed == "" && b > 0 && o.Time > 0 {
			all = append(all, math.Log(float64(o.Time)/float64(b)))
		}
	}
	return all
}

// change is what the screening says about an arm so far.
func (c *campaign) change(arm int) float64 {
	return stats.SignedRank(c.differences(arm, Screening, Combining), Level).Change
}

// screen drops the slower half again and again. It returns the best of each group that are faster.
func (c *campaign) screen(live []int) (best []int, err error) {
	rounds := firstRounds
	for {
		for k := 0; k < rounds*c.thorough && !c.short; k++ {
			if live, err = c.round(Screening, live); err != nil {
				return nil, err
			}
		}
		slices.SortStableFunc(live, func(a, b int) int { return cmp.Compare(c.change(a), c.change(b)) })
		if len(live) <= fewestLive || c.short {
			break
		}
		live, rounds = live[:(len(live)+1)/2], furtherRound
	}
	groups := map[string]bool{}
	for _, arm := range live {
		if group := c.arms[arm].Group; c.change(arm) < 0 && !groups[group] && len(best) < mostFinal {
			groups[group] = true
			best = append(best, arm)
		}
	}
	return best, nil
}

// combine finds out whether the best of all groups together are faster than the best one. It returns the arms in the order in which they
// are to be compared: each one if those before it fail.
func (c *campaign) combine(best []int) ([]int, error) {
	var all Candidate
	for _, arm := range best {
		one := c.arms[arm]
		if excludes(all.Set, one.Set) {
			continue
		}
		all.Name = strings.TrimSpace(all.Name + " " + one.Name)
		for _, s := range one.Set {
			if !slices.Contains(all.Set, s) {
				all.Set = append(all.Set, s)
			}
		}
	}
	if all.Name == c.arms[best[0]].Name {
		return best, nil
	}
	all.Group, all.Rule, all.Reason = "combination", "combination", "the best of each group together"
	c.arms, c.Combinations = append(c.arms, all), append(c.Combinations, all)
	alone, both := best[0], []int{best[0], len(c.arms) - 1}
	var err error
	for k := 0; k < firstRounds*c.thorough && !c.short; k++ {
		if both, err = c.round(Combining, both); err != nil {
			return nil, err
		}
	}
	best = slices.DeleteFunc(best, func(arm int) bool { return arm == alone && !slices.Contains(both, alone) })
	if len(both) == 2 && clearlyFaster(c.differences(both[1], Combining), c.differences(both[0], Combining)) { // else fewer settings do
		best = slices.Insert(best, 0, both[1])
	}
	return best, nil
}

// clearlyFaster reports whether one arm was faster than another by what is worth it, and in three of four rounds.
func clearlyFaster(one, other []float64) bool {
	faster, apart := 0, make([]float64, min(len(one), len(other)))
	for k := range apart {
		if apart[k] = one[k] - other[k]; apart[k] < 0 {
			faster++
		}
	}
	return stats.Median(apart) < -Worth && 4*faster >= 3*len(apart)
}

// excludes reports whether two sets give a variable different values, or one a file of rules for collectives and the other an algorithm: only
// one of these counts for a function.
func excludes(a, b []settings.NameValue) bool {
	return slices.ContainsFunc(a, func(x settings.NameValue) bool {
		return slices.ContainsFunc(b, func(y settings.NameValue) bool {
			return x.Name == y.Name && x.Value != y.Value || settings.IsRules(x.Name) && settings.IsAlgorithm(y.Name) || settings.IsAlgorithm(x.Name) && settings.IsRules(y.Name)
		})
	})
}

// confirm compares an arm with the program without settings in new runs. It reports whether that ends the campaign: not if the arm fails.
func (c *campaign) confirm(arm int) (ended bool, err error) {
	at := slices.DeleteFunc(slices.Clone(looks), func(n int) bool { return n > c.left(Confirming)/2 })
	if len(at) == 0 {
		at = []int{c.left(Confirming) / 2}
	}
	r := Result{Verdict: Unknown, Level: (Level - c.spent) / float64(len(at))}
	if k := arm - 1 - len(c.Plan.Candidates); k < 0 {
		r.Best = &c.Plan.Candidates[arm-1]
	} else {
		r.Best = &c.Combinations[k]
	}
	for _, n := range at {
		for r.Pairs < n {
			live, err := c.round(Confirming, []int{arm})
			if err != nil || len(live) == 0 {
				return false, err
			}
			r.Pairs++
		}
		all := c.differences(arm, Confirming)
		r.Interval, r.Deviation = stats.SignedRank(all, r.Level), stats.Deviation(all)
		c.spent += r.Level
		if r.Interval.High < 0 {
			r.Verdict = Faster
			break
		} else if r.Interval.Low > math.Log(1-Worth) {
			r.Verdict = NoGain
			break
		}
	}
	if r.Verdict == Unknown {
		r.Needed = stats.Pairs(r.Interval.Change, r.Deviation, r.Level, usualPower, mostNeeded)
	}
	c.Best, c.Verdict, c.Pairs, c.Interval, c.Level, c.Deviation, c.Needed = r.Best, r.Verdict, r.Pairs, r.Interval, r.Level, r.Deviation, r.Needed
	return true, nil
}

// usualPower is the probability with which the runs that a report names would give an answer; more than mostNeeded are "very many".
const (
	usualPower = 0.8
	mostNeeded = 100_000
)

// judgeTrials says what the screening showed of each candidate, with one error level for all of them.
func (c *campaign) judgeTrials() {
	level := Level / float64(max(len(c.Trials), 1))
	for k := range c.Trials {
		t := &c.Trials[k]
		all := c.differences(k+1, Screening, Combining)
		t.Pairs, t.Interval, t.Deviation = len(all), stats.SignedRank(all, level), stats.Deviation(all)
		if len(all) > 1 {
			t.Needed = stats.Pairs(t.Interval.Change, t.Deviation, Level, usualPower, mostNeeded)
		}
	}
}
