package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/cmd/internal/progress"
	"mpitx/export"
	"mpitx/recording"
)

type statsOptions struct {
	a          *app
	output, as string
}

func newStats(a *app) *cobra.Command {
	o := &statsOptions{a: a}
	cmd := &cobra.Command{
		Use:   "stats RUN",
		Short: "Sum up a run: minimum, mean, maximum, standard deviation of each variable",
		Long: `Sum up each variable of a run directory: minimum, mean, maximum, standard deviation, and the ranks of the extremes.

What is shown as a difference (counters, aggregates, timers) has one number for each rank: how much it grew in all. Everything
else has one for each sample.`,
		Example: `  mpitx stats run1
  mpitx stats run1 --as rate -o csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return done(o.run(args[0])) },
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "table", "output format: table, wide, json, ndjson, csv")
	cmd.Flags().StringVar(&o.as, "as", "", "values as raw, delta or rate; default: by the variable's class")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "wide", "json", "ndjson", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions([]string{"raw", "delta", "rate"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = completeRuns
	return cmd
}

func (o *statsOptions) run(dir string) error {
	if o.a.env.Launcher().Rank > 0 {
		return nil
	}
	format, err := export.ParseFormat(o.output)
	if err != nil {
		return usagef("-o: %v", err)
	}
	as, ok := recording.ParseTransform(o.as)
	if !ok {
		return usagef("--as: %q: must be raw, delta or rate", o.as)
	}
	term, err := o.a.terminal()
	if err != nil {
		return err
	}
	run, err := openSamples(dir)
	if err != nil {
		return err
	}
	defer run.Close()
	bar := progress.New("summing up")
	stats := run.Stats(recording.Options{As: as, Progress: bar.Update})
	bar.Clear()
	r := statRows(stats, format == export.FormatTable || format == export.FormatWide)
	if err := r.Write(o.a.out, format, term); err != nil {
		return err
	}
	if tellDamage(o.a, run) {
		return errDamaged
	}
	return nil
}

func statRows(stats []recording.Stat, people bool) *export.Rows {
	r := &export.Rows{Schema: "mpitx.stats", Columns: []export.RowColumn{
		{Name: "variable", Header: "VARIABLE"}, {Name: "class", Header: "CLASS", Wide: true}, {Name: "object", Header: "OBJECT"},
		{Name: "as", Header: "AS"}, {Name: "count", Header: "COUNT"}, {Name: "min", Header: "MIN"}, {Name: "mean", Header: "MEAN"},
		{Name: "max", Header: "MAX"}, {Name: "stddev", Header: "STDDEV"}, {Name: "min_ranks", Header: "MIN AT"}, {Name: "max_ranks", Header: "MAX AT"},
		{Name: "total", Header: "TOTAL", Wide: true}, {Name: "without_value", Header: "NO VALUE", Wide: true}, {Name: "resets", Header: "RESETS", Wide: true},
	}}
	for i := range stats {
		s := &stats[i]
		row := []any{s.Variable, s.Class.String(), s.Object, s.As.String(), s.Count, nil, nil, nil, nil, ranksText(s.MinRanks), ranksText(s.MaxRanks),
			nil, s.Without, s.Resets}
		if s.Count > 0 {
			row[5], row[6], row[7], row[8] = number(s.Min, people), decimal(s.Mean, people), number(s.Max, people), decimal(s.Dev, people)
			if s.As == recording.Delta {
				row[11] = decimal(s.Total, people)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// number is exact for programs.
func number(v recording.Value, people bool) any {
	if n, ok := v.Int64(); ok && !people {
		return n
	}
	if n, ok := v.Uint64(); ok && !people {
		return n
	}
	if v.Kind == recording.Float || v.Kind == recording.Float32 {
		return decimal(v.Float64(), people)
	}
	return v.String()
}

func decimal(f float64, people bool) any {
	if people {
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	if f != f || f > 1e308 || f < -1e308 { // no number in JSON
		return fmt.Sprint(f)
	}
	return f
}

// ranksText writes ranks as 0,2-5.
func ranksText(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		part := strconv.Itoa(ranks[i])
		if j > i {
			part += "-" + strconv.Itoa(ranks[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
