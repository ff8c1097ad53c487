package export

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Apart cuts two safe texts to a width so that the part shows in which they differ first.
func (t Terminal) Apart(a, b string, width int) (string, string) {
	if Width(a) <= width && Width(b) <= width {
		return a, b
	}
	same := 0
	for same < min(len(a), len(b)) {
		x, n := utf8.DecodeRuneInString(a[same:])
		if y, _ := utf8.DecodeRuneInString(b[same:]); x != y {
			break
		}
		same += n
	}
	const least = 6 // cells of the difference that show
	before := Width(a[:same])
	rest := max(Width(a), Width(b)) - before
	keep := max(width/4, width-1-rest) // cells before the difference
	if skip := before - keep; before+least > width && skip > 0 {
		a, b = t.Ellipsis()+ansi.TruncateLeft(a, skip, ""), t.Ellipsis()+ansi.TruncateLeft(b, skip, "")
	}
	return t.Cut(a, width), t.Cut(b, width)
}
