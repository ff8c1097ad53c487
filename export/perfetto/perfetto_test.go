package perfetto

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/trace"
)

// slice is a slice of a decoded trace.
type slice struct {
	name, category string
	args           map[string]string
	begin, end     uint64
	starts, ends   []uint64 // flows
	thread         string
	depth          int
}

// slicesOf checks a trace as Perfetto reads it, and returns its slices: names are interned before they are used, slices of a track are
// nested and closed, and times of a track do not go back.
func slicesOf(t testing.TB, m message) (all []*slice, counters map[string][]float64) {
	t.Helper()
	interned := map[string]map[uint64]string{"event_categories": {}, "event_names": {}, "debug_annotation_names": {}, "debug_annotation_string_values": {}}
	tracks, parents, times, open := map[uint64]string{}, map[uint64]uint64{}, map[uint64]uint64{}, map[uint64][]*slice{}
	counters = map[string][]float64{}
	of := func(kind string, iid uint64) string {
		s, ok := interned[kind][iid]
		if !ok {
			t.Fatalf("%s has no %d", kind, iid)
		}
		return s
	}
	for i, p := range m.list("packet") {
		if p.number("trusted_packet_sequence_id") != 1 || (i == 0) != (p.number("sequence_flags") == 1) {
			t.Fatalf("packet %d: %v", i, p)
		}
		for kind, known := range interned {
			for _, x := range p.one("interned_data").list(kind) {
				if kind == "debug_annotation_string_values" {
					known[x.number("iid")] = string(x.field("str").Bytes())
				} else {
					known[x.number("iid")] = x.text("name")
				}
			}
		}
		if p.has("track_descriptor") {
			d := p.one("track_descriptor")
			name := d.text("name") + d.one("process").text("process_name") + d.one("thread").text("thread_name")
			if parent := d.number("parent_uuid"); parent != 0 {
				if tracks[parent] == "" {
					t.Fatalf("track %s comes before its process", name)
				}
				name = tracks[parent] + "/" + name
				parents[d.number("uuid")] = parent
			}
			tracks[d.number("uuid")] = name
		}
		if !p.has("track_event") {
			continue
		}
		e := p.one("track_event")
		track, at := e.number("track_uuid"), p.number("timestamp")
		if tracks[track] == "" || at < times[track] {
			t.Fatalf("track %d %q: %d after %d", track, tracks[track], at, times[track])
		}
		times[track] = at
		switch e.number("type") {
		case typeBegin, typeInstant:
			s := &slice{name: of("event_names", e.number("name_iid")), begin: at, end: at, args: map[string]string{}, starts: e.numbers("flow_ids"), thread: tracks[track], depth: len(open[track])}
			s.category = of("event_categories", e.numbers("category_iids")[0])
			for _, a := range e.list("debug_annotations") {
				text := fmt.Sprint(a.field("int_value").Int())
				switch {
				case a.has("string_value_iid"):
					text = of("debug_annotation_string_values", a.number("string_value_iid"))
				case a.has("uint_value"):
					text = fmt.Sprint(a.number("uint_value"))
				}
				s.args[of("debug_annotation_names", a.number("name_iid"))] = text
			}
			all = append(all, s)
			if e.number("type") == typeBegin {
				open[track] = append(open[track], s)
			}
		case typeEnd:
			if len(open[track]) == 0 {
				t.Fatalf("track %s: an end without a beginning", tracks[track])
			}
			last := len(open[track]) - 1
			open[track][last].end, open[track][last].ends = at, e.numbers("terminating_flow_ids")
			open[track] = open[track][:last]
		case typeCounter:
			v := float64(e.field("counter_value").Int())
			if e.has("double_counter_value") {
				v = e.field("double_counter_value").Float()
			}
			counters[tracks[track]] = append(counters[tracks[track]], v)
		}
	}
	for track, s := range open {
		if len(s) > 0 {
			t.Errorf("track %s: %d slices are open", tracks[track], len(s))
		}
	}
	return all, counters
}

func written(t testing.TB, rounds int, o Options) (message, trace.Totals) {
	t.Helper()
	run := opened(t, rounds, recordingtest.SaveTrace)
	var b bytes.Buffer
	totals, err := Write(&b, run, o)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, b.Bytes()), totals
}

func opened(t testing.TB, rounds int, save func(dir string, rounds int) error) *recording.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := save(dir, rounds); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

// Protobuf's decoder reads the trace; every flow connects one send with its receive; slices nest.
func TestTrace(t *testing.T) {
	const rounds = 100
	m, totals := written(t, rounds, Options{})
	all, _ := slicesOf(t, m)
	starts, ends := map[uint64]*slice{}, map[uint64]*slice{}
	for _, s := range all {
		for _, id := range s.starts {
			if starts[id] != nil {
				t.Errorf("flow %x starts twice", id)
			}
			starts[id] = s
		}
		for _, id := range s.ends {
			if ends[id] != nil {
				t.Errorf("flow %x ends twice", id)
			}
			ends[id] = s
		}
	}
	if len(starts) != rounds || len(ends) != rounds || totals.Flows != rounds {
		t.Fatalf("%d flows start, %d end, of %d", len(starts), len(ends), totals.Flows)
	}
	for id, from := range starts {
		to := ends[id]
		if to == nil || from.name != "MPI_Send" || to.name != "MPI_Wait" || from.args["bytes"] != to.args["bytes"] || from.thread == to.thread || from.begin >= to.end {
			t.Fatalf("flow %x from %+v to %+v", id, from, to)
		}
	}
	send := all[slices.IndexFunc(all, func(s *slice) bool { return s.name == "MPI_Send" })]
	if got, want := fmt.Sprint(send.args), "map[bytes:1 call site:0x400120 comm:MPI_COMM_WORLD peer:1 tag:7]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprint(send.thread, send.category, send.end-send.begin, send.depth), "rank 0 (node1)/thread 100mpi500 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Phases are around the calls that belong to them, a nested call is in its outer one, and events of other sources and losses are instants.
func TestNesting(t *testing.T) {
	m, _ := written(t, 4, Options{})
	all, _ := slicesOf(t, m)
	depths := map[string]int{"MPI_Init": 0, "MPI_Pcontrol": 0, "solve": 0, "MPI_Wait": 1, "MPI_Allreduce": 1, "MPI_Comm_rank": 2, "MPI_Finalize": 0, "queued": 1, "events lost": 1}
	seen := map[string]bool{}
	for _, s := range all {
		if want, ok := depths[s.name]; ok {
			if seen[s.name] = true; s.depth != want {
				t.Errorf("%+v, want depth %d", s, want)
			}
			if raised := s.args["raised_ns"]; s.name == "queued" && raised != "3003" {
				t.Errorf("raised at %q", raised)
			}
		}
	}
	if len(seen) != len(depths) {
		t.Errorf("seen %v", seen)
	}
}
