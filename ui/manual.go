package ui

import "mpitx/ui/prompt"

// Manual is the explorer's keys and commands, for its manual page.
func Manual() []prompt.Section {
	var manual []prompt.Section
	for _, s := range append(keySections(0, true), commandSection(true)) {
		t := prompt.Section{Title: s.Title}
		for _, k := range s.Keys {
			t.Lines = append(t.Lines, [2]string{k.Text(false), k.Help})
		}
		manual = append(manual, t)
	}
	return manual
}
