package screen

import (
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
	s.Help = func() []keys.Section { return []keys.Section{section.Shown(), s.Commands.Section(true)} }
	return s, func(names ...string) {
		for _, n := range names {
			k := tea.KeyPressMsg{Code: []rune(n)[0], Text: n}
			if code, ok := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab}[n]; ok {
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
