package recording

import (
	"strings"

	"mpitx/catalog"
)

// UnitAs is the unit of values as they are shown: rates are per second.
func (c *Column) UnitAs(as Transform) string {
	if unit := c.Unit(); unit != "" && c.Shown(as) == Rate {
		return unit + "/s"
	}
	return c.Unit()
}

// Unit is what a column's values count: "ns", "s" or "B"; "" for plain numbers and where it is not known. Older runs do not declare
// it. The standard says only that timers of type MPI_DOUBLE count as MPI_Wtime does. The agent's own times are nanoseconds.
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
