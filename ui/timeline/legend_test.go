package timeline

import (
	"maps"
	"strings"
	"testing"

	"mpitx/recording/recordingtest"
)

// A function keeps its letter, whatever is shown, and no two functions have the same one.
func TestLettersStay(t *testing.T) {
	u := sit(t, story(t), Options{}, utf8, 100, 30)
	u.types(":at 45ms")
	u.press("v", "+", "+", "+", "+") // a send takes the most of this time, a wait of all
	u.sees(" S Send", " W Wait")
	seen := map[rune]int32{}
	for function, letter := range u.m.letters {
		if other, twice := seen[letter]; twice {
			t.Errorf("%s and %s are both %c", u.m.frame.Functions[function], u.m.frame.Functions[other], letter)
		}
		seen[letter] = function
	}
	before := maps.Clone(u.m.letters)
	for _, k := range []string{"0", "+", "]", "]", "f", "down", "f", "0", "z"} {
		u.press(k)
		for function, letter := range before {
			if u.m.letters[function] != letter {
				t.Errorf("after %s, %s is %c, not %c", k, u.m.frame.Functions[function], u.m.letters[function], letter)
			}
		}
	}
}

// The parts of the legend are of all rows, however many are visible.
func TestLegendOfAllRows(t *testing.T) {
	for _, height := range []int{12, 14, 40} {
		u := sit(t, story(t), Options{}, utf8, 200, height)
		u.sees("C collective 16.2 %  W wait, test 11.9 %  P probe 5.4 %  I init, finalize 5.3 %  S send 4.7 %  R receive 1.4 %")
	}
}

// The legend explains the cells that are visible.
func TestLegendOfCells(t *testing.T) {
	u := sit(t, story(t), Options{}, utf8, 200, 40)
	u.sees("· not in MPI  ? events lost  blank: not begun, or ended\n")
	u.types(":at 50ms")
	u.press("f")
	if s := u.screen(); strings.Contains(s, "not in MPI") != strings.Contains(s, "··") || strings.Contains(s, "events lost") || strings.Contains(s, "blank") {
		t.Errorf("the legend explains cells that are not there:\n%s", s)
	}
}

// What a part without a call is, depends on why there is none.
func TestLostPart(t *testing.T) {
	u := sit(t, story(t), Options{At: 186 * ms}, utf8, 100, 30)
	u.types(":rank 3")
	u.sees(" unknown: 42 events lost here  the recording had no room for them")
	if strings.Contains(u.screen(), "no MPI call here") {
		t.Errorf("a lost part is said to have no call:\n%s", u.screen())
	}
}

// MPI_Send and MPI_Recv have the letters of their names before the functions that are like them.
func TestFirstLetters(t *testing.T) {
	calls := func(x *recordingtest.Trace) {
		for i, name := range []string{"MPI_Issend", "MPI_Irecv", "MPI_Isend", "MPI_Recv", "MPI_Send"} {
			begin := uint64(100 * i)
			x.Add(recordingtest.TraceEvent{Function: name, Begin: begin * ms, End: (begin + 50 - 5*uint64(i)) * ms, Peer: none, Tag: none})
		}
	}
	u := sit(t, twoRanks(t, [2]func(*recordingtest.Trace){calls, calls}), Options{}, utf8, 100, 30)
	u.press("v")
	u.sees("S Send", "R Recv")
}
