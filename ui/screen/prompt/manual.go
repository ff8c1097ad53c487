package prompt

import "mpitx/ui/screen/keys"

// Section is a part of a screen's manual: what is typed, and what it does.
type Section struct {
	Title string
	Lines [][2]string
}

// Manual is what a screen's manual page says about its keys and commands.
func Manual(sections ...keys.Section) (manual []Section) {
	for _, s := range sections {
		one := Section{Title: s.Title}
		for _, k := range s.Keys {
			one.Lines = append(one.Lines, [2]string{k.Text(false), k.Help})
		}
		manual = append(manual, one)
	}
	return manual
}
