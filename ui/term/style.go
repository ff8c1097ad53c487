package term

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

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

// Theme is a choice of colours. No theme changes the background.
type Theme uint8

// The themes.
const (
	Auto         Theme = iota // Dark or Light, as the terminal's background is
	Dark                      // for a dark background
	Light                     // for a light background
	HighContrast              // at least 7:1 against the terminal's background, and nothing faint
)

// Themes are the names of the themes.
var Themes = []string{"auto", "dark", "light", "high-contrast"}

func (t Theme) String() string { return Themes[t] }

// ParseTheme finds a theme by its name; "" is auto.
func ParseTheme(name string) (Theme, error) {
	if name == "" {
		return Auto, nil
	}
	k := slices.Index(Themes, name)
	if k < 0 {
		return Auto, fmt.Errorf("no theme %q: use one of %s", name, strings.Join(Themes, ", "))
	}
	return Theme(k), nil
}

// Color is one of a theme's few colours; 0 is the terminal's own.
type Color uint8

// The colours by what they mean.
const (
	Default Color = iota
	Accent        // what has the focus, names
	Good          // set by the user, success
	Warn          // differs, needs attention
	Bad           // faulty, failed
	Muted         // of less interest
	Match         // what a search found
)

// Shade is a colour for dark and light backgrounds, and one of the 16 of the user's palette by its meaning: the nearest ones would not
// keep shades apart.
type Shade struct {
	Dark, Light color.RGBA
	ANSI        ansi.BasicColor
}

// shades differ in lightness too, and avoid the pair red and green of the same lightness.
var shades = [...]Shade{
	Accent: {color.RGBA{86, 180, 233, 255}, color.RGBA{0, 94, 160, 255}, ansi.Cyan},
	Good:   {color.RGBA{60, 190, 140, 255}, color.RGBA{0, 110, 75, 255}, ansi.Green},
	Warn:   {color.RGBA{240, 200, 80, 255}, color.RGBA{140, 90, 0, 255}, ansi.Yellow},
	Bad:    {color.RGBA{240, 110, 80, 255}, color.RGBA{170, 40, 10, 255}, ansi.Red},
	Muted:  {color.RGBA{140, 140, 140, 255}, color.RGBA{105, 105, 105, 255}, ansi.BrightBlack},
	Match:  {color.RGBA{230, 150, 200, 255}, color.RGBA{150, 40, 110, 255}, ansi.Magenta},
}

// Color is how the terminal shows a shade in its theme; nil: not at all.
func (t Term) Color(s Shade) color.Color {
	light := t.onLight()
	switch {
	case t.Profile == colorprofile.ANSI && t.Theme == HighContrast && !light && s.ANSI < ansi.BrightBlack:
		return s.ANSI + ansi.BrightBlack
	case t.Profile == colorprofile.ANSI:
		return s.ANSI
	}
	c := s.Dark
	if light {
		c = s.Light
	}
	if t.Theme == HighContrast {
		c = strengthen(c, light)
	}
	return t.Profile.Convert(c)
}

func (t Term) onLight() bool {
	switch t.Theme {
	case Dark:
		return false
	case Light:
		return true
	}
	return t.Light
}

const enough = 7 // the contrast that WCAG 2.1 calls enhanced (success criterion 1.4.6)

// strengthen moves a colour away from the background until its contrast is enough.
func strengthen(c color.RGBA, light bool) color.RGBA {
	back, far := color.RGBA{A: 255}, uint8(255)
	if light {
		back, far = color.RGBA{255, 255, 255, 255}, 0
	}
	step := func(x uint8) uint8 { return uint8((int(x)*15 + int(far)) / 16) }
	for contrast(c, back) < enough {
		c = color.RGBA{step(c.R), step(c.G), step(c.B), 255}
	}
	return c
}

// contrast is the contrast ratio of two colours as WCAG 2.1 defines it: 1 to 21.
func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		if x := float64(v) / 255; x > 0.04045 {
			return math.Pow((x+0.055)/1.055, 2.4)
		} else {
			return x / 12.92
		}
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
