package runs

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"mpitx/export"
	"mpitx/recording/waits"
)

// someWaits is the analysis of two ranks. Rank 1 is late for a barrier and for a message.
func someWaits() *waits.Analysis { return someWaiting().Analyse() }

func someWaiting() *waits.Program {
	p := waits.NewProgram()
	world := p.Group(2, true)
	site := func(function, place string) uint32 {
		return p.Site(waits.Site{Function: function, Place: place, Object: "MPI_COMM_WORLD", Phase: "solve"})
	}
	for rank := range 2 {
		p.Track(rank, 100+rank, 0, 0, "MPI_Init")
	}
	const ms = int64(time.Millisecond)
	for rank, begin := range []int64{10 * ms, 410 * ms} {
		p.Collective(p.Call(int32(rank), begin, 411*ms, site("MPI_Barrier", "main app.c:10")), world, "MPI_Barrier", -1)
	}
	sent := p.Call(1, 500*ms, 501*ms, site("MPI_Send", "main app.c:20"))
	p.Received(p.Call(0, 420*ms, 502*ms, site("MPI_Recv", "main app.c:22")), sent, 8)
	for rank := range int32(2) {
		p.Call(rank, 600*ms, 600*ms, site("MPI_Finalize", "main app.c:30"))
	}
	p.Lose(0, 3)
	return p
}

// A part of the run without calls has nothing of the whole run.
func TestWaitsOfNothing(t *testing.T) {
	a := someWaiting().Within(time.Hour, 2*time.Hour).Analyse()
	var b bytes.Buffer
	if err := Waits(&b, a, export.FormatTable, "run1", "", export.Terminal{}); err != nil || b.Len() > 0 {
		t.Errorf("%v: %s", err, b.String())
	}
	const want = "the trace has no calls in this part of the run; it ends after 600 ms"
	if got := WaitHead(a, export.Terminal{}); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWaits compares all formats with files.
func TestWaits(t *testing.T) {
	a := someWaits()
	for name, f := range map[string]struct {
		format export.Format
		table  string
		width  int
	}{"waits": {export.FormatTable, "", 100}, "waits-narrow": {export.FormatTable, "", 60}, "waits.json": {export.FormatJSON, "", 0}, "waits.csv": {export.FormatCSV, "", 0},
		"waits-causes.csv": {export.FormatCSV, "causes", 0}, "waits-path.csv": {export.FormatCSV, "path", 0}, "waits-rest.csv": {export.FormatCSV, "rest", 0},
		"waits-efficiency.csv": {export.FormatCSV, "efficiency", 0}, "waits-gains.csv": {export.FormatCSV, "gains", 0}} {
		var b bytes.Buffer
		if err := Waits(&b, a, f.format, "run1", f.table, export.Terminal{UTF8: true, IsTTY: f.width > 0, Width: f.width}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		if f.format == export.FormatJSON && !json.Valid(b.Bytes()) {
			t.Errorf("%s is not valid JSON", name)
		}
	}
}
