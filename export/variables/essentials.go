package variables

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/settings"
	"mpitx/settings/tuning"
)

// Essentials is a table of the variables that users commonly tune, by purpose.
type Essentials struct {
	Knowledge *tuning.Knowledge
	Variables []*catalog.Variable  // those that are listed if they are essential
	Beyond    []settings.Influence // settings that MPI_T does not have
	Unset     bool                 // people also see essential environment variables that are not set
	Enums     tuning.Enums

	rows    *export.Rows
	format  export.Format
	purpose string // of the last row
}

// Rows makes the table, and returns the variables in it.
func (e *Essentials) Rows(c *catalog.Catalog, f export.Format) (*export.Rows, []*catalog.Variable) {
	e.format = f
	e.rows = &export.Rows{Schema: "mpitx.essentials", Columns: []export.RowColumn{{Name: "name", Header: "NAME"}, {Name: "value", Header: "VALUE", PreferredWidth: 28, Whole: "set"},
		{Name: "set", Header: "SET", Optional: true, AlwaysBelow: true, Label: "set: "}, {Name: "use", Header: "WHAT FOR", Below: true}, {Name: "purpose"}}}
	beyond := slices.Clone(e.Beyond)
	var listed []*catalog.Variable
	for _, g := range e.Knowledge.Essentials(c) {
		for k, v := range g.Cvars {
			if slices.Contains(e.Variables, v) {
				listed = append(listed, v)
				e.add(v.Name, e.value(c, v), v.FirstOrigin(), g.Uses[k], g.Title)
			}
		}
		for _, known := range g.Environment {
			set := false
			beyond = slices.DeleteFunc(beyond, func(i settings.Influence) bool {
				if i.Name != known.Name {
					return false
				}
				set = true
				e.add(known.Name, i.Value, i.First(), known.Use, g.Title)
				return true
			})
			if !set && e.Unset && e.people() {
				e.add(known.Name, "not set", catalog.RankOrigin{}, known.Use, g.Title)
			}
		}
	}
	for _, i := range beyond {
		e.add(i.Name, i.Value, i.First(), "read by "+i.Reader, "Set beyond MPI_T")
	}
	return e.rows, listed
}

func (e *Essentials) people() bool {
	return e.format == export.FormatTable || e.format == export.FormatWide
}

// value is what a variable has.
func (e *Essentials) value(c *catalog.Catalog, v *catalog.Variable) string {
	r := v.Current()
	if r == nil || !e.people() && (r.Status != catalog.StatusOK || r.Value.String() == "") {
		return ""
	}
	value := ReadingText(r, e.Enums(v))
	if number := ReadingText(r, nil); e.people() && c.Enum(v.Enum) == nil && value != number {
		value += " (" + number + ")" // as the library and mpitx write have it
	}
	return value
}

func (e *Essentials) add(name, value string, set catalog.RankOrigin, use, purpose string) {
	r := e.rows
	if e.people() && purpose != e.purpose { // as a line of its own
		if e.purpose != "" {
			r.Rows = append(r.Rows, []any{"", "", "", "", ""})
		}
		r.Rows = append(r.Rows, []any{purpose + ":", "", "", "", ""})
		e.purpose = purpose
	}
	where := ""
	if set.Origin != nil {
		where = set.Origin.Where
		if e.format == export.FormatTable && set.Origin.Kind == catalog.OriginFile {
			where = filepath.Base(where) // the line matters
		}
		where = strings.TrimSpace(string(set.Origin.Kind) + " " + where)
	}
	if set.Rank != 0 {
		where += fmt.Sprintf(" (rank %d)", set.Rank)
	}
	if e.people() {
		name = "  " + name
	}
	r.Rows = append(r.Rows, []any{name, value, where, use, purpose})
}
