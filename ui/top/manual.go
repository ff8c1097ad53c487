package top

import (
	"strings"

	"mpitx/ui/prompt"
)

// Manual is the screen's keys and commands, for its manual page.
func Manual() []prompt.Section {
	var all []prompt.Section
	for _, s := range Keys() {
		one := prompt.Section{Title: s.Title}
		for _, k := range s.Keys {
			one.Lines = append(one.Lines, [2]string{k.Text(false), k.Help})
		}
		all = append(all, one)
	}
	typed := prompt.Section{Title: "Commands"}
	for _, c := range commands {
		typed.Lines = append(typed.Lines, [2]string{strings.TrimSpace(":" + c.name + " " + c.args), c.help})
	}
	return append(all, typed)
}
