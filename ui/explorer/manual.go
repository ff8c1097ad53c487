package explorer

import (
	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/prompt"
)

// Keys are all keys of the explorer.
func Keys() []keys.Section { return keySections(0, true) }

// Manual is the explorer's keys and commands, for its manual page.
func Manual() []prompt.Section { return prompt.Manual(append(Keys(), commandSection(true))...) }
