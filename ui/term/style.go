package term

import "strconv"

// Style is a way to show text. Every state that a style shows is also told by a character or a word: Profile None
// leaves only the attributes.
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

// shade is a colour in every profile, for dark and light backgrounds. They differ in lightness too, and avoid the pair red
// and green of the same lightness.
type shade struct {
	ansi        int
	dark, light [3]uint8
	xdark       int
	xlight      int
}

var shades = [...]shade{
	Accent: {6, [3]uint8{86, 180, 233}, [3]uint8{0, 94, 160}, 74, 25},
	Good:   {2, [3]uint8{60, 190, 140}, [3]uint8{0, 110, 75}, 79, 23},
	Warn:   {3, [3]uint8{240, 200, 80}, [3]uint8{140, 90, 0}, 221, 94},
	Bad:    {1, [3]uint8{240, 110, 80}, [3]uint8{170, 40, 10}, 209, 124},
	Muted:  {8, [3]uint8{140, 140, 140}, [3]uint8{105, 105, 105}, 245, 242},
	Match:  {5, [3]uint8{230, 150, 200}, [3]uint8{150, 40, 110}, 176, 126},
}

// Paint shows text in a style. The text must be safe, without line breaks and without styles of its own.
func (t Term) Paint(s Style, text string) string {
	if text == "" {
		return ""
	}
	seq := t.sequence(s)
	if seq == "" {
		return text
	}
	return "\x1b[" + seq + "m" + text + "\x1b[m"
}

// sequence is the parameters of SGR, without the first separator.
func (t Term) sequence(s Style) string {
	p := ""
	for _, a := range []struct {
		on   bool
		code string
	}{{s.Bold, ";1"}, {s.Faint || s.Color == Muted && t.Profile < ANSI256, ";2"}, {s.Underline, ";4"}, {s.Reverse, ";7"}} {
		if a.on {
			p += a.code
		}
	}
	if c := shades[s.Color]; s.Color != Default {
		rgb, x := c.dark, c.xdark
		if t.Light {
			rgb, x = c.light, c.xlight
		}
		switch {
		case t.Profile == TrueColor:
			p += ";38;2;" + strconv.Itoa(int(rgb[0])) + ";" + strconv.Itoa(int(rgb[1])) + ";" + strconv.Itoa(int(rgb[2]))
		case t.Profile == ANSI256:
			p += ";38;5;" + strconv.Itoa(x)
		case t.Profile == ANSI16 && c.ansi < 8:
			p += ";" + strconv.Itoa(30+c.ansi)
		}
	}
	if p == "" {
		return ""
	}
	return p[1:]
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
