package runs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"mpitx/export"
	"mpitx/recording/trigger"
	"mpitx/text"
)

// Triggers writes what the triggers of a run found. In text, most limits the events of each trigger (0 is all), and lead begins the
// line of each.
func Triggers(w io.Writer, all []*trigger.Trigger, f export.Format, most int, lead string, t export.Terminal) error {
	switch f {
	case export.FormatJSON:
		d := &export.Document{W: w, B: []byte("{\n  \"schema\": \"mpitx.triggers\",\n  \"version\": 1")}
		export.AddList(d, "triggers", export.Mapped(all, triggerOf))
		return d.End()
	case export.FormatCSV, export.FormatNDJSON:
		return TriggerRows(all).Write(w, f, t)
	}
	var b bytes.Buffer
	for i, one := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s%s\n", lead, t.Safe(TriggerText(one)))
		rows := TriggerEvents(one, most, t)
		if len(rows.Rows) == 0 {
			continue
		}
		if err := rows.Write(&b, f, t); err != nil {
			return err
		}
		if most > 0 && len(one.Events) > most {
			fmt.Fprintf(&b, "%s and %d more %s\n", t.Ellipsis(), len(one.Events)-most, text.Plural(len(one.Events)-most, "event"))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// TriggerText says in one line how often a condition was true, and on which ranks.
func TriggerText(t *trigger.Trigger) string {
	words := t.Condition
	if t.On != "" {
		words += " on " + t.On
	}
	switch {
	case t.Checked == 0 && t.Missed == 0:
		return words + ": never checked: no such call was made"
	case t.Held == 0:
		words += ": never true"
	default:
		var ranks []int
		for _, r := range t.Ranks {
			if r.Held > 0 {
				ranks = append(ranks, r.Rank)
			}
		}
		words += fmt.Sprintf(": became true %s, on %s %s; true", text.Count(t.Fired, "time"), text.Plural(len(ranks), "rank"), text.RankList(ranks))
	}
	words += fmt.Sprintf(" in %d of %s", t.Held, text.Count(t.Checked, "call"))
	if t.Held == 0 {
		words = strings.Replace(words, "never true in 0 of", "never true in", 1)
	}
	if t.Missed > 0 {
		words += fmt.Sprintf(", and not checked in %d, as another thread was reading variables", t.Missed)
	}
	return words
}

func number(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// optional is a cell for programs.
func optional[T any](n *T) any {
	if n == nil {
		return nil
	}
	return *n
}

// TriggerEvents are the events of one trigger for people; most limits them (0 is all).
func TriggerEvents(one *trigger.Trigger, most int, t export.Terminal) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "TIME (s)", Right: true, Point: true}, {Header: "RANK", Right: true}, {Header: "FUNCTION"}, {Header: "PEER", Right: true, Optional: true},
		{Header: "ROOT", Right: true, Optional: true}, {Header: "TAG", Right: true, Optional: true, Drop: 2}, {Header: "BYTES", Right: true, Optional: true}, {Header: "COMMUNICATOR", Optional: true, Drop: 1},
		{Header: "VALUES", Optional: true}, {Header: "CALL SITE", Optional: true}}}
	for i := range one.Events {
		if most > 0 && i == most {
			break
		}
		e := &one.Events[i]
		values := valuesText(one, e)
		r.Rows = append(r.Rows, []any{fmt.Sprintf("%.6f", e.Time.Seconds()), e.Rank, e.Function, number(e.Peer), number(e.Root), number(e.Tag), bytesText(t, e.Bytes), e.ObjectName,
			values, strings.Join(places(e), " < ")})
	}
	return r
}

// valuesText are the values that held; without their names if there is only one.
func valuesText(t *trigger.Trigger, e *trigger.Event) string {
	var texts []string
	for i, v := range e.Values {
		text := strconv.FormatFloat(v, 'g', -1, 64)
		switch {
		case math.IsNaN(v):
			continue
		case len(t.Values) > 1:
			text = t.Values[i] + "=" + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

// places are the frames of an event's stack as short texts, innermost first, up to main.
func places(e *trigger.Event) (texts []string) {
	for i := range e.Frames {
		f := &e.Frames[i]
		text := f.Place()
		if f.Function != "" && f.Line > 0 {
			text = f.Function + " at " + text
		}
		texts = append(texts, text)
		if f.Function == "main" || f.Function == "MAIN__" {
			break
		}
	}
	return texts
}

// TriggerRows are the events of all triggers, for programs.
func TriggerRows(all []*trigger.Trigger) *export.Rows {
	r := export.RowsOf("mpitx.trigger.events", "trigger condition time rank thread function peer root tag bytes communicator duration_ns values site")
	for _, one := range all {
		for i := range one.Events {
			e := &one.Events[i]
			r.Rows = append(r.Rows, []any{one.Number, one.Condition, e.Time.Seconds(), e.Rank, e.Thread, e.Function, optional(e.Peer), optional(e.Root), optional(e.Tag), e.Bytes,
				e.ObjectName, int64(e.Duration), valuesText(one, e), strings.Join(places(e), " < ")})
		}
	}
	return r
}

type (
	jsonTrigger struct {
		*trigger.Trigger
		Events []jsonTriggerEvent `json:"events"`
	}
	jsonTriggerEvent struct {
		Time float64 `json:"time"`
		*trigger.Event
		Values map[string]float64 `json:"values"`
		Stack  []jsonTriggerFrame `json:"stack"`
	}
	jsonTriggerFrame struct {
		Address  string `json:"address"`
		Function string `json:"function,omitempty"`
		File     string `json:"file,omitempty"`
		Line     int    `json:"line,omitempty"`
	}
)

func triggerOf(t *trigger.Trigger) jsonTrigger {
	return jsonTrigger{t, export.Mapped(t.Events, func(e trigger.Event) jsonTriggerEvent { return triggerEventOf(t, &e) })}
}

func triggerEventOf(t *trigger.Trigger, e *trigger.Event) jsonTriggerEvent {
	j := jsonTriggerEvent{e.Time.Seconds(), e, map[string]float64{}, []jsonTriggerFrame{}}
	for i, v := range e.Values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			j.Values[t.Values[i]] = v
		}
	}
	for _, f := range e.Frames {
		j.Stack = append(j.Stack, jsonTriggerFrame{f.Address.String(), f.Function, f.File, f.Line})
	}
	return j
}
