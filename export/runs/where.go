package runs

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/recording/where"
	"mpitx/text"
)

// Where is what each rank of a run does, and who waits for whom.
type Where struct {
	Run    *recording.Run
	Job    *where.Job
	Report *where.Report
	Notes  []string // for people: what is missing
}

// Write writes it as tables for people, as JSON, or as CSV, which has the states only.
func (x *Where) Write(w io.Writer, f export.Format, t export.Terminal) error {
	switch f {
	case export.FormatJSON:
		return x.json(w)
	case export.FormatCSV:
		return x.rows().Write(w, f, t)
	}
	fmt.Fprintf(w, "%s: %s%s\n", t.Safe(filepath.Base(x.Run.Dir)), text.Count(x.Job.Size, "rank"), runState(x.Run))
	for _, f := range x.Report.Findings {
		words := f.Text
		if !t.UTF8 {
			words = strings.ReplaceAll(strings.ReplaceAll(words, "→", "->"), "…", "...")
		}
		fmt.Fprintln(w, export.Wrap("  "+t.Safe(words), t.Width))
	}
	if x.Report.Computes && len(x.Report.Findings) == 0 {
		fmt.Fprintln(w, "  no rank waits in MPI")
	}
	for _, words := range x.Notes {
		fmt.Fprintln(w, export.Wrap("  "+t.Safe(words), t.Width))
	}
	fmt.Fprintln(w)
	if err := x.rows().Write(w, f, t); err != nil {
		return err
	}
	for _, g := range x.Report.Groups {
		if len(g.Stack) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s %s, called from\n", text.RankList(g.Ranks), t.Safe(g.Doing))
		for _, frame := range g.Stack {
			if frame == where.UnknownFrames && !t.UTF8 {
				frame = "..."
			}
			fmt.Fprintf(w, "  %s\n", t.Safe(frame))
		}
	}
	return nil
}

func runState(run *recording.Run) string {
	if run.Running() {
		return ", running for " + time.Since(run.Start).Round(time.Second).String()
	}
	return ", not running"
}

// rows is the table of states.
func (x *Where) rows() *export.Rows {
	rows := &export.Rows{Schema: "mpitx.where", Columns: []export.RowColumn{
		{Name: "ranks", Header: "RANKS"}, {Name: "condition"}, {Name: "state", Header: "STATE"}, {Name: "call"}, {Name: "object", Header: "ON", Optional: true},
		{Name: "peer", Header: "PEER", Optional: true}, {Name: "tag", Header: "TAG", Optional: true}, {Name: "bytes", Header: "BYTES", Optional: true, Right: true},
		{Name: "seconds"}, {Name: "for", Header: "FOR"}, {Name: "site", Header: "CALLED FROM", Optional: true}, {Name: "requests", Header: "REQUESTS", Optional: true, DropFirst: true},
		{Name: "end"}, {Name: "outside"}, {Name: "stack"},
	}}
	for _, g := range x.Report.Groups {
		var bytes, seconds any
		if g.Bytes >= 0 {
			bytes = g.Bytes
		}
		since := "a moment"
		switch {
		case g.Since >= 0:
			seconds = float64(g.Since.Milliseconds()) / 1000
			since = text.RoughDuration(g.Since)
		case g.Condition > where.Dead:
			since = ""
		}
		rows.Rows = append(rows.Rows, []any{text.RankList(g.Ranks), g.Condition.String(), g.Doing, g.Call, g.Object, g.Peer, g.Tag, bytes, seconds, since, g.Site,
			g.Requests, g.End, g.Outside, strings.Join(g.Stack, " < ")})
	}
	return rows
}

// json writes everything for programs.
func (x *Where) json(w io.Writer) error {
	type shown struct {
		finding.Finding
		Share *float64 `json:"share,omitempty"` // it is about a moment
	}
	type state struct {
		where.Group
		Bytes   *int64   `json:"bytes,omitempty"`
		Seconds *float64 `json:"seconds,omitempty"`
	}
	answer := struct {
		Schema   string  `json:"schema"`
		Version  int     `json:"version"`
		Run      string  `json:"run"`
		Size     int     `json:"size"`
		Running  bool    `json:"running"`
		Findings []shown `json:"findings"`
		States   []state `json:"states"`

		Incomplete []int `json:"incomplete_ranks,omitempty"`
	}{"mpitx.where", 1, x.Run.Dir, x.Job.Size, x.Run.Running(), []shown{}, []state{}, x.Run.IncompleteRanks()}
	for _, f := range x.Report.Findings {
		answer.Findings = append(answer.Findings, shown{Finding: f})
	}
	for _, g := range x.Report.Groups {
		s := state{Group: g}
		if g.Bytes >= 0 {
			s.Bytes = &g.Bytes
		}
		if g.Since >= 0 {
			seconds := float64(g.Since.Milliseconds()) / 1000
			s.Seconds = &seconds
		}
		answer.States = append(answer.States, s)
	}
	b, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
