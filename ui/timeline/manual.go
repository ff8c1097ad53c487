package timeline

import (
	"strings"

	"mpitx/ui/keys"
	"mpitx/ui/prompt"
)

func commandSection() keys.Section {
	s := keys.Section{Title: "Commands"}
	for _, c := range commands {
		s.Keys = append(s.Keys, keys.Key{Names: []string{strings.TrimSpace(":" + c.name + " " + c.args)}, Help: c.help})
	}
	return s
}

// Manual is the screen's keys and commands, for its manual page.
func Manual() []prompt.Section {
	var all []prompt.Section
	for _, s := range append(Keys(), commandSection()) {
		one := prompt.Section{Title: s.Title}
		for _, k := range s.Keys {
			one.Lines = append(one.Lines, [2]string{k.Text(false), k.Help})
		}
		all = append(all, one)
	}
	return all
}
