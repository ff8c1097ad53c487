package runs

import (
	"io"
	"strings"

	"mpitx/export"
	"mpitx/recording/profile"
	"mpitx/text"
)

// ReportRows is a table of a report for programs: times in nanoseconds, exact numbers. The last column says of
// a rank why it is incomplete, and of any other row which ranks are: its sums may be too small.
func ReportRows(p *profile.Profile, name string) *export.Rows {
	r := tableRows(p, name)
	if name == ViewRanks {
		r.Columns = append(r.Columns, export.RowColumn{Name: "incomplete"})
		for i, rank := range p.Ranks {
			r.Rows[i] = append(r.Rows[i], rank.Incomplete())
		}
		return r
	}
	r.Columns = append(r.Columns, export.RowColumn{Name: "incomplete_ranks"})
	for i := range r.Rows {
		r.Rows[i] = append(r.Rows[i], text.RankList(p.IncompleteRanks()))
	}
	return r
}

func tableRows(p *profile.Profile, name string) *export.Rows {
	switch name {
	case ViewFunctions:
		return functionRows(p, p.Functions, "mpitx.report.functions")
	case ViewSites:
		return functionRows(p, p.Sites, "mpitx.report.sites")
	case ViewRanks:
		return rankRows(p)
	case ViewPhases:
		return phaseRows(p)
	case ViewCommunicators:
		return objectRows(p)
	case ViewArrivals:
		return arrivalRows(p)
	case ViewAlgorithms:
		return algorithmRows(p)
	}
	return sizeRows(p)
}

const totalNames = " calls time_ns messages_sent bytes_sent messages_received bytes_received bytes_out bytes_in abandoned estimated untimed time_error_ns"

func totalCells(t *profile.Totals) []any {
	return []any{t.Calls, int64(t.Time), t.MessagesSent, t.BytesSent, t.MessagesReceived, t.BytesReceived, t.BytesOut, t.BytesIn, t.Abandoned, t.Estimated, t.Untimed, int64(t.TimeError)}
}

func functionRows(p *profile.Profile, all []*profile.Function, schema string) *export.Rows {
	r := export.RowsOf(schema, "name within site"+totalNames+
		" share mean_ns min_ns p50_ns p95_ns p99_ns max_ns ranks rank_min_ns rank_mean_ns rank_max_ns imbalance max_rank stack")
	for f := range p.Rows(all) {
		s := &f.Spread
		row := append([]any{f.Name, f.Within, f.Site}, totalCells(&f.Totals)...)
		r.Rows = append(r.Rows, append(row, f.Share, int64(f.Mean), int64(f.Shortest), int64(f.P50), int64(f.P95), int64(f.P99), int64(f.Longest),
			len(f.Ranks), s.Min, s.Mean, s.Max, f.Imbalance, s.MaxRank, strings.Join(f.Lines(), "; ")))
	}
	return r
}

// FunctionsByRank are the functions of a profile, with a row for each rank that called one.
func FunctionsByRank(p *profile.Profile) *export.Rows {
	r := export.RowsOf("mpitx.report.function_ranks", "name within rank host"+totalNames+" incomplete")
	for _, f := range p.Functions {
		for i := range f.Ranks {
			of := &f.Ranks[i]
			row := append([]any{f.Name, f.Within, of.Rank.Number, of.Rank.Process.Host}, totalCells(&of.Totals)...)
			r.Rows = append(r.Rows, append(row, of.Rank.Incomplete()))
		}
	}
	return r
}

func rankRows(p *profile.Profile) *export.Rows {
	r := export.RowsOf("mpitx.report.ranks", "rank host state threads elapsed_ns in_mpi_ns useful_ns"+totalNames+processorNames+" in_mpi_error_ns")
	for _, rank := range p.Ranks {
		row := append([]any{rank.Number, rank.Process.Host, rank.Process.State.String(), rank.Threads, int64(rank.Elapsed), int64(rank.InMPI), int64(rank.Useful())},
			totalCells(&rank.Totals)...)
		r.Rows = append(r.Rows, append(append(row, processorCells(p, rank)...), int64(rank.InMPIError)))
	}
	return r
}

func phaseRows(p *profile.Profile) *export.Rows {
	r := export.RowsOf("mpitx.report.phases", "phase ranks entered first_ns last_ns elapsed_ns parallel_efficiency load_balance communication_efficiency"+totalNames+" parallel_error")
	for _, ph := range p.Phases {
		e := ph.Efficiency
		row := append([]any{ph.Name, len(ph.Ranks), ph.Entered, int64(ph.First), int64(ph.Last), int64(e.Elapsed), e.Parallel, e.LoadBalance, e.Communication},
			totalCells(&ph.Totals)...)
		r.Rows = append(r.Rows, append(row, e.Error))
	}
	return r
}

func objectRows(p *profile.Profile) *export.Rows {
	r := export.RowsOf("mpitx.report.communicators", "name kind size groups made_by parent ranks freed"+totalNames+" made alive")
	for _, o := range p.Objects {
		row := []any{o.Name, nil, nil, nil, o.MadeBy, o.Parent.Text(), len(o.Ranks), o.Freed}
		if o.Known {
			row[1], row[2], row[3] = o.Kind.String(), o.Size, o.Groups
		}
		r.Rows = append(r.Rows, append(append(row, totalCells(&o.Totals)...), o.Made, o.Alive))
	}
	return r
}

func sizeRows(p *profile.Profile) *export.Rows {
	r := export.RowsOf("mpitx.report.sizes", "function way bytes_from bytes_to messages")
	for _, s := range p.Sizes {
		for _, b := range s.Buckets() {
			r.Rows = append(r.Rows, []any{s.Function, wayOf(s), b.From, optional(b.To), b.Messages})
		}
	}
	return r
}

// A matrix for people has at most this many ranks, and a list this many pairs.
const mostGrid, mostPairs = 10, 20

// Matrix writes a communication matrix.
func Matrix(w io.Writer, p *profile.Profile, pairs []profile.Pair, f export.Format, t export.Terminal) error {
	if f != export.FormatTable && f != "" {
		return MatrixRows(p, pairs).Write(w, f, t)
	}
	return matrixTable(w, p, pairs, t)
}

// MatrixRows are the pairs of ranks that exchanged messages.
func MatrixRows(p *profile.Profile, pairs []profile.Pair) *export.Rows {
	incomplete := p.IncompleteRanks()
	r := export.RowsOf("mpitx.matrix", "source destination messages bytes incomplete_ranks")
	for i := range r.Columns {
		r.Columns[i].Header, r.Columns[i].Right = strings.ToUpper(r.Columns[i].Name), true
	}
	r.Columns[len(r.Columns)-1] = export.RowColumn{Name: "incomplete_ranks", Header: "INCOMPLETE", Optional: true}
	for i := range pairs {
		pair := &pairs[i]
		var of []int // whose count may be too small
		for _, rank := range incomplete {
			if rank == pair.Source || rank == pair.Destination {
				of = append(of, rank)
			}
		}
		r.Rows = append(r.Rows, []any{pair.Source, pair.Destination, pair.Messages(), pair.Bytes(), text.RankList(of)})
	}
	return r
}
