package runs

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

var order = binary.LittleEndian

// manyRun makes a run of ranks with a number of samples of sixteen 64-bit counters each.
func manyRun(t testing.TB, ranks, samples int) *recording.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	streams := make([]*recordingtest.Stream, ranks)
	var out []byte
	for r := range streams {
		s := recordingtest.NewStream(uint64(r+1), int32(r))
		s.Header(recordingtest.Header{Rank: int32(r), Size: int32(ranks), Clock: 1, NsPerTick: 1, Host: "node1", Library: "Test MPI"})
		s.Clock(0, 0, 1_700_000_000_000_000_000, 10)
		ids := make([]uint32, 16)
		for i := range ids {
			ids[i] = uint32(i)
			s.Column(ids[i], recordingtest.Column{Variable: fmt.Sprintf("pml_some_variable_%02d", i), Class: int32(catalog.ClassCounter),
				Type: int32(catalog.TypeUint64), Count: 1, Bind: 1, Size: 8})
		}
		s.Set(0, 128, ids...)
		s.Seal()
		streams[r] = s
	}
	row := make([]byte, 128)
	for n := range samples {
		for i := range 16 {
			order.PutUint64(row[8*i:], uint64(n*(i+1)*977))
		}
		for r, s := range streams {
			s.Sample(0, uint64(n)*10_000_000+uint64(r)*1000, row, nil)
			if len(s.Out) > 1<<20 || n == samples-1 {
				if n == samples-1 {
					s.Counters(uint64(samples))
					s.End(1)
					s.Seal()
				}
				out = append(out, s.Out...)
				s.Out = s.Out[:0]
			}
		}
	}
	if err := recordingtest.Save(dir, "node1", out); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

func BenchmarkSamples(b *testing.B) {
	for _, ranks := range []int{1, 4, 256} {
		samples := 80_000 / ranks
		run := manyRun(b, ranks, samples)
		for _, k := range []struct {
			name string
			f    export.Format
			o    SampleOptions
		}{
			{"csv", export.FormatCSV, SampleOptions{}},
			{"csv-wide", export.FormatCSV, SampleOptions{Wide: true}},
			{"json", export.FormatJSON, SampleOptions{}},
			{"csv-rate", export.FormatCSV, SampleOptions{Options: recording.Options{As: recording.Rate}}},
		} {
			b.Run(fmt.Sprintf("%s/ranks=%d", k.name, ranks), func(b *testing.B) {
				for b.Loop() {
					if err := Samples(io.Discard, run, k.f, k.o); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N*ranks*samples*16)/b.Elapsed().Seconds(), "values/s")
			})
		}
	}
}

// TestSamplesMemory checks that the memory of an export does not grow with the run.
func TestSamplesMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 35 MB")
	}
	run := manyRun(t, 64, 4000)
	runtime.GC()
	var most uint64
	w := writerFunc(func(p []byte) (int, error) {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
		return len(p), nil
	})
	if err := Samples(w, run, export.FormatCSV, SampleOptions{}); err != nil {
		t.Fatal(err)
	}
	if most > 32<<20 {
		t.Errorf("a heap of %d MB", most>>20)
	}
}

// With Start, rows of CSV and NDJSON have the wall clock of time 0; wide CSV has units in its header, and others none.
func TestSamplesStart(t *testing.T) {
	run, err := recording.Open("../../recording/testdata/v1")
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	start := run.Start.UTC().Format(time.RFC3339Nano)
	for _, f := range []export.Format{export.FormatCSV, export.FormatNDJSON} {
		for _, wide := range []bool{false, true} {
			var plain, with strings.Builder
			if err := errors.Join(Samples(&plain, run, f, SampleOptions{Wide: wide}), Samples(&with, run, f, SampleOptions{Wide: wide, Start: true})); err != nil {
				t.Fatal(err)
			}
			without := ""
			for i, line := range strings.Split(strings.TrimSuffix(with.String(), "\n"), "\n") {
				end := "," + start
				switch {
				case f == export.FormatNDJSON:
					end = `,"start":"` + start + `"}`
				case i == 0:
					end = ",start"
				}
				line, is := strings.CutSuffix(line, end)
				if !is {
					t.Fatalf("%s, wide %v: %s", f, wide, line)
				}
				if without += line; f == export.FormatNDJSON {
					without += "}"
				}
				without += "\n"
			}
			if without != plain.String() {
				t.Errorf("%s, wide %v: more than the start differs", f, wide)
			}
			if head, _, _ := strings.Cut(plain.String(), "\n"); f == export.FormatCSV && wide && (!strings.Contains(head, ",seconds (s),") || !strings.Contains(head, ",bytes,")) {
				t.Error(head)
			}
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestSamplesGolden writes a recorded run in every form.
func TestSamplesGolden(t *testing.T) {
	run, err := recording.Open("../../recording/testdata/v1")
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for _, f := range SampleFormats {
		for _, wide := range []bool{false, true} {
			name := "samples_" + string(f)
			if wide {
				name += "_wide"
			}
			var b bytes.Buffer
			few := recording.Options{From: -time.Second, To: 12 * time.Millisecond}
			if err := Samples(&b, run, f, SampleOptions{Wide: wide, Options: few}); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
			checkParses(t, f, b.Bytes())
		}
	}
}

func checkParses(t *testing.T, f export.Format, b []byte) {
	t.Helper()
	switch f {
	case export.FormatCSV:
		if rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll(); err != nil || len(rows) < 2 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	case export.FormatJSON:
		if !json.Valid(b) {
			t.Errorf("not JSON: %s", b)
		}
	default:
		for l := range bytes.Lines(b) {
			if !json.Valid(l) {
				t.Errorf("not JSON: %s", l)
			}
		}
	}
}

// TestSamplesHostile writes names and values that could break formats and terminals. All are kept, and equal names stay distinct.
func TestSamplesHostile(t *testing.T) {
	names := []string{"a,b", "quote\"", "line\nbreak", "\x1b[2J", "not\xffutf8", " blank", "twin", "twin"}
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n,\x1b"})
	s.Clock(0, 0, 1e18, 0)
	var ids []uint32
	row := make([]byte, 0, 128)
	for i, n := range names {
		class := int32(catalog.ClassLevel)
		if i == 7 {
			class = int32(catalog.ClassSize)
		}
		s.Column(uint32(i), recordingtest.Column{Variable: n, Class: class, Type: int32(catalog.TypeUint64), Count: 1, Size: 8,
			Bind: 2, Object: uint64(i + 1), ObjectName: []string{"", "world", "same"}[min(i, 2)]})
		ids = append(ids, uint32(i))
		row = order.AppendUint64(row, uint64(i)+1<<63)
	}
	s.Column(8, recordingtest.Column{Variable: "text", Class: 10, Type: int32(catalog.TypeChar), Count: 8, Size: 1})
	s.Set(0, len(row)+8, append(ids, 8)...)
	s.Sample(0, 1e9, append(row, "x,\"\x1by\x00z"...), []byte{0, 2, 0, 0, 0, 0, 0, 0, 0})
	s.Seal()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", s.Out); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil || len(run.Damage()) > 0 {
		t.Fatal(err, run.Damage())
	}
	defer run.Close()
	for _, f := range SampleFormats {
		for _, wide := range []bool{false, true} {
			var b bytes.Buffer
			if err := Samples(&b, run, f, SampleOptions{Wide: wide}); err != nil {
				t.Fatal(err)
			}
			checkParses(t, f, b.Bytes())
			for _, want := range []string{"9223372036854775815", "twin:level", "twin:size", "same#", "comm#1", "error"} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s, wide %v: no %s in %s", f, wide, want, b.String())
				}
			}
			if f != export.FormatCSV && strings.Contains(b.String(), "\x1b") {
				t.Errorf("%s: an escape character", f)
			}
		}
	}
	var b bytes.Buffer
	if err := Samples(&b, run, export.FormatCSV, SampleOptions{Terminal: export.Terminal{IsTTY: true}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("an escape character on a terminal")
	}
	rows, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
	if err != nil || len(rows) != 10 || rows[2][6] != "" || rows[2][7] != "error" {
		t.Error(rows, err)
	}
}

func TestSamplesWriteError(t *testing.T) {
	run := manyRun(t, 2, 2000)
	full := errors.New("full")
	for _, f := range SampleFormats {
		for _, wide := range []bool{false, true} {
			w := writerFunc(func([]byte) (int, error) { return 0, full })
			if err := Samples(w, run, f, SampleOptions{Wide: wide}); !errors.Is(err, full) {
				t.Error(f, wide, err)
			}
		}
	}
	if err := Samples(io.Discard, run, export.FormatTable, SampleOptions{}); err == nil {
		t.Error("tables of samples")
	}
}
