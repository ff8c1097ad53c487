package top

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/ui/screen"
	"mpitx/ui/term"
)

var update = flag.Bool("update", false, "update the golden files")

// user is somebody at a screen.
type user struct {
	t testing.TB
	m *Model
}

// fixed is a feed whose run directory has the same name everywhere.
type fixed struct{ *Feed }

func (f fixed) Frame(a Ask) *Frame {
	frame := f.Feed.Frame(a)
	frame.Dir = "run1"
	return frame
}

func sit(t testing.TB, f *Feed, terminal term.Term, width, height int) *user {
	u := &user{t, New(func() (Source, string, error) { return fixed{f}, "", nil }, terminal, recording.Default)}
	u.do(u.m.read(true))
	u.send(tea.WindowSizeMsg{Width: width, Height: height})
	return u
}

// do runs commands until there are none; those that wait are left out.
func (u *user) do(cmd tea.Cmd) {
	for range 100 {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case frameMsg, screen.FoundMsg[Source]:
			_, cmd = u.m.Update(msg)
		case tea.BatchMsg:
			cmd = msg[0] // the others wait
		default:
			return
		}
	}
	u.t.Fatal("no end of commands")
}

func (u *user) send(msg tea.Msg) tea.Cmd {
	_, cmd := u.m.Update(msg)
	if _, ok := msg.(screen.TickMsg); !ok {
		if u.m.busy {
			u.do(cmd)
		}
	}
	return cmd
}

var named = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "down": tea.KeyDown, "up": tea.KeyUp, "end": tea.KeyEnd,
	"home": tea.KeyHome, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "backspace": tea.KeyBackspace, "space": tea.KeySpace, "left": tea.KeyLeft, "right": tea.KeyRight, "shift+tab": tea.KeyTab}

func (u *user) press(keys ...string) {
	u.t.Helper()
	for _, k := range keys {
		msg := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		if code, ok := named[k]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		u.send(msg)
		u.check()
	}
}

// check holds on every screen.
func (u *user) check() {
	u.t.Helper()
	lines := strings.Split(u.m.Render(), "\n")
	if len(lines) > u.m.Height {
		u.t.Errorf("%d lines on a screen of %d", len(lines), u.m.Height)
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > u.m.Width {
			u.t.Errorf("%d cells on a screen of %d: %q", ansi.StringWidth(l), u.m.Width, l)
		}
	}
}

func (u *user) screen() string {
	lines := strings.Split(ansi.Strip(u.m.Render()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func (u *user) golden(name string) {
	u.t.Helper()
	u.check()
	path := filepath.Join("testdata", name+".golden")
	got := u.screen()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			u.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		u.t.Fatal(err)
	}
	if got != string(want) {
		u.t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

func (u *user) sees(text string) {
	u.t.Helper()
	if s := u.screen(); !strings.Contains(s, text) {
		u.t.Errorf("no %q on\n%s", text, s)
	}
}

func (u *user) seesNot(text string) {
	u.t.Helper()
	if s := u.screen(); strings.Contains(s, text) {
		u.t.Errorf("%q on\n%s", text, s)
	}
}

// story is a run that ended: rank 2 is busier than others, rank 3 died early, and a name holds control characters.
func story(t testing.TB) *Feed {
	hostile := recordingtest.Column{Variable: "evil\x1b[2J\u202ename", Class: int32(catalog.ClassGeneric), Type: int32(catalog.TypeUint64), Count: 1, Size: 8}
	j := newJob(t, 4, append(columns[:len(columns):len(columns)], hostile)...)
	for i := range 120 {
		for r := range 4 {
			if r == 3 && i > 60 {
				continue
			}
			n := uint64(i * (r + 1))
			if r == 2 {
				n = uint64(i * i)
			}
			j.sample(r, time.Duration(i)*100*time.Millisecond, n, uint64((i+r)%7), uint64(i%3), uint64(i/40%2), uint64(r))
		}
	}
	for r := range 3 {
		j.streams[r].End(1)
	}
	j.flush()
	f := j.open()
	f.All()
	return f
}

var unicodeTerm = term.Term{Terminal: export.Terminal{UTF8: true, IsTTY: true}}

func TestSmallScreens(t *testing.T) {
	for _, size := range [][2]int{{40, 8}, {20, 5}} {
		u := sit(t, story(t), unicodeTerm, size[0], size[1])
		u.golden(fmt.Sprintf("story-%dx%d", size[0], size[1]))
	}
}

func TestSorting(t *testing.T) {
	u := sit(t, story(t), unicodeTerm, 120, 30)
	order := func() string {
		var names []string
		for _, e := range u.m.entries {
			names = append(names, e.cells[0].text[:4])
		}
		return strings.Join(names, " ")
	}
	if order() != "sent queu phas evil" {
		t.Errorf("as declared: %s", order())
	}
	u.press(">")
	if order() != "evil phas queu sent" {
		t.Errorf("by name: %s", order())
	}
	u.press("I")
	if order() != "sent queu phas evil" {
		t.Errorf("by name, the other way round: %s", order())
	}
	x := strings.Index(strings.Split(u.screen(), "\n")[headerLines], "SUM") - 2
	u.send(tea.MouseClickMsg{X: x, Y: headerLines, Button: tea.MouseLeft})
	if order() != "sent queu evil phas" {
		t.Errorf("by sum, with a click: %s", order())
	}
	u.send(tea.MouseClickMsg{X: x, Y: headerLines, Button: tea.MouseLeft})
	if order() != "evil queu sent phas" {
		t.Errorf("by sum, the least first, and what has none last: %s", order())
	}
	u.send(tea.MouseClickMsg{X: 3, Y: headerLines + 2, Button: tea.MouseLeft})
	if u.m.selected.Variable != "queue" {
		t.Errorf("a click selects %q", u.m.selected.Variable)
	}
	u.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	u.sees(">phase")
}

func TestFilterAndPause(t *testing.T) {
	u := sit(t, story(t), unicodeTerm, 100, 30)
	u.press("/", "W", "O", "r", "l")
	u.sees("filter: WOrl")
	u.sees("queue")
	u.seesNot("sent ")
	u.press("x", "x")
	u.sees("The filter hides everything")
	u.press("backspace", "backspace", "enter")
	u.sees(">queue")
	u.press("esc")
	u.sees("sent ")
	u.press("space")
	u.sees("! paused")
	tick := u.m.Tick
	if cmd := u.send(screen.TickMsg(tick)); cmd != nil {
		t.Error("a paused screen reads")
	}
	u.press("space")
	u.seesNot("paused")
	if u.m.Tick == tick {
		t.Error("after a pause nothing is read")
	}
	if cmd := u.send(screen.TickMsg(tick)); cmd != nil {
		t.Error("an old tick counts: there would be two clocks")
	}
}

// What is wrong with a run is on the screen, in words.
func TestTrouble(t *testing.T) {
	u := sit(t, story(t), unicodeTerm, 100, 30)
	u.sees("died: rank 3")
	u.seesNot("\u202e")
	u.sees(`evil\x1b[2J`)
	u.press("enter", "end")
	u.sees(">     3")
	u.press("h")
	u.sees(">sent")
}

// Any keys in any order, at any size.
func TestAnyKeys(t *testing.T) {
	f := story(t)
	keys := []string{"j", "k", "g", "G", "l", "h", "R", "enter", "esc", "v", "m", "z", "/", "a", "space", "?", "pgdown", "down", "backspace", "tab", "end",
		"+", "-", "[", "]", "left", "right", "o", "F", "I", "<", ">", "L", "r"}
	seed := uint32(1)
	for _, size := range [][2]int{{80, 24}, {40, 8}, {200, 60}, {39, 7}, {1, 1}, {300, 8}} {
		u := sit(t, f, unicodeTerm, size[0], size[1])
		for range 200 {
			seed = seed*1664525 + 1013904223
			u.press(keys[int(seed>>16)%len(keys)])
			u.send(tea.MouseClickMsg{X: int(seed>>8) % size[0], Y: int(seed>>12) % size[1], Button: tea.MouseLeft})
			u.check()
		}
	}
}

func TestEmptyRun(t *testing.T) {
	j := newJob(t, 2)
	f := j.open()
	f.All()
	u := sit(t, f, unicodeTerm, 80, 24)
	u.sees("Nothing was sampled in this run.")
	u.press("enter", "m", "m", "z", "j", "G", "l")
}

func BenchmarkScreen(b *testing.B) {
	for _, pane := range []string{"map", "chart"} {
		b.Run(pane, func(b *testing.B) {
			u := sit(b, working(b, 4), term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}, 120, 36)
			u.types(pane)
			for b.Loop() {
				u.m.Render()
			}
		})
	}
	b.Run("frame", func(b *testing.B) {
		f := working(b, 4)
		ask := Ask{Trend: mostTrend, History: 120, Row: &f.keys[0]}
		for b.Loop() {
			f.Frame(ask)
		}
	})
}

// Help scrolls with the keys that its last line shows; any other key closes it and does nothing else.
func TestHelp(t *testing.T) {
	u := sit(t, story(t), unicodeTerm, 80, 10)
	u.press("?")
	u.sees("Esc back  Space more")
	u.press("space")
	u.seesNot("Keys in the table")
	u.press("G")
	u.sees("the chart.")
	u.seesNot("Space more")
	u.press("g", "j", "k")
	u.sees("Keys in the table")
	u.send(tea.WindowSizeMsg{Width: 41, Height: 180}) // the lines are wrapped again
	u.sees("5 s or more")
	u.seesNot("Space more")
	u.press(":")
	u.seesNot("Keys in the table")
	if u.m.Mode != screen.Keys || u.m.Paused {
		t.Error("a key did something under the help")
	}
}

// The name of a variable has the first claim on the width: other columns are dropped before it is cut.
func TestNarrowNames(t *testing.T) {
	long := []recordingtest.Column{}
	for _, n := range []string{"mpitx:collective_bytes_sent", "mpitx:collective_bytes_received", "mpitx:calls"} {
		long = append(long, recordingtest.Column{Variable: n, Class: int32(catalog.ClassCounter), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
	}
	j := newJob(t, 1, long...)
	j.sample(0, time.Second, 1, 2, 3)
	j.streams[0].End(1)
	j.flush()
	f := j.open()
	f.All()
	u := sit(t, f, unicodeTerm, 41, 12)
	u.sees(" mpitx:collective_bytes_received        0")
	u.seesNot("MAX")
	u.send(tea.WindowSizeMsg{Width: 40, Height: 12})
	u.sees(">mpitx:collective_bytes_sent")
	u.sees(" mpitx:collective_b…es_received        0")
	u.send(tea.WindowSizeMsg{Width: 132, Height: 30})
	u.sees(" mpitx:collective_bytes_received ")
	u.sees("AT TREND")
}
