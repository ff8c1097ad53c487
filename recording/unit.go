package recording

import (
	"strings"

	"mpitx/catalog"
)

// UnitAs is the unit of values shown with a transform. Rates are per second.
func (c *Column) UnitAs(as Transform) string {
	if unit := c.Unit(); unit != "" && c.Shown(as) == Rate {
		return unit + "/s"
	}
	return c.Unit()
}

// Unit returns the unit of a column's values: "ns", "s" or "B"; "" for plain numbers and if unknown. Older runs do not
// declare it: then floating-point timers count seconds, as MPI_Wtime does (MPI-3.1, section 14.3.7), and the agent's own times
// nanoseconds.
func (c *Column) Unit() string {
	if c.unit != "" {
		return c.unit
	}
	form := c.Type.Form()
	switch name := c.Variable; {
	case form == catalog.FormText || form == catalog.FormBool || c.Enum != nil:
		return ""
	case strings.HasPrefix(name, "mpitx:time"):
		return "ns"
	case strings.HasPrefix(name, "mpitx:"):
		name, _, _ = strings.Cut(name, "/")
		if strings.Contains(name, "bytes_") {
			return "B"
		}
	case c.Class == catalog.ClassTimer && form == catalog.FormFloat:
		return "s"
	}
	return ""
}
