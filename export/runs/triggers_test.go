package runs

import (
	"math"
	"strings"
	"testing"
	"time"

	"mpitx/export"
	"mpitx/recording/profile"
	"mpitx/recording/trigger"
)

// What a call does not have is left out, and so are values that were not read.
func TestTriggersJSON(t *testing.T) {
	tag := 7
	one := &trigger.Trigger{Condition: "bytes > 1", Then: []string{"event"}, Values: []string{"bytes", "queue"}, Totals: trigger.Totals{Checked: 2, Held: 1, Fired: 1},
		Events: []trigger.Event{{Time: time.Second / 2, Rank: 1, Thread: 9, Function: "MPI_Send", ObjectName: "ring", Tag: &tag, Bytes: 8, Duration: 3, Values: []float64{8, math.NaN()},
			Frames: []profile.Frame{{Function: "main", File: "a.c", Line: 4, Address: profile.Address{Path: "/a", Offset: 16}}}}}}
	const want = `{"condition":"bytes > 1","then":["event"],"checked":2,"held":1,"fired":1,"missed":0,"ranks":[],"events":[{"time":0.5,"rank":1,"thread":9,"function":"MPI_Send",` +
		`"communicator":"ring","tag":7,"bytes":8,"duration_ns":3,"values":{"bytes":8},"stack":[{"address":"a+0x10","function":"main","file":"a.c","line":4}]}]}`
	var b strings.Builder
	if err := Triggers(&b, []*trigger.Trigger{one}, export.FormatJSON, 0, "", export.Terminal{}); err != nil || !strings.Contains(b.String(), want) {
		t.Errorf("%v: %s\nwant %s", err, b.String(), want)
	}
}
