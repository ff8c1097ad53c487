package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mpitx/recording/finding"
	"mpitx/recording/profile"
	"mpitx/text"
)

// A finding about time is about at least this part of the run time, one about data about at least this part of it.
const (
	significant     = 0.01
	significantData = 0.01
	significantVar  = 0.10

	mostTimes = 4 // findings about time before those about messages
)

// Findings returns what changed most: first the run time, then where time went, most first, then messages and variables. Changes within
// the spread of runs are no findings. command compares the same runs.
func (c *Comparison) Findings(command string) []finding.Finding {
	if !c.Profiles {
		return c.changedVariables()
	}
	f := c.finder()
	f.command = command
	list := slices.Concat(f.places(), f.outside(), f.initializing(), f.phases())
	slices.SortStableFunc(list, func(a, b finding.Finding) int { return cmp.Compare(math.Abs(b.Share), math.Abs(a.Share)) })
	said := map[string]bool{} // what to look at is said once
	for i := range list {
		if next := list[i].Next; said[next] {
			list[i].Next = ""
		} else {
			said[next] = true
		}
	}
	first := min(len(list), mostTimes)
	return slices.Concat(f.cores(), f.runTime(), list[:first], f.messages(), c.changedVariables(), list[first:])
}

func (c *Comparison) finder() *finder {
	f := &finder{c: c, run: c.Run[0].Measure("elapsed_ns"), delay: c.delay()}
	f.length = max(f.run.Base.Mean(), f.run.New.Mean())
	return f
}

type finder struct {
	c       *Comparison
	run     Measure
	length  float64 // of the longer side
	command string

	delay    float64 // that missing cores may have caused
	withheld bool    // a change is not named, because they may be its cause
}

// matters reports whether a change of time is large enough, and more than runs vary and estimates may be wrong by.
func (f *finder) matters(d Delta) bool {
	return f.length > 0 && math.Abs(d.Change())-d.Error() >= significant*f.length && !d.WithinSpread()
}

func (f *finder) part(x float64) float64 { return x / max(f.length, 1) }

// share is a change as a part of the run's; "" if that says nothing.
func (f *finder) share(change float64) string {
	if !f.matters(f.run.Delta) || change/f.run.Change() < 0 || change/f.run.Change() > 1.05 {
		return ""
	}
	word := "growth"
	if f.run.Change() < 0 {
		word = "gain"
	}
	return fmt.Sprintf(", %.0f %% of the run's %s", 100*change/f.run.Change(), word)
}

// figures are the means of both sides.
func figures(measures ...Measure) finding.Figures {
	all := finding.Figures{}
	for _, m := range measures {
		if m.Known() {
			all["base_"+m.Name], all["new_"+m.Name] = m.Base.Mean(), m.New.Mean()
		}
	}
	return all
}

func (f *finder) runTime() []finding.Finding {
	if f.run.WithinSpread() && math.Abs(f.run.Change()) >= significant*f.length {
		return []finding.Finding{{Kind: "run time", Certainty: finding.Possible, Share: f.part(f.run.Change()), Figures: figures(f.run),
			Text: fmt.Sprintf("the run takes %s (%s%s), which is within the spread%s", more(f.run), arrow(f.run), relative(f.run.Delta), varies(f.run.Delta))}}
	}
	if !f.matters(f.run.Delta) {
		return nil
	}
	inMPI, useful := f.c.Run[0].Measure("in_mpi_ns"), f.c.Run[0].Measure("useful_ns")
	return []finding.Finding{{Kind: "run time", Share: f.part(f.run.Change()), Figures: figures(f.run, inMPI, useful),
		Text: fmt.Sprintf("the run takes %s (%s%s): on average, ranks spend %s in MPI and %s outside of it%s", more(f.run), arrow(f.run), relative(f.run.Delta),
			more(inMPI), more(useful), varies(f.run.Delta))}}
}

// places finds the call sites whose time changed; functions if no sites were counted.
func (f *finder) places() (list []finding.Finding) {
	items := f.c.Sites
	if len(items) == 0 {
		items = f.c.Functions
	}
	for _, it := range items {
		time := it.Measure("rank_mean_ns")
		if it.Within != "" || profile.Initializes(it.Name) || !f.matters(time.Delta) || !f.sure(time.Change()) {
			continue
		}
		found := finding.Finding{Kind: "calls", Subject: it.Where(), Share: f.part(time.Change()), Figures: figures(time, it.Measure("calls"), it.Measure("time_ns"))}
		if it.Side != Both {
			side, m := it.Side, it.Measure("calls")
			found.Text = fmt.Sprintf("only %s has %s: it takes %s a rank in %s calls%s", f.c.names(side), it.Where(), amount(math.Abs(time.Change()), "ns"),
				count(m.Base.Mean()+m.New.Mean()), f.share(time.Change()))
		} else {
			found.Text = fmt.Sprintf("%s takes %s a rank (%s)%s%s: %s%s", it.Where(), more(time), arrow(time), f.share(time.Change()), f.c.where(it), perCall(it), varies(time.Delta))
			found.Next = f.next(it)
		}
		list = append(list, found)
	}
	return list
}

// Where is a function with its place in the program.
func (it *Item) Where() string {
	switch {
	case it.Site == "":
		return it.Name
	case strings.Contains(it.Site, " "):
		return it.Name + ": " + it.Site
	case it.NewSite != "":
		return it.Name + " in " + it.Site + " (now " + it.NewSite + ")"
	}
	return it.Name + " in " + it.Site
}

// where says on which ranks a change is.
func (c *Comparison) where(it *Item) string {
	if len(it.ByRank) < 2 {
		return ""
	}
	sum := 0.0
	for _, x := range it.ByRank {
		sum += x
	}
	mean := sum / float64(len(it.ByRank))
	var ranks []int
	held := 0.0
	for i, x := range it.ByRank {
		if x*mean > 0 && math.Abs(x) >= math.Abs(mean)/2 {
			ranks = append(ranks, c.SameRanks[i])
			held += x
		}
	}
	switch {
	case len(ranks) == len(it.ByRank):
		return ", on all ranks"
	case len(ranks) == 1 && held/sum > 0.9:
		return fmt.Sprintf(", on rank %d only", ranks[0])
	case len(ranks) == 1:
		return fmt.Sprintf(", mostly on rank %d", ranks[0])
	case len(ranks) > 4:
		return fmt.Sprintf(", on %d of %d ranks", len(ranks), len(it.ByRank))
	}
	return ", mostly on ranks " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ", "), "[]")
}

// perCall is the number of calls, and the time and bytes of each.
func perCall(it *Item) string {
	calls, time := it.Measure("calls"), it.Measure("time_ns")
	text := countArrow(calls) + " calls"
	if each := eachCall(time, calls); each.Known() {
		text += ", " + arrow(each) + " each"
	}
	if bytes := eachCall(it.bytes(), calls); bytes.Known() && math.Abs(bytes.ratio()) >= significantData {
		text += ", with " + arrow(bytes)
	}
	return text
}

// bytes are those that a function moves: what it sends, else what it receives.
func (it *Item) bytes() Measure {
	for _, names := range [][2]string{{"bytes_sent", "bytes_out"}, {"bytes_received", "bytes_in"}} {
		a, b := it.Measure(names[0]), it.Measure(names[1])
		sum := Measure{Unit: "B", Delta: Delta{Base: added(a.Base, b.Base), New: added(a.New, b.New)}}
		if sum.Base.Mean()+sum.New.Mean() > 0 {
			return sum
		}
	}
	return Measure{Unit: "B"}
}

func added(a, b Sample) (sum Sample) {
	for i := range a {
		sum = append(sum, a[i]+b[i])
	}
	return sum
}

// eachCall divides by the number of calls; unknown if a side has none.
func eachCall(m, calls Measure) Measure {
	each := Measure{Unit: m.Unit}
	if calls.Base.Mean() > 0 && calls.New.Mean() > 0 && m.Known() {
		each.Base, each.New = Sample{m.Base.Mean() / calls.Base.Mean()}, Sample{m.New.Mean() / calls.New.Mean()}
	}
	return each
}

// next is what to look at if calls got slower.
func (f *finder) next(it *Item) string {
	time, calls := it.Measure("rank_mean_ns"), it.Measure("calls")
	if time.Change() < 0 {
		return ""
	}
	late, does := f.late(it)
	switch {
	case calls.ratio() >= 0.1:
		return "why the program calls it more often"
	case profile.Waits(it.Name) && late != nil:
		return fmt.Sprintf("rank %d, for which the others wait: it %s", late.Source, does)
	case it.bytes().ratio() >= 0.1:
		return "why its messages are larger"
	case !profile.Waits(it.Name):
		return "the library, its settings and the network: the same calls take longer"
	}
	return fmt.Sprintf("mpitx report %s: whether ranks wait for each other, or the library and the network are slower", f.c.Sides[New][0].Name)
}

// late is a rank that is outside of MPI for longer than before by more than the others, so that these wait for about that time in a function,
// and what it does there; nil if there is none.
func (f *finder) late(it *Item) (late *Item, does string) {
	waited := it.Measures[0].Change()
	for _, way := range append(f.outsideStates(), away) {
		mean := f.c.Run[0].Measure(way.measure).Change()
		for _, r := range f.c.Ranks {
			i, time := slices.Index(f.c.SameRanks, r.Source), r.Measure(way.measure)
			if len(it.ByRank) > 1 && i >= 0 && it.ByRank[i] < waited/2 && time.Change()-mean >= waited/2 && !time.WithinSpread() {
				where := " outside of MPI"
				if way == computing {
					where = ""
				}
				return r, fmt.Sprintf("%s%s for %s", way.does, where, more(time))
			}
		}
	}
	return nil, ""
}

// outside finds changes of what ranks do outside of MPI, on all ranks or on one.
func (f *finder) outside() (list []finding.Finding) {
	for _, way := range f.outsideStates() {
		if all := f.c.Run[0].Measure(way.measure); way != away || f.sure(all.Change()) { // waiting for cores is part of away
			list = append(list, f.spends(way, all)...)
		}
	}
	return list
}

// spends finds a change of the time of one thing that ranks do.
func (f *finder) spends(way outsideState, all Measure) []finding.Finding {
	if r, others := f.apart(way); r != nil {
		d := r.Measure(way.measure)
		return []finding.Finding{{Kind: way.kind, Ranks: []int{r.Source}, Share: f.part(d.Change()), Figures: figures(d),
			Text: fmt.Sprintf("rank %d %s outside of MPI for %s (%s), %s%s", r.Source, way.does, more(d), arrow(d), others, varies(d.Delta)),
			Next: fmt.Sprintf(way.one, r.Source)}}
	}
	if found, ok := f.divided(way); ok {
		return []finding.Finding{found}
	}
	if !f.matters(all.Delta) {
		return nil
	}
	return []finding.Finding{{Kind: way.kind, Share: f.part(all.Change()), Figures: figures(all),
		Text: fmt.Sprintf("ranks %s outside of MPI for %s (%s a rank)%s%s", way.do, more(all), arrow(all), f.share(all.Change()), varies(all.Delta)),
		Next: way.all}}
}

// apart is the rank whose time changed by the most if the others changed less, or by about the same, and what they do; nil: there is none.
func (f *finder) apart(way outsideState) (found *Item, others string) {
	if len(f.c.SameRanks) < 2 {
		return nil, ""
	}
	for _, r := range f.c.Ranks {
		if found == nil || math.Abs(r.Measure(way.measure).Change()) > math.Abs(found.Measure(way.measure).Change()) {
			found = r
		}
	}
	var changes []float64
	for _, r := range f.c.Ranks {
		if r != found {
			changes = append(changes, r.Measure(way.measure).Change())
		}
	}
	d := found.Measure(way.measure)
	least, most := slices.Min(changes), slices.Max(changes)
	away := min(math.Abs(d.Change()-least), math.Abs(d.Change()-most))
	if !f.matters(d.Delta) || away < math.Abs(d.Change())/2 || max(math.Abs(least), math.Abs(most)) > 0.8*math.Abs(d.Change()) {
		return nil, ""
	}
	verb := "the others"
	if len(changes) == 1 {
		verb = "the other one"
	}
	return found, othersText(verb, changes, math.Abs(d.Change()))
}

// othersText says by how much less than a rank whose change has this size others changed.
func othersText(who string, changes []float64, size float64) string {
	least, most := slices.Min(changes), slices.Max(changes)
	switch {
	case max(math.Abs(least), math.Abs(most)) < 0.05*size:
		return who + " for as long as before"
	case most-least > 0.2*size:
		return fmt.Sprintf("%s from %s to %s", who, longer(least, size), longer(most, size))
	case len(changes) > 1:
		return who + " for " + longer((least+most)/2, size) + " each"
	}
	return who + " for " + longer(changes[0], size)
}

// divided says which ranks do something for longer and which for less long, if not all of them changed alike.
func (f *finder) divided(way outsideState) (found finding.Finding, ok bool) {
	if len(f.c.SameRanks) < 2 {
		return found, false
	}
	var parts []string
	var others []float64 // changes of those that are not named
	least := math.Inf(1) // of those that are
	for _, r := range f.c.Ranks {
		if d := r.Measure(way.measure); f.matters(d.Delta) {
			least = min(least, math.Abs(d.Change()))
		} else {
			others = append(others, d.Change())
		}
	}
	for _, d := range others {
		if math.Abs(d) > least/2 { // a limit between ranks that changed alike
			return found, false
		}
	}
	first := 0
	found.Figures = finding.Figures{}
	for _, sign := range []float64{1, -1} {
		var numbers []int
		sum := 0.0
		for _, r := range f.c.Ranks {
			if d := r.Measure(way.measure); f.matters(d.Delta) && d.Change()*sign > 0 {
				numbers, sum = append(numbers, r.Source), sum+d.Change()
			}
		}
		slices.Sort(numbers)
		found.Ranks = append(found.Ranks, numbers...)
		ranks := strings.Fields(strings.Trim(fmt.Sprint(numbers), "[]"))
		if len(ranks) == 0 || len(ranks) == len(f.c.Ranks) {
			continue
		}
		mean := sum / float64(len(ranks))
		found.Figures[map[bool]string{true: "mean_more_ns", false: "mean_less_ns"}[sign > 0]] = math.Abs(mean)
		if w := f.part(mean); math.Abs(w) > math.Abs(found.Share) || math.Abs(w) == math.Abs(found.Share) && numbers[0] < first {
			found.Share = w
		}
		first = numbers[0]
		if len(parts) == 0 {
			parts = append(parts, fmt.Sprintf("%s %s outside of MPI for %s", called(ranks), pick(ranks, way.does, way.do), longer(mean, mean)))
		} else {
			parts = append(parts, fmt.Sprintf("%s for %s", called(ranks), longer(mean, mean)))
		}
		if len(ranks) > 1 {
			parts[len(parts)-1] += " on average"
		}
	}
	if len(parts) == 0 {
		return found, false
	}
	found.Kind, found.Next = way.kind, way.all
	if len(parts) > 1 {
		found.Next = "how the work is divided between the ranks"
	}
	if len(others) > 0 {
		parts = append(parts, othersText("the others", others, least))
	}
	found.Text = strings.Join(parts, ", ")
	return found, true
}

// called is "rank 1" or "ranks 0, 2, 3".
func called(ranks []string) string {
	const most = 8
	if len(ranks) > most {
		return fmt.Sprintf("%d ranks (%s, …)", len(ranks), strings.Join(ranks[:most], ", "))
	}
	return pick(ranks, "rank ", "ranks ") + strings.Join(ranks, ", ")
}

// pick is the word for one rank or for several.
func pick(ranks []string, one, many string) string {
	if len(ranks) == 1 {
		return one
	}
	return many
}

func (f *finder) initializing() []finding.Finding {
	d := f.c.Run[0].Measure("init_ns")
	if !f.matters(d.Delta) || !f.sure(d.Change()) {
		return nil
	}
	return []finding.Finding{{Kind: "initialization", Share: f.part(d.Change()), Figures: figures(d),
		Text: fmt.Sprintf("starting MPI takes %s a rank (%s), before the run time%s", more(d), arrow(d), varies(d.Delta))}}
}

// phases finds the named phase that changed most.
func (f *finder) phases() []finding.Finding {
	for _, it := range f.c.Phases {
		if d := it.Measures[0]; it.Name != "" && it.Side == Both && f.matters(d.Delta) && f.sure(d.Change()) {
			return []finding.Finding{{Kind: "phase", Subject: it.Name, Share: f.part(d.Change()), Figures: figures(d),
				Text: fmt.Sprintf("phase %q takes %s (%s)%s%s", it.Name, more(d), arrow(d), f.share(d.Change()), varies(d.Delta)),
				Next: f.command + " --phase " + text.Quote(it.Name)}}
		}
	}
	return nil
}

// messages finds changes of what was sent.
func (f *finder) messages() (list []finding.Finding) {
	bytes, messages := f.c.Run[0].Measure("bytes_sent"), f.c.Run[0].Measure("messages_sent")
	if changed(bytes) || changed(messages) {
		text := fmt.Sprintf("ranks send %s in %s messages", arrow(bytes), countArrow(messages))
		if r, ok := bytes.Relative(); ok {
			text += fmt.Sprintf(" (%+.0f %% bytes)", 100*r)
		}
		found := finding.Finding{Kind: "messages", Text: text, Next: "mpitx report " + f.c.Sides[New][0].Name + " matrix", Figures: figures(bytes, messages)}
		found.Text += mostOf(f.c.Sites, "bytes_sent", bytes.Change())
		if pair, part := mostChanged(f.c.Peers, "bytes", bytes.Change()); part >= 0.5 && len(f.c.Peers) > 1 {
			found.Text += fmt.Sprintf(", most of it from rank %d to %d", pair.Source, pair.Destination)
		}
		list = append(list, found)
	}
	if out := f.c.Run[0].Measure("bytes_out"); changed(out) {
		found := finding.Finding{Kind: "data", Figures: figures(out), Text: "collectives, one-sided operations and files take " + arrow(out) + " from the program"}
		found.Text += mostOf(f.c.Sites, "bytes_out", out.Change())
		list = append(list, found)
	}
	return list
}

// changed reports whether a quantity that runs usually agree on differs.
func changed(m Measure) bool { return math.Abs(m.ratio()) >= significantData && !m.WithinSpread() }

// mostChanged is the item that a change of all items comes from the most, with its part of it; nil if there is none.
func mostChanged(items []*Item, name string, all float64) (most *Item, part float64) {
	for _, it := range items {
		if d := it.Measure(name).Change() / all; all != 0 && it.Within == "" && d > part {
			most, part = it, d
		}
	}
	return most, part
}

// mostOf says where a change comes from the most; "": that is not known.
func mostOf(items []*Item, name string, all float64) string {
	most, part := mostChanged(items, name, all)
	switch {
	case most == nil:
		return ""
	case part < 0.5:
		return ", the greatest part of the change by " + most.Where()
	}
	return ", most of the change by " + most.Where()
}

// names names the runs of a side.
func (c *Comparison) names(side Side) string {
	if len(c.Sides[side]) == 1 {
		return c.Sides[side][0].Name
	}
	return [...]string{"the base", "the new side"}[side]
}

// changedVariables finds the variables with the greatest relative changes.
func (c *Comparison) changedVariables() (list []finding.Finding) {
	const most = 4
	for _, it := range c.Variables {
		for _, m := range []Measure{it.Measures[0], it.Measure("max")} {
			if it.Side != Both || math.Abs(m.ratio()) < significantVar || m.WithinSpread() || len(list) == most {
				continue
			}
			name := it.Name
			if it.Object != "" {
				name += " of " + it.Object
			}
			text := fmt.Sprintf("%s: %s %s", name, map[string]string{"total": "the total over ranks goes", "mean": "the mean over time goes", "max": "the maximum goes"}[m.Name], fromTo(m))
			list = append(list, finding.Finding{Kind: "variable", Subject: name, Share: m.ratio(), Text: text + varies(m.Delta), Figures: figures(m)})
			break
		}
	}
	return list
}
