package parquet

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export"
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

// TestSamples: the file holds what CSV does.
func TestSamples(t *testing.T) {
	run := open(t)
	for _, as := range []recording.Transform{recording.Default, recording.Raw, recording.Rate} {
		var file, csv bytes.Buffer
		if err := Samples(&file, run, recording.Options{As: as}); err != nil {
			t.Fatal(err)
		}
		if err := export.Samples(&csv, run, export.FormatCSV, export.SampleOptions{Options: recording.Options{As: as}}); err != nil {
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
		if v, _ := f.Lookup("mpitx.schema"); v != export.SamplesSchema {
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
	return fmt.Sprintf("%s%d.%09d,%d,%s,%s,%s,%s,%s,%s", sign, ns/1e9, ns%1e9, r.Rank, r.Host, r.Variable, object, element, value, r.Status)
}

func BenchmarkSamples(b *testing.B) {
	run := open(b)
	for b.Loop() {
		if err := Samples(io.Discard, run, recording.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
