package parquet

import (
	"bytes"
	"path/filepath"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
)

// The tables of a report have the columns and the numbers of CSV.
func TestReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveSolver(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range runs.ReportTables {
		table := runs.ReportRows(p, name)
		var b bytes.Buffer
		if err := Report(&b, run, table); err != nil {
			t.Fatal(name, err)
		}
		f, err := parquetgo.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(name, err)
		}
		if schema, ok := f.Lookup("mpitx.schema"); !ok || schema != table.Schema || f.NumRows() != int64(len(table.Rows)) {
			t.Errorf("%s: schema %s, %d rows", name, schema, f.NumRows())
		}
		rows, err := parquetgo.Read[any](bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(name, err)
		}
		for i, row := range rows {
			for j, c := range table.Columns {
				if got := row.(map[string]any)[c.Name]; !equal(got, table.Rows[i][j]) {
					t.Errorf("%s: row %d: %s is %v (%T), not %v (%T)", name, i, c.Name, got, got, table.Rows[i][j], table.Rows[i][j])
				}
			}
		}
		for i, c := range f.Schema().Columns() {
			if c[0] != table.Columns[i].Name {
				t.Errorf("%s: column %d is %s, not %s", name, i, c[0], table.Columns[i].Name)
			}
		}
	}
	if err := Report(&bytes.Buffer{}, run, &export.Rows{Columns: []export.RowColumn{{Name: "x"}}, Rows: [][]any{{struct{}{}}}}); err == nil {
		t.Error("a cell of another type is written")
	}
}

func equal(got, want any) bool {
	switch w := want.(type) {
	case int:
		return got == int64(w)
	case string:
		b, ok := got.([]byte)
		return got == w || ok && string(b) == w
	case uint64:
		n, ok := got.(int64)
		return ok && uint64(n) == w
	}
	return got == want
}
