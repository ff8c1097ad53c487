package timeline

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mpitx/recording/recordingtest"
)

// axisOf is the line of time on a screen.
func (u *user) axisOf() string { return strings.Split(u.screen(), "\n")[3] + " " }

// The axis has times that can be read, wherever the cursor is.
func TestAxisLabels(t *testing.T) {
	whole := regexp.MustCompile(`│\d\.\d\d s |\d\.\d\d s│|↓\d\.\d\d s | \d\.\d\d s↓`)
	for _, width := range []int{40, 60, 80, 100, 160} {
		u := sit(t, story(t), Options{}, utf8, width, 24)
		for column := range u.m.frame.Window.Columns {
			u.send(u.clickOn(column))
			axis := u.axisOf()
			labels := whole.FindAllString(axis, -1)
			if len(labels) == 0 || strings.Count(axis, " s") != len(labels) || strings.Count(axis, "↓") != 1 {
				t.Fatalf("%d columns, cursor in %d: %s", width, column, axis)
			}
		}
	}
}

// Phases are apart, say whose they are, and those that are too short are left out.
func TestPhaseRow(t *testing.T) {
	calls := func(x *recordingtest.Trace) {
		x.Phase(0, "exchange")
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 0, End: 100 * ms, Peer: none, Tag: none})
		x.Phase(100*ms, "")
		x.Phase(100*ms, "reduce")
		x.Phase(200*ms, "")
		for i := range uint64(20) {
			x.Phase((200+2*i)*ms, fmt.Sprint("short", i))
			x.Phase((202+2*i)*ms, "")
		}
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 290 * ms, End: 300 * ms, Peer: none, Tag: none})
	}
	u := sit(t, twoRanks(t, [2]func(*recordingtest.Trace){calls, calls}), Options{}, utf8, 100, 30)
	u.press("down")
	line := strings.Split(u.screen(), "\n")[2]
	if ok, _ := regexp.MatchString(`^phase 1 │exchange─+│reduce─+$`, line); !ok {
		t.Errorf("%q", line)
	}
}

// manyRows is a run with more threads than a small screen has rows.
func manyRows(t *testing.T, threads int) *user {
	calls := func(x *recordingtest.Trace) {
		for i := range threads / 2 {
			x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 10 * ms, End: 300 * ms, Peer: none, Tag: none})
			x.Write(uint16(i+2), 200+uint64(i))
		}
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 10 * ms, End: 300 * ms, Peer: none, Tag: none})
	}
	return sit(t, twoRanks(t, [2]func(*recordingtest.Trace){calls, calls}), Options{}, utf8, 100, 30)
}

// Rows have the lines that the details do not need.
func TestManyRows(t *testing.T) {
	u := manyRows(t, 40)
	lines := strings.Split(u.screen(), "\n")
	if n := len(u.m.frame.Cells); n != 20 || !strings.HasSuffix(lines[1], fmt.Sprintf("rows 1-%d of 42", n)) {
		t.Errorf("%d rows: %s", n, lines[1])
	}
	u.press("end")
	u.sees("of 42", "MPI_Barrier  took 290.0 ms")
	if !strings.Contains(u.screen(), fmt.Sprintf("rows %d-42 of 42", 43-len(u.m.frame.Cells))) {
		t.Error(u.screen())
	}
}
