// Package trigger reads what the triggers of a run found: how often their conditions held, on which ranks, and the events.
package trigger

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/profile"
)

const (
	table = "triggers"
	event = "trigger"
	none  = -1000000 // an argument that a call does not have
)

// Trigger is a condition with its results on all ranks.
type Trigger struct {
	Number    int      `json:"-"`
	Condition string   `json:"condition"`
	On        string   `json:"on,omitempty"` // functions; "": all
	Then      []string `json:"then"`         // actions, as the agent names them
	Values    []string `json:"-"`            // the names of the values that it reads
	Totals
	Ranks  []RankTotals `json:"ranks"` // those that checked it, ascending
	Events []Event      `json:"-"`     // in order of time
}

// Totals are the counts of a trigger.
type Totals struct {
	Checked  uint64 `json:"checked"` // calls in which it was checked
	Held     uint64 `json:"held"`    // of those, in how many it was true
	Fired    uint64 `json:"fired"`   // how often it became true
	Recorded uint64 `json:"-"`       // events
	Missed   uint64 `json:"missed"`  // calls in which it was not checked, as another thread was reading variables
}

// RankTotals are the counts of one rank.
type RankTotals struct {
	Rank int `json:"rank"`
	Totals
}

// Event is one time that a condition became true.
type Event struct {
	Time       time.Duration   `json:"-"` // since the job's start
	Rank       int             `json:"rank"`
	Thread     int             `json:"thread"`
	Function   string          `json:"function"`
	Object     uint32          `json:"-"`                      // number in the table "objects" of the rank; 0: none
	ObjectName string          `json:"communicator,omitempty"` // of a communicator, window or file; "": unknown
	Peer       *int            `json:"peer,omitempty"`         // nil: none, as of Root and Tag
	Root       *int            `json:"root,omitempty"`
	Tag        *int            `json:"tag,omitempty"`
	Bytes      uint64          `json:"bytes"`
	Duration   time.Duration   `json:"duration_ns,omitzero"` // of the call; 0: not measured
	Stack      []uint64        `json:"-"`                    // return addresses of code, innermost first
	Frames     []profile.Frame `json:"-"`                    // of the stack; see Resolve
	Values     []float64       `json:"-"`                    // of Trigger.Values; NaN: not read
	process    *recording.Rank
}

// Module returns the program or library that contains an address of the event's stack.
func (e *Event) Module(address uint64) *recording.Module { return e.process.Module(address) }

// Resolve finds the source of the stacks of all events. resolve returns the frames of an address, innermost first.
func Resolve(all []*Trigger, resolve func(m *recording.Module, address uint64) []profile.Frame) {
	type place struct {
		process *recording.Rank
		address uint64
	}
	known := map[place][]profile.Frame{}
	for _, t := range all {
		for i := range t.Events {
			e := &t.Events[i]
			e.Frames = nil
			for _, address := range e.Stack {
				at := place{e.process, address}
				frames, found := known[at]
				if !found {
					frames = resolve(e.Module(address), address)
					known[at] = frames
				}
				e.Frames = append(e.Frames, frames...)
			}
		}
	}
}

// Has reports whether a run has triggers.
func Has(run *recording.Run) bool {
	return slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool {
		return slices.ContainsFunc(r.Tables, func(t *recording.Table) bool { return t != nil && t.Name == table })
	})
}

// Read reads the triggers of a run, live or ended.
func Read(run *recording.Run) []*Trigger {
	if !Has(run) {
		return nil
	}
	r := reader{names: map[*recording.Rank]map[uint32]string{}}
	for row := range run.Rows(recording.Options{Table: func(t *recording.Table) bool { return t.Name == table || t.Name == "objects" }}) {
		if row.Table.Name == table {
			r.row(row)
		} else {
			r.object(row)
		}
	}
	for e := range run.Events(recording.Options{}) {
		if e.Type != nil && e.Type.Name == event {
			r.event(e)
		}
	}
	slices.SortFunc(r.all, func(a, b *Trigger) int { return cmp.Compare(a.Number, b.Number) })
	return r.all
}

type reader struct {
	all   []*Trigger
	names map[*recording.Rank]map[uint32]string // of objects
}

// fields are the fields of a record by name; a field that it lacks reads as 0.
type fields struct {
	list   []recording.Field
	values []recording.Value
}

func (f fields) get(name string) []recording.Value {
	for i := range f.list {
		if x := &f.list[i]; x.Name == name && x.First+x.Count <= len(f.values) {
			return f.values[x.First : x.First+x.Count]
		}
	}
	return []recording.Value{{}}
}

func (f fields) unsigned(name string) uint64 {
	n, _ := f.get(name)[0].Uint64()
	return n
}

func (f fields) text(name string) string { return f.get(name)[0].String() }

func (f fields) optional(name string) *int {
	v := f.get(name)[0].Float64()
	if n := int(v); v > none && !math.IsNaN(v) {
		return &n
	}
	return nil
}

func (r *reader) trigger(number int) *Trigger {
	for _, t := range r.all {
		if t.Number == number {
			return t
		}
	}
	t := &Trigger{Number: number}
	r.all = append(r.all, t)
	return t
}

func (r *reader) row(row *recording.Row) {
	f := fields{row.Table.Fields, row.Values()}
	t := r.trigger(int(f.unsigned("number")))
	if t.Condition == "" {
		t.Condition, t.On = f.text("condition"), f.text("on")
		t.Then = strings.FieldsFunc(f.text("then"), func(c rune) bool { return c == ',' })
		for _, v := range f.get("values") {
			if name := v.String(); name != "" {
				t.Values = append(t.Values, name)
			}
		}
	}
	n := Totals{f.unsigned("checked"), f.unsigned("held"), f.unsigned("fired"), f.unsigned("recorded"), f.unsigned("missed")}
	t.Totals.Add(n)
	t.Ranks = append(t.Ranks, RankTotals{row.Table.Rank.Rank, n})
	slices.SortFunc(t.Ranks, func(a, b RankTotals) int { return cmp.Compare(a.Rank, b.Rank) })
}

// Add adds other counts.
func (t *Totals) Add(o Totals) {
	t.Checked += o.Checked
	t.Held += o.Held
	t.Fired += o.Fired
	t.Recorded += o.Recorded
	t.Missed += o.Missed
}

func (r *reader) object(row *recording.Row) {
	f, rank := fields{row.Table.Fields, row.Values()}, row.Table.Rank
	if r.names[rank] == nil {
		r.names[rank] = map[uint32]string{}
	}
	r.names[rank][uint32(f.unsigned("id"))] = f.text("name")
}

func (r *reader) event(e *recording.Event) {
	f := fields{e.Type.Fields, e.Values}
	t := r.trigger(int(f.unsigned("number")))
	one := Event{Time: e.Time, Rank: e.Rank.Rank, Thread: e.Thread, Function: f.text("function"), Object: uint32(f.unsigned("object")),
		Peer: f.optional("peer"), Root: f.optional("root"), Tag: f.optional("tag"), Bytes: f.unsigned("bytes"),
		Duration: time.Duration(f.unsigned("duration")), process: e.Rank}
	one.ObjectName = r.names[e.Rank][one.Object]
	for _, v := range f.get("stack") {
		if address, _ := v.Uint64(); address != 0 {
			one.Stack = append(one.Stack, address)
		}
	}
	for i, v := range f.get("values") {
		if i < len(t.Values) {
			one.Values = append(one.Values, v.Float64())
		}
	}
	t.Events = append(t.Events, one)
}
