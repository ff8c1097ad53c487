package screen

import (
	"fmt"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mpitx/export"
	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/program"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// A screen with a key, a command and a finding.
func newScreen() (s *Screen, press func(names ...string), pressed *[]string) {
	pressed = &[]string{}
	s = &Screen{Name: "demo", LeastWidth: 20, LeastHeight: 5, Width: 60, Height: 12, Terminal: term.Term{Terminal: export.Terminal{UTF8: true}}, About: "About it.",
		Hints: func() []keys.Key { return []keys.Key{keys.Of(keys.Quit)} },
		Findings: func() (all Findings) {
			all.Add("one died", "rank 1 died")
			all.Add("", "and more")
			return all
		}}
	section := Section{Title: "Keys", Bindings: []Binding{
		On(keys.Of(keys.Down), Quiet(func() { *pressed = append(*pressed, "down") })), On(keys.Of(keys.Command), s.Begin("")), On(keys.Of(keys.Help), s.ShowHelp), On(keys.Of(keys.Messages), s.ShowMessages)}}
	s.Commands.Add("at", "TIME", "go there", func(args string) tea.Cmd { *pressed = append(*pressed, "at "+args); return nil })
	s.Help = func() []keys.Section { return []keys.Section{section.Shown(true), s.Commands.Section(true)} }
	return s, func(names ...string) {
		for _, n := range names {
			k := tea.KeyPressMsg{Code: []rune(n)[0], Text: n}
			if code, ok := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown}[n]; ok {
				k = tea.KeyPressMsg{Code: code}
			}
			s.Key(k, section)
		}
	}, pressed
}

func (s *Screen) text() string {
	return ansi.Strip(s.Render(s.Title("run1", "4 ranks"), func(lines []string) []string {
		return s.Fill(append(lines, strings.Join(s.Warnings(), "  ")))
	}))
}

func TestScreen(t *testing.T) {
	s, press, pressed := newScreen()
	sees := func(words ...string) {
		t.Helper()
		for _, w := range words {
			if text := s.text(); !strings.Contains(text, w) || strings.Count(text, "\n") != s.Height-1 {
				t.Errorf("no %q:\n%s", w, text)
			}
		}
	}
	sees(" mpitx demo  run1  4 ranks", "! one died", "q quit")
	press("j", ":", "a", "tab", " ", "5", "enter")
	if got := strings.Join(*pressed, ", "); got != "down, at 5" {
		t.Errorf("pressed: %s", got)
	}
	press(":", "x", "enter")
	sees(`no command "x"`)
	press("?")
	sees(":at TIME", "j ↓ ^N")
	press("esc", "L")
	sees("rank 1 died", "and more", `no command "x"`)
	press("esc")
	if s.Common(prompt.Saved{Path: "a.csv", What: "2 rows"}); s.Note != "exported 2 rows to a.csv" {
		t.Error(s.Note)
	}
	if s.Common(program.CannotStop{}); !strings.Contains(s.Note, "cannot suspend") {
		t.Error(s.Note)
	}
	if s.Say("again"); len(s.Notes) != 4 {
		t.Error(s.Notes)
	}
	for i := range 2 * mostNotes {
		s.Say("note %d", i/2)
	}
	if n := len(s.Notes); n != mostNotes || s.Notes[n-1] == s.Notes[n-2] {
		t.Errorf("%d notes: %q", n, s.Notes)
	}
	if s.Paused = true; !strings.Contains(s.text(), "! paused  ! one died") {
		t.Error(s.text())
	}
	if s.Width = 10; !strings.HasPrefix(s.text(), "mpitx demo\nneeds") {
		t.Error(s.text())
	}
}

// A screen without its run says what it waits for, looks again, and shows nothing that acts on the terminal.
func TestFound(t *testing.T) {
	s, _, _ := newScreen()
	waiting := func() string { return s.Waiting("Reading it", "It comes.") }
	if got := waiting(); got != "Reading it…" {
		t.Error(got)
	}
	find := Find[int](func() (int, string, error) { return 0, "run\x1b[2J: none", nil })
	found := find.Look().(FoundMsg[int])
	if cmd := s.Found(found.Awaited, found.Err); cmd == nil || waiting() != `Waiting for the run. run\x1b[2J: none.`+"\n\nIt comes." {
		t.Errorf("%q", waiting())
	}
	if s.Found("", nil) != nil || waiting() != "Reading it…" {
		t.Errorf("%q", waiting())
	}
	if cmd := s.Found("", io.EOF); cmd == nil || s.Failed != io.EOF {
		t.Error("goes on without a run")
	} else if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("does not quit")
	}
}

// The command line remembers commands, and completes their names and arguments. If several words are possible, it offers them.
func TestCommandLine(t *testing.T) {
	s, press, pressed := newScreen()
	s.Commands.AddWith("go", "WHERE", "go there", func(args string) tea.Cmd { *pressed = append(*pressed, args); return nil }, false,
		func(string) []string { return []string{"here", "there", "theirs"} })
	s.Commands.AddSaving("save", "FILE", "", "", func(string, string) tea.Cmd { return nil })
	line := func(want string, keys ...string) {
		t.Helper()
		press(keys...)
		if got := s.Line.String(); got != want {
			t.Errorf("after %q: %q, not %q", keys, got, want)
		}
	}
	line("save ", ":", "s", "tab")
	press("esc")
	line("go the", ":", "g", "tab", "t", "tab")
	if s.Offers != nil {
		t.Error(s.Offers)
	}
	line("go the", "tab")
	if text := s.text(); !strings.Contains(text, "\n there  theirs") || strings.Count(text, "\n") != s.Height-1 {
		t.Errorf("no offers:\n%s", text)
	}
	line("go there ", "r", "tab")
	press("enter", ":", "x", "enter")
	line("go there", ":", "up", "up")
	line("", "down", "down")
	press("up", "up", "enter")
	if got := strings.Join(*pressed, ", "); got != "there, there" || s.Mode != Keys {
		t.Error(got)
	}
	if all := s.Commands.Names(); s.Complete != nil || len(all) != 4 {
		t.Error(all)
	}
	s.Complete = func() []string { return nil }
	line("g", ":", "g", "tab")
}

// The wheel scrolls a text that covers the screen; clicks on it do nothing.
func TestMouse(t *testing.T) {
	s, press, _ := newScreen()
	var all []string
	s.Wheel = func(x, y, by int) tea.Cmd { all = append(all, fmt.Sprint("wheel ", x, y, by)); return nil }
	s.Click = func(x, y int) tea.Cmd { all = append(all, fmt.Sprint("click ", x, y)); return nil }
	s.Height = 6
	mouse := func() {
		s.Common(tea.MouseWheelMsg{X: 1, Y: 2, Button: tea.MouseWheelUp})
		s.Common(tea.MouseWheelMsg{X: 1, Y: 2, Button: tea.MouseWheelLeft})
		s.Common(tea.MouseClickMsg{X: 3, Y: 4, Button: tea.MouseLeft})
		s.Common(tea.MouseClickMsg{X: 3, Y: 4, Button: tea.MouseRight})
		s.Common(tea.MouseWheelMsg{X: 1, Y: 2, Button: tea.MouseWheelDown})
	}
	press("?")
	s.text()
	if mouse(); all != nil || s.Pager.YOffset() != 3 {
		t.Error(all, s.Pager.YOffset())
	}
	press("esc")
	if mouse(); strings.Join(all, ", ") != "wheel 1 2 -1, click 3 4, wheel 1 2 1" {
		t.Errorf("%q", all)
	}
}
