package runs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/text"
	"mpitx/ui/progress"
)

type statsOptions struct {
	a      *cli.App
	format export.Format
	as     recording.Transform
	sort   string
	columnFilter
}

// statOrders are the values of --sort; numbers are sorted largest first.
var statOrders = map[string]func(*recording.Stat) float64{
	"name":   nil,
	"count":  func(s *recording.Stat) float64 { return float64(s.Count) },
	"min":    func(s *recording.Stat) float64 { return s.Min.Float64() },
	"mean":   func(s *recording.Stat) float64 { return s.Mean },
	"max":    func(s *recording.Stat) float64 { return s.Max.Float64() },
	"stddev": func(s *recording.Stat) float64 { return s.Dev },
	"total":  func(s *recording.Stat) float64 { return s.Total.Float64() },
}

func NewStats(a *cli.App) *cobra.Command {
	o := &statsOptions{a: a}
	cmd := &cobra.Command{
		Use:         "stats RUN [GLOB…]",
		Annotations: cli.Paged,
		Short:       "Summarize a run: minimum, mean, maximum of each variable",
		Long: `Summarize each variable of a run directory: minimum, mean, maximum, standard
deviation, and the ranks that have the extremes. GLOBs choose variables by
name.

Counters, aggregates and timers have one number per rank: their growth over the
run. All other classes have one number per sample. Their mean and standard
deviation are weighted by time, because samples are not evenly spaced: a rate
is weighted by the time since the sample before, so that the mean rate is the
growth divided by the time; any other value by the time for which it is the
nearest sample. With --phase, the growth is the sum of the steps that end in the
phase.

Tables use one unit per row and as many columns as fit the terminal. CSV and
JSON hold exact numbers in the unit of the variable.`,
		Example: `  mpitx stats run1
  mpitx stats run1 'mpitx:time/*' --nonzero --sort max
  mpitx stats run1 --phase solve
  mpitx stats run1 --as rate -o csv`,
		Args: cli.Arguments(1, -1, "a run directory"),
		RunE: a.OnRank0(o.run),
	}
	orders := slices.Sorted(maps.Keys(statOrders))
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.Formats...)
	cli.ChooseTransform(cmd, &o.as)
	o.columnFilter.flags(cmd)
	cli.Choose(cmd, &o.sort, "sort", "", "name", "sort rows by this `COLUMN`: "+strings.Join(orders, ", ")+"; numbers are sorted by unit, largest first", orders...)
	return cmd
}

func (o *statsOptions) run(_ *cobra.Command, args []string) error {
	if err := o.columnFilter.parse(args[1:]); err != nil {
		return err
	}
	term, err := o.a.Terminal()
	if err != nil {
		return err
	}
	run, err := cli.OpenSamples(args[0])
	if err != nil {
		return err
	}
	defer run.Close()
	named, err := o.named(run)
	if err != nil {
		return err
	}
	during, err := o.during(run, args[0])
	if err != nil {
		return err
	}
	bar := progress.New("summing up")
	stats := run.Stats(recording.Options{As: o.as, Column: named.Column(), During: during, Progress: bar.Update})
	bar.Clear()
	all := len(stats)
	if o.nonzero {
		stats = slices.DeleteFunc(stats, func(s recording.Stat) bool { return s.Zero() })
	}
	sortStats(stats, o.sort)
	if err := o.write(stats, term); err != nil {
		return err
	}
	if zero := countZero(stats); term.IsTTY && zero > 20 && 2*zero > all {
		o.a.Complain("%d of %d variables are 0; hide them with --nonzero", zero, all)
	}
	cli.SayUnsampled(o.a, run, args[0])
	cli.ReportGaps(o.a, run)
	if cli.ReportDamage(o.a, run) {
		return cli.ErrDamaged
	}
	return nil
}

func (o *statsOptions) write(stats []recording.Stat, term export.Terminal) error {
	if o.format == export.FormatTable || o.format == export.FormatWide {
		return statTable(stats, term).Write(o.a.Out, o.format, term)
	}
	return statRows(stats).Write(o.a.Out, o.format, term)
}

func sortStats(stats []recording.Stat, order string) {
	by := statOrders[order]
	if by == nil { // already sorted by name
		return
	}
	slices.SortStableFunc(stats, func(a, b recording.Stat) int {
		x, y := by(&a), by(&b)
		switch noX, noY := math.IsNaN(x), math.IsNaN(y); {
		case noX != noY && noX:
			return 1
		case noX != noY:
			return -1
		}
		return cmp.Or(cmp.Compare(b.Unit, a.Unit), cmp.Compare(y, x))
	})
}

func countZero(stats []recording.Stat) (n int) {
	for i := range stats {
		if stats[i].Zero() {
			n++
		}
	}
	return n
}

// statRows is the table for programs.
func statRows(stats []recording.Stat) *export.Rows {
	r := &export.Rows{Schema: "mpitx.stats", Columns: []export.RowColumn{
		{Name: "variable"}, {Name: "class"}, {Name: "object"}, {Name: "as"}, {Name: "count"}, {Name: "min"}, {Name: "mean"}, {Name: "max"},
		{Name: "stddev"}, {Name: "min_ranks"}, {Name: "max_ranks"}, {Name: "total"}, {Name: "without_value"}, {Name: "resets"}, {Name: "unit"},
		{Name: "at_most"}, {Name: "incomplete_ranks"},
	}}
	for i := range stats {
		s := &stats[i]
		row := []any{s.Variable, s.Class.String(), s.Object, s.As.String(), s.Count, nil, nil, nil, nil, text.RankList(s.MinRanks), text.RankList(s.MaxRanks),
			nil, s.Without, s.Resets, unitOf(s), s.AtMost, text.RankList(s.Excluded)}
		if s.Count > 0 {
			row[5], row[6], row[7], row[8] = exact(s.Min), finite(s.Mean), exact(s.Max), finite(s.Dev)
			if s.As == recording.Delta {
				row[11] = exact(s.Total)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// statTable is the table for people, with one unit per row.
func statTable(stats []recording.Stat, term export.Terminal) *export.Rows {
	r := &export.Rows{Schema: "mpitx.stats", Columns: []export.RowColumn{
		{Header: "VARIABLE"}, {Header: "CLASS", Wide: true}, {Header: "OBJECT", Optional: true, Drop: 3}, {Header: "UNIT"},
		{Header: "MIN", Right: true, Point: true, Drop: 2}, {Header: "MEAN", Right: true, Point: true}, {Header: "MAX", Right: true, Point: true}, {Header: "MAX AT", Drop: 1},
		{Header: "MIN AT", DropFirst: true}, {Header: "STDDEV", Right: true, Point: true, DropFirst: true}, {Header: "COUNT", Right: true, DropFirst: true},
		{Header: "AS", DropFirst: true}, {Header: "TOTAL", Right: true, Point: true, Wide: true}, {Header: "NO VALUE", Right: true, Wide: true}, {Header: "RESETS", Right: true, Wide: true},
		{Header: "LEFT OUT", Optional: true},
	}}
	for i := range stats {
		s := &stats[i]
		scale := term.ScaleOf(unitOf(s), max(math.Abs(s.Min.Float64()), math.Abs(s.Max.Float64())))
		row := []any{s.Variable, s.Class.String(), s.Object, scale.Unit, nil, nil, nil, text.RankList(s.MaxRanks), text.RankList(s.MinRanks), nil, s.Count,
			s.As.String(), nil, s.Without, s.Resets, leftOutText(s.Excluded)}
		if s.Count > 0 {
			bound := ""
			if s.AtMost > 0 {
				if bound = "<="; term.UTF8 {
					bound = "≤"
				}
			}
			t := scale.Texts(s.Min.Float64(), s.Mean, s.Max.Float64(), s.Total.Float64(), s.Dev)
			amount := func(v recording.Value, words string) any {
				if name, ok := v.Item(); ok || v.Kind == recording.Text {
					return name
				}
				return bound + words
			}
			row[4], row[5], row[6], row[9] = amount(s.Min, t[0]), bound+t[1], amount(s.Max, t[2]), t[4]
			if s.As == recording.Delta {
				row[12] = amount(s.Total, t[3])
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// leftOutText names the incomplete ranks that a row leaves out.
func leftOutText(ranks []int) string {
	if len(ranks) == 0 {
		return ""
	}
	return text.RankList(ranks) + " (incomplete)"
}

// unitOf is the unit of a row.
func unitOf(s *recording.Stat) string {
	if s.As == recording.Rate {
		return s.Unit + "/s"
	}
	return s.Unit
}

// exact is a value in a table for programs.
func exact(v recording.Value) any {
	if n, ok := v.Int64(); ok {
		return n
	}
	if n, ok := v.Uint64(); ok {
		return n
	}
	if v.Kind == recording.Float || v.Kind == recording.Float32 {
		return finite(v.Float64())
	}
	return v.String()
}

// finite is a number in a table for programs; JSON has no infinity.
func finite(f float64) any {
	if f != f || f > 1e308 || f < -1e308 {
		return fmt.Sprint(f)
	}
	return f
}
