package recording

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mpitx/catalog"
	"mpitx/fixtures/mutate"
	"mpitx/recording/recordingtest"
)

// counting makes a stream that samples one counter, whose value in sample n is n.
func counting(id uint64, rank int32, samples, perChunk int) *recordingtest.Stream {
	s := recordingtest.NewStream(id, rank)
	s.Capacity = max(perChunk*16+16, 1024)
	s.Header(recordingtest.Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Clock(0, 0, 1e18, 0)
	s.Column(0, recordingtest.Column{Variable: "v", Class: int32(catalog.ClassCounter), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
	s.Set(0, 8, 0)
	s.Seal()
	s.Capacity = perChunk*16 + 16
	for n := range samples {
		s.Sample(0, uint64(n)*1000, le.AppendUint64(nil, uint64(n)), nil)
	}
	s.Seal()
	return s
}

// save writes chunks as a run and opens it.
func save(t testing.TB, chunks []byte) *Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", chunks); err != nil {
		t.Fatal(err)
	}
	return mustOpenAny(t, dir)
}

func mustOpenAny(t testing.TB, dir string) *Run {
	t.Helper()
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

func raws(run *Run) []uint64 {
	var all []uint64
	for in := range run.Instants(Options{As: Raw}) {
		v, _ := in.Cells[0].Value.Uint64()
		all = append(all, v)
	}
	return all
}

func upTo(n int) []uint64 {
	all := []uint64{}
	for i := range n {
		all = append(all, uint64(i))
	}
	return all
}

// TestTruncated cuts a run at every byte. Everything before the cut is read, and the cut is reported.
func TestTruncated(t *testing.T) {
	s := counting(1, 0, 20, 5)
	heads := []int{}
	for at := 0; at < len(s.Out); at++ {
		if bytes.HasPrefix(s.Out[at:], []byte(recordingtest.Magic)) {
			heads = append(heads, at)
		}
	}
	for cut := 1; cut <= len(s.Out); cut++ {
		run := save(t, s.Out[:cut])
		whole, last := 0, 0
		for i, h := range heads {
			if h < cut {
				last = h
			}
			end := len(s.Out)
			if i+1 < len(heads) {
				end = heads[i+1]
			}
			if i > 0 && h+88 < cut {
				whole += (min(end, cut) - h - 88) / 16
			}
		}
		got := raws(run)
		if !slices.Equal(got, upTo(whole)) && !(len(got) == 0 && whole == 0) {
			t.Fatalf("cut at %d: %v, not the first %d", cut, got, whole)
		}
		clean := cut == len(s.Out) || slices.Contains(heads, cut)
		var d *DamageError
		switch {
		case clean && len(run.Damage()) > 0:
			t.Fatalf("cut at %d: %v", cut, run.Damage())
		case !clean && (len(run.Damage()) == 0 || !errors.As(run.Damage()[0], &d) || d.Offset != int64(last) || d.File != "node-n.mpxr"):
			t.Fatalf("cut at %d, chunk at %d: %v", cut, last, run.Damage())
		}
		run.Close()
	}
}

// TestFlipped changes single bytes. No wrong value is read, and all other chunks are.
func TestFlipped(t *testing.T) {
	s := counting(1, 0, 20, 5)
	first := bytes.Index(s.Out[1:], []byte(recordingtest.Magic)) + 1
	for at := first; at < len(s.Out); at++ {
		b := bytes.Clone(s.Out)
		b[at] ^= 0x41
		run := save(t, b)
		got := raws(run)
		if len(run.Damage()) == 0 {
			t.Fatalf("byte %d: no damage reported, %v", at, got)
		}
		chunk := (at - first) / (88 + 80)
		want := slices.Concat(upTo(20)[:5*chunk], upTo(20)[5*chunk+5:])
		if !slices.Equal(got, want) {
			t.Fatalf("byte %d: %v: %v", at, got, run.Damage())
		}
		run.Close()
	}
}

// TestTorn reads a file with a torn chunk, as a full disk leaves it, followed by intact ones.
func TestTorn(t *testing.T) {
	a, b := counting(1, 0, 20, 5), counting(2, 1, 20, 5)
	second := bytes.Index(a.Out[1:], []byte(recordingtest.Magic)) + 1
	for keep := 1; keep < 88+80; keep += 7 {
		run := save(t, slices.Concat(a.Out[:second+keep], b.Out))
		n := map[int]int{}
		for in := range run.Instants(Options{}) {
			n[in.Rank.Rank]++
		}
		if want := max(keep-88, 0) / 16; n[0] != want || n[1] != 20 || len(run.Damage()) != 1 {
			t.Errorf("%d: %v, not %d; %v", keep, n, want, run.Damage())
		}
	}
}

func TestCopiesAndStrangers(t *testing.T) {
	a, b := counting(1, 0, 20, 5), counting(2, 1, 20, 5)
	run := save(t, slices.Concat(a.Out, a.Out))
	if got := raws(run); !slices.Equal(got, upTo(20)) || len(run.Damage()) > 0 || len(run.Ranks) != 1 {
		t.Error(got, run.Damage())
	}
	for at := range len(b.Out) - 8 { // another run's
		if bytes.HasPrefix(b.Out[at:], []byte(recordingtest.Magic)) {
			b.Out[at+16] = 9
		}
	}
	run = save(t, slices.Concat(a.Out, b.Out))
	if got := raws(run); !slices.Equal(got, upTo(20)) || len(run.Damage()) != 5 {
		t.Error(got, run.Damage())
	}
}

func TestNoRun(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNotARun) {
		t.Error(err)
	}
	s := counting(1, 0, 1, 5)
	s.Out[8] = 2
	run := save(t, s.Out)
	if d := run.Damage(); len(d) == 0 || len(run.Ranks) > 1 {
		t.Error(d)
	}
}

// TestOldVersion reads a run written when this version of the format was new.
func TestOldVersion(t *testing.T) {
	run := mustOpenAny(t, filepath.Join("testdata", "v1"))
	if len(run.Damage()) > 0 || len(run.Ranks) != 2 {
		t.Fatal(run.Damage(), len(run.Ranks))
	}
	for _, c := range run.Ranks[0].Columns {
		if c.unit != "" || c.Variable == "seconds" && c.Unit() != "s" {
			t.Errorf("%s: unit %q, %q", c.Variable, c.unit, c.Unit())
		}
	}
	n := 0
	for in := range run.Instants(Options{As: Raw}) {
		if in.Rank.Rank == 0 {
			if got, want := renderCells(in), expectedCells(in.Set.ID, n/2); got != want {
				t.Errorf("%d: %s, not %s", n, got, want)
			}
			n++
		}
	}
	if n != 24 || run.Ranks[1].State != StateEnded || run.Ranks[1].Counters.Samples != 24 {
		t.Error(n, run.Ranks[1].State, run.Ranks[1].Counters)
	}
}

// renderCells formats the cells of a sample.
func renderCells(in *Instant) string {
	var parts []string
	for _, c := range in.Cells {
		parts = append(parts, c.Value.String()+"/"+c.Status.String())
	}
	return strings.Join(parts, " ")
}

// expectedCells formats the cells that writer.c samples.
func expectedCells(set, n int) string {
	if set == 1 {
		return fmt.Sprintf("%d/ok %d/ok %d/ok %d/ok", n, 2*n, 3*n, uint64(n)<<40)
	}
	state := []string{"idle", "busy", "odd"}[n%3]
	seconds := FloatValue(-1.7e9+float64(n)*0.5).String() + "/ok"
	if n%10 == 9 {
		seconds = "/error"
	}
	return fmt.Sprintf("%d/ok %d/ok %s/ok %s %t/ok %d/ok", uint64(n)*1000+9007199254740993, uint32(4294967000+n*7), state, seconds,
		n&1 == 1, n%200-100)
}

// TestAlignment aligns nodes whose clocks began at different times, one of them a time stamp counter.
func TestAlignment(t *testing.T) {
	const wall = int64(1_700_000_000_000_000_000)
	var out []byte
	for rank, clock := range []recordingtest.Header{
		{Clock: 1, NsPerTick: 1, Host: "a", Boot: "1"},
		{Clock: 2, NsPerTick: 0.5001, Host: "b", Boot: "2"}, // calibrated to 200 ppm
	} {
		clock.Rank, clock.Size = int32(rank), 2
		s := recordingtest.NewStream(uint64(rank+1), int32(rank))
		s.Header(clock)
		begin, scale := uint64(5_000), uint64(1)
		if rank == 1 {
			begin, scale = 77_000_000, 2
		}
		mono := int64(begin) * 3
		if rank == 0 {
			mono = int64(begin)
		}
		s.Clock(begin, mono, wall, 0)
		s.Clock(begin+scale*10e9, mono+10e9, wall+10e9, 0)
		s.Column(0, recordingtest.Column{Variable: "v", Class: int32(catalog.ClassLevel), Type: int32(catalog.TypeInt), Count: 1, Size: 4})
		s.Set(0, 8, 0)
		for n := range uint64(100) {
			s.Sample(0, begin+scale*n*100e6, make([]byte, 8), nil)
		}
		s.Seal()
		out = append(out, s.Out...)
	}
	run := save(t, out)
	n := 0
	for in := range run.Instants(Options{}) {
		want := time.Duration(n/2) * 100 * time.Millisecond
		if d := in.Time - want; d < -10 || d > 10 || in.Rank.Rank != n%2 && d != 0 {
			t.Fatalf("%d: rank %d at %v", n, in.Rank.Rank, in.Time)
		}
		n++
	}
	if n != 200 || run.Start.UnixNano() != wall || len(run.Nodes) != 2 {
		t.Error(n, run.Start, run.Damage())
	}
}

// TestStep sets a node's wall clock. Its samples do not move.
func TestStep(t *testing.T) {
	s := counting(1, 0, 20, 5)
	s.Clock(20e9, 20e9, 1e18+20e9+3600e9, 0)
	s.Seal()
	run := save(t, s.Out)
	last := time.Duration(0)
	for in := range run.Instants(Options{}) {
		last = in.Time
	}
	if last != 19*time.Microsecond || run.Nodes[0].Step != time.Hour {
		t.Error(last, run.Nodes[0].Step)
	}
}

// TestAnything writes and reads runs of random shapes.
func TestAnything(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		type column struct {
			typ   catalog.Datatype
			count int
		}
		s := recordingtest.NewStream(rapid.Uint64Min(1).Draw(t, "id"), 0)
		s.Capacity = 8 * rapid.IntRange(64, 500).Draw(t, "capacity")
		s.Header(recordingtest.Header{Clock: 1, NsPerTick: 1, Host: "h"})
		s.Clock(0, 0, 1e18, 0)
		columns := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) column {
			typ := catalog.Datatype(rapid.IntRange(1, int(catalog.TypeByte)).Draw(t, "type"))
			return column{typ, rapid.IntRange(1, 5).Draw(t, "count")}
		}), 1, 8).Draw(t, "columns")
		var ids []uint32
		var offsets []int
		row := 0
		for i, c := range columns {
			row = (row + c.typ.Size() - 1) / c.typ.Size() * c.typ.Size()
			offsets = append(offsets, row)
			row += c.typ.Size() * c.count
			ids = append(ids, uint32(i))
			s.Column(uint32(i), recordingtest.Column{Variable: fmt.Sprint("v", i), Class: 10, Type: int32(c.typ), Count: uint32(c.count), Size: uint8(c.typ.Size())})
		}
		row = (row + 7) &^ 7
		s.Set(0, row, ids...)
		var want []string
		at := uint64(0)
		for range rapid.IntRange(0, 60).Draw(t, "samples") {
			at += uint64(rapid.SampledFrom([]int{0, 1, 1000, 5e9}).Draw(t, "step"))
			b := rapid.SliceOfN(rapid.Byte(), row, row).Draw(t, "row")
			var statuses []byte
			if rapid.Bool().Draw(t, "with statuses") {
				statuses = rapid.SliceOfN(rapid.ByteRange(0, 7), len(columns), len(columns)).Draw(t, "statuses")
			}
			s.Sample(0, at, b, statuses)
			text := fmt.Sprint(time.Duration(at))
			for i, c := range columns {
				st := OK
				if statuses != nil {
					st = Status(statuses[i])
				}
				v := catalog.NewValue(c.typ, b[offsets[i]:offsets[i]+c.typ.Size()*c.count])
				for e := range v.Len() {
					text += " " + st.String()
					if st.HasValue() {
						text += "=" + v.Element(e)
					} else {
						text += "="
					}
				}
			}
			want = append(want, text)
		}
		s.Seal()
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := recordingtest.Save(dir, "h", s.Out); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		run, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		var got []string
		for in := range run.Instants(Options{As: Raw}) {
			text := fmt.Sprint(in.Time)
			for _, c := range in.Cells {
				text += " " + c.Status.String() + "=" + c.Value.String()
			}
			got = append(got, text)
		}
		if !slices.Equal(got, want) || len(run.Damage()) > 0 {
			t.Fatalf("%v\n%q\n%q", run.Damage(), got, want)
		}
	})
}

// An input is a node's file, or nothing for a small built-in one, and edits of it.
func FuzzChunks(f *testing.F) {
	s := counting(1, 0, 6, 3)
	s.Note(5, 1, 2, "a note")
	s.Counters(1, 2, 3)
	s.End(1)
	s.Seal()
	f.Add([]byte{}, []byte{})
	f.Add([]byte{}, []byte("\x02\x0c\x00\x02\x00"))
	f.Add([]byte{}, []byte("\x07\x90\x01\x00\x00"))
	f.Add(s.Out[:100], []byte{})
	old, err := os.ReadFile("testdata/v1/node-node1.mpxr")
	if err != nil {
		f.Fatal(err)
	}
	dir := mutate.Folder(f)
	f.Fuzz(func(t *testing.T, b, script []byte) {
		if len(b) == 0 {
			if b = s.Out; len(script) > 0 && script[len(script)-1]&1 != 0 {
				b = old
			}
		}
		b = mutate.Bytes(b, script)
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
		for in := range run.Instants(Options{}) {
			if in.Time < last {
				t.Error("time goes back")
			}
			last = in.Time
			for _, c := range in.Cells {
				_ = c.Value.String()
			}
		}
		run.Stats(Options{As: Rate})
		run.Damage()
	})
}

// A process whose end cannot be read has not died for that.
func TestDamagedEnd(t *testing.T) {
	for name, c := range map[string]struct {
		end    bool
		damage int // bytes before the end of the file; 0: none
		want   State
	}{"whole": {true, 0, StateEnded}, "damaged": {true, 4, StateDamaged}, "killed": {false, 0, StateDied}} {
		t.Run(name, func(t *testing.T) {
			s := recordingtest.NewStream(1, 0)
			s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "node1"})
			s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
			s.Seal()
			if c.end {
				s.End(1)
				s.Seal()
			}
			if c.damage > 0 {
				s.Out[len(s.Out)-c.damage] ^= 1
			}
			dir := filepath.Join(t.TempDir(), "run")
			if err := recordingtest.Save(dir, "node1", s.Out); err != nil {
				t.Fatal(err)
			}
			run, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer run.Close()
			if got := run.Ranks[0].State; got != c.want || (len(run.Damage()) > 0) != (c.damage > 0) {
				t.Errorf("%v, want %v; %v", got, c.want, run.Damage())
			}
		})
	}
}
