package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mpitx/recording/processor"
	"mpitx/recording/queues"
	"mpitx/text"
)

// QueuesTables are the tables of Queues.
var QueuesTables = []string{"peers", "lengths"}

// The schema of the JSON document of Queues.
const (
	queuesSchema  = "mpitx.queues"
	queuesVersion = 1
)

// Queues writes what happened in an MPI library's queues. table is one of QueuesTables; "": all, and the peers in formats of rows.
func Queues(w io.Writer, q *queues.Queues, f Format, table string, t Terminal) error {
	switch f {
	case FormatJSON:
		return queuesJSON(w, q)
	case FormatCSV, FormatNDJSON:
		return QueueRows(q, table).Write(w, f, t)
	}
	return queuesText(w, q, f, table, t)
}

// QueueRows is one of QueuesTables; "": the peers.
func QueueRows(q *queues.Queues, table string) *Rows {
	if table == "lengths" {
		return lengthRows(q)
	}
	return peerRows(q)
}

func queuesText(w io.Writer, q *queues.Queues, f Format, table string, t Terminal) error {
	var b bytes.Buffer
	if table == "" && q.Derived && len(q.Peers) > 0 {
		for _, l := range wrap("Derived from calls: UNEXPECTED, LATE RECV and the lengths are upper bounds, EXPECTED and LATE MSG lower bounds.", t.Width) {
			b.WriteString(l + "\n")
		}
		b.WriteByte('\n')
	}
	if table == "" {
		for _, s := range q.Shortages {
			b.WriteString("- " + strings.Join(wrap(t.Safe(QueueShortage(s)), max(t.Width-2, 0)), "\n  ") + "\n")
		}
		noLines := false
		for _, finding := range q.Findings(5) {
			noLines = noLines || finding.Site != nil && NoLine(finding.Site.Text)
			b.WriteString("- " + strings.Join(wrap(t.Safe(QueueFinding(finding, t)), max(t.Width-2, 0)), "\n  ") + "\n")
		}
		for _, line := range UnreceivedLines(q.Unreceived) {
			b.WriteString("- " + strings.Join(wrap(t.Safe(line), max(t.Width-2, 0)), "\n  ") + "\n")
		}
		if noLines {
			b.WriteString("  Call sites have no lines: compile with -g to see them.\n")
		}
		if b.Len() > 0 && !bytes.HasSuffix(b.Bytes(), []byte("\n\n")) {
			b.WriteByte('\n')
		}
	}
	for _, part := range QueuesTables {
		rows := peerTable(q, t)
		if part == "lengths" {
			rows = lengthTable(q, t)
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

// QueueShortage is the sentence for ranks that had no core.
func QueueShortage(s processor.Shortage) string {
	return s.Text + "; waits that this may explain are no findings"
}

// QueueFinding is the sentence for a finding.
func QueueFinding(f queues.Finding, t Terminal) string {
	receivers, s, senders := queueRanks(f)
	its, mean, all := map[bool]string{true: "its", false: "their"}[s != ""], t.Amount(float64(f.Waited)/float64(max(f.Messages, 1)), "ns"), ""
	if f.Messages > 1 {
		mean, all = mean+" on average", ", "+t.Amount(float64(f.Waited), "ns")+" in all"
	}
	be, own, plural := "were", "their", "s"
	if f.Messages == 1 {
		be, own, plural = "was", "its", ""
	}
	if f.Kind == queues.LateSender {
		how := "waited " + mean + " in the queue of posted receives"
		if f.Derived {
			how = be + " posted " + mean + " before " + own + " message" + plural + " " + be + " sent"
		}
		text := fmt.Sprintf("%s wait%s for %s: %d of %s receives on %s %s%s", receivers, s, senders, f.Messages, its, f.Comm, how, all)
		switch f.Relation {
		case queues.OnePair, queues.SamePeer:
			text += "; " + senders + " sends late"
		case queues.SameRank:
			text += "; " + senders + " send late"
		case queues.Apart:
			text += queueRoots(f)
		}
		return text + queueSite(f)
	}
	how := "came before " + own + " receive" + plural + ", and waited "
	if f.Derived {
		how = be + " sent before " + own + " receive" + plural + " " + be + " posted, and waited at most "
	}
	if f.Relation == queues.Both {
		senders += ","
	}
	messages := map[bool]string{true: "message", false: "messages"}[f.Of == 1]
	return fmt.Sprintf("%s receive%s late: %d of %d %s from %s on %s %s%s%s; post %s receives earlier", receivers, s, f.Messages, f.Of, messages, senders, f.Comm, how, mean, all, its) + queueSite(f)
}

// queueRoots names the ranks that others wait for in turn, and that wait for nobody.
func queueRoots(f queues.Finding) string {
	var roots []int
	for _, p := range f.Pairs {
		if !slices.ContainsFunc(f.Pairs, func(o queues.Pair) bool { return o.Rank == p.Peer }) {
			roots = append(roots, p.Peer)
		}
	}
	slices.Sort(roots)
	switch len(roots) {
	case 0:
		return ""
	case 1:
		return "; " + text.Ranks(roots) + " does not wait, and sends late"
	}
	return "; " + text.Ranks(roots) + " do not wait, and send late"
}

// queueRanks are who waits, the ending of their verbs, and for whom.
func queueRanks(f queues.Finding) (receivers, s, senders string) {
	var ranks, peers []int
	for _, p := range f.Pairs {
		ranks, peers = append(ranks, p.Rank), append(peers, p.Peer)
	}
	for _, list := range []*[]int{&ranks, &peers} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	receivers, senders = text.Ranks(ranks), text.Ranks(peers)
	if len(ranks) == 1 {
		s = "s"
	}
	switch f.Relation {
	case queues.Mutual:
		senders = "each other"
	case queues.Both:
		if senders = "each other, in pairs of neighbours"; f.Distance > 1 {
			senders = fmt.Sprintf("each other, in pairs %d ranks apart", f.Distance)
		}
	case queues.Apart:
		receivers += " each"
		distance, side := f.Distance, "before"
		if distance < 0 {
			distance, side = -distance, "after"
		}
		if senders = "the rank " + side; distance > 1 {
			senders = fmt.Sprintf("the rank that is %d %s", distance, side)
		}
	}
	return receivers, s, senders
}

// queueSite says where the late calls are, most of all.
func queueSite(f queues.Finding) string {
	if f.Site == nil || f.Site.Text == "" {
		return ""
	}
	return ", most of all in " + f.Site.Text
}

func peerName(rank int) any {
	if rank < 0 {
		return "any"
	}
	return rank
}

const commFloor = 24 // names differ at their end: "MPI_Comm_dup #2"

// peerTable is the table of peers for people: mean times.
func peerTable(q *queues.Queues, t Terminal) *Rows {
	r := &Rows{Columns: []RowColumn{{Header: "RANK", Right: true}, {Header: "PEER", Right: true}, {Header: "COMMUNICATOR", MinWidth: commFloor},
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

func queueName(q *queues.Queue) string {
	if q.Unexpected {
		return "unexpected"
	}
	return "posted"
}

// lengthTable is the table of lengths for people.
func lengthTable(q *queues.Queues, t Terminal) *Rows {
	r := &Rows{Columns: []RowColumn{{Header: "RANK", Right: true}, {Header: "COMMUNICATOR", MinWidth: commFloor}, {Header: "QUEUE"}, {Header: "INSERTED", Right: true, Drop: 3}, {Header: "REMOVED", Right: true, Drop: 1},
		{Header: "LEFT", Right: true, Drop: 2}, {Header: "MEAN", Right: true, Drop: 4}, {Header: "LONGEST", Right: true, Drop: 5}}}
	drawn := t.Width == 0 || t.Width >= 80+queues.Parts
	if drawn {
		r.Columns = append(r.Columns, RowColumn{Header: "OVER TIME"})
	}
	for i := range q.Queues {
		x := &q.Queues[i]
		row := []any{x.Rank, x.Comm, queueName(x), x.Inserted, x.Removed, x.Left, fmt.Sprintf("%.2f", x.Mean), x.Longest}
		if drawn {
			row = append(row, bars(x.Series, t))
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// bars draws values as one line, from 0 to the greatest one.
func bars(values []float64, t Terminal) string {
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
func peerRows(q *queues.Queues) *Rows {
	r := &Rows{Schema: queuesSchema, Columns: []RowColumn{{Name: "rank"}, {Name: "peer"}, {Name: "communicator"}, {Name: "unexpected"}, {Name: "expected"}}}
	for s := range queues.Spans {
		for _, what := range []string{"_count", "_total_ns", "_longest_ns"} {
			r.Columns = append(r.Columns, RowColumn{Name: s.String() + what})
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

func lengthRows(q *queues.Queues) *Rows {
	r := &Rows{Schema: queuesSchema, Columns: []RowColumn{{Name: "rank"}, {Name: "communicator"}, {Name: "queue"}, {Name: "inserted"}, {Name: "removed"}, {Name: "left"}, {Name: "mean"}, {Name: "longest"}}}
	for i := range q.Queues {
		x := &q.Queues[i]
		r.Rows = append(r.Rows, []any{x.Rank, x.Comm, queueName(x), x.Inserted, x.Removed, x.Left, x.Mean, x.Longest})
	}
	return r
}

// queuesJSON writes the whole document (docs/schema.md).
func queuesJSON(w io.Writer, q *queues.Queues) error {
	type peer struct {
		queues.Peer
		Spans map[string]queues.Times `json:"spans"`
	}
	type queue struct {
		queues.Queue
		Name string `json:"queue"`
	}
	type finding struct {
		queues.Finding
		Rank int    `json:"rank"`
		Peer int    `json:"peer"`
		Site string `json:"site,omitempty"`
		Text string `json:"text"`
	}
	document := struct {
		Schema   string    `json:"schema"`
		Version  int       `json:"version"`
		Source   string    `json:"source"`
		Derived  bool      `json:"derived"`
		From     int64     `json:"from_ns"`
		To       int64     `json:"to_ns"`
		Cores    []string  `json:"processor,omitempty"`
		Findings []finding `json:"findings"`
		Peers    []peer    `json:"peers"`
		Queues   []queue   `json:"queues"`
		Unpaired uint64    `json:"unpaired"`
		Lost     uint64    `json:"lost"`
		Later    uint64    `json:"later,omitempty"`
	}{Schema: queuesSchema, Version: queuesVersion, Source: q.Source, Derived: q.Derived, From: int64(q.From), To: int64(q.To), Cores: mapped(q.Shortages, QueueShortage), Findings: []finding{}, Peers: []peer{}, Queues: []queue{}, Unpaired: q.Unpaired, Lost: q.Lost, Later: q.Later}
	for _, f := range q.Findings(1 << 20) {
		x := finding{Finding: f, Rank: f.Most.Rank, Peer: f.Most.Peer, Text: QueueFinding(f, Terminal{UTF8: true})}
		if f.Site != nil {
			x.Site = f.Site.Text
		}
		document.Findings = append(document.Findings, x)
	}
	for _, p := range q.Peers {
		spans := map[string]queues.Times{}
		for s, x := range p.Spans {
			if x.Count > 0 {
				spans[queues.Span(s).String()] = x
			}
		}
		document.Peers = append(document.Peers, peer{p, spans})
	}
	for i := range q.Queues {
		document.Queues = append(document.Queues, queue{q.Queues[i], queueName(&q.Queues[i])})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
