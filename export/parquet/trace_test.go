package parquet

import (
	"bytes"
	"path/filepath"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// Only the event of MPI_T has a time by its source.
func TestTraceRaised(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveTrace(dir, 2); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var file bytes.Buffer
	if _, err := Trace(&file, run, runs.TraceOptions{}); err != nil {
		t.Fatal(err)
	}
	rows, err := parquetgo.Read[traceRow](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(rows) == 0 {
		t.Fatal(len(rows), err)
	}
	for _, r := range rows {
		if (r.RaisedNs != nil) != (r.Kind == "mpi_t") || r.RaisedNs != nil && *r.RaisedNs != 3003 {
			t.Errorf("%+v", r)
		}
	}
}
