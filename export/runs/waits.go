package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording/finding"
	"mpitx/recording/waits"
	"mpitx/text"
)

// WaitTables are the tables of Waits.
var WaitTables = []string{"states", "rest", "causes", "path", "efficiency", "parts", "gains"}

// The schema of the JSON document of Waits.
const (
	waitsSchema  = "mpitx.waits"
	waitsVersion = 1
)

// Waits writes why the ranks of a run waited. table is one of WaitTables; "": all, and the states in formats of rows.
func Waits(w io.Writer, a *waits.Analysis, f export.Format, run, table string, t export.Terminal) error {
	switch f {
	case export.FormatJSON:
		return waitsJSON(w, a)
	case export.FormatCSV, export.FormatNDJSON:
		return WaitRows(a, table).Write(w, f, t)
	}
	if table != "" {
		return waitTable(a, table, 0, t).Write(w, f, t)
	}
	return waitsText(w, a, f, run, t)
}

// mostWaitRows bounds the lines of each table on the one screen of the report.
const mostWaitRows = 6

func waitsText(w io.Writer, a *waits.Analysis, f export.Format, run string, t export.Terminal) error {
	if a.Run == 0 && a.Window != nil { // what the whole trace lacks says nothing about this part
		return nil
	}
	var b bytes.Buffer
	for _, line := range WaitHead(a, t) {
		b.WriteString(export.WrapAt(t.Safe(line), t.Width, "  ") + "\n")
	}
	findings(&b, a.Findings(), run, mostFindings, t)
	for _, name := range WaitTables {
		most := mostWaitRows
		if name == "rest" {
			most = 3
		}
		rows := waitTable(a, name, most, t)
		if len(rows.Rows) == 0 {
			continue
		}
		b.WriteByte('\n')
		if err := rows.Write(&b, f, t); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// NoCalls says that a part of a trace, or the whole trace, has no calls.
func NoCalls(a *waits.Analysis) string {
	if a.Window == nil {
		return "the trace has no calls"
	}
	return "the trace has no calls in this part of the run; it ends after " + text.Duration(a.Window.End)
}

// WaitHead is how much time the ranks waited, and what the trace lacks.
func WaitHead(a *waits.Analysis, t export.Terminal) []string {
	switch {
	case a.Run == 0 && a.Window != nil:
		return []string{NoCalls(a)}
	case a.Run == 0:
		return MissingWaits(a.Missing)
	}
	ranks := text.Count(a.Ranks, "rank")
	if a.Threads > a.Ranks {
		ranks += fmt.Sprintf(" with %d threads", a.Threads)
	}
	what := "run"
	if a.Window != nil {
		what = fmt.Sprintf("part of the run from %s to %s", t.Amount(float64(a.Window.From), "ns"), t.Amount(float64(a.Window.To), "ns"))
	}
	words := fmt.Sprintf("The %s takes %s on %s. Of their time, %s is in MPI: %s waits for others, and %s is not explained by waits", what, t.Amount(float64(a.Run), "ns"), ranks,
		text.Percent(part(a.InMPI, a.Time)), text.Percent(part(a.Waiting, a.Time)), text.Percent(part(a.InMPI-a.Waiting, a.Time)))
	if a.Missing.Functions > 0 {
		words = fmt.Sprintf("From the first to the last recorded call, the run takes %s on %s; %s of their time is waiting for others", t.Amount(float64(a.Run), "ns"), ranks, text.Percent(part(a.Waiting, a.Time)))
	}
	lines := []string{words}
	if w := a.Window; w != nil && w.Cut > 0 {
		lines = append(lines, text.Count(w.Cut, "call")+" "+text.Verb(int(min(w.Cut, 2)), "reaches", "reach")+" beyond the part: the time outside of it is left out, and what others waited for then")
	}
	return append(lines, MissingWaits(a.Missing)...)
}

// MissingWaits says what the trace lacks.
func MissingWaits(m waits.Missing) (lines []string) {
	say := func(n uint64, noun, words string) {
		if n > 0 {
			lines = append(lines, text.Count(n, noun)+" "+words)
		}
	}
	say(m.Lost, "event", text.Verb(int(min(m.Lost, 2)), "was", "were")+" lost: waits may be missing, and later collectives of these ranks cannot be told apart")
	say(m.Backwards, "message", "came before "+text.Verb(int(min(m.Backwards, 2)), "it was", "they were")+" sent, by the clocks of the nodes")
	say(m.Unmatched, "message", text.Verb(int(min(m.Unmatched, 2)), "has its", "have their")+" other side outside of the trace: waits for "+text.Verb(int(min(m.Unmatched, 2)), "it", "them")+" are missing")
	say(m.Incomplete+m.Undecided, "collective call", text.Verb(int(min(m.Incomplete+m.Undecided, 2)), "has", "have")+" no known partners: waits in "+text.Verb(int(min(m.Incomplete+m.Undecided, 2)), "it", "them")+" are missing")
	if m.Paused > 0 {
		lines = append(lines, "the recording left out a part of the time: calls in it count as computation, collectives after it cannot be told apart, and efficiencies are not known")
	}
	if m.Functions > 0 {
		lines = append(lines, "the trace has the calls of some functions only (--function): others count as computation, and efficiencies are not known")
	}
	say(m.Open, "call", "had not returned when the program ended")
	return lines
}

func part(of, whole time.Duration) float64 { return float64(of) / float64(whole) }

// more is a header with the number of rows if some are left out.
func more(header string, shown, all int) string {
	if shown < all {
		return fmt.Sprintf("%s (%d of %d)", header, shown, all)
	}
	return header
}

func phaseOf(x waits.At) any {
	if x.Phase == "" {
		return nil
	}
	return x.Phase
}

// WaitTable is one of WaitTables for people.
func WaitTable(a *waits.Analysis, name string, t export.Terminal) *export.Rows {
	return waitTable(a, name, 0, t)
}

// waitTable is one of WaitTables for people, at most some rows of it; 0: all.
func waitTable(a *waits.Analysis, name string, most int, t export.Terminal) *export.Rows {
	amount := func(d time.Duration) string { return t.Amount(float64(d), "ns") }
	cut := func(n int) int {
		if most > 0 {
			return min(n, most)
		}
		return n
	}
	r := &export.Rows{}
	columns := func(all ...export.RowColumn) { r.Columns = all }
	right := func(header string, drop int) export.RowColumn {
		return export.RowColumn{Header: header, Right: true, Drop: drop}
	}
	first := func(header string) export.RowColumn { return export.RowColumn{Header: header, MinWidth: 18} }
	function := func(header string) export.RowColumn { return export.RowColumn{Header: header, MinWidth: 13} }
	core := export.RowColumn{Header: "NO CORE", Right: true, Optional: true, Drop: 6}
	noCore := func(d *time.Duration) any {
		if d == nil || *d == 0 {
			return nil
		}
		if !t.UTF8 {
			return "<= " + amount(*d)
		}
		return "≤ " + amount(*d)
	}
	phase := export.RowColumn{Header: "PHASE", Optional: true, Drop: 1}
	place := export.RowColumn{Header: "PLACE", MinWidth: 16, Optional: true}
	switch name {
	case "states":
		n := cut(len(a.States))
		columns(first(more("WHY IT WAITED", n, len(a.States))), right("RANK", 0), function("FUNCTION"), place, phase, right("WAITING", 0), right("CALLS", 2), right("LONGEST", 4),
			right("FOR RANK", 0), export.RowColumn{Header: "COMMUNICATOR", Wide: true, Optional: true})
		for _, s := range a.States[:n] {
			r.Rows = append(r.Rows, []any{s.Kind.String(), s.Rank, s.Function, s.Place, phaseOf(s.At), amount(s.Waiting), s.Calls, amount(s.Longest), s.For, s.Object})
		}
	case "rest":
		n := cut(len(a.Rest))
		columns(first(more("NO WAIT EXPLAINS", n, len(a.Rest))), right("RANK", 0), place, phase, right("TIME", 0), right("CALLS", 2), right("LONGEST", 4), core,
			export.RowColumn{Header: "COMMUNICATOR", Wide: true, Optional: true})
		for _, s := range a.Rest[:n] {
			r.Rows = append(r.Rows, []any{s.Function, s.Rank, s.Place, phaseOf(s.At), amount(s.Waiting), s.Calls, amount(s.Longest), noCore(s.NoCore), s.Object})
		}
	case "causes":
		n := cut(len(a.Causes))
		columns(first(more("WHAT CAUSED IT", n, len(a.Causes))), right("RANK", 0), function("AT"), place, phase, right("COSTS", 0), right("OF WAITING", 2), right("EXCESS", 4), core,
			export.RowColumn{Header: "WHO WAITS", Drop: 5})
		for _, c := range a.Causes[:n] {
			excess := any(nil)
			if c.Excess > 0 {
				excess = amount(c.Excess)
			}
			r.Rows = append(r.Rows, []any{whatText(c.What), c.Rank, c.Function, c.Place, phaseOf(c.At), amount(c.Cost), text.Percent(part(c.Cost, a.Waiting)), excess, noCore(c.NoCore), text.RankList(c.Ranks)})
		}
	case "path":
		n := cut(len(a.Path))
		columns(first(more("CRITICAL PATH", n, len(a.Path))), right("RANK", 0), function("AT"), place, phase, right("TIME", 0), right("OF RUN", 1), right("PIECES", 2))
		for _, s := range a.Path[:n] {
			r.Rows = append(r.Rows, []any{whatText(s.What), s.Rank, s.Function, s.Place, phaseOf(s.At), amount(s.Time), text.Percent(part(s.Time, a.Run)), s.Times})
		}
	case "efficiency":
		columns(export.RowColumn{Header: "EFFICIENCY", MinWidth: 28}, right("FACTOR", 0), export.RowColumn{Header: "0 % TO 100 %"}, export.RowColumn{Header: "MEANS", Drop: 1})
		for _, f := range a.Efficiency.Factors() {
			r.Rows = append(r.Rows, []any{strings.Repeat("  ", f.Depth) + f.Name, text.Percent(f.Value), bars10(f.Value, t), f.Means})
		}
	case "parts":
		n := cut(len(a.Parts))
		columns(first(more("EFFICIENCY OF", n, len(a.Parts))), right("RANKS", 0), right("TIME", 0), right("PARALLEL", 0), right("LOAD BALANCE", 1), right("COMMUNICATION", 2))
		for _, x := range a.Parts[:n] {
			r.Rows = append(r.Rows, []any{partName(x), x.Ranks, amount(x.Time), text.Percent(x.Parallel), text.Percent(x.LoadBalance), text.Percent(x.Communication)})
		}
	case "gains":
		columns(first("IF A TENTH FASTER"), function("AT"), place, phase, right("SAVES", 0), right("OF RUN", 1))
		for _, g := range a.Gains {
			r.Rows = append(r.Rows, []any{whatText(g.What), g.Function, g.Place, phaseOf(g.At), amount(g.Saved), text.Percent(part(g.Saved, a.Run))})
		}
	}
	return r
}

func partName(x waits.Part) string {
	switch {
	case x.Node != "":
		return "node " + x.Node
	case x.Phase != "":
		return "phase " + x.Phase
	}
	return "outside of phases"
}

// whatText names a kind of region before its call.
func whatText(what string) string {
	if what == waits.Computing {
		return "computation before"
	}
	return what
}

// bars10 draws a part of 1 with ten characters.
func bars10(part float64, t export.Terminal) string {
	full, empty := "█", "░"
	if !t.UTF8 {
		full, empty = "#", "."
	}
	n := int(min(max(part, 0), 1)*10 + 0.5)
	return strings.Repeat(full, n) + strings.Repeat(empty, 10-n)
}

// WaitRows is one of WaitTables for programs; "": the states.
func WaitRows(a *waits.Analysis, table string) *export.Rows {
	var r *export.Rows
	most := func(d *time.Duration) any {
		if d == nil {
			return nil
		}
		return int64(*d)
	}
	add := func(cells ...any) { r.Rows = append(r.Rows, cells) }
	switch table {
	case "causes":
		r = export.RowsOf(waitsSchema, "what rank function place phase cost_ns direct_ns excess_ns ranks no_core_most_ns")
		for _, c := range a.Causes {
			add(c.What, c.Rank, c.Function, c.Place, c.Phase, int64(c.Cost), int64(c.Direct), int64(c.Excess), text.RankList(c.Ranks), most(c.NoCore))
		}
	case "path":
		r = export.RowsOf(waitsSchema, "what rank function place phase time_ns times")
		for _, s := range a.Path {
			add(s.What, s.Rank, s.Function, s.Place, s.Phase, int64(s.Time), s.Times)
		}
	case "efficiency":
		r = export.RowsOf(waitsSchema, "name factor")
		for _, f := range a.Efficiency.Factors() {
			add(strings.ReplaceAll(f.Name, " ", "_"), f.Value)
		}
	case "parts":
		r = export.RowsOf(waitsSchema, "phase node ranks time_ns parallel load_balance communication")
		for _, x := range a.Parts {
			add(x.Phase, x.Node, x.Ranks, int64(x.Time), x.Parallel, x.LoadBalance, x.Communication)
		}
	case "gains":
		r = export.RowsOf(waitsSchema, "what function place phase saved_ns")
		for _, g := range a.Gains {
			add(g.What, g.Function, g.Place, g.Phase, int64(g.Saved))
		}
	case "rest":
		r = export.RowsOf(waitsSchema, "rank function place phase communicator calls time_ns longest_ns longest_at_ns no_core_most_ns")
		for _, s := range a.Rest {
			add(s.Rank, s.Function, s.Place, s.Phase, s.Object, s.Calls, int64(s.Waiting), int64(s.Longest), int64(s.Began), most(s.NoCore))
		}
	default:
		r = export.RowsOf(waitsSchema, "kind rank function place phase communicator calls waiting_ns longest_ns longest_at_ns for for_ns for_function")
		for _, s := range a.States {
			add(s.Kind.String(), s.Rank, s.Function, s.Place, s.Phase, s.Object, s.Calls, int64(s.Waiting), int64(s.Longest), int64(s.Began), s.For, int64(s.ForTime), s.Callee)
		}
	}
	return r
}

// waitsJSON writes the whole document (docs/schema.md).
func waitsJSON(w io.Writer, a *waits.Analysis) error {
	document := struct {
		Schema   string            `json:"schema"`
		Version  int               `json:"version"`
		Findings []finding.Finding `json:"findings"`
		*waits.Analysis
	}{waitsSchema, waitsVersion, append([]finding.Finding{}, a.Findings()...), a}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
