package top

import (
	"strings"

	"mpitx/ui/prompt"
)

// Manual is the screen's keys and commands, for its manual page.
func Manual() []prompt.Section {
	var keys, typed [][2]string
	for _, b := range keyMap {
		keys = append(keys, [2]string{b.show, b.help})
	}
	for _, c := range commands {
		typed = append(typed, [2]string{strings.TrimSpace(":" + c.name + " " + c.args), c.help})
	}
	return []prompt.Section{{Title: "Keys", Lines: keys}, {Title: "Commands", Lines: typed}}
}
