package timeline

import "mpitx/ui/screen/prompt"

// Manual is the screen's keys and commands, for its manual page.
func Manual() []prompt.Section { return prompt.Manual(append(Keys(), commands.Section())...) }
