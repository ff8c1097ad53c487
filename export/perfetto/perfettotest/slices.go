// Package perfettotest reads Perfetto's traces for tests, with protobuf's decoder and without the code that writes them.
package perfettotest

import (
	"fmt"
	"testing"
)

// Slice is a slice or an instant of a trace.
type Slice struct {
	Name, Category string
	Args           map[string]string
	Begin, End     uint64
	Starts, Ends   []uint64 // flows
	Thread         string   // its track, after the process
	Depth          int      // slices around it
}

// Flow is an arrow between two slices.
type Flow struct{ From, To *Slice }

// TrackEvent.Type
const (
	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4
)

type reader struct {
	testing.TB
	interned map[string]map[uint64]string // by the list in InternedData
	tracks   map[uint64]string
	times    map[uint64]uint64 // of tracks
	open     map[uint64][]*Slice
	slices   []*Slice
	counters map[string][]float64
}

// Read checks a trace as Perfetto reads it: no field is unknown, names are interned before they are used, slices of a track are nested
// and closed, and times of a track do not go back. It returns the slices, and the values of the counters by track.
func Read(t testing.TB, trace []byte) (slices []*Slice, counters map[string][]float64) {
	t.Helper()
	r := &reader{TB: t, tracks: map[uint64]string{}, times: map[uint64]uint64{}, open: map[uint64][]*Slice{}, counters: map[string][]float64{},
		interned: map[string]map[uint64]string{"event_categories": {}, "event_names": {}, "debug_annotation_names": {}, "debug_annotation_string_values": {}}}
	for i, p := range decode(t, trace).list("packet") {
		if p.number("trusted_packet_sequence_id") != 1 || (i == 0) != (p.number("sequence_flags") == 1) {
			t.Fatalf("packet %d: %v", i, p)
		}
		r.intern(p.one("interned_data"))
		if p.has("track_descriptor") {
			r.track(p.one("track_descriptor"))
		}
		if p.has("track_event") {
			r.event(p.one("track_event"), p.number("timestamp"))
		}
	}
	for track, s := range r.open {
		if len(s) > 0 {
			t.Errorf("track %s: %d slices are open", r.tracks[track], len(s))
		}
	}
	return r.slices, r.counters
}

func (r *reader) intern(data message) {
	for kind, known := range r.interned {
		for _, x := range data.list(kind) {
			if kind == "debug_annotation_string_values" {
				known[x.number("iid")] = string(x.field("str").Bytes())
			} else {
				known[x.number("iid")] = x.text("name")
			}
		}
	}
}

func (r *reader) text(kind string, iid uint64) string {
	s, ok := r.interned[kind][iid]
	if !ok {
		r.Fatalf("%s has no %d", kind, iid)
	}
	return s
}

func (r *reader) track(d message) {
	name := d.text("name") + d.one("process").text("process_name") + d.one("thread").text("thread_name")
	if parent := d.number("parent_uuid"); parent != 0 {
		if r.tracks[parent] == "" {
			r.Fatalf("track %s comes before its process", name)
		}
		name = r.tracks[parent] + "/" + name
	}
	r.tracks[d.number("uuid")] = name
}

func (r *reader) event(e message, at uint64) {
	track := e.number("track_uuid")
	name, open := r.tracks[track], r.open[track]
	if name == "" || at < r.times[track] {
		r.Fatalf("track %d %q: %d after %d", track, name, at, r.times[track])
	}
	r.times[track] = at
	switch e.number("type") {
	case typeBegin:
		s := r.slice(e, name, at)
		s.Depth = len(open)
		r.open[track] = append(open, s)
	case typeInstant:
		r.slice(e, name, at).Depth = len(open)
	case typeEnd:
		if len(open) == 0 {
			r.Fatalf("track %s: an end without a beginning", name)
		}
		last := open[len(open)-1]
		last.End, last.Ends = at, e.numbers("terminating_flow_ids")
		r.open[track] = open[:len(open)-1]
	case typeCounter:
		v := float64(e.field("counter_value").Int())
		if e.has("double_counter_value") {
			v = e.field("double_counter_value").Float()
		}
		r.counters[name] = append(r.counters[name], v)
	}
}

func (r *reader) slice(e message, track string, at uint64) *Slice {
	s := &Slice{Name: r.text("event_names", e.number("name_iid")), Category: r.text("event_categories", e.numbers("category_iids")[0]), Begin: at, End: at,
		Args: map[string]string{}, Starts: e.numbers("flow_ids"), Thread: track}
	for _, a := range e.list("debug_annotations") {
		text := fmt.Sprint(a.field("int_value").Int())
		switch {
		case a.has("string_value_iid"):
			text = r.text("debug_annotation_string_values", a.number("string_value_iid"))
		case a.has("string_value"):
			text = a.text("string_value")
		case a.has("uint_value"):
			text = fmt.Sprint(a.number("uint_value"))
		case a.has("double_value"):
			text = fmt.Sprint(a.field("double_value").Float())
		}
		s.Args[r.text("debug_annotation_names", a.number("name_iid"))] = text
	}
	r.slices = append(r.slices, s)
	return s
}

// Flows returns the flows of slices by their identifiers. Each must start and end once.
func Flows(t testing.TB, slices []*Slice) map[uint64]Flow {
	t.Helper()
	flows := map[uint64]Flow{}
	for _, s := range slices {
		for _, id := range s.Starts {
			f := flows[id]
			if f.From != nil {
				t.Errorf("flow %x starts twice", id)
			}
			flows[id] = Flow{s, f.To}
		}
		for _, id := range s.Ends {
			f := flows[id]
			if f.To != nil {
				t.Errorf("flow %x ends twice", id)
			}
			flows[id] = Flow{f.From, s}
		}
	}
	for id, f := range flows {
		if f.From == nil || f.To == nil {
			t.Errorf("flow %x from %+v to %+v", id, f.From, f.To)
			delete(flows, id)
		}
	}
	return flows
}
