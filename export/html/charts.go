package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording/profile"
)

const (
	mostBars  = 12
	mostBins  = 256 // ranks of a chart: more are put together
	mostCells = 128 // ranks on a side of the matrix
)

// short makes a label of a name.
func short(t export.Terminal, name string) string {
	name = t.Safe(name)
	if r := []rune(name); len(r) > 48 {
		return string(r[:30]) + "…" + string(r[len(r)-17:])
	}
	return name
}

// inRun leaves out functions whose time is not part of the run time, and those of calls that the library made in others.
func inRun(all []*profile.Function) []*profile.Function {
	return slices.DeleteFunc(slices.Clone(all), func(f *profile.Function) bool { return profile.Initializes(f.Name) || f.Within != "" })
}

// slowest is a chart of the functions or call sites that took the most time.
func slowest(all []*profile.Function, t export.Terminal, name func(*profile.Function) string, says string) template.HTML {
	all = inRun(all)
	if len(all) == 0 {
		return ""
	}
	scale := t.ScaleOf("ns", float64(all[0].Time))
	var names []string
	var values []float64
	for _, f := range all[:min(len(all), mostBars)] {
		names, values = append(names, strings.TrimSpace(short(t, name(f))+" "+runs.ErrorText(&f.Totals, t))), append(values, scale.Value(float64(f.Time)))
	}
	return bars(names, values, "time in "+scale.Unit+", all ranks", says)
}

// ranks is a chart of each rank's time in MPI and outside of it.
func ranks(p *profile.Profile, t export.Terminal) template.HTML {
	if len(p.Ranks) == 0 {
		return ""
	}
	var longest time.Duration
	for _, r := range p.Ranks {
		longest = max(longest, r.Elapsed)
	}
	scale := t.ScaleOf("ns", float64(longest))
	per := (len(p.Ranks) + mostBins - 1) / mostBins
	bins := (len(p.Ranks) + per - 1) / per
	useful, inMPI := make([]float64, bins), make([]float64, bins)
	for i, r := range p.Ranks {
		n := float64(min(per, len(p.Ranks)-i/per*per))
		useful[i/per] += scale.Value(float64(r.Useful())) / n
		inMPI[i/per] += scale.Value(float64(r.InMPI)) / n
	}
	title := "rank"
	if per > 1 {
		title = fmt.Sprintf("ranks, each bar the mean of %d", per)
	}
	return stacks([]stack{{"outside of MPI", grey, useful}, {"in MPI", orange, inMPI}}, scale.Value(float64(longest)), rankMarks(per, len(p.Ranks)), title, "time in "+scale.Unit,
		"time of each rank in MPI and outside of it")
}

// matrix is a heat map of the bytes between ranks, and what its colours mean.
func matrix(p *profile.Profile, t export.Terminal) (chart template.HTML, note string) {
	size := 0
	most := 0.0
	for i := range p.Pairs {
		size = max(size, p.Pairs[i].Source+1, p.Pairs[i].Destination+1)
	}
	for _, r := range p.Ranks {
		size = max(size, r.Number+1)
	}
	if len(p.Pairs) == 0 || size < 2 {
		return "", ""
	}
	per := (size + mostCells - 1) / mostCells
	rows := make([][]float64, (size+per-1)/per)
	for i := range rows {
		rows[i] = make([]float64, len(rows))
	}
	for i := range p.Pairs {
		pair := &p.Pairs[i]
		cell := &rows[pair.Source/per][pair.Destination/per]
		*cell += float64(pair.Bytes())
		most = max(most, *cell)
	}
	if most == 0 {
		return "", ""
	}
	each := ""
	if per > 1 {
		each = fmt.Sprintf(", %d in a cell", per)
	}
	return heatMap(rows, most, rankMarks(per, size), "to rank"+each, "from rank"+each, "bytes sent from each rank to each other rank"),
		"Bytes that were sent. The darkest cell is " + t.Amount(most, "B") + "; white is nothing."
}

// pathMap is a map of the transports between ranks.
func pathMap(p *profile.Profile, t export.Terminal) (chart template.HTML, note string) {
	colors := []string{blue, orange, "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", black}
	size := 0
	kinds := map[[2]int]int{}
	var legend []string
	for _, path := range p.Paths {
		size = max(size, path.B+1)
	}
	if size < 2 || size > mostCells {
		return "", ""
	}
	for _, path := range p.Paths {
		text := t.Safe(path.Text())
		if devices := path.Devices(); len(devices) > 0 {
			text += " " + t.Safe(strings.Join(devices, ", "))
		}
		kind := slices.Index(legend, text)
		if kind < 0 && len(legend) < len(colors) {
			kind, legend = len(legend), append(legend, text)
		}
		kinds[[2]int{path.A, path.B}], kinds[[2]int{path.B, path.A}] = kind+1, kind+1
	}
	return cellMap(size, func(i, j int) int { return kinds[[2]int{i, j}] }, colors, legend, rankMarks(1, size), "rank", "rank", "transports between ranks"),
		"What carried messages between two ranks. White: nothing was seen."
}
