package ui

import (
	"mpitx/ui/keys"
	"mpitx/ui/prompt"
)

// Keys are all keys of the explorer.
func Keys() []keys.Section { return keySections(0, true) }

// Manual is the explorer's keys and commands, for its manual page.
func Manual() []prompt.Section {
	var manual []prompt.Section
	for _, s := range append(Keys(), commandSection(true)) {
		t := prompt.Section{Title: s.Title}
		for _, k := range s.Keys {
			t.Lines = append(t.Lines, [2]string{k.Text(false), k.Help})
		}
		manual = append(manual, t)
	}
	return manual
}
