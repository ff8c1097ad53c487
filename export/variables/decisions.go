package variables

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"mpitx/export"
	"mpitx/settings/decision"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// DecisionFormats are the formats of the check of a decision file.
var DecisionFormats = []export.Format{export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatCSV}

// Decisions writes what is known about a decision file: its lines, what is wrong, and what serves a call.
func Decisions(w io.Writer, r *decision.Report, f export.Format, t export.Terminal) error {
	rows := decisionRows(r, f)
	if f != export.FormatTable && f != export.FormatWide {
		return rows.Write(w, f, t)
	}
	var b strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintln(&b, export.WrapAt(t.Safe(fmt.Sprintf(format, args...)), t.Width, "  "))
	}
	line("%s: %s, as %s reads it: %s", r.File, r.Table.Form, r.Library.Text(), legal(r))
	for _, cond := range r.Acting {
		fix := ""
		if cond.Met == tuning.No && len(cond.Fix) > 0 {
			fix = "; set " + text.Quote(cond.Fix[0])
		}
		line("in use: %s: %s; %s%s", cond.Met, cond.Text, cond.Have, fix)
	}
	if len(rows.Rows) > 0 {
		b.WriteString("\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	b.Reset()
	if len(rows.Rows) > 0 {
		if err := rows.Write(w, f, t); err != nil {
			return err
		}
	}
	if len(r.Table.Problems) > 0 {
		b.WriteString("\n")
	}
	for _, p := range r.Table.Problems {
		line("%s", p)
	}
	if r.Call != nil {
		b.WriteString("\n")
		line("%s", callText(r))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// legal is the verdict on the file itself.
func legal(r *decision.Report) string {
	switch n := len(r.Table.Problems); {
	case r.Table.Crashes:
		return "wrong: it crashes MPI_Init"
	case r.Table.Rejected() && r.Library.Family == "mpich":
		return "wrong: it makes MPI_Init or a collective abort"
	case r.Table.Rejected():
		return "wrong: the library ignores the whole file"
	case n > 0:
		return "legal, with " + text.Count(n, "warning")
	}
	return "legal"
}

// callText says what serves the call.
func callText(r *decision.Report) string {
	c, counted := r.Call, ""
	switch of := r.Library.CountedAs(c.Function); {
	case of == "nothing":
		counted = ", of which the rules count no bytes"
	case of != "bytes of one rank":
		counted = fmt.Sprintf(", which the rules count as %d (%s)", r.Answer.Counted, of)
	}
	return fmt.Sprintf("%s of %d bytes on %s%s: %s", c.Function, c.Bytes, text.Count(c.Ranks, "rank"), counted, r.Answer.Text)
}

func decisionRows(r *decision.Report, f export.Format) *export.Rows {
	rows := &export.Rows{Schema: "mpitx.decisions", Columns: []export.RowColumn{
		{Name: "line", Header: "LINE", Right: true}, {Name: "function", Header: "FUNCTION"}, {Name: "ranks", Header: "RANKS"}, {Name: "bytes", Header: "BYTES"},
		{Name: "needs", Header: "AND", Optional: true}, {Name: "algorithm", Header: "ALGORITHM", MinWidth: 20}, {Name: "parameters", Header: "PARAMETERS", Optional: true},
		{Name: "note", Header: "NOTE", Optional: true, Below: true, Label: "note: "},
		{Name: "ranks_from"}, {Name: "ranks_to"}, {Name: "bytes_from"}, {Name: "bytes_to"}, {Name: "number"}, {Name: "acts"},
	}}
	for _, rule := range r.Table.Rules {
		if rule.Missing && (rule.Never != "" || r.Table.Form == decision.JSON || r.Table.Form == decision.Composed) {
			continue
		}
		algorithm := rule.AlgorithmText()
		if f != export.FormatTable && f != export.FormatWide {
			algorithm = rule.Algorithm
		}
		row := []any{rule.Line, rule.Function, rule.Of[decision.Ranks].String(), sizeText(rule), needs(rule), algorithm, parameters(rule), note(rule)}
		for _, q := range []decision.Quantity{decision.Ranks, decision.Bytes} {
			row = append(row, rule.Of[q].Min, limit(rule.Of[q].Max))
		}
		rows.Rows = append(rows.Rows, append(row, rule.Number, rule.Never == ""))
	}
	rows.About = []export.Member{
		{Name: "file", Value: r.File}, {Name: "form", Value: r.Table.Form}, {Name: "library", Value: r.Library.Text()}, {Name: "legal", Value: !r.Table.Rejected()},
		{Name: "in_use", Value: r.Acts()}, {Name: "conditions", Value: r.Acting}, {Name: "problems", Value: append([]decision.Problem{}, r.Table.Problems...)},
	}
	if r.Call != nil {
		served := map[string]any{"function": r.Call.Function, "ranks": r.Call.Ranks, "bytes": r.Call.Bytes, "counted": r.Answer.Counted, "text": r.Answer.Text}
		if rule := r.Answer.Rule; rule != nil {
			served["line"], served["algorithm"], served["number"] = rule.Line, rule.Algorithm, rule.Number
		}
		rows.About = append(rows.About, export.Member{Name: "call", Value: served})
	}
	return rows
}

// limit is an upper end; nil if there is none.
func limit(n int64) any {
	if n == math.MaxInt64 {
		return nil
	}
	return n
}

// sizeText is the range of sizes: of bytes as the rules count them, or of another quantity of MPICH.
func sizeText(rule *decision.Rule) string {
	var words []string
	for q, name := range map[decision.Quantity]string{decision.Total: "in total", decision.Count: "elements", decision.PerNode: "ranks on a node"} {
		if rule.Of[q] != decision.All {
			words = append(words, rule.Of[q].String()+" "+name)
		}
	}
	slices.Sort(words)
	if rule.Of[decision.Bytes] != decision.All || len(words) == 0 {
		words = slices.Insert(words, 0, rule.Of[decision.Bytes].String())
	}
	return strings.Join(words, ", ")
}

func needs(rule *decision.Rule) string {
	var words []string
	for _, n := range rule.Needs {
		words = append(words, n.Text)
	}
	return strings.Join(words, ", ")
}

func parameters(rule *decision.Rule) string {
	words := slices.Clone(rule.Parameters)
	for name, value := range map[string]int64{"fan": int64(rule.Fanout), "requests": int64(rule.Requests), "segment": rule.Segment} {
		if value != 0 {
			words = append(words, fmt.Sprintf("%s=%d", name, value))
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// note is what a reader should know about a line.
func note(rule *decision.Rule) string {
	switch {
	case rule.Never != "":
		return "serves no call: " + rule.Never
	case rule.Fails != "":
		return rule.Fails
	case rule.Missing:
		return "nothing serves these calls: MPICH aborts"
	}
	return rule.Note
}
