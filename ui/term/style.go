package term

import (
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Style is a way to show text. A character or a word shows every state that a style shows: without colours only the attributes are left.
type Style struct {
	Bold, Reverse, Underline bool
	Color                    Color
}

// The styles of all screens, by what they show.
var (
	Plain     = Style{}
	Title     = Style{Bold: true, Reverse: true}             // the first line of a screen
	Heading   = Style{Bold: true}                            // over a paragraph, a dialog, a list
	Place     = Style{Color: Accent}                         // what is shown below
	Columns   = Style{Bold: true, Color: Accent}             // the head of a table
	Subject   = Style{Bold: true, Color: Accent}             // the name of what a pane describes
	Cursor    = Style{Bold: true, Reverse: true}             // the chosen row
	Unfocused = Style{Bold: true, Underline: true}           // the same, in a pane without the focus
	Input     = Style{Reverse: true}                         // where the next typed character goes
	Key       = Style{Bold: true, Color: Accent}             // a key in the footer
	Label     = Style{Color: Muted}                          // next to what matters more
	Link      = Style{Underline: true, Color: Accent}        // a name that can be followed
	Success   = Style{Bold: true, Color: Good}               // what was done
	Failure   = Style{Bold: true, Color: Bad}                // what was not done
	Warning   = Style{Color: Warn}                           // a row that differs or is late
	Wrong     = Style{Color: Bad}                            // a value that could not be read
	Banner    = Style{Bold: true, Reverse: true, Color: Bad} // why most keys do nothing
	Attention = Style{Bold: true, Color: Warn}               // what should be read
)

// Chosen is the style of the chosen row of a pane.
func Chosen(focused bool) Style {
	if focused {
		return Cursor
	}
	return Unfocused
}

// Found is a style with what a search matched in it.
func (s Style) Found() Style {
	s.Bold, s.Underline, s.Color = true, true, Match
	return s
}

// Paint shows text in a style. The text must be safe, without line breaks and without styles of its own.
func (t Term) Paint(s Style, text string) string {
	if text == "" {
		return ""
	}
	if t.Theme == HighContrast && s.Color == Muted {
		s.Color = Default
	}
	var style ansi.Style // not lipgloss's, which styles each character of underlined text by itself
	faint := s.Color == Muted && t.Profile <= colorprofile.ANSI
	if s.Bold {
		style = style.Bold()
	}
	if faint {
		style = style.Faint()
	}
	if s.Underline {
		style = style.Underline(true)
	}
	if s.Reverse {
		style = style.Reverse(true)
	}
	if c := t.Color(shades[s.Color]); s.Color != Default && !faint && c != nil {
		style = style.ForegroundColor(c)
	}
	return style.Styled(text)
}

// Glyphs are the characters that draw frames, marks and charts, one cell each.
type Glyphs struct {
	Open, Closed, Leaf   string // of the tree
	Line, Bar            string // horizontal, vertical
	Dot, Up, Down, Arrow string
	Gap                  string    // no value, in a chart
	Bars                 [8]string // from the lowest to the highest
}

var (
	unicodeGlyphs = Glyphs{"▾", "▸", "·", "─", "│", "·", "↑", "↓", "→", "·", [8]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}}
	asciiGlyphs   = Glyphs{"-", "+", " ", "-", "|", "-", "^", "v", ">", "-", [8]string{"_", ".", ":", "-", "=", "+", "*", "#"}}
)

// Glyphs is the set of characters that the terminal can show: UTF-8 or ASCII.
func (t Term) Glyphs() *Glyphs {
	if t.UTF8 {
		return &unicodeGlyphs
	}
	return &asciiGlyphs
}
