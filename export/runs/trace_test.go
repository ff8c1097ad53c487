package runs

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// The time of an event of MPI_T by its source follows all other columns.
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
	for format, want := range map[export.Format]string{
		export.FormatCSV:    "0.000011500,0.000000000,1,101,mpi_t,queued,MPI_COMM_WORLD,,,,,,,0,,timestamp=5 source=7 source=0 tag=7,0.000003003,,",
		export.FormatNDJSON: `{"time":0.000011500,"rank":1,"thread":101,"kind":"mpi_t","name":"queued","object":"MPI_COMM_WORLD","status":"timestamp=5 source=7 source=0 tag=7","raised":0.000003003}`,
	} {
		var out strings.Builder
		if _, err := Trace(&out, run, format, TraceOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"+want+"\n"); n != 1 {
			t.Errorf("%s: %d lines %s in\n%s", format, n, want, out.String())
		}
		if raised := strings.Count(out.String(), "0.000003003"); raised != 1 {
			t.Errorf("%s: %d rows with the time", format, raised)
		}
		start, with := run.Start.UTC().Format(time.RFC3339Nano), strings.Builder{}
		if _, err := Trace(&with, run, format, TraceOptions{Start: true}); err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer(","+start+"\n", "\n", ",start\n", "\n", `,"start":"`+start+`"`, "").Replace(with.String())
		if plain != out.String() || strings.Count(with.String(), start) != strings.Count(strings.TrimPrefix(out.String(), csvTraceHead+"\n"), "\n") {
			t.Errorf("%s: more than the start differs:\n%s", format, with.String())
		}
	}
}

// An event of PERUSE that the library raised has its peer, tag, bytes and operation in columns, as derived events do. Events of messages
// have no buffer, so that their bytes are not known.
func TestTracePeruse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveQueues(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var out strings.Builder
	if _, err := Trace(&out, run, export.FormatCSV, TraceOptions{}); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{
		",peruse,PERUSE_COMM_REQ_NOTIFY,MPI_COMM_WORLD,1,9,16,,,,0,,request=8192 peer_in_comm=1 count=4 datatype=int,,recv,\n":      2,
		",peruse,PERUSE_COMM_MSG_INSERT_IN_UNEX_Q,MPI_COMM_WORLD,1,2,,,,,0,,request=0 peer_in_comm=1 count=4 datatype=int,,recv,\n": 1,
	} {
		if n := strings.Count(out.String(), line); n != want {
			t.Errorf("%d rows %q, not %d, in\n%s", n, line, want, out.String())
		}
	}
}
