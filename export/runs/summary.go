package runs

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/recording/network"
	"mpitx/recording/profile"
	"mpitx/text"
)

// mostSummed limits how many values a summary reads, to about a second. mpitx report RUN samples has no limit.
const mostSummed = 30e6

// topFunctions is how many functions a summary shows.
const topFunctions = 8

// summed are the rows of a summary; rows that are 0 are left out.
var summed = []struct{ variable, title string }{
	{"mpitx:calls", "MPI calls"}, {"mpitx:time_in_mpi", "time in MPI"}, {"mpitx:messages_sent", "messages sent"}, {"mpitx:bytes_sent", "bytes sent"},
	{"mpitx:messages_received", "messages received"}, {"mpitx:bytes_received", "bytes received"}, {"mpitx:collectives", "collectives"}, {"mpitx:collective_bytes_sent", "sent in collectives"},
	{"mpitx:collective_bytes_received", "received in collectives"}, {"mpitx:rma_operations", "RMA operations"}, {"mpitx:rma_bytes_put", "put by RMA"},
	{"mpitx:rma_bytes_got", "got by RMA"}, {"mpitx:io_bytes_written", "written to files"}, {"mpitx:io_bytes_read", "read from files"},
	{"mpitx:cpu_time", "time on a core"}, {"mpitx:cpu_wait", "ready, without a core"},
}

// Summary is the text of a summary: MPI in numbers, and what stands out in the network. Either is "" in a run without
// the variables that it is made from, or in one that takes long to read.
func Summary(run *recording.Run, term export.Terminal) string {
	text := ""
	if quick(run, isSummed) {
		text = ofCalls(run, term)
	}
	if quick(run, network.Has) {
		text += SampleFindings(network.Findings(run, recording.Options{}), "mpitx: ", term)
	}
	return text
}

// quick reports whether a run has such columns, and is read in about a second.
func quick(run *recording.Run, has func(*recording.Column) bool) bool {
	var values float64
	for _, r := range run.Ranks {
		own := 0
		for _, c := range r.Columns {
			if c != nil && has(c) {
				own += c.Count
			}
		}
		values += float64(own) * float64(r.Counters.Samples)
	}
	return values > 0 && values <= mostSummed
}

// SampleFindings are the sentences of findings in samples, each with a start.
func SampleFindings(list []finding.Finding, start string, term export.Terminal) string {
	var b bytes.Buffer
	for _, f := range list {
		term.Hanging(&b, start, f.Text)
	}
	return b.String()
}

// ofCalls is the part of a summary about MPI; "" for a run without mpitx:calls and mpitx:time_in_mpi.
func ofCalls(run *recording.Run, term export.Terminal) string {
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
	fmt.Fprintf(&b, "mpitx: MPI took %s of the sampled time (%s%s per rank on average, %s)", share(inMPI.Total.Float64(), float64(elapsed)), ofThreads(run),
		term.Amount(float64(elapsed)/float64(max(len(spans), 1)), "ns"), averagedText(run, len(spans)))
	if init := of["mpitx:time_in_init"]; init != nil && init.Count > 0 {
		fmt.Fprintf(&b, "; MPI_Init took up to %s", term.Amount(init.Max.Float64(), "ns"))
	}
	b.WriteByte('\n')
	sumTable(&b, of, term)
	sampledTable(&b, profile.Sampled(run, stats, inMPI.Total.Float64()), term)
	return b.String()
}

// averagedText is the number of ranks that means are of, and why it is not all.
func averagedText(run *recording.Run, averaged int) string {
	size := 0
	for _, r := range run.Ranks {
		size = max(size, r.Size)
	}
	words := fmt.Sprintf("%d ranks", size)
	if averaged < size {
		words = fmt.Sprintf("%d of %d ranks", averaged, size)
	}
	if ranks := run.IncompleteRanks(); len(ranks) > 0 {
		words += "; " + text.Ranks(ranks) + " incomplete"
	}
	return words
}

func isSummed(c *recording.Column) bool {
	return slices.ContainsFunc(summed, func(s struct{ variable, title string }) bool { return s.variable == c.Variable }) ||
		c.Variable == "mpitx:time_in_init" || strings.HasPrefix(c.Variable, "mpitx:time/") || strings.HasPrefix(c.Variable, "mpitx:calls/")
}

// ofThreads says that times are sums if several threads may be in MPI at once.
func ofThreads(run *recording.Run) string {
	if slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.Thread == catalog.ThreadMultiple }) {
		return "summed over threads; "
	}
	return ""
}

func share(part, whole float64) string {
	if whole <= 0 {
		return text.Percent(math.NaN())
	}
	return text.Percent(part / whole)
}

func sumTable(b *bytes.Buffer, of map[string]*recording.Stat, term export.Terminal) {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "  PER RANK", MinWidth: 28}, {Header: "MIN", Right: true, Point: true, Drop: 3}, {Header: "MEAN", Right: true, Point: true},
		{Header: "MAX", Right: true, Point: true}, {Header: "UNIT"}, {Header: "IMBALANCE", Right: true, Drop: 2}, {Header: "MAX AT", Drop: 4},
		{Header: "TOTAL", Right: true, Point: true, Drop: 1}}}
	for _, line := range summed {
		s := of[line.variable]
		if s == nil || s.Zero() {
			continue
		}
		scale := term.ScaleOf(s.Unit, s.Max.Float64())
		t := scale.Texts(s.Min.Float64(), s.Mean, s.Max.Float64(), s.Total.Float64())
		r.Rows = append(r.Rows, []any{"  " + line.title, t[0], t[1], t[2], scale.Unit, share(s.Max.Float64()-s.Mean, s.Mean), text.RankList(s.MaxRanks), t[3]})
	}
	r.Write(b, export.FormatTable, term)
}

// sampledTable lists the functions that took the most time, with the columns that are known without a profile.
func sampledTable(b *bytes.Buffer, all []profile.FunctionRow, term export.Terminal) {
	if len(all) == 0 {
		return
	}
	list, header := first(all, topFunctions, "  FUNCTION")
	r := functionTable(list, func(f *profile.Function) string { return "  " + f.Name }, header, "OF MPI", term)
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.DropFirst = false; slices.Contains([]string{"P50", "P95", "P99", "MAX", "SENT", "RECEIVED", "WITHIN"}, c.Header) {
			c.Header = ""
		}
	}
	r.Write(b, export.FormatTable, term)
}
