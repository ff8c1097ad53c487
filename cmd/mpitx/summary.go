package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording"
)

// mostSummed is how many values are read for a summary: a second's worth. mpitx stats sums up longer runs.
const mostSummed = 30e6

// topFunctions are shown in a summary.
const topFunctions = 8

// summed are the lines of a summary, if they are not 0.
var summed = []struct{ variable, title string }{
	{"mpitx:calls", "MPI calls"}, {"mpitx:time_in_mpi", "time in MPI"}, {"mpitx:messages_sent", "messages sent"}, {"mpitx:bytes_sent", "bytes sent"},
	{"mpitx:bytes_received", "bytes received"}, {"mpitx:collectives", "collectives"}, {"mpitx:collective_bytes_sent", "given to collectives"},
	{"mpitx:collective_bytes_received", "got from collectives"}, {"mpitx:rma_operations", "one-sided operations"}, {"mpitx:rma_bytes_put", "put, accumulated"},
	{"mpitx:rma_bytes_got", "got one-sidedly"}, {"mpitx:io_bytes_written", "written to files"}, {"mpitx:io_bytes_read", "read from files"},
}

// summarize prints one screen about a run that has mpitx:* in it: how much of the time was MPI's, how much was sent, how far ranks
// differ, and in which functions the time went.
func (o *sampleOptions) summarize(run *recording.Run) {
	if o.quiet {
		return
	}
	term, err := export.Detect(os.Stderr, o.a.env.Getenv, o.a.color)
	if err != nil {
		return
	}
	if text := summary(run, term); text != "" {
		o.a.out.Flush()
		fmt.Fprint(o.a.errs, text)
	}
}

// summary is that text; "" for a run without mpitx:calls and mpitx:time_in_mpi, and for one that takes long to read.
func summary(run *recording.Run, term export.Terminal) string {
	var values float64
	ranks := 0
	for _, r := range run.Ranks {
		own := 0
		for _, c := range r.Columns {
			if c != nil && isSummed(c) {
				own += c.Count
			}
		}
		values += float64(own) * float64(r.Counters.Samples)
		ranks = max(ranks, r.Size)
	}
	if values == 0 || values > mostSummed {
		return ""
	}
	stats, spans := run.Sums(recording.Options{Column: isSummed})
	of := map[string]*recording.Stat{}
	for i := range stats {
		of[stats[i].Variable] = &stats[i]
	}
	inMPI := of["mpitx:time_in_mpi"]
	if inMPI == nil || of["mpitx:calls"] == nil || inMPI.Count == 0 {
		return ""
	}
	var elapsed time.Duration
	for _, d := range spans {
		elapsed += d
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "mpitx: %s in MPI, of %s that each of %d ranks was sampled on average", share(inMPI.Total.Float64(), float64(elapsed)),
		term.Amount(float64(elapsed)/float64(max(len(spans), 1)), "ns"), ranks)
	if init := of["mpitx:time_in_init"]; init != nil && init.Count > 0 {
		fmt.Fprintf(&b, "; MPI_Init took up to %s", term.Amount(init.Max.Float64(), "ns"))
	}
	b.WriteByte('\n')
	sumTable(&b, of, term)
	functionTable(&b, stats, inMPI, term)
	return b.String()
}

func isSummed(c *recording.Column) bool {
	return slices.ContainsFunc(summed, func(s struct{ variable, title string }) bool { return s.variable == c.Variable }) ||
		c.Variable == "mpitx:time_in_init" || strings.HasPrefix(c.Variable, "mpitx:time/") || strings.HasPrefix(c.Variable, "mpitx:calls/")
}

func share(part, whole float64) string {
	if whole <= 0 {
		return "- %"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

// imbalance is how much more the rank with the most has than ranks have on average.
func imbalance(s *recording.Stat) string { return share(s.Max.Float64()-s.Mean, s.Mean) }

func sumTable(b *bytes.Buffer, of map[string]*recording.Stat, term export.Terminal) {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "  PER RANK"}, {Header: "MIN", Right: true}, {Header: "MEAN", Right: true}, {Header: "MAX", Right: true},
		{Header: "UNIT"}, {Header: "IMBALANCE", Right: true}, {Header: "MAX AT"}, {Header: "TOTAL", Right: true, Spare: true}}}
	for _, line := range summed {
		s := of[line.variable]
		if s == nil || s.Zero() {
			continue
		}
		scale := term.ScaleOf(s.Unit, s.Max.Float64())
		r.Rows = append(r.Rows, []any{"  " + line.title, scale.Text(s.Min.Float64(), true), scale.Text(s.Mean, s.Mean == math.Trunc(s.Mean)), scale.Text(s.Max.Float64(), true),
			scale.Unit, imbalance(s), ranksText(s.MaxRanks), term.Amount(s.Total.Float64(), s.Unit)})
	}
	r.Write(b, export.FormatTable, term)
}

// functionTable lists the functions that took the most time, if the run has times of functions.
func functionTable(b *bytes.Buffer, stats []recording.Stat, inMPI *recording.Stat, term export.Terminal) {
	calls := map[string]*recording.Stat{}
	var times []*recording.Stat
	for i := range stats {
		s := &stats[i]
		if name, ok := strings.CutPrefix(s.Variable, "mpitx:calls/"); ok {
			calls[name] = s
		} else if strings.HasPrefix(s.Variable, "mpitx:time/") && s.As == recording.Delta && !s.Zero() {
			times = append(times, s)
		}
	}
	if len(times) == 0 {
		b.WriteString("  (for times of functions: --pvar 'mpitx:time/*' --pvar 'mpitx:calls/*')\n")
		return
	}
	slices.SortStableFunc(times, func(x, y *recording.Stat) int { return cmp.Compare(y.Total.Float64(), x.Total.Float64()) })
	r := &export.Rows{Columns: []export.RowColumn{{Header: "  FUNCTION"}, {Header: "TIME", Right: true}, {Header: "OF MPI", Right: true}, {Header: "CALLS", Right: true},
		{Header: "PER CALL", Right: true}, {Header: "IMBALANCE", Right: true}, {Header: "MAX AT"}}}
	for _, s := range times[:min(len(times), topFunctions)] {
		name := strings.TrimPrefix(s.Variable, "mpitx:time/")
		row := []any{"  " + name, term.Amount(s.Total.Float64(), s.Unit), share(s.Total.Float64(), inMPI.Total.Float64()), nil, nil, imbalance(s), ranksText(s.MaxRanks)}
		if c := calls[name]; c != nil && c.Total.Float64() > 0 {
			row[3], row[4] = c.Total.String(), term.Amount(s.Total.Float64()/c.Total.Float64(), s.Unit)
		}
		r.Rows = append(r.Rows, row)
	}
	r.Write(b, export.FormatTable, term)
}
