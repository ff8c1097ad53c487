package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
)

// tell says on standard error what a user must know of a run, each thing once for all ranks that it concerns.
func (o *sampleOptions) tell(run *recording.Run, size int) {
	t := &tales{at: map[string]int{}}
	var lost recording.Counters
	columns := false // where nothing matched, there was nothing to lose
	seen := map[int]bool{}
	spawned := 0
	names := o.knownNames(run)
	for _, r := range run.Ranks {
		seen[r.Rank] = true
		for _, n := range r.Notes {
			switch {
			case n.Code == recording.NoteUnmatched:
				bare, _, _ := cutLast(n.Text, '@')
				text := "--pvar " + n.Text + ": no such variable"
				if !o.warned[n.Text] {
					text += ": " + howToGet(o.chosen, n.Text, o.settings.set)
				}
				t.add(r.Rank, text+catalog.DidYouMean(names, bare))
			case n.Code == recording.NoteFaulty:
				t.add(r.Rank, n.Text+" is not sampled: reading it crashes or hangs the library")
			case n.Code == recording.NoteSpawned:
				count, _ := strconv.Atoi(n.Text)
				spawned += count
			case n.Severity >= recording.Warning, n.Code == recording.NoteLess && r.Counters.Missed > r.Counters.Samples/10:
				t.add(r.Rank, n.Text)
			}
		}
		for _, c := range r.Columns {
			columns = columns || c != nil
		}
		for _, text := range troubles(r.Columns) {
			t.add(r.Rank, text)
		}
		if r.State == recording.StateDied {
			t.add(r.Rank, "the process ended before it could finish its recording: what was sampled until then is there")
		}
		lost.Samples += r.Counters.Samples
		lost.Missed += r.Counters.Missed
		lost.LostBusy += r.Counters.LostBusy
		lost.LostFull += r.Counters.LostFull
		lost.OverBudget += r.Counters.OverBudget
		lost.Refused += r.Counters.Refused
	}
	for _, l := range run.LeftOut() {
		t.add(l.Rank, fmt.Sprintf("only the first process that called MPI_Init is recorded; %d more came as the same rank, the last of them %s: start each MPI program with mpitx of its own", l.Count, l.Program))
	}
	var absent []int
	for rank := range size {
		if !seen[rank] {
			absent = append(absent, rank)
		}
	}
	if len(absent) > 0 && len(absent) < size {
		for _, rank := range absent {
			t.add(rank, "nothing was recorded: no program with the agent called MPI_Init, or it could not write to the run directory")
		}
	}
	a := o.a
	t.print(a, size)
	if len(absent) > 0 && len(absent) < size {
		a.complain("%s", otherPreload)
	}
	for _, line := range outcomes(run, o.cachedNames(), names) {
		a.complain("%s", line)
	}
	tellLoss(a, run)
	tellAway(a, run)
	if lost.Lost() > 0 && columns {
		a.complain("%s", missing(&lost, unwritten(run)))
	}
	switch {
	case spawned == 1:
		a.complain("1 process was started by MPI_Comm_spawn and is not sampled")
	case spawned > 1:
		a.complain("%d processes were started by MPI_Comm_spawn and are not sampled", spawned)
	}
	if lost.Refused > 0 {
		a.complain("%d declarations or notes could not be recorded", lost.Refused)
	}
	for _, n := range run.Nodes {
		if n.Step != 0 {
			a.complain("the clock of %s was set by %s during the run: times follow the clock of its beginning", n.Host, n.Step.Round(time.Millisecond))
		}
	}
}

// troubles say what is wrong with which variables, and for which objects: others may have values.
func troubles(columns []*recording.Column) (texts []string) {
	type trouble struct{ variable, why string }
	var all []trouble
	objects := map[trouble][]string{}
	for _, c := range columns {
		if c == nil || c.Status == recording.OK || c.Status == recording.Gone || c.Status == recording.Pending || c.Reason == "" {
			continue
		}
		k := trouble{c.Variable, c.Status.String() + ": " + c.Reason}
		names, known := objects[k]
		if !known {
			all = append(all, k)
		}
		if c.ObjectName != "" && !slices.Contains(names, c.ObjectName) {
			names = append(names, c.ObjectName)
		}
		objects[k] = names
	}
	for _, k := range all {
		of := ""
		if names := objects[k]; len(names) > 0 {
			of = " of " + namesText(names)
		}
		texts = append(texts, k.variable+of+": "+k.why)
	}
	return texts
}

// unwritten says why samples that were taken are not in the run.
func unwritten(run *recording.Run) string {
	if l, ok := run.Loss(); ok && l.Failed {
		return "could not be written (" + l.Reason + ")"
	}
	return "found all buffers waiting to be written (sample less often, or fewer variables)"
}

// missing says how many samples are, and why, without the reasons that none is missing for.
func missing(c *recording.Counters, unwritten string) string {
	var why []string
	for _, r := range []struct {
		n   uint64
		why string
	}{{c.Missed, "not taken in time"}, {c.LostBusy, "while another thread wrote"}, {c.LostFull, unwritten}, {c.OverBudget, "beyond --max-size"}} {
		if r.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", r.n, r.why))
		}
	}
	return fmt.Sprintf("of %d samples %d are missing: %s", c.Samples+c.Lost(), c.Lost(), strings.Join(why, ", "))
}

// knownNames are those that the library or the agent is known to offer: by the last reading of the library, and by this run.
func (o *sampleOptions) knownNames(run *recording.Run) []string {
	names := o.cachedNames()
	for _, r := range run.Ranks {
		for _, n := range r.Notes {
			if n.Code == recording.NoteOffered {
				names = append(names, strings.Split(n.Text, "\n")...)
			}
		}
		for _, c := range r.Columns {
			if c != nil && c.Variable != "" {
				names = append(names, c.Variable)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tales are texts with the ranks that they are about.
type tales struct {
	texts []string
	ranks [][]int
	at    map[string]int
}

func (t *tales) add(rank int, text string) {
	k, ok := t.at[text]
	if !ok {
		k = len(t.texts)
		t.at[text] = k
		t.texts, t.ranks = append(t.texts, text), append(t.ranks, nil)
	}
	if n := len(t.ranks[k]); n == 0 || t.ranks[k][n-1] != rank {
		t.ranks[k] = append(t.ranks[k], rank)
	}
}

const mostTales = 40

func (t *tales) print(a *app, size int) {
	for k, text := range t.texts {
		if k == mostTales {
			a.complain("and %d more of this kind", len(t.texts)-k)
			return
		}
		if ranks := t.ranks[k]; len(ranks) < size {
			text = export.Ranks(ranks) + ": " + text
		}
		a.complain("%s", text)
	}
}
