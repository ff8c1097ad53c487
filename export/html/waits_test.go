package html

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"mpitx/recording/waits"
)

// The page of waits has three charts and all tables, and hostile names are text.
func TestWaits(t *testing.T) {
	p := waits.NewProgram()
	world := p.Group(2, true)
	for rank := range 2 {
		p.Track(rank, 100+rank, 0, 0, "MPI_Init")
	}
	const ms = int64(time.Millisecond)
	for rank, begin := range []int64{10 * ms, 410 * ms} {
		p.Collective(p.Call(int32(rank), begin, 411*ms, p.Site(waits.Site{Function: "MPI_Barrier", Place: hostile})), world, "MPI_Barrier", -1)
	}
	var b bytes.Buffer
	if err := Waits(&b, p.Analyse(), "dir/run1"); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"<title>run1: why ranks wait</title>", "<h3>Efficiency</h3>", "<h3>What causes the waiting</h3>", "<h3>Ranks over time</h3>", "rank 1 computes 400 ms longer than others before MPI_Barrier",
		"<h2>Why ranks waited</h2>", "<h2>What caused it</h2>", "<h2>Critical path</h2>", "waiting of 2 ranks over time"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(page, "<script>") || strings.Contains(page, "<img") {
		t.Error("names become code")
	}
	if n := strings.Count(page, `fill="`+shade(1)+`"`); n < 180 || n > 200 { // rank 0 waits for 400 of 411 ms, 200 cells
		t.Errorf("%d cells are all waiting", n)
	}
	b.Reset()
	if err := Waits(&b, p.Within(time.Hour, 2*time.Hour).Analyse(), "run1"); err != nil || !strings.Contains(b.String(), "no calls in this part") || strings.Contains(b.String(), "Nothing stands out") {
		t.Errorf("a part without calls: %v: %s", err, b.String())
	}
}
