package term

import (
	"image/color"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Style is a way to show text. Every state that a style shows is also told by a character or a word: without
// colours only the attributes are left.
type Style struct {
	Bold, Faint, Reverse, Underline bool
	Color                           Color
}

// Color is one of the explorer's few colours; 0 is the terminal's own.
type Color uint8

// The colours by what they mean.
const (
	Default Color = iota
	Accent        // what has the focus, headings
	Good          // set by the user, success
	Warn          // differs, needs attention
	Bad           // faulty, failed
	Muted         // of less interest
	Match         // what a search found
)

// Shade is a colour for dark and light backgrounds, and that of the 16 of the user's palette that comes closest in meaning: the nearest
// ones would not keep shades apart.
type Shade struct {
	Dark, Light color.RGBA
	ANSI        ansi.BasicColor
}

// Shades differ in lightness too, and avoid the pair red and green of the same lightness.
var shades = [...]Shade{
	Accent: {color.RGBA{86, 180, 233, 255}, color.RGBA{0, 94, 160, 255}, ansi.Cyan},
	Good:   {color.RGBA{60, 190, 140, 255}, color.RGBA{0, 110, 75, 255}, ansi.Green},
	Warn:   {color.RGBA{240, 200, 80, 255}, color.RGBA{140, 90, 0, 255}, ansi.Yellow},
	Bad:    {color.RGBA{240, 110, 80, 255}, color.RGBA{170, 40, 10, 255}, ansi.Red},
	Muted:  {color.RGBA{140, 140, 140, 255}, color.RGBA{105, 105, 105, 255}, ansi.BrightBlack},
	Match:  {color.RGBA{230, 150, 200, 255}, color.RGBA{150, 40, 110, 255}, ansi.Magenta},
}

// Paint shows text in a style. The text must be safe, without line breaks and without styles of its own.
func (t Term) Paint(s Style, text string) string {
	if text == "" {
		return ""
	}
	var style ansi.Style // not lipgloss's, which styles each character of underlined text by itself
	faint := s.Color == Muted && t.Profile <= colorprofile.ANSI
	if s.Bold {
		style = style.Bold()
	}
	if s.Faint || faint {
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

// Color is how the terminal shows a shade; nil: not at all.
func (t Term) Color(s Shade) color.Color {
	switch {
	case t.Profile == colorprofile.ANSI:
		return s.ANSI
	case t.Light:
		return t.Profile.Convert(s.Light)
	}
	return t.Profile.Convert(s.Dark)
}

// Glyphs are the characters that draw frames and marks, one cell each.
type Glyphs struct {
	Open, Closed, Leaf   string // of the tree
	Line, Bar            string // horizontal, vertical
	Thumb                string // of a scroll bar
	Dot, Up, Down, Arrow string
	Pin                  string
}

// Glyphs is the terminal's set: UTF-8, or ASCII.
func (t Term) Glyphs() *Glyphs {
	if t.UTF8 {
		return &Glyphs{"▾", "▸", "·", "─", "│", "┃", "·", "↑", "↓", "→", "◆"}
	}
	return &Glyphs{"-", "+", " ", "-", "|", "#", "-", "^", "v", ">", "*"}
}
