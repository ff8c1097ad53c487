package parquet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording"
)

func open(t testing.TB) *recording.Run {
	t.Helper()
	run, err := recording.Open("../../recording/testdata/v1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

// TestSamples checks that the file has the contents of CSV.
func TestSamples(t *testing.T) {
	run := open(t)
	for _, as := range []recording.Transform{recording.Default, recording.Raw, recording.Rate} {
		var file, csv bytes.Buffer
		if err := Samples(&file, run, recording.Options{As: as}); err != nil {
			t.Fatal(err)
		}
		if err := runs.Samples(&csv, run, export.FormatCSV, runs.SampleOptions{Options: recording.Options{As: as}}); err != nil {
			t.Fatal(err)
		}
		rows, err := parquetgo.Read[row](bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(csv.String()), "\n")[1:]
		if len(rows) != len(lines) || len(rows) == 0 {
			t.Fatal(len(rows), len(lines))
		}
		for i := range rows {
			if got := line(&rows[i]); got != lines[i] {
				t.Fatalf("%s, not %s", got, lines[i])
			}
		}
		f, err := parquetgo.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := f.Lookup("mpitx.schema"); v != runs.SamplesSchema {
			t.Error(v)
		}
	}
}

func line(r *row) string {
	object, element, value := "", "", ""
	if r.Object != nil {
		object = *r.Object
	}
	if r.Element != nil {
		element = fmt.Sprint(*r.Element)
	}
	switch {
	case r.Text != nil:
		value = *r.Text
	case r.Variable == "flag":
		value = fmt.Sprint(*r.Integer == 1)
	case r.Integer != nil:
		value = fmt.Sprint(*r.Integer)
	case r.Unsigned != nil:
		value = fmt.Sprint(*r.Unsigned)
	case r.Value != nil:
		value = recording.FloatValue(*r.Value).String()
	}
	sign, ns := "", r.TimeNs
	if ns < 0 {
		sign, ns = "-", -ns
	}
	return fmt.Sprintf("%s%d.%09d,%d,%s,%s,%s,%s,%s,%s,%s", sign, ns/1e9, ns%1e9, r.Rank, r.Host, r.Variable, object, element, value, r.Status, r.Unit)
}

// TestWideSamples checks that the file has the contents of wide CSV, in the same order, with exact integers.
func TestWideSamples(t *testing.T) {
	run := open(t)
	for _, as := range []recording.Transform{recording.Default, recording.Raw, recording.Rate} {
		var file, text bytes.Buffer
		if err := WideSamples(&file, run, recording.Options{As: as}); err != nil {
			t.Fatal(err)
		}
		if err := runs.Samples(&text, run, export.FormatCSV, runs.SampleOptions{Options: recording.Options{As: as}, Wide: true}); err != nil {
			t.Fatal(err)
		}
		want, err := csv.NewReader(&text).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquetgo.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		units := map[recording.Transform]string{recording.Default: `{"seconds":"s"}`, recording.Raw: `{"seconds":"s"}`, recording.Rate: `{"seconds":"s/s"}`}
		if got, _ := f.Lookup("mpitx.units"); got != units[as] {
			t.Errorf("units %s as %v", got, as)
		}
		var names []string
		integers := 0
		for _, field := range f.Schema().Fields() {
			if names = append(names, field.Name()); field.Type().Kind() == parquetgo.Int64 && field.Optional() {
				integers++
			}
		}
		for i := range want[0] { // CSV has units in the header
			want[0][i], _, _ = strings.Cut(want[0][i], " (s")
		}
		if head := strings.Join(slices.Delete(slices.Clone(names), 1, 2), ","); head != strings.Join(want[0], ",") {
			t.Errorf("%s, not %s", head, strings.Join(want[0], ","))
		}
		if integers == 0 {
			t.Error("no column of integers")
		}
		var rows []parquetgo.Row
		for _, g := range f.RowGroups() {
			r := g.Rows()
			for err == nil {
				buffer := make([]parquetgo.Row, 3)
				var n int
				n, err = r.ReadRows(buffer)
				for _, row := range buffer[:n] {
					rows = append(rows, row.Clone())
				}
			}
			if r.Close(); err != io.EOF {
				t.Fatal(err)
			}
		}
		if len(rows) != len(want)-1 || len(rows) == 0 {
			t.Fatal(len(rows), len(want))
		}
		for i, row := range rows {
			if got, want := wideLine(f.Schema(), row), strings.Join(want[i+1], ","); got != want {
				t.Fatalf("%v: %s, not %s", as, got, want)
			}
		}
	}
}

func wideLine(schema *parquetgo.Schema, row parquetgo.Row) string {
	var words []string
	for i, field := range schema.Fields() {
		word := ""
		switch v := row[i]; {
		case field.Name() == "time_ns" || v.IsNull():
		case field.Name() == "time":
			sign, ns := "", row[1].Int64()
			if ns < 0 {
				sign, ns = "-", -ns
			}
			word = fmt.Sprintf("%s%d.%09d", sign, ns/1e9, ns%1e9)
		case field.Name() == "flag":
			word = fmt.Sprint(v.Int64() == 1)
		case v.Kind() == parquetgo.ByteArray:
			word = string(v.ByteArray())
		case v.Kind() == parquetgo.Double:
			word = recording.FloatValue(v.Double()).String()
		case field.Type().String() == "INT(64,false)":
			word = fmt.Sprint(uint64(v.Int64()))
		default:
			word = v.String()
		}
		if field.Name() != "time_ns" {
			words = append(words, word)
		}
	}
	return strings.Join(words, ",")
}

// full is a file on a disk that is full after some bytes.
type full int

var errFull = errors.New("no space left on device")

func (f *full) Write(b []byte) (int, error) {
	if len(b) > int(*f) {
		return int(*f), errFull
	}
	*f -= full(len(b))
	return len(b), nil
}

// What cannot be written is an error, wherever the disk gets full, and in the words of the system only.
func TestDiskFull(t *testing.T) {
	run := open(t)
	table := &export.Rows{Columns: []export.RowColumn{{Name: "x"}}}
	for range 20000 { // more than the library buffers
		table.Rows = append(table.Rows, []any{rand.Uint64()})
	}
	for name, write := range map[string]func(io.Writer) error{
		"samples": func(w io.Writer) error { return Samples(w, run, recording.Options{}) },
		"wide":    func(w io.Writer) error { return WideSamples(w, run, recording.Options{}) },
		"trace":   func(w io.Writer) error { _, err := Trace(w, run, runs.TraceOptions{}); return err },
		"report":  func(w io.Writer) error { return Report(w, run, table) },
	} {
		var file bytes.Buffer
		if err := write(&file); err != nil {
			t.Fatal(name, err)
		}
		for room := 0; room < file.Len(); room += 1 + file.Len()/20 {
			if err := write(new(full(room))); err != errFull {
				t.Errorf("%s: room for %d of %d bytes: %v", name, room, file.Len(), err)
			}
		}
	}
}

func BenchmarkSamples(b *testing.B) {
	run := open(b)
	for b.Loop() {
		if err := Samples(io.Discard, run, recording.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
