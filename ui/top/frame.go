package top

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/text"
	"mpitx/ui/chart"
	"mpitx/ui/screen"
)

// Frame is the state of a feed at one time. It shares nothing with the feed that changes.
type Frame struct {
	Dir     string
	Time    time.Duration // of the newest sample, since the job's start
	Live    bool          // some process may still write
	Over    bool          // all ranks have ended
	Whole   bool          // trends and histories cover the whole run
	Behind  bool          // some of what was written is not read yet
	Broken  string        // why the directory cannot be read any more; "": it can
	Size    int           // of MPI_COMM_WORLD
	Ranks   []RankInfo
	Rows    []Row
	Samples uint64 // read so far
	Lost    uint64 // samples that the ranks could not take or keep
	NoRoom  string // why samples were dropped for lack of room, and how many; "": none was
	Damage  []error
	Detail  *Detail // of the row that was asked for; nil: there is none

	HasProfile bool
	Functions  []Function // if they were asked for, the one with the most time first
	Matrix     *Matrix    // nil: it was not asked for
	Watched    bool       // the profile was read several times: there are rates and histories
	Profile    string     // why the profile cannot be read; "": it can
}

// RankInfo is the state of a rank.
type RankInfo struct {
	Rank   int
	Host   string
	State  recording.State
	End    recording.End
	Silent bool // it runs, and has recorded nothing for some time
	Last   time.Duration
	Lost   uint64

	Incomplete string // why its numbers may be too small; "": they are whole
}

// Word is the rank's state in a word.
func (r *RankInfo) Word() string {
	switch {
	case r.Silent:
		return "silent"
	case r.State == recording.StateEnded && r.End != recording.EndFinalize:
		return r.End.String()
	}
	return r.State.String()
}

// Row is a variable over all ranks.
type Row struct {
	Key
	As                  recording.Transform // how it is shown
	Number              bool                // it has numbers, else only Text
	Sum, Min, Mean, Max float64
	MinAt, MaxAt        []int  // the ranks that have them
	Ranks               int    // with a value
	Unit                string // of the numbers: "ns", "B/s"; "": none
	Text                string // the value of a variable without numbers, or why there is no value
	Trend               []float64
}

// at names the ranks that have an extreme: none of several equal ranks stands for the others.
func (r *Row) at(ranks []int) string {
	if len(ranks) > 1 && len(ranks) == r.Ranks {
		return "all"
	}
	return text.RankList(ranks)
}

// Detail is one row, by rank.
type Detail struct {
	Key
	As       recording.Transform // of the histories
	Unit     string              // of raw values
	Enum     *catalog.Enum       // of values that are items; nil: they are not
	Ranks    []Value
	History  [][]float64 // by rank, over the last bins
	BinWidth time.Duration
	Whole    bool          // the histories are those of the whole run
	End      time.Duration // of the newest bin
	Begin    time.Duration // of the first one; of functions when they were read first
}

// Value is one row on one rank.
type Value struct {
	Rank             int
	Host             string
	Raw, Delta, Rate float64
	Text             string
	Status           recording.Status
	Shown            float64
}

// Ask says what a frame should hold.
type Ask struct {
	As      recording.Transform // Default: by the column's class
	Trend   int                 // bins of each row's trend; a whole run's trend has all bins
	Row     *Key                // the row whose detail is needed
	History int                 // bins of its histories
	Metric  Metric              // of the trends of functions; time if it is none of theirs
	Profile bool                // functions are needed
	Matrix  bool                // messages between ranks are
}

const mostTrends = historyBytes / 8 // numbers that are added up for trends, at most

// Frame is the current state.
func (f *Feed) Frame(ask Ask) *Frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := &Frame{Dir: f.run.Dir, Time: f.now, Live: f.run.Running(), Whole: f.line.whole, Behind: f.behind, Samples: f.samples}
	if f.broken != nil {
		out.Broken = f.broken.Error()
	}
	for _, r := range f.ranks {
		out.Size = max(out.Size, r.Size)
		out.Ranks = append(out.Ranks, RankInfo{r.Rank.Rank, r.Host, r.State, r.End,
			r.State == recording.StateRunning && f.silent(r), r.last, r.Counters.Lost(), r.Incomplete()})
		out.Lost += r.Counters.Lost()
	}
	out.Over = !out.Live && len(out.Ranks) > 0 && len(out.Ranks) >= out.Size
	for i := range out.Ranks {
		out.Over = out.Over && out.Ranks[i].State != recording.StateUnreachable
	}
	f.over = out.Over
	if loss, ok := f.run.Loss(); ok {
		out.NoRoom = loss.String()
	}
	trend := min(ask.Trend, f.line.bins)
	if trend > 0 && f.line.whole {
		trend = f.line.last + 1
	}
	if f.count*trend > mostTrends {
		trend = 0
	}
	f.profile(out, ask, trend)
	out.Damage = append(out.Damage, f.run.Damage()...) // also what the profile has found
	if ask.Profile || ask.Matrix {
		trend = 0
	}
	for _, key := range f.keys {
		out.Rows = append(out.Rows, f.row(key, ask.As, trend))
	}
	if ask.Row != nil && f.cells[*ask.Row] != nil {
		out.Detail = f.detail(*ask.Row, ask.As, min(ask.History, f.line.bins))
	}
	return out
}

// silent says whether a rank that records samples has recorded none for some time.
func (f *Feed) silent(r *rank) bool {
	return len(r.Sets) > 0 && f.clock().Sub(r.heard) > max(silence, 10*r.Interval)
}

func (f *Feed) value(c *cell, as recording.Transform) Value {
	v := Value{Rank: c.rank.Rank.Rank, Host: c.rank.Host, Status: c.status(), Raw: math.NaN(), Delta: math.NaN(), Rate: math.NaN()}
	v.Text = c.text()
	if c.how != latest || c.columns[0].Type.Form() != catalog.FormText {
		v.Raw, v.Delta = c.now()
		v.Rate = c.rate(&f.line, f.line.whole || f.over)
		if s := c.rank.State; !f.line.whole && !f.over && (s == recording.StateEnded || s == recording.StateDied || s == recording.StateDamaged || f.silent(c.rank)) {
			v.Rate = math.NaN() // it has none any more
		}
	}
	if !v.Status.HasValue() && v.Status != recording.Gone {
		v.Raw, v.Delta, v.Rate = math.NaN(), math.NaN(), math.NaN()
	}
	switch as {
	case recording.Rate:
		v.Shown = v.Rate
	case recording.Delta:
		v.Shown = v.Delta
	default:
		v.Shown = v.Raw
	}
	return v
}

func (f *Feed) row(key Key, as recording.Transform, trend int) Row {
	cells := f.cells[key]
	first := cells[0].columns[0]
	r := Row{Key: key, As: first.Shown(as), Number: cells[0].how != latest, Min: math.NaN(), Max: math.NaN(), Mean: math.NaN(), Sum: math.NaN(),
		Unit: unitOf(first.Column, first.Shown(as))}
	texts := map[string]int{}
	var status recording.Status
	for _, c := range cells {
		if r.Number && f.run.Excludes(c.rank.Rank) {
			continue
		}
		v := f.value(c, r.As)
		if v.Status.HasValue() && !r.Number {
			texts[v.Text]++
		}
		if math.IsNaN(v.Shown) {
			status = v.Status
			continue
		}
		r.Ranks++
		r.Sum = sum.add(r.Sum, v.Shown)
		if !(r.Min <= v.Shown) {
			r.Min, r.MinAt = v.Shown, nil
		}
		if !(r.Max >= v.Shown) {
			r.Max, r.MaxAt = v.Shown, nil
		}
		if v.Shown == r.Min {
			r.MinAt = append(r.MinAt, v.Rank)
		}
		if v.Shown == r.Max {
			r.MaxAt = append(r.MaxAt, v.Rank)
		}
	}
	slices.Sort(r.MinAt)
	slices.Sort(r.MaxAt)
	if r.Ranks > 0 {
		r.Mean = r.Sum / float64(r.Ranks)
	}
	switch {
	case !r.Number && len(texts) > 0:
		r.Text = mostOften(texts)
	case r.Ranks == 0 && status.HasValue():
		r.Text = "no sample lately"
	case r.Ranks == 0:
		r.Text = status.String()
		if first.Reason != "" {
			r.Text += ": " + first.Reason
		}
	}
	if trend > 0 && r.Number {
		r.Trend = f.trend(cells, first.overTime(as), trend)
	}
	return r
}

func unitOf(c *recording.Column, as recording.Transform) string {
	if as == recording.Rate {
		return c.Unit() + "/s"
	}
	return c.Unit()
}

// mostOften is the text that most ranks have, and how many other texts there are.
func mostOften(texts map[string]int) string {
	best := ""
	for t, n := range texts {
		if m := texts[best]; n > m || n == m && t < best {
			best = t
		}
	}
	if len(texts) > 1 {
		return fmt.Sprintf("%s and %d other", best, len(texts)-1)
	}
	return best
}

// trend is the sum over the ranks. In a run that has ended, the last bins, which some ranks did not reach, are left out if they are few.
func (f *Feed) trend(cells []*cell, as recording.Transform, n int) []float64 {
	out := chart.Gaps(n)
	one, ranks := make([]float64, n), make([]int, n)
	for _, c := range cells {
		c.series(&f.line, as, one)
		for i, x := range one {
			if !math.IsNaN(x) {
				out[i] = c.how.add(out[i], x)
				ranks[i]++
			}
		}
	}
	if few := 1 + n/100; f.line.whole && n > leastBins {
		for all := ranks[n-1-few]; few > 0 && ranks[n-1] < all; few-- {
			n--
		}
	}
	return out[:n]
}

func (f *Feed) detail(key Key, as recording.Transform, bins int) *Detail {
	cells := slices.Clone(f.cells[key])
	slices.SortStableFunc(cells, func(a, b *cell) int { return a.rank.Rank.Rank - b.rank.Rank.Rank })
	first := cells[0].columns[0]
	d := &Detail{Key: key, As: first.overTime(as), Unit: first.Unit(), Enum: first.Enum, BinWidth: f.line.width, Whole: f.line.whole, End: time.Duration(f.line.last+1) * f.line.width}
	switch {
	case f.line.whole:
		bins = min(bins, f.line.last+1)
	case d.As == recording.Rate: // without the bin that has just begun
		d.End -= f.line.width
	}
	if key.Metric != OfVariable {
		d.Begin = f.profiler.begin
	}
	for _, c := range cells {
		history := make([]float64, max(bins, 0))
		c.series(&f.line, d.As, history)
		d.Ranks, d.History = append(d.Ranks, f.value(c, d.As)), append(d.History, history)
	}
	return d
}

func (f *Frame) has(key Key) bool {
	if key.Metric != OfVariable {
		return f.function(key) != nil
	}
	return slices.ContainsFunc(f.Rows, func(r Row) bool { return r.Key == key })
}

// away are the unreachable ranks and their hosts.
func (f *Frame) away() (hosts []string, ranks []int) {
	for i := range f.Ranks {
		if r := &f.Ranks[i]; r.State == recording.StateUnreachable {
			hosts, ranks = append(hosts, r.Host), append(ranks, r.Rank)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), ranks
}

// incomplete are the ranks whose numbers may be too small.
func (f *Frame) incomplete() (ranks []int) {
	for i := range f.Ranks {
		if f.Ranks[i].Incomplete != "" {
			ranks = append(ranks, f.Ranks[i].Rank)
		}
	}
	return ranks
}

func (f *Frame) findings() (all screen.Findings) {
	if f.Broken != "" {
		all.Add("cannot be read any more: "+f.Broken, f.Broken)
	}
	var said []string
	for _, kind := range []struct {
		word, words string
		is          func(*RankInfo) bool
	}{
		{"died", "died before the end of the recording", func(r *RankInfo) bool { return r.State == recording.StateDied }},
		{"damaged", "did not end as far as the recording says, whose end is damaged or missing", func(r *RankInfo) bool { return r.State == recording.StateDamaged }},
		{"no sample lately", "recorded nothing lately, but did not end", func(r *RankInfo) bool { return r.Silent }},
	} {
		var ranks []int
		for i := range f.Ranks {
			if kind.is(&f.Ranks[i]) {
				ranks = append(ranks, f.Ranks[i].Rank)
			}
		}
		if len(ranks) > 0 {
			said = append(said, kind.word+": "+text.Ranks(ranks))
			all.Add("", text.Ranks(ranks)+" "+kind.words)
		}
	}
	if hosts, ranks := f.away(); len(ranks) > 0 {
		said = append(said, "unreachable: "+text.Ranks(ranks))
		all.Add("", fmt.Sprintf("%s on %s: the newest data are in memory there and cannot be read from here; run mpitx top there",
			text.Ranks(ranks), recording.HostsText(hosts)))
	}
	if ranks := f.incomplete(); len(ranks) > 0 {
		said = append(said, "incomplete: "+text.Ranks(ranks))
		words := text.Ranks(ranks) + ": the recording is incomplete; numbers may be too small"
		if len(ranks) < len(f.Ranks) {
			words += ", and count in no sum and no mean of a variable"
		}
		all.Add("", words)
	}
	all.Add(strings.Join(said, "; "), "")
	if f.Size > len(f.Ranks) && len(f.Ranks) > 0 {
		all.Add("", fmt.Sprintf("%d of %d ranks have recorded something", len(f.Ranks), f.Size))
	}
	switch {
	case f.NoRoom != "":
		all.Add(f.NoRoom, f.NoRoom)
	case f.Lost > 0:
		all.Add(samples(f.Lost)+" lost", fmt.Sprintf("%d samples were lost: they could not be taken or kept", f.Lost))
	}
	if f.Profile != "" {
		all.Add("cannot read the profile: "+f.Profile, "cannot read the profile: "+f.Profile)
	}
	if n := len(f.Damage); n > 0 {
		all.Add(fmt.Sprintf("%d damaged: %v", n, f.Damage[0]), recording.DamageText(f.Damage))
	}
	return all
}
