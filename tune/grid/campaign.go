package grid

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"mpitx/text"
	"mpitx/tune/kernel"
	"mpitx/tune/stats"
)

// Campaign carries out a plan.
type Campaign struct {
	Plan
	Measure func([]kernel.Operation) ([]kernel.Result, error)
	Journal *Journal                           // of earlier processes of the campaign, too
	Budget  time.Duration                      // of all runs; 0: any
	Step    func(stage string, done, most int) // called after each run; most is 0 if it is not known

	cells   []Cell
	values  map[Cell]map[int]*values
	dropped map[drop]string
	crowded bool
}

// values are what runs measured of an algorithm in a cell.
type values struct {
	medians             []float64
	n, outliers, missed int
	barrier             bool
	ran                 string
}

// drop is an algorithm that is not measured again in a cell; at all sizes if Bytes is anySize.
type drop struct {
	Cell
	algorithm int
}

const anySize = -1

// failed says why an algorithm is not measured in a cell; "": it is.
func (c *Campaign) failed(cell Cell, algorithm int) string {
	return cmp.Or(c.dropped[drop{cell, algorithm}], c.dropped[drop{Cell{cell.Function, cell.Ranks, anySize}, algorithm}])
}

// task is a cell, and the algorithms to measure there in addition to the library's own choice.
type task struct {
	Cell
	algorithms []int
}

// errBudget ends a campaign whose budget is used up.
var errBudget = errors.New("the budget is used up")

// Run carries out the plan as far as the budget allows.
func (c *Campaign) Run() (*Result, error) {
	c.values, c.dropped = map[Cell]map[int]*values{}, map[drop]string{}
	for _, collective := range c.Collectives {
		for _, ranks := range c.CommSizes {
			for _, bytes := range c.Sizes {
				if collective.Function == "barrier" {
					bytes = 0
				}
				if cell := (Cell{collective.Function, ranks, bytes}); !slices.Contains(c.cells, cell) {
					c.cells = append(c.cells, cell)
				}
			}
		}
	}
	r := &Result{Plan: c.Plan}
	screened, err := c.screen()
	var findings map[Cell]*Finding
	var boundaries []*boundary
	if findings = c.candidates(screened); err == nil {
		err = c.confirm(findings)
	}
	if err == nil {
		boundaries, err = c.bisect(findings)
	}
	if err != nil && !errors.Is(err, errBudget) {
		return nil, err
	} else if err != nil {
		r.Incomplete = err.Error()
	}
	for cell := range c.values {
		if findings[cell] == nil {
			findings[cell] = &Finding{Cell: cell}
		}
	}
	for _, f := range findings {
		c.describe(f)
		r.Findings = append(r.Findings, *f)
	}
	c.sortFindings(r.Findings)
	r.Choices, r.Runs, r.Seconds, r.Crowded = choices(r.Findings, boundaries), len(c.Journal.done), c.Journal.seconds(), c.crowded
	for _, collective := range c.Collectives {
		for _, ranks := range c.CommSizes {
			for k, a := range collective.Algorithms {
				for d, why := range c.dropped {
					if d.algorithm == k && d.Function == collective.Function && d.Ranks == ranks {
						r.Dropped = append(r.Dropped, DroppedOnce{d.Cell, a.Text(), why})
					}
				}
			}
		}
	}
	slices.SortStableFunc(r.Dropped, func(a, b DroppedOnce) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), a.Ranks-b.Ranks, cmp.Compare(a.Algorithm, b.Algorithm), cmp.Compare(a.Bytes, b.Bytes))
	})
	return r, nil
}

func (c *Campaign) collective(function string) *Collective {
	return &c.Collectives[slices.IndexFunc(c.Collectives, func(o Collective) bool { return o.Function == function })]
}

// ratios are the logarithms of times by cell and algorithm, each relative to the library's own choice in the same run.
type ratios map[Cell]map[int][]float64

// run measures tasks once, in an order of its own, in as few processes as they need. It adds the ratios of the run.
func (c *Campaign) run(stage string, number int, tasks []task, to ratios) error {
	h := fnv.New64a()
	fmt.Fprint(h, stage, number)
	random := rand.New(rand.NewPCG(c.Seed, h.Sum64()))
	tasks = slices.Clone(tasks)
	random.Shuffle(len(tasks), func(i, k int) { tasks[i], tasks[k] = tasks[k], tasks[i] })
	for len(tasks) > 0 {
		n, operations := 0, 0
		for n < len(tasks) && operations+1+len(tasks[n].algorithms) <= kernel.Most {
			operations += 1 + len(tasks[n].algorithms)
			n++
		}
		if err := c.process(stage, tasks[:n], random, to); err != nil {
			return err
		}
		tasks = tasks[n:]
	}
	return nil
}

// process measures tasks in one process, or, if it crashes, in several.
func (c *Campaign) process(stage string, tasks []task, random *rand.Rand, to ratios) error {
	for {
		var all []kernel.Operation
		var of []int // the algorithm of each
		for _, t := range tasks {
			algorithms := slices.DeleteFunc(append([]int{Own}, t.algorithms...), func(k int) bool { return c.failed(t.Cell, k) != "" })
			random.Shuffle(len(algorithms), func(i, k int) { algorithms[i], algorithms[k] = algorithms[k], algorithms[i] })
			for _, k := range algorithms {
				o := kernel.Operation{Function: t.Function, Bytes: t.Bytes, Ranks: t.Ranks}
				if k != Own {
					collective := c.collective(t.Function)
					a := collective.Algorithms[k]
					o.Name, o.Value, o.Segment = collective.Variable, a.Value, a.Segment
				}
				all, of = append(all, o), append(of, k)
			}
		}
		if c.Budget > 0 && !c.Journal.has() && c.Journal.seconds()+c.Journal.secondsOf(len(all)) > c.Budget.Seconds() {
			return errBudget
		}
		results, err := c.Journal.run(all, stage, c.Measure)
		if err != nil {
			return err
		}
		crashed := slices.IndexFunc(results, func(r kernel.Result) bool { return r.Crashed })
		c.take(all, of, results, to)
		if crashed < 0 {
			return nil
		}
		if o := all[crashed]; of[crashed] == Own {
			return fmt.Errorf("the library's own %s of %s on %s failed: %s", o.Function, text.Count(o.Bytes, "byte"), text.Count(o.Ranks, "rank"), results[crashed].Error)
		}
		tasks = slices.DeleteFunc(slices.Clone(tasks), func(t task) bool { // those that were measured
			return !slices.ContainsFunc(results, func(r kernel.Result) bool { return (r.Skipped || r.Crashed) && sameCell(all[r.Index], t.Cell) })
		})
	}
}

func sameCell(o kernel.Operation, c Cell) bool {
	return o.Function == c.Function && o.Ranks == c.Ranks && o.Bytes == c.Bytes
}

// take keeps what a process measured.
func (c *Campaign) take(all []kernel.Operation, of []int, results []kernel.Result, to ratios) {
	own, incomplete := map[Cell]float64{}, map[Cell]bool{}
	for k, r := range results {
		cell := Cell{all[k].Function, all[k].Ranks, all[k].Bytes}
		if of[k] == Own && r.N > 0 {
			own[cell] = r.Median
		}
		incomplete[cell] = incomplete[cell] || r.Skipped || r.Crashed // it is measured again
	}
	for k, r := range results {
		cell := Cell{all[k].Function, all[k].Ranks, all[k].Bytes}
		if r.Error != "" && of[k] != Own {
			at := cell
			if r.Code == 0 { // a call that fails may do so for its size
				at.Bytes = anySize
			}
			c.dropped[drop{at, of[k]}] = r.Error
		}
		if r.N == 0 || r.Median <= 0 || r.Error != "" || incomplete[cell] {
			continue
		}
		c.crowded = c.crowded || r.Crowded
		c.add(cell, of[k], &r)
		if of[k] == Own || own[cell] <= 0 {
			continue
		}
		if to[cell] == nil {
			to[cell] = map[int][]float64{}
		}
		to[cell][of[k]] = append(to[cell][of[k]], math.Log(r.Median/own[cell]))
	}
}

func (c *Campaign) add(cell Cell, algorithm int, r *kernel.Result) {
	if c.values[cell] == nil {
		c.values[cell] = map[int]*values{}
	}
	v := c.values[cell][algorithm]
	if v == nil {
		v = &values{}
		c.values[cell][algorithm] = v
	}
	v.medians = append(v.medians, r.Median)
	v.n, v.outliers, v.missed = v.n+r.N, v.outliers+r.Outliers, v.missed+r.Missed
	v.barrier = v.barrier || r.Start == "barrier"
	if r.Algorithm != "" {
		v.ran = r.Algorithm
	}
}

func (c *Campaign) step(stage string, done, most int) {
	if c.Step != nil {
		c.Step(stage, done, most)
	}
}

// screen measures everything: first without segments, then those that are worth it with segments.
func (c *Campaign) screen() (ratios, error) {
	all := ratios{}
	for _, stage := range []string{"screening", "segments"} {
		var tasks []task
		for _, cell := range c.cells {
			t := task{Cell: cell}
			for k, a := range c.collective(cell.Function).Algorithms {
				if a.Segment == 0 && stage == "screening" {
					t.algorithms = append(t.algorithms, k)
				}
			}
			if stage == "segments" {
				t.algorithms = c.collective(cell.Function).withSegments(cell, all[cell], c.Screening)
			}
			if len(t.algorithms) > 0 {
				tasks = append(tasks, t)
			}
		}
		for k := range c.Screening {
			if len(tasks) == 0 {
				break
			}
			if err := c.run(stage, k, tasks, all); err != nil {
				return all, budgetAt(err, stage, k, c.Screening)
			}
			c.step(stage, k+1, c.Screening)
		}
	}
	return all, nil
}

func budgetAt(err error, stage string, done, of int) error {
	if errors.Is(err, errBudget) {
		return fmt.Errorf("%w after %d of %d runs of %s", err, done, of, stage)
	}
	return err
}

// candidates are the findings of the coarse grid.
func (c *Campaign) candidates(screened ratios) map[Cell]*Finding {
	all := map[Cell]*Finding{}
	for _, cell := range c.cells {
		collective := c.collective(cell.Function)
		f := &Finding{Cell: cell, Coarse: true, Variable: collective.Variable, Sizeless: collective.Sizeless}
		if k, ok := best(screened[cell], c.Screening); ok && c.failed(cell, k) == "" {
			f.Candidate, f.Algorithm = collective.Algorithms[k].Text(), collective.Algorithms[k]
			f.Change = math.Expm1(stats.Median(screened[cell][k]))
			f.Left = errBudget.Error()
		}
		all[cell] = f
	}
	return all
}

// confirm measures the candidates again, and finds the winners.
func (c *Campaign) confirm(findings map[Cell]*Finding) error {
	var tasks []task
	for _, cell := range c.cells {
		if f := findings[cell]; f.Candidate != "" {
			tasks = append(tasks, task{cell, []int{slices.Index(c.collective(cell.Function).Algorithms, f.Algorithm)}})
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	all, runs, alpha := ratios{}, 0, 0.0
	runs, alpha = c.confirmingRuns(len(tasks))
	for k := range runs {
		if err := c.run("confirming", k, tasks, all); err != nil {
			return budgetAt(err, "confirming", k, runs)
		}
		c.step("confirming", k+1, runs)
	}
	for _, t := range tasks {
		f, differences := findings[t.Cell], all[t.Cell][t.algorithms[0]]
		f.Confirmed, f.Left = len(differences), ""
		i := stats.SignedRank(differences, alpha)
		f.Change, f.Low, f.High = math.Expm1(i.Change), math.Expm1(i.Low), math.Expm1(i.High)
		f.Winner = i.Known && i.High < 0 && c.failed(t.Cell, t.algorithms[0]) == ""
		switch {
		case !i.Known:
			f.Low, f.High, f.Left = 0, 0, "runs failed"
		case !f.Winner && i.Change < 0:
			f.Needed = stats.Pairs(i.Change, stats.Deviation(differences), alpha, 0.8, 64)
		}
	}
	return nil
}

// bisect finds the sizes at which the choice changes.
func (c *Campaign) bisect(findings map[Cell]*Finding) (all []*boundary, err error) {
	choice := func(f *Finding) int {
		if !f.Winner {
			return Own
		}
		return slices.Index(c.collective(f.Function).Algorithms, f.Algorithm)
	}
	for k, cell := range c.cells[:max(len(c.cells)-1, 0)] {
		next := c.cells[k+1]
		if a, b := findings[cell], findings[next]; cell.Function == next.Function && cell.Ranks == next.Ranks && choice(a) != choice(b) && !a.Sizeless {
			all = append(all, &boundary{cell.Function, cell.Ranks, cell.Bytes, next.Bytes, choice(a), choice(b)})
		}
	}
	for step := 0; ; step++ {
		var tasks []task
		var open []*boundary
		for _, b := range all {
			if m, ok := middle(b.low, b.high); ok {
				algorithms := slices.DeleteFunc([]int{b.below, b.above}, func(k int) bool { return k == Own })
				tasks, open = append(tasks, task{Cell{b.function, b.ranks, m}, algorithms}), append(open, b)
			}
		}
		if len(open) == 0 {
			return all, nil
		}
		measured := ratios{}
		for k := range c.Bisecting {
			if err := c.run(fmt.Sprint("bisecting ", step), k, tasks, measured); err != nil {
				return all, budgetAt(err, fmt.Sprintf("step %d of bisecting", step+1), k, c.Bisecting)
			}
			c.step("bisecting", step*c.Bisecting+k+1, 0)
		}
		for k, b := range open {
			if m := tasks[k].Bytes; b.side(measured[tasks[k].Cell], c.Bisecting) {
				b.low = m
			} else {
				b.high = m
			}
		}
	}
}

// describe fills in what was measured in a cell.
func (c *Campaign) describe(f *Finding) {
	of := func(k int, name string) Measured {
		m := Measured{Name: name}
		if v := c.values[f.Cell][k]; v != nil {
			m.Median, m.Runs, m.N, m.Outliers, m.Missed, m.Barrier, m.Ran = stats.Median(v.medians), len(v.medians), v.n, v.outliers, v.missed, v.barrier, v.ran
		}
		if k != Own {
			m.Failed = c.failed(f.Cell, k)
		}
		return m
	}
	f.Own = of(Own, "")
	for k, a := range c.collective(f.Function).Algorithms {
		if m := of(k, a.Text()); m.Runs > 0 || m.Failed != "" {
			f.Tried = append(f.Tried, m)
		}
	}
}
