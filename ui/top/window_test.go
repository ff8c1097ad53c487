package top

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
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

// working is a run that goes on, as mpitx record makes it: rank 2 sends more from 20 s on, and the queues are levels.
func working(t testing.TB, ranks int) *Feed {
	counter := func(name string, class catalog.Class, unit string) recordingtest.Column {
		return recordingtest.Column{Variable: name, Class: int32(class), Type: int32(catalog.TypeUint64), Count: 1, Size: 8, Description: unit}
	}
	queue := counter("unexpected_recvq_length", catalog.ClassLevel, "")
	queue.Object, queue.ObjectName = 1, "MPI_COMM_WORLD"
	phase := counter("phase", catalog.ClassState, "")
	phase.EnumName, phase.Items = "phases", []recordingtest.Item{{Value: 0, Name: "idle"}, {Value: 1, Name: "busy"}}
	j := newJob(t, ranks, counter("mpitx:calls", catalog.ClassCounter, ""), counter("mpitx:messages_sent", catalog.ClassCounter, ""),
		counter("mpitx:collective_bytes_received", catalog.ClassAggregate, ""), queue, phase)
	sent := make([]uint64, ranks)
	for i := range 400 {
		for r := range ranks {
			if sent[r] += 12; r == 2 && i > 200 {
				sent[r] += uint64(20 + i/40%3*10)
			}
			n := sent[r]
			j.sample(r, time.Duration(i)*100*time.Millisecond, 3*n, n, 64*n, uint64((i/10+r)%7), uint64(i/100%2))
		}
	}
	j.flush()
	for r := range ranks {
		j.live(r, 0)
	}
	f := j.open()
	now := time.Now()
	f.clock = func() time.Time { return now }
	f.All()
	return f
}

var widths = [][2]int{{40, 20}, {60, 24}, {80, 24}, {100, 30}, {120, 36}, {160, 45}, {200, 60}}

// messages looks at the messages that ranks send.
func messages(t testing.TB, ranks, width, height int) *user {
	u := sit(t, working(t, ranks), unicodeTerm, width, height)
	u.types("show mpitx:messages_sent")
	return u
}

// lines are those of the screen.
func (u *user) lines() []string { return strings.Split(strings.TrimRight(u.screen(), "\n"), "\n") }

// The screens at all widths.
func TestFrames(t *testing.T) {
	f := working(t, 4)
	for _, size := range widths {
		u := sit(t, f, unicodeTerm, size[0], size[1])
		frame := func(name string) { u.golden(fmt.Sprintf("%s-%dx%d", name, size[0], size[1])) }
		u.press("j")
		frame("variables")
		u.press("enter")
		frame("ranks")
		u.press("m", "j", "j", "tab", "left", "left", "left")
		frame("chart")
		u.press("?")
		frame("help")
	}
}

// The screens in each theme, and on terminals with fewer colours or characters.
func TestThemes(t *testing.T) {
	f := working(t, 4)
	on := func(theme term.Theme, profile colorprofile.Profile, utf8 bool) term.Term {
		return term.Term{Terminal: export.Terminal{UTF8: utf8, IsTTY: true}, Theme: theme, Profile: profile}
	}
	for name, terminal := range map[string]term.Term{"dark": on(term.Dark, colorprofile.TrueColor, true), "light": on(term.Light, colorprofile.TrueColor, true),
		"high-contrast": on(term.HighContrast, colorprofile.TrueColor, true), "16": on(term.Dark, colorprofile.ANSI, true), "none": on(term.Dark, colorprofile.ASCII, true),
		"ascii": on(term.Dark, colorprofile.ASCII, false)} {
		u := sit(t, f, terminal, 100, 30)
		u.press("j")
		u.goldenStyled("variables-100x30-" + name)
		u.press("enter", "m", "j", "j", "tab", "left", "left", "left")
		u.goldenStyled("chart-100x30-" + name)
		for _, c := range u.screen() {
			if c > 126 && !terminal.UTF8 {
				t.Fatalf("%s: %q", name, c)
			}
		}
	}
}

// The heat map and the chart show rates of what only grows, unless the user chose values; levels and states stay values.
func TestRatesOverTime(t *testing.T) {
	u := messages(t, 4, 120, 36)
	u.sees("── mpitx:messages_sent: per second, each rank over time")
	u.sees(" 120/s on rank ")
	u.sees(" delta ") // the table
	u.types("values raw")
	u.sees("── mpitx:messages_sent: raw, each rank over time")
	u.types("values class")
	u.types("show unexpected_recvq_length")
	u.sees("── unexpected_recvq_length on MPI_COMM_WORLD: raw, each rank over time")
	u.types("show phase")
	u.sees("── phase: raw, each rank")
	u.sees("rank 0: busy")
	u.sees("idle ")
	for r := range u.m.frame.Detail.History {
		for _, x := range u.m.frame.Detail.History[r] {
			if x != 0 && x != 1 && x == x {
				t.Fatalf("a state is %v", x)
			}
		}
	}
}

// at is the time, the rank and the value at the cursor.
func (u *user) at() string {
	u.t.Helper()
	lines := u.lines()
	line := lines[len(lines)-2]
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "s  rank ") }); i >= 0 {
		line = lines[i]
	}
	line, _, _ = strings.Cut(line, "   min")
	return line
}

// The cursor shows time, rank and value; the window stays where it is, gets shorter and longer around the cursor, and follows again.
func TestWindow(t *testing.T) {
	u := messages(t, 4, 100, 40)
	u.press("m")
	u.sees("now  rank 0: 120/s")
	u.press("tab", "j", "j")
	u.sees("now  rank 2: ")
	u.press("left")
	if got := u.at(); got != "39s  rank 2: 320/s" {
		t.Errorf("%q", got)
	}
	u.press("left", "left")
	if got := u.at(); got != "38s  rank 2: 320/s" {
		t.Errorf("%q", got)
	}
	u.sees("↑")
	before := u.m.window
	u.press("+")
	if w := u.m.window; w.span >= before.span || w.at != before.at || w.end < w.at || w.end-w.span >= w.at {
		t.Errorf("%+v, shorter %+v", before, w)
	}
	u.press("-", "k")
	if got := u.at(); got != "38s  rank 1: 120/s" || u.m.window.span != before.span {
		t.Errorf("%q %+v", got, u.m.window)
	}
	u.press("+", "+", "[")
	if w := u.m.window; w.end >= before.end || w.at > w.end || w.at <= w.end-w.span {
		t.Errorf("earlier: %+v", w)
	}
	for range 300 {
		u.press("left")
	}
	if got := u.at(); got != "500ms  rank 1: 120/s" {
		t.Errorf("at the beginning: %q", got)
	}
	for range 20 {
		u.press("]")
	}
	if u.m.window.still {
		t.Errorf("at the newest values it does not follow: %+v", u.m.window)
	}
	u.press("left", "esc")
	if u.m.window != (window{}) {
		t.Errorf("%+v", u.m.window)
	}
	u.sees("now  rank 1")
	u.press("esc", "j")
	u.sees(">mpitx:collective_bytes_received")
}

// A click in the map sets the cursor to the time and the rank there.
func TestClickInMap(t *testing.T) {
	u := messages(t, 4, 100, 40)
	lines := u.lines()
	y := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "    2 ") })
	u.send(tea.MouseClickMsg{X: 90, Y: y, Button: tea.MouseLeft})
	d, drawn, _ := u.m.drawn()
	if got, want := u.at(), "rank 2: "; !strings.Contains(got, want) || drawn.Column(drawn.Steps()-1-d.bins(u.m.window.at, u.m.window.end)) != 90-drawn.Margin {
		t.Errorf("%q, %+v", got, u.m.window)
	}
	u.send(tea.MouseClickMsg{X: 5, Y: headerLines + 1, Button: tea.MouseLeft})
	if u.m.selected.Variable != "mpitx:calls" || u.m.focused() {
		t.Errorf("a click in the table selects %q", u.m.selected.Variable)
	}
}

// Many ranks: the chart shows those around the cursor, the map shows all.
func TestManyRanks(t *testing.T) {
	u := messages(t, 40, 100, 30)
	u.press("tab", "G")
	u.sees(">   39 ")
	u.sees("36-38 ")
	u.press("m")
	u.sees(">  39│")
	u.sees("-39 of 40")
	u.press("pgup", "k")
	u.seesNot(">  39│")
	u.press("g")
	u.sees(">   0│")
}

// A logarithmic scale has real numbers.
func TestLogScale(t *testing.T) {
	u := messages(t, 4, 100, 40)
	u.press("m", "o")
	u.sees("log scale")
	u.sees("120/s│")
	u.seesNot("  0/s│")
	u.seesNot("log10")
}

// The footer shows the keys that are the most useful in the part of the screen that has the focus, and fits.
func TestFooter(t *testing.T) {
	last := func(u *user) string {
		lines := u.lines()
		return lines[len(lines)-1]
	}
	f := working(t, 4)
	for width, want := range map[int]string{40: "? help  q quit  Enter ranks  m chart", 80: "? help  q quit  Enter ranks  m chart  v values  / filter  Space pause  > sort"} {
		if got := last(sit(t, f, unicodeTerm, width, 24)); got != want {
			t.Errorf("%d: %q, not %q", width, got, want)
		}
	}
	u := sit(t, f, unicodeTerm, 100, 24)
	u.press("tab")
	if got := last(u); got != "? help  q quit  ← earlier  → later  + shorter  - longer  Esc back  m chart  o log scale  Space pause" {
		t.Error(got)
	}
	u.press("tab", "enter", "/", "x", "enter")
	if got := last(u); !strings.HasPrefix(got, "? help  q back  F clear filter  Enter variables") {
		t.Error(got)
	}
}

// A run that is not there yet is waited for; R waits again. A run that cannot be opened ends the screen.
func TestWaiting(t *testing.T) {
	awaited, failed := "run1: there is no such directory", error(nil)
	f := story(t)
	m := New(func() (Source, string, error) {
		if awaited != "" || failed != nil {
			return nil, awaited, failed
		}
		return fixed{f}, "", nil
	}, unicodeTerm, recording.Default)
	u := &user{t, m}
	u.send(tea.WindowSizeMsg{Width: 60, Height: 12})
	tick := func() {
		t.Helper()
		cmd := m.read(true)
		if cmd == nil {
			t.Fatal("nothing is read")
		}
		u.do(cmd)
	}
	tick()
	u.golden("waiting-60x12")
	if m.wait() == nil {
		t.Fatal("does not look again")
	}
	u.press("?")
	u.sees("Keys in the table")
	u.press("esc", "m", "tab", "left", "+", "[", "X", "esc", "L", "esc", "enter", "r")
	u.sees("Waiting for the run. run1")
	awaited = "run1: no rank has recorded anything"
	tick()
	u.sees("no rank has recorded anything")
	awaited = ""
	tick()
	u.sees("4 ranks: 3 ended")
	awaited = "run1: there is no such directory"
	u.press("R")
	u.sees("Waiting for the run. run1")
	failed = errors.New("no")
	if _, cmd := m.Update(m.read(true)()); cmd == nil || m.Failed == nil {
		t.Error("goes on without a run")
	} else if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("does not quit")
	}
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}); cmd == nil {
		t.Error("^C does not quit")
	}
}

// q in a zoomed chart and in the ranks of a variable goes back, and quits elsewhere.
func TestQuit(t *testing.T) {
	u := sit(t, story(t), unicodeTerm, 100, 30)
	u.press("enter", "z")
	u.sees("q back")
	if cmd := u.send(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd != nil || u.m.zoom || u.m.view != viewRanks {
		t.Error("q does not leave the zoomed chart")
	}
	if cmd := u.send(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd != nil || u.m.view != viewVariables {
		t.Error("q does not go back")
	}
	if cmd := u.send(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd == nil {
		t.Error("q does not quit")
	}
}

// The first line names the run on every screen; the selection covers its whole line.
func TestTitle(t *testing.T) {
	styled := term.Term{Terminal: export.Terminal{UTF8: true, IsTTY: true}, Theme: term.Dark, Profile: colorprofile.TrueColor}
	u := sit(t, story(t), styled, 100, 30)
	for _, key := range []string{"", "?", "esc", "L"} {
		if key != "" {
			u.press(key)
		}
		first, _, _ := strings.Cut(u.m.Render(), "\n")
		if text := ansi.Strip(first); !strings.HasPrefix(text, " mpitx top  ") || !strings.Contains(text, "run1  ") || len(text) != 100 || !strings.HasPrefix(first, "\x1b[1;7m") {
			t.Errorf("%q: %q", key, first)
		}
	}
	u.press("esc")
	for _, line := range strings.Split(u.m.Render(), "\n") {
		if text := ansi.Strip(line); strings.HasPrefix(text, ">sent") && (ansi.StringWidth(text) != 100 || strings.Count(line, "\x1b") != 2) {
			t.Errorf("%q", line)
		}
	}
	u.sees(">sent")
}

// A terminal that knows no more gets ASCII, and no mouse, title or questions.
func TestPlainTerminal(t *testing.T) {
	u := sit(t, story(t), term.Term{Plain: true, Profile: colorprofile.ANSI}, 100, 30)
	if v := u.m.View(); v.MouseMode != tea.MouseModeNone || v.WindowTitle != "" {
		t.Errorf("%+v", v)
	}
	for _, keys := range [][]string{{"m"}, {"tab", "left"}, {"enter"}, {"?"}, {"esc"}, {"L"}} {
		u.press(keys...)
		for _, c := range u.screen() {
			if c > 126 {
				t.Fatalf("%q after %s", c, keys)
			}
		}
	}
	if u.m.Screen.Init() != nil {
		t.Error("asks the terminal")
	}
}

// The screen is drawn again after whatever changes it, and not for a tick.
func TestDrawnOnce(t *testing.T) {
	u := sit(t, working(t, 4), unicodeTerm, 100, 30)
	shown := func() string { return u.m.View().Content }
	first := shown()
	u.m.frame.Size = 99
	u.m.Update(screen.TickMsg(-1))
	if shown() != first {
		t.Error("drawn for a tick")
	}
	u.press("j")
	if second := shown(); second == first || second != u.m.Render() {
		t.Error("not drawn for a key")
	}
}

// goldenStyled is golden with colours and attributes.
func (u *user) goldenStyled(name string) {
	u.t.Helper()
	u.check()
	path := "testdata/" + name + ".golden"
	got := u.m.Render() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			u.t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || got != string(want) {
		u.t.Errorf("%s: %v: got\n%s\n%s", path, err, got, strconv.Quote(got))
	}
}

// The map and the chart take the lines that the table leaves, up to a line for each rank.
func TestWholeScreen(t *testing.T) {
	f := working(t, 4)
	for height := 24; height <= 60; height++ {
		u := sit(t, f, unicodeTerm, 200, height)
		for _, pane := range []string{"map", "chart"} {
			lines := u.lines()
			blank := 0
			for _, l := range lines[:len(lines)-1] {
				if strings.TrimSpace(l) == "" {
					blank++
				}
			}
			if blank >= 4 {
				t.Errorf("%d lines: %d are blank with the %s\n%s", height, blank, pane, u.screen())
			}
			u.press("m")
		}
	}
}
