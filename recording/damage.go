package recording

import (
	"errors"
	"fmt"

	"mpitx/recording/store"
)

// DamageText describes parts of a run that could not be read (see [Run.Damage]) in one sentence, which ends with what to do. It returns ""
// if there are none.
func DamageText(all []error) string {
	if len(all) == 0 {
		return ""
	}
	text := all[0].Error()
	var damage *store.DamageError
	known := errors.As(all[0], &damage)
	if known && damage.Newer() && len(all) == 1 {
		return text
	}
	text += ": left out"
	switch more := len(all) - 1; {
	case more == 1:
		text += ", as is 1 other damaged place"
	case more > 1:
		text += fmt.Sprintf(", as are %d other damaged places", more)
	}
	if known && !damage.Newer() {
		text += "; if the run was copied, copy it again"
	}
	return text
}
