package ui

import (
	"strings"

	"mpitx/ui/prompt"
)

// Manual is the explorer's keys and commands, for its manual page.
func Manual() []prompt.Section {
	var keys, typed [][2]string
	for _, b := range bindings {
		keys = append(keys, [2]string{strings.Join(b.keys, ", "), b.help})
	}
	for _, c := range commands {
		typed = append(typed, [2]string{strings.TrimSpace(":" + c.name + " " + c.args), c.help})
	}
	return []prompt.Section{{Title: "Keys", Lines: keys}, {Title: "Keys while watching", Lines: watchKeys}, {Title: "Commands", Lines: typed}}
}
