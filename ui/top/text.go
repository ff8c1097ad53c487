package top

import "mpitx/ui/screen"

const about = "The value of a rank is a sum if its variable has several elements, or is bound to several objects with the same name. " +
	"For high watermarks and percentages it is the greatest, for low watermarks the least. A rank is silent if it runs but has recorded nothing for 5 s or more. " +
	"The mouse selects lines, sorts by a heading, and sets the cursor of the map and the chart."

func (m *Model) findings() screen.Findings {
	if m.frame == nil {
		return nil
	}
	return m.frame.findings()
}
