package explorer

import "mpitx/ui/screen/keys"

// Keys are all keys and commands of the explorer.
func Keys() []keys.Section {
	return append(keySections(0, true), New(Options{}).commands.Section(true))
}
