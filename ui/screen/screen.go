// Package screen is what full screens share: keys and commands that everyone has, the command line, texts over everything else such as
// help, the outcomes of keys, the wait for a run, and the frame around what a screen draws.
package screen

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mpitx/ui/config"
	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/pager"
	"mpitx/ui/screen/program"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// Refresh is the time between two looks at a run that is being written, or is not there yet.
const Refresh = 500 * time.Millisecond

const mostNotes = 200

// Mode is where typed characters go.
type Mode uint8

// The modes. Words are typed for a filter or a search.
const (
	Keys Mode = iota
	Words
	Command
)

// Binding is a key and what it does.
type Binding struct {
	keys.Key
	Do   func() tea.Cmd
	Live bool // needs what a screen may lack
}

// On is a line of a key map.
func On(key keys.Key, do func() tea.Cmd) Binding { return Binding{key, do, false} }

// Live is a line of a key map with a key that needs what the screen may lack.
func Live(key keys.Key, do func() tea.Cmd) Binding { return Binding{key, do, true} }

// Section is the part of a key map for one part of the screen.
type Section struct {
	Title    string
	Bindings []Binding
}

// Shown is the section as the help and the manual page show it, with keys that need more only if live.
func (s *Section) Shown(live bool) keys.Section {
	out := keys.Section{Title: s.Title}
	for _, b := range s.Bindings {
		if live || !b.Live {
			out.Keys = append(out.Keys, b.Key)
		}
	}
	return out
}

// MessagesHelp says what the key and the command for messages do.
const MessagesHelp = "show all messages and what is wrong with the run, in full"

// ThemeHelp names the themes.
var ThemeHelp = "choose the colours: " + strings.Join(term.Themes, ", ")

// Quit is the action that ends the program.
func Quit() tea.Cmd { return tea.Quit }

// Suspend is the action that gives the terminal to the shell.
func Suspend() tea.Cmd { return tea.Suspend }

// Quiet is an action without a command.
func Quiet(do func()) func() tea.Cmd { return func() tea.Cmd { do(); return nil } }

// Findings are what is wrong with a run, the worst first: in words for the status line, and in full. Either may be missing.
type Findings [][2]string

// Add adds a finding.
func (f *Findings) Add(short, long string) { *f = append(*f, [2]string{short, long}) }

// Long are the findings in full.
func (f Findings) Long() (all []string) {
	for _, x := range f {
		if x[1] != "" {
			all = append(all, x[1])
		}
	}
	return all
}

// Screen is a full screen. Models embed it.
type Screen struct {
	Name          string // of its command: "top"
	LeastWidth    int
	LeastHeight   int
	Commands      prompt.Commands
	Complete      func() []string // the commands that Tab completes; nil: all
	Findings      func() Findings // what is wrong with the run
	Help          func() []keys.Section
	About         string                     // a paragraph below the help
	Hints         func() []keys.Key          // of the footer, the most important first
	Wheel         func(x, y, by int) tea.Cmd // by notches, downwards
	Click         func(x, y int) tea.Cmd
	Terminal      term.Term
	Config        *config.File // the user's configuration; nil: nothing is kept
	turn          int          // of Config.Save
	Width, Height int
	Text          func() []string // shown instead of everything else: help, messages; nil: nothing is
	Pager         pager.Pager     // of Text
	Mode          Mode
	Line          prompt.Line    // being typed
	History       prompt.History // of the command line
	Offers        []string       // what Tab could complete the command line to
	Note          string         // the outcome of the last key or command; "": none
	Notes         []string       // the last outcomes; one that comes again at once is there once
	Paused        bool
	Rendered      string // the screen; "": it has changed
	Tick          int    // the current one; older ones are ignored
	Failed        error  // why the screen ended, if its run cannot be opened
	awaited       string // what is missing of the run, while it is not there yet
}

type (
	// TickMsg is a tick.
	TickMsg int

	// KeptMsg says whether the configuration was kept.
	KeptMsg struct{ Err error }
)

// Init asks for the background's colour. Without an answer it is dark, or what COLORFGBG says.
func (s *Screen) Init() tea.Cmd {
	if s.Terminal.Profile <= colorprofile.ASCII || s.Terminal.Plain {
		return nil
	}
	return tea.RequestBackgroundColor
}

// Common handles the messages that mean the same on all screens.
func (s *Screen) Common(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		by := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button]
		switch {
		case by == 0:
		case s.Text != nil:
			s.Pager.SetYOffset(s.Pager.YOffset() + 3*by)
		default:
			return s.Wheel(msg.X, msg.Y, by)
		}
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft && s.Text == nil {
			return s.Click(msg.X, msg.Y)
		}
	case tea.PasteMsg:
		if s.Mode != Keys {
			s.Line.Insert(msg.Content)
			s.Offers = nil
		}
	case tea.BackgroundColorMsg:
		s.Terminal.Light = !msg.IsDark()
	case KeptMsg:
		if msg.Err != nil {
			s.Say("theme %s, for this session only: %v", s.Terminal.Theme, msg.Err)
		}
	case prompt.Saved:
		if msg.Err != nil {
			s.Say("export %s: %v", msg.Path, msg.Err)
		} else {
			s.Say("exported %s to %s", msg.What, msg.Path)
		}
	case program.CannotStop:
		s.Say("cannot suspend: no job-control shell started mpitx")
	}
	return nil
}

// Wait is a tick after some time.
func (s *Screen) Wait(d time.Duration) tea.Cmd {
	s.Tick++
	n := s.Tick
	return tea.Tick(d, func(time.Time) tea.Msg { return TickMsg(n) })
}

// Say shows the outcome of a key or a command, and keeps it for the list of messages.
func (s *Screen) Say(format string, args ...any) {
	s.Note = fmt.Sprintf(format, args...)
	if n := len(s.Notes); n == 0 || s.Notes[n-1] != s.Note {
		s.Notes = append(s.Notes[max(n-mostNotes+1, 0):], s.Note)
	}
}

// Key handles a key, unless words are typed.
func (s *Screen) Key(msg tea.KeyPressMsg, sections ...Section) tea.Cmd {
	name := msg.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case s.Mode == Command:
		cmd, err := s.KeyCommand(name, msg.Text)
		if err != nil {
			s.Say("%v", err)
		}
		return cmd
	case s.Text != nil && name != "ctrl+z":
		if !s.Pager.Key(name) {
			s.Text = nil
		}
		return nil
	}
	for _, section := range sections {
		for _, b := range section.Bindings {
			if b.Has(name) {
				return b.Do()
			}
		}
	}
	return nil
}

// Theme chooses the colours, for later sessions, too.
func (s *Screen) Theme(name string) tea.Cmd {
	theme, err := term.ParseTheme(name)
	switch {
	case err != nil:
		s.Say("theme: %v", err)
		return nil
	case name == "":
		s.Say("theme %s; the themes are %s", s.Terminal.Theme, strings.Join(term.Themes, ", "))
		return nil
	}
	s.Terminal.Theme = theme
	s.Say("theme %s", name)
	if s.Config == nil {
		return nil
	}
	now := s.Config.Clone()
	now.Theme = name
	return s.Keep(now)
}

// Keep keeps the user's configuration for later sessions, if there is a file for it.
func (s *Screen) Keep(now config.Config) tea.Cmd {
	if s.Config == nil {
		return nil
	}
	s.turn++
	turn := s.turn
	return func() tea.Msg { return KeptMsg{s.Config.Save(now, turn)} }
}

// Show shows a text over everything else.
func (s *Screen) Show(lines func() []string) tea.Cmd {
	s.Text, s.Pager = lines, pager.New()
	return nil
}

// ShowHelp shows all keys and commands.
func (s *Screen) ShowHelp() tea.Cmd { return s.Show(s.HelpLines) }

// HelpLines are all keys and commands, and what is said below them.
func (s *Screen) HelpLines() (lines []string) {
	for _, section := range s.Help() {
		lines = append(append(lines, section.Lines(s.Terminal, s.Width)...), "")
	}
	return append(lines, pager.Wrap(s.Terminal, s.Width, s.About)...)
}

// ShowMessages shows everything that is wrong with the run, and the outcomes of the last keys and commands.
func (s *Screen) ShowMessages() tea.Cmd {
	return s.Show(func() []string {
		wrong := pager.Section(s.Terminal, s.Width, "What is wrong with the run", s.Findings().Long(), "Nothing.")
		return append(wrong, pager.Section(s.Terminal, s.Width, "Messages", s.Notes, "None.")...)
	})
}

// View is the screen with what draw draws. It is asked for after every message, also after those that change nothing.
func (s *Screen) View(draw func() string) tea.View {
	if s.Rendered == "" {
		s.Rendered = draw()
	}
	return program.View(s.Terminal, s.Rendered, "mpitx "+s.Name)
}

// Render is the screen as text: at most Height lines of at most Width cells. body draws below a title.
func (s *Screen) Render(title string, body func(lines []string) []string) string {
	var lines []string
	switch {
	case s.Width < s.LeastWidth || s.Height < s.LeastHeight:
		lines = term.Wrap(fmt.Sprintf("mpitx %s needs %dx%d cells; this terminal has %dx%d. q quits.",
			s.Name, s.LeastWidth, s.LeastHeight, s.Width, s.Height), max(s.Width, 1))
	case s.Text != nil:
		lines = append([]string{title}, s.Pager.Screen(s.Terminal, s.Text(), s.Width, s.Height-1)...)
	default:
		lines = body([]string{title})
	}
	lines = lines[:min(len(lines), max(s.Height, 0))]
	for i := range lines {
		lines[i] = s.Terminal.Cut(lines[i], s.Width)
	}
	return strings.Join(lines, "\n")
}

// Title is the first line: the program, which run it shows, and what is known about that.
func (s *Screen) Title(dir, text string) string {
	program := " mpitx " + s.Name + "  "
	room := max(s.Width-term.Width(program+text)-3, 10)
	return s.Terminal.Paint(term.Title, s.Terminal.Fit(program+s.Terminal.Cut(s.Terminal.Safe(dir), room)+"  "+text, s.Width))
}

// Fill adds the footer at the last line of the screen.
func (s *Screen) Fill(lines []string) []string {
	for len(lines) < s.Height-1 {
		lines = append(lines, "")
	}
	foot := s.footer()
	return append(lines[:s.Height-len(foot)], foot...)
}

// footer is the command line, the outcome of the last key or command, or the keys that are the most useful now.
func (s *Screen) footer() []string {
	switch {
	case s.Mode == Command:
		return s.CommandLine()
	case s.Note != "":
		return []string{s.Terminal.Paint(term.Heading, s.Terminal.SafeLine(s.Note, s.Width))}
	}
	return []string{keys.Footer(s.Terminal, s.Width, s.Hints()...)}
}

// Warnings are the parts of the status line that say what is wrong.
func (s *Screen) Warnings() (parts []string) {
	warn := func(text string) {
		if text != "" {
			parts = append(parts, s.Terminal.Paint(term.Attention, "! "+s.Terminal.SafeLine(text, s.Width)))
		}
	}
	if s.Paused {
		warn("paused")
	}
	for _, x := range s.Findings() {
		warn(x[0])
	}
	return parts
}

// Status is the line below the title, with a place at its right end.
func (s *Screen) Status(text, place string) string {
	return s.Terminal.Fit(text, s.Width-len(place)) + s.Terminal.Paint(term.Label, place)
}

// Typed is the part of the status line with the words that are typed, or were: after a name.
func (s *Screen) Typed(name string) string {
	return s.Terminal.Paint(term.Place, name) + s.Line.Render(s.Terminal, max(s.Width/2, 10))
}

// HasWords says whether all words are in a text, in upper or lower case.
func HasWords(text, words string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
