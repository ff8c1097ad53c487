package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"mpitx/export"
	"mpitx/recording/finding"
	"mpitx/recording/processor"
	"mpitx/recording/queues"
	"mpitx/recording/trace"
)

// QueuesTables are the tables of Queues.
var QueuesTables = []string{"peers", "lengths", "metrics"}

// The schema of the JSON document of Queues.
const (
	queuesSchema  = "mpitx.queues"
	queuesVersion = 1
)

// Queues writes what happened in an MPI library's queues. table is one of QueuesTables; "": all, and the peers in formats of rows.
func Queues(w io.Writer, q *queues.Queues, f export.Format, table string, t export.Terminal) error {
	switch f {
	case export.FormatJSON:
		return queuesJSON(w, q)
	case export.FormatCSV, export.FormatNDJSON:
		return QueueRows(q, table).Write(w, f, t)
	}
	return queuesText(w, q, f, table, t)
}

// QueueRows is one of QueuesTables; "": the peers.
func QueueRows(q *queues.Queues, table string) *export.Rows {
	switch table {
	case "lengths":
		return lengthRows(q)
	case "metrics":
		return metricRows(q)
	}
	return peerRows(q)
}

func queuesText(w io.Writer, q *queues.Queues, f export.Format, table string, t export.Terminal) error {
	var b bytes.Buffer
	if table == "" && q.Derived && len(q.Peers) > 0 {
		for _, l := range export.Lines("Derived from calls: UNEXPECTED, LATE RECV and the lengths are upper bounds, EXPECTED and LATE MSG lower bounds.", t.Width) {
			b.WriteString(l + "\n")
		}
		b.WriteByte('\n')
	}
	if table == "" {
		for _, s := range q.Shortages {
			t.Hanging(&b, "- ", queueShortage(s))
		}
		found := q.Findings(5)
		for _, f := range found {
			t.Hanging(&b, "- ", f.Text)
		}
		for _, line := range UnreceivedLines(q.Unreceived) {
			t.Hanging(&b, "- ", line)
		}
		if slices.ContainsFunc(found, func(f queues.Finding) bool { return NoLine(f.Site) }) {
			b.WriteString("  Call sites have no lines: compile with -g to see them.\n")
		}
		if b.Len() > 0 && !bytes.HasSuffix(b.Bytes(), []byte("\n\n")) {
			b.WriteByte('\n')
		}
	}
	for _, part := range QueuesTables {
		rows := peerTable(q, t)
		switch {
		case part == "lengths":
			rows = lengthTable(q, t)
		case part == "metrics" && table == "": // the times of the peers, in other words
			continue
		case part == "metrics":
			rows = metricTable(q, t)
			if len(rows.Rows) > 0 && !q.MessageIDs {
				t.Hanging(&b, "", "The library gives all messages the identifier 0, so that the formulas of Appendix B would take one for another: T_IN_UNEX_Q pairs messages of a sender, communicator and tag in their order.")
				b.WriteByte('\n')
			}
		}
		if table != "" && table != part || len(rows.Rows) == 0 {
			continue
		}
		if b.Len() > 0 && part != QueuesTables[0] && table == "" {
			b.WriteByte('\n')
		}
		if err := rows.Write(&b, f, t); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// UnreceivedLines are sentences about messages that were never received, if they are not too many.
func UnreceivedLines(all []trace.Unreceived) (lines []string) {
	const most = 10
	found := trace.UnreceivedFindings(all)
	for i, f := range found {
		if i == most {
			return append(lines, fmt.Sprintf("and messages of %d more call sites or tags were never received", len(found)-i))
		}
		lines = append(lines, f.Text)
	}
	return lines
}

// queueShortage is the sentence for ranks that had no core.
func queueShortage(s processor.Shortage) string {
	return s.Text + "; waits that this may explain are not reported"
}

func peerName(rank int) any {
	if rank < 0 {
		return "any"
	}
	return rank
}

const commFloor = 24 // names differ at their end: "MPI_Comm_dup #2"

// peerTable is the table of peers for people: mean times.
func peerTable(q *queues.Queues, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "RANK", Right: true}, {Header: "PEER", Right: true}, {Header: "COMMUNICATOR", MinWidth: commFloor},
		{Header: "UNEXPECTED", Right: true, Drop: 8}, {Header: "EXPECTED", Right: true, Optional: true, Drop: 7}, {Header: "LATE RECV", Right: true, Optional: true, Drop: 9},
		{Header: "LATE MSG", Right: true, Optional: true, Drop: 10}, {Header: "TRANSFER", Right: true, Optional: true, Drop: 5}, {Header: "TO MATCH", Right: true, Optional: true, Drop: 3},
		{Header: "TO TRANSFER", Right: true, Optional: true, Drop: 4}, {Header: "NOTIFIED AFTER", Right: true, Optional: true, Drop: 2}, {Header: "SEARCH", Right: true, Optional: true, Drop: 1},
		{Header: "TO NOTIFY", Right: true, Optional: true, Drop: 6}}}
	for i := range q.Peers {
		p := &q.Peers[i]
		row := []any{p.Rank, peerName(p.Peer), p.Comm, p.Unexpected, p.Expected}
		if !q.Expects() {
			row[4] = nil
		}
		search := queues.Times{Count: p.Spans[queues.SearchPosted].Count + p.Spans[queues.SearchUnexpected].Count, Total: p.Spans[queues.SearchPosted].Total + p.Spans[queues.SearchUnexpected].Total}
		for _, times := range []queues.Times{p.Spans[queues.InUnexpected], p.Spans[queues.InPosted], p.Spans[queues.Transfer], p.Spans[queues.ActivateToMatch], p.Spans[queues.ActivateToTransfer],
			p.Spans[queues.CompleteToNotify], search, p.Spans[queues.ActivateToNotify]} {
			if times.Count == 0 {
				row = append(row, nil)
			} else {
				row = append(row, t.Amount(float64(times.Mean()), "ns"))
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// lengthTable is the table of lengths for people.
func lengthTable(q *queues.Queues, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "RANK", Right: true}, {Header: "COMMUNICATOR", MinWidth: commFloor}, {Header: "QUEUE"}, {Header: "INSERTED", Right: true, Drop: 3}, {Header: "REMOVED", Right: true, Drop: 1},
		{Header: "LEFT", Right: true, Drop: 2}, {Header: "MEAN", Right: true, Drop: 4}, {Header: "LONGEST", Right: true, Drop: 5}}}
	drawn := t.Width == 0 || t.Width >= 80+queues.Parts
	if drawn {
		r.Columns = append(r.Columns, export.RowColumn{Header: "OVER TIME"})
	}
	for i := range q.Queues {
		x := &q.Queues[i]
		row := []any{x.Rank, x.Comm, x.Name, x.Inserted, x.Removed, x.Left, fmt.Sprintf("%.2f", x.Mean), x.Longest}
		if drawn {
			row = append(row, bars(x.Series, t))
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// bars draws values as one line, from 0 to the greatest one.
func bars(values []float64, t export.Terminal) string {
	steps := []rune(" ▁▂▃▄▅▆▇█")
	if !t.UTF8 {
		steps = []rune(" .:-=+*#@")
	}
	greatest := 0.0
	for _, v := range values {
		greatest = max(greatest, v)
	}
	line := make([]rune, len(values))
	for i, v := range values {
		line[i] = steps[0]
		if v > 0 {
			line[i] = steps[1+int(v/greatest*float64(len(steps)-2)+0.5)]
		}
	}
	return string(line)
}

// peerRows is the table of peers for programs: counts, totals and longest times of each span.
func peerRows(q *queues.Queues) *export.Rows {
	r := export.RowsOf(queuesSchema, "rank peer communicator unexpected expected")
	for s := range queues.Spans {
		for _, what := range []string{"_count", "_total_ns", "_longest_ns"} {
			r.Columns = append(r.Columns, export.RowColumn{Name: s.String() + what})
		}
	}
	for _, p := range q.Peers {
		row := []any{p.Rank, p.Peer, p.Comm, p.Unexpected, p.Expected}
		for _, times := range p.Spans {
			row = append(row, times.Count, int64(times.Total), int64(times.Longest))
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

func lengthRows(q *queues.Queues) *export.Rows {
	r := export.RowsOf(queuesSchema, "rank communicator queue inserted removed left mean longest")
	for _, x := range q.Queues {
		r.Rows = append(r.Rows, []any{x.Rank, x.Comm, x.Name, x.Inserted, x.Removed, x.Left, x.Mean, x.Longest})
	}
	return r
}

// metricTable is the table of metrics for people.
func metricTable(q *queues.Queues, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "RANK", Right: true}, {Header: "PEER", Right: true}, {Header: "METRIC"}, {Header: "COUNT", Right: true}, {Header: "MEAN", Right: true},
		{Header: "MAXIMUM", Right: true}}}
	for _, m := range q.Metrics {
		peer, mean, most := any("all"), any(fmt.Sprintf("%.2f", m.Mean)), any(m.Maximum)
		if m.Peer != nil {
			peer = peerName(*m.Peer)
		}
		if m.IsTime() {
			mean, most = t.Amount(m.Mean, "ns"), t.Amount(m.Maximum, "ns")
		}
		r.Rows = append(r.Rows, []any{m.Rank, peer, m.Name, m.Count, mean, most})
	}
	return r
}

// metricRows is the table of metrics for programs; peer is empty for all.
func metricRows(q *queues.Queues) *export.Rows {
	r := export.RowsOf(queuesSchema, "rank peer metric count mean maximum")
	for _, m := range q.Metrics {
		peer := any(nil)
		if m.Peer != nil {
			peer = *m.Peer
		}
		r.Rows = append(r.Rows, []any{m.Rank, peer, m.Name, m.Count, m.Mean, m.Maximum})
	}
	return r
}

// queuesJSON writes the whole document (docs/schema.md).
func queuesJSON(w io.Writer, q *queues.Queues) error {
	var messageIDs *bool
	if q.Metrics != nil {
		messageIDs = &q.MessageIDs
	}
	document := struct {
		Schema     string            `json:"schema"`
		Version    int               `json:"version"`
		Source     string            `json:"source"`
		Derived    bool              `json:"derived"`
		From       time.Duration     `json:"from_ns"`
		To         time.Duration     `json:"to_ns"`
		Cores      []string          `json:"processor,omitempty"`
		Findings   []queues.Finding  `json:"findings"`
		Unreceived []finding.Finding `json:"unreceived,omitempty"`
		Peers      []queues.Peer     `json:"peers"`
		Queues     []queues.Queue    `json:"queues"`
		Metrics    []queues.Metric   `json:"metrics,omitempty"`
		MessageIDs *bool             `json:"message_ids,omitempty"`
		Unpaired   uint64            `json:"unpaired"`
		Lost       uint64            `json:"lost"`
		Later      uint64            `json:"later,omitempty"`
	}{queuesSchema, queuesVersion, q.Source, q.Derived, q.From, q.To, export.Mapped(q.Shortages, queueShortage), append([]queues.Finding{}, q.Findings(1<<20)...),
		trace.UnreceivedFindings(q.Unreceived), append([]queues.Peer{}, q.Peers...), append([]queues.Queue{}, q.Queues...), q.Metrics, messageIDs, q.Unpaired, q.Lost, q.Later}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
