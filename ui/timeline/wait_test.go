package timeline

import (
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mpitx/ui/screen"
)

// A run that is not there yet is waited for, and then shown. A run that cannot be opened ends the screen.
func TestWaiting(t *testing.T) {
	awaited := "run1: there is no such directory"
	f := Open(story(t), Options{At: -1})
	t.Cleanup(f.Close)
	u := &user{t, New(nil, utf8), f}
	u.m.find = func() (*Feed, string, error) {
		if awaited != "" {
			return nil, awaited, nil
		}
		return f, "", nil
	}
	u.send(tea.WindowSizeMsg{Width: 60, Height: 12})
	u.golden("waiting-60x12")
	u.press("n", "+", "N", "enter", "tab", "left", "j", "f", "w", "c", "backspace", "0", "/", "x", "enter", "F", "v", "z", ">", "I", "X", "esc", "space", "space", "?")
	u.sees("Keys in the rows")
	u.press("esc", "L", "esc", "r")
	u.sees("Waiting for the run. run1: there is no such directory.")
	awaited = "run1: no MPI call was traced yet"
	u.send(screen.TickMsg(u.m.Tick))
	u.sees("no MPI call was traced yet", "q quit")
	awaited = ""
	u.send(screen.TickMsg(u.m.Tick))
	u.sees("4 ranks", ">       0 ")

	u = &user{t, New(nil, utf8), f}
	u.m.find = func() (*Feed, string, error) { return nil, "", errors.New("no") }
	if _, cmd := u.m.Update(u.m.read(true)()); cmd == nil || u.m.Failed == nil {
		t.Error("goes on without a run")
	} else if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("does not quit")
	}
}
