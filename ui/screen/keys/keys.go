// Package keys is the table of the keys that the explorer and top share. It also writes keys the way that help, footers and manual pages
// show them.
package keys

import (
	"slices"
	"strings"

	"mpitx/ui/term"
)

// ID identifies an action that several screens offer. A shared action has the same keys on every screen.
type ID uint8

// The shared actions. Own is the ID of all actions that only one screen has.
const (
	Own ID = iota
	Down
	Up
	PageDown
	PageUp
	First
	Last
	Open
	Right
	Left
	NextPane
	PreviousPane
	Zoom
	Search
	ClearFilter
	Back
	SortRight
	SortLeft
	SortReverse
	Values
	LogScale
	Pause
	Read
	Restart
	Edit
	Export
	Messages
	Command
	Help
	Suspend
	Quit
	Interrupt
	actions
)

// Key is one or several keys with the same effect.
type Key struct {
	ID    ID
	Names []string // Bubble Tea's names: "j", "down", "ctrl+f"
	Help  string   // the effect, in the help
	Hint  string   // the effect in a word or two, in the footer
}

var table = [actions]Key{
	Down:         {Names: []string{"j", "down", "ctrl+n"}, Help: "next line"},
	Up:           {Names: []string{"k", "up", "ctrl+p"}, Help: "previous line"},
	PageDown:     {Names: []string{"pgdown", "ctrl+f", "ctrl+d"}, Help: "next page"},
	PageUp:       {Names: []string{"pgup", "ctrl+b", "ctrl+u"}, Help: "previous page"},
	First:        {Names: []string{"g", "home"}, Help: "first line"},
	Last:         {Names: []string{"G", "end"}, Help: "last line"},
	Open:         {Names: []string{"enter"}, Help: "open the selected line", Hint: "open"},
	Right:        {Names: []string{"right", "l"}, Help: "go to the right"},
	Left:         {Names: []string{"left", "h"}, Help: "go to the left"},
	NextPane:     {Names: []string{"tab"}, Help: "next pane", Hint: "pane"},
	PreviousPane: {Names: []string{"shift+tab"}, Help: "previous pane"},
	Zoom:         {Names: []string{"z"}, Help: "zoom: show this pane alone, or all panes", Hint: "zoom"},
	Search:       {Names: []string{"/"}, Help: "search", Hint: "search"},
	ClearFilter:  {Names: []string{"F"}, Help: "clear the filter", Hint: "clear filter"},
	Back:         {Names: []string{"esc"}, Help: "back", Hint: "back"},
	SortRight:    {Names: []string{">"}, Help: "sort by the next column", Hint: "sort"},
	SortLeft:     {Names: []string{"<"}, Help: "sort by the previous column"},
	SortReverse:  {Names: []string{"I"}, Help: "reverse the order", Hint: "reverse"},
	Values:       {Names: []string{"v"}, Help: "show values, differences or rates", Hint: "values"},
	LogScale:     {Names: []string{"o"}, Help: "logarithmic or linear scale", Hint: "log scale"},
	Pause:        {Names: []string{"space"}, Help: "pause or resume", Hint: "pause"},
	Read:         {Names: []string{"r"}, Help: "read again now", Hint: "read"},
	Restart:      {Names: []string{"R"}, Help: "start again", Hint: "restart"},
	Edit:         {Names: []string{"e"}, Help: "edit the control variable", Hint: "edit"},
	Export:       {Names: []string{"X", "ctrl+s"}, Help: "export what is shown to a CSV or JSON file", Hint: "export"},
	Messages:     {Names: []string{"L"}, Help: "show all messages in full", Hint: "messages"},
	Command:      {Names: []string{":"}, Help: "open the command line", Hint: "command"},
	Help:         {Names: []string{"?", "f1"}, Help: "show this help", Hint: "help"},
	Suspend:      {Names: []string{"ctrl+z"}, Help: "suspend; the shell's fg resumes"},
	Quit:         {Names: []string{"q"}, Help: "quit; in a view opened from another one: go back to that one", Hint: "quit"},
	Interrupt:    {Names: []string{"ctrl+c"}, Help: "quit at once, whatever is open"},
}

func init() {
	for id := range table {
		table[id].ID = ID(id)
	}
}

// Of is the keys of a shared action.
func Of(id ID) Key { return table[id] }

// Shared lists the keys of all shared actions.
func Shared() []Key { return slices.Clone(table[Own+1:]) }

// With gives the keys another help and hint, more specific to a screen; "" keeps what they have.
func (k Key) With(help, hint string) Key {
	if help != "" {
		k.Help = help
	}
	if hint != "" {
		k.Hint = hint
	}
	return k
}

// Has says whether a key press, by its name, is one of the keys.
func (k Key) Has(name string) bool { return slices.Contains(k.Names, name) }

var written = map[string]string{"pgdown": "PgDn", "pgup": "PgUp", "enter": "Enter", "esc": "Esc", "tab": "Tab", "shift+tab": "Shift+Tab", "space": "Space",
	"home": "Home", "end": "End", "backspace": "Backspace", "delete": "Del", "f1": "F1"}

var arrows = map[string][2]string{"down": {"Down", "↓"}, "up": {"Up", "↑"}, "right": {"Right", "→"}, "left": {"Left", "←"}}

// Name writes the name of one key for people: "PgDn", "^F", "↓".
func Name(name string, utf8 bool) string {
	if a, ok := arrows[name]; ok {
		if utf8 {
			return a[1]
		}
		return a[0]
	}
	if w, ok := written[name]; ok {
		return w
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return "^" + strings.ToUpper(letter)
	}
	return name
}

// Text writes all keys for people, separated by blanks.
func (k Key) Text(utf8 bool) string {
	all := make([]string, len(k.Names))
	for i, n := range k.Names {
		all[i] = Name(n, utf8)
	}
	return strings.Join(all, " ")
}

// Section is the part of a screen's keys that belongs to one of its views.
type Section struct {
	Title  string
	Keys   []Key
	Dialog bool // of a dialog or a line that is typed: no other keys have an effect
}

// Footer writes the first of each of the keys with its hint, as many as fit into a width. The first keys are the most important ones.
func Footer(t term.Term, width int, list ...Key) string {
	line, taken := "", 0
	for _, k := range list {
		name := Name(k.Names[0], t.UTF8)
		n := term.Width(name) + 1 + term.Width(k.Hint)
		if taken > 0 {
			n += 2
		}
		if k.Hint == "" || taken+n > width {
			continue
		}
		if taken > 0 {
			line += "  "
		}
		line += t.Paint(term.Key, name) + " " + t.Paint(term.Label, k.Hint)
		taken += n
	}
	return line
}

// Lines writes a section for people: its title, and each of its keys with its effect, in lines of at most width cells.
func (s Section) Lines(t term.Term, width int) []string {
	lines := []string{" " + t.Paint(term.Heading, s.Title), ""}
	indent := min(24, max(width/4, 12)) // a narrow screen is for the text
	for _, k := range s.Keys {
		text := k.Text(t.UTF8)
		help := term.Wrap(k.Help, max(width-indent-3, 10))
		if term.Width(text)+2 > indent {
			help = append([]string{""}, help...)
		}
		left := t.Paint(term.Key, text) + strings.Repeat(" ", max(0, indent-term.Width(text)))
		for _, h := range help {
			lines = append(lines, strings.TrimRight("  "+left+h, " "))
			left = strings.Repeat(" ", indent)
		}
	}
	return lines
}
