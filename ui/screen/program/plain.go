package program

import (
	"bytes"
	"regexp"

	tea "charm.land/bubbletea/v2"

	"mpitx/ui/term"
)

// View is a full screen with a window title and mouse, if the terminal has them.
func View(t term.Term, content, title string) tea.View {
	v := tea.NewView(content)
	v.AltScreen = true
	if !t.Plain {
		v.MouseMode = tea.MouseModeCellMotion
		v.WindowTitle = title
	}
	return v
}

// beyondPlain are control sequences that plain terminals may print: xterm's and kitty's extensions, queries, titles and the like.
var beyondPlain = regexp.MustCompile(`\x1b\[[<=>][0-9;]*[@-~]|\x1b\[\?[0-9;]*\$?[^0-9;$hl]|\x1b\[\?20[0-9][0-9][hl]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[P_^X][^\x1b]*\x1b\\`)

const cleared = "\x1b[H\x1b[2J"

// plainOnly removes from output what plain terminals do not know. They have no alternate screen, so theirs is cleared.
func plainOnly(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\x1b[?1049h"), []byte(cleared))
	b = bytes.ReplaceAll(b, []byte("\x1b[?1049l"), []byte(cleared))
	return beyondPlain.ReplaceAll(b, nil)
}
