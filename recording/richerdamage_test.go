package recording

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/fixtures/mutate"
	"mpitx/recording/recordingtest"
)

// richer makes a stream with events of two threads, a table and a module.
func richer() *recordingtest.Stream {
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Clock(0, 0, 1e18, 0)
	s.EventType(0, "sent", 16, recordingtest.Field{Name: "bytes", Type: 4, Unit: "B"}, recordingtest.Field{Name: "to", Type: 7},
		recordingtest.Field{Name: "by", Type: 2, Meaning: 1})
	s.Table(0, "sites", 1, 32, recordingtest.Field{Name: "at", Type: 4, Meaning: 2}, recordingtest.Field{Name: "calls", Type: 4},
		recordingtest.Field{Name: "most", Type: 9, Merge: 2})
	s.Text(0, "MPI_Send")
	s.Module(0x1000, 0x9000, 0x1000, "/lib/a.so", "\x12\xab")
	s.Seal()
	word := func(v uint64) []byte { return le.AppendUint64(nil, v) }
	sent := func(n, at uint64) recordingtest.Event {
		b := le.AppendUint32(word(n), uint32(-n))
		return recordingtest.Event{Tag: 16, Ticks: at, Body: append(b, 0, 0, 0, 0)}
	}
	for thread := range uint64(2) {
		s.Chain = uint16(thread + 1)
		for chunk := range uint64(2) {
			n := chunk*3000 + thread
			s.Events(recordingtest.Event{Tag: 2, Ticks: n, Body: word(100 + thread)}, sent(n, n), recordingtest.Event{Tag: 3, Ticks: n, Body: word(7)},
				sent(n+10, n+10), recordingtest.Event{Tag: 1, Ticks: n + 10, Body: word(n + 20)}, sent(n+20, n+10))
		}
	}
	row := func(sequence, thread uint32, at, calls uint64, most float32) []byte {
		b := append(append(le.AppendUint32(le.AppendUint32(nil, sequence), thread), word(at)...), word(calls)...)
		v := Value{Kind: Float, bits: uint64(most)}
		return le.AppendUint32(b, map[uint64]uint32{1: 0x3f800000, 2: 0x40000000}[v.bits])
	}
	s.Rows(0, 64, row(2, 100, 0x1234, 5, 1), row(4, 100, 0x2000, 1, 2))
	s.Rows(0, 64, row(6, 101, 0x1234, 3, 2), row(0, 0, 0x3000, 9, 1), row(3, 101, 0x4000, 1, 1))
	s.Counters(0)
	s.End(1)
	s.Seal()
	return s
}

// formatAll formats all events and rows of a run.
func formatAll(run *Run) (events, rows []string) {
	for e := range run.Events(Options{}) {
		text := fmt.Sprintf("%v thread %d", e.Time.Nanoseconds(), e.Thread)
		if e.Type == nil {
			text += fmt.Sprintf(" lost %d", e.Lost)
		} else {
			text += fmt.Sprintf(" %s %v", e.Type.Name, e.Values)
		}
		events = append(events, text)
	}
	for row := range run.Rows(Options{}) {
		rows = append(rows, fmt.Sprintf("%s %v of %v torn %v", row.Table.Name, row.Values(), row.Threads, row.Torn))
	}
	return events, rows
}

// TestRicherOfAnotherWriter reads events and tables written as docs/run-format.md describes them.
func TestRicherOfAnotherWriter(t *testing.T) {
	run := save(t, richer().Out)
	events, rows := formatAll(run)
	noDamageIn(t, run)
	want := []string{
		"0 thread 100 sent [0 0 MPI_Send]", "0 thread 100 lost 7", "1 thread 101 sent [1 -1 MPI_Send]", "1 thread 101 lost 7",
		"10 thread 100 sent [10 -10 MPI_Send]", "11 thread 101 sent [11 -11 MPI_Send]", "30 thread 100 sent [20 -20 MPI_Send]",
		"31 thread 101 sent [21 -21 MPI_Send]", "3000 thread 100 sent [3000 -3000 MPI_Send]", "3000 thread 100 lost 7",
		"3001 thread 101 sent [3001 -3001 MPI_Send]", "3001 thread 101 lost 7", "3010 thread 100 sent [3010 -3010 MPI_Send]",
		"3011 thread 101 sent [3011 -3011 MPI_Send]", "3030 thread 100 sent [3020 -3020 MPI_Send]", "3031 thread 101 sent [3021 -3021 MPI_Send]",
	}
	if !slices.Equal(events, want) {
		t.Errorf("%s", strings.Join(events, "\n"))
	}
	want = []string{"sites [4660 8 2] of [100 101] torn false", "sites [8192 1 2] of [100] torn false", "sites [16384 1 1] of [101] torn true"}
	if !slices.Equal(rows, want) {
		t.Errorf("%s", strings.Join(rows, "\n"))
	}
	if m := run.Ranks[0].Module(0x1234); m == nil || m.Path != "/lib/a.so" || m.BuildID != "12ab" || m.Bias != 0x1000 {
		t.Errorf("%+v", m)
	}
	var some []string
	for e := range run.Events(Options{From: 10, To: 32}) {
		some = append(some, e.Time.String())
	}
	if fmt.Sprint(some) != "[10ns 11ns 30ns 31ns]" {
		t.Error(some)
	}
}

func noDamageIn(t *testing.T, run *Run) {
	t.Helper()
	for _, err := range run.Damage() {
		t.Error(err)
	}
}

// TestEventsOfNodes reads events of nodes with different clocks in the order of the common time.
func TestEventsOfNodes(t *testing.T) {
	var out []byte
	for rank, clock := range []recordingtest.Header{{Clock: 1, NsPerTick: 1, Host: "a", Boot: "1"}, {Clock: 2, NsPerTick: 0.5, Host: "b", Boot: "2"}} {
		clock.Rank, clock.Size = int32(rank), 2
		s := recordingtest.NewStream(uint64(rank+1), int32(rank))
		s.Header(clock)
		start, scale := uint64(5000*(rank+1)), uint64(rank+1)
		s.Clock(start, int64(start), 1e18, 0)
		s.Clock(start+scale*10e9, int64(start)+10e9, 1e18+10e9, 0)
		s.EventType(0, "at", 8, recordingtest.Field{Name: "time", Type: 4, Meaning: 3})
		s.Seal()
		s.Chain = 1
		for n := range uint64(50) {
			at := start + scale*(n*1e8+uint64(rank)*1e7)
			s.Events(recordingtest.Event{Tag: 2, Ticks: at, Body: make([]byte, 8)}, recordingtest.Event{Tag: 16, Ticks: at, Body: le.AppendUint64(nil, at)})
		}
		out = append(out, s.Out...)
	}
	run := save(t, out)
	n := 0
	for e := range run.Events(Options{}) {
		want := time.Duration(n/2)*100*time.Millisecond + time.Duration(n%2)*10*time.Millisecond
		if at, _ := e.Values[0].Int64(); e.Rank.Rank != n%2 || (e.Time-want).Abs() > 10 || at != int64(e.Time) {
			t.Fatalf("event %d: rank %d at %v, not %v; %v", n, e.Rank.Rank, e.Time, want, e.Values)
		}
		n++
	}
	if noDamageIn(t, run); n != 100 {
		t.Error(n)
	}
}

// TestRicherFlipped changes single bytes. No wrong event is read, and missing ones are reported.
func TestRicherFlipped(t *testing.T) {
	s := richer()
	events, rows := formatAll(save(t, s.Out))
	data := bytes.Index(s.Out[1:], []byte(recordingtest.Magic)) + 1 // after the declarations
	for at := data; at < len(s.Out); at++ {
		b := bytes.Clone(s.Out)
		b[at] ^= 0x41
		run := save(t, b)
		gotEvents, gotRows := formatAll(run)
		same := slices.Equal(gotEvents, events) && slices.Equal(gotRows, rows)
		if len(run.Damage()) == 0 && !same {
			t.Fatalf("byte %d: no damage reported; %q %q", at, gotEvents, gotRows)
		}
		for _, e := range gotEvents {
			if !slices.Contains(events, e) {
				t.Fatalf("byte %d: %s: %v", at, e, run.Damage())
			}
		}
		run.Close()
	}
}

// TestRicherTruncated cuts a file. Everything before the cut is read.
func TestRicherTruncated(t *testing.T) {
	s := richer()
	events, _ := formatAll(save(t, s.Out))
	most := 0
	for cut := 1; cut < len(s.Out); cut += 3 {
		run := save(t, s.Out[:cut])
		got, _ := formatAll(run)
		for _, e := range got {
			if !slices.Contains(events, e) {
				t.Fatalf("cut at %d: %s", cut, e)
			}
		}
		if most = max(most, len(got)); len(got) < most {
			t.Fatalf("cut at %d: %d events, and %d before", cut, len(got), most)
		}
		run.Close()
	}
	if most != len(events) {
		t.Error(most)
	}
}

// TestTornEven tears each chunk so that another one, appended after it, ends just where the torn one would. A whole copy of it follows, as
// after Recover. Nothing is lost.
func TestTornEven(t *testing.T) {
	s := richer()
	events, rows := formatAll(save(t, s.Out))
	chunks := chunksOf(s.Out)
	pairs := 0
	for torn := range chunks {
		for inner := range chunks {
			left := len(chunks[torn]) - len(chunks[inner])
			if inner == torn || left < 88 {
				continue
			}
			pairs++
			out := bytes.Join(append(slices.Clone(chunks[:torn]), chunks[torn][:left], chunks[inner], chunks[torn]), nil)
			for i := torn + 1; i < len(chunks); i++ {
				if i != inner {
					out = append(out, chunks[i]...)
				}
			}
			run := save(t, out)
			gotEvents, gotRows := formatAll(run)
			noDamageIn(t, run)
			if !slices.Equal(gotEvents, events) || !slices.Equal(gotRows, rows) || run.Ranks[0].State != StateEnded {
				t.Errorf("chunk %d, torn after %d of %d bytes, then chunk %d: %d events, %d rows, %v", torn, left, len(chunks[torn]), inner, len(gotEvents),
					len(gotRows), run.Ranks[0].State)
			}
			run.Close()
		}
	}
	if pairs < 10 {
		t.Errorf("%d pairs", pairs)
	}
}

// chunksOf splits a file.
func chunksOf(b []byte) (all [][]byte) {
	for len(b) > 0 {
		n := 88 + int(le.Uint32(b[56:]))
		all, b = append(all, b[:n]), b[n:]
	}
	return all
}

// TestUndeclaredEvents loses a declaration. Its events are reported as one damage, and all others are read.
func TestUndeclaredEvents(t *testing.T) {
	s := richer()
	s.Chain = 3
	s.Events(recordingtest.Event{Tag: 17, Ticks: 1}, recordingtest.Event{Tag: 17, Ticks: 2}, recordingtest.Event{Tag: 9, Ticks: 2})
	s.Events(recordingtest.Event{Tag: 16, Ticks: 1})
	s.Rows(9, 64, make([]byte, 32))
	run := save(t, s.Out)
	if events, _ := formatAll(run); len(events) != 16 || len(run.Damage()) != 4 {
		t.Errorf("%d events, %v", len(events), run.Damage())
	}
}

// An input is edits of a run with events and tables, with valid checksums. Times must not go back, and every event and row has a
// value for each declared element.
func FuzzEvents(f *testing.F) {
	small := richer().Out
	dir := mutate.Folder(f)
	f.Add([]byte{})
	f.Add([]byte("\x02\x0c\x00\x02\x00"))
	f.Add([]byte("\x07\x90\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		b := mutate.Bytes(small, script)
		recordingtest.Fix(b)
		if err := recordingtest.Save(dir, "n", b); err != nil {
			t.Fatal(err)
		}
		run, err := Open(dir)
		if err != nil {
			return
		}
		defer run.Close()
		last := time.Duration(-1 << 63)
		for e := range run.Events(Options{}) {
			if e.Time < last {
				t.Error("time goes back")
			}
			last = e.Time
			for i := range len(e.Values) {
				_ = e.Values[i].String()
			}
			if e.Type != nil {
				for i := range e.Type.Fields {
					e.FieldValues(&e.Type.Fields[i])
				}
			}
		}
		formatAll(run)
		for _, r := range run.Ranks {
			r.Module(0x1234)
		}
		run.Stats(Options{})
		run.Damage()
	})
}
