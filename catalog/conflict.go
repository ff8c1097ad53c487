package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// attributes are the metadata that Table 14.1 requires to be equal for variables with the same name. A performance variable's
// class is missing here, as it is part of the identity.
var attributes = []struct {
	name string
	of   func(*Variable) string
}{
	{"type", func(v *Variable) string { return v.Type.String() }},
	{"scope", func(v *Variable) string { return v.Scope.String() }},
	{"bind", func(v *Variable) string { return v.Bind.String() }},
	{"verbosity", func(v *Variable) string { return v.Verbosity.String() }},
	{"enum", func(v *Variable) string { return v.Enum }},
	{"readonly", func(v *Variable) string { return strconv.FormatBool(v.Readonly) }},
	{"continuous", func(v *Variable) string { return strconv.FormatBool(v.Continuous) }},
	{"atomic", func(v *Variable) string { return strconv.FormatBool(v.Atomic) }},
	{"description", func(v *Variable) string { return v.Description }},
}

// appendConflicts adds the attributes that differ between a variable on a rank and on the root.
func appendConflicts(to []Conflict, rank int, here, root *Variable) []Conflict {
	for _, a := range attributes {
		to = appendConflict(to, rank, a.name, a.of(here), a.of(root))
	}
	return to
}

func appendConflict(to []Conflict, rank int, field, here, root string) []Conflict {
	if here == root {
		return to
	}
	return append(to, Conflict{rank, field, here, root})
}

func appendCategoryConflicts(to []Conflict, rank int, here, root *Category) []Conflict {
	to = appendConflict(to, rank, "description", here.Description, root.Description)
	for _, list := range []struct {
		field      string
		here, root []string
	}{
		{"cvars", here.Cvars, root.Cvars},
		{"pvars", here.Pvars, root.Pvars},
		{"categories", here.Categories, root.Categories},
		{"event_types", here.EventTypes, root.EventTypes},
	} {
		if !slices.Equal(list.here, list.root) {
			to = append(to, Conflict{rank, list.field, strconv.Itoa(len(list.here)), strconv.Itoa(len(list.root))})
		}
	}
	return to
}

func appendEnumConflicts(to []Conflict, rank int, here, root *Enum) []Conflict {
	if here.Flags == root.Flags && slices.Equal(here.Items, root.Items) {
		return to
	}
	to = appendConflict(to, rank, "flags", strconv.FormatBool(here.Flags), strconv.FormatBool(root.Flags))
	return appendConflict(to, rank, "items", here.itemList(), root.itemList())
}

func (e *Enum) itemList() string {
	list := make([]string, len(e.Items))
	for i, it := range e.Items {
		list[i] = fmt.Sprintf("%s=%d", it.Name, it.Value)
	}
	return strings.Join(list, ", ")
}
