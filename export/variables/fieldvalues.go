package variables

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/text"
)

// value returns a variable's field for JSON.
func (f *Field) value(c *catalog.Catalog, v *catalog.Variable) any {
	if f.JSON != nil {
		return f.JSON(c, v)
	}
	if s := f.Text(c, v); s != "" {
		return s
	}
	return nil
}

// cell returns a variable's field for a table.
func (f *Field) cell(c *catalog.Catalog, v *catalog.Variable) string {
	if f.prose {
		return export.OneLine(f.Text(c, v))
	}
	return f.Text(c, v)
}

// display formats a field of an entry that is not a variable.
func display(x any) string {
	switch x := x.(type) {
	case string:
		return x
	case int:
		return strconv.Itoa(x)
	case []string:
		return strings.Join(x, ",")
	case []catalog.Conflict:
		return joinFunc(x, "; ", conflictText)
	case int64:
		return strconv.FormatInt(x, 10)
	case []catalog.Element:
		return joinFunc(x, ", ", elementText)
	case []catalog.Hint:
		return joinFunc(x, ", ", hintText)
	case []catalog.Item:
		return joinFunc(x, ",", func(it catalog.Item) string { return strconv.Itoa(it.Value) + "=" + it.Name })
	}
	return fmt.Sprint(x)
}

func flags(v *catalog.Variable) []string {
	var l []string
	for _, f := range []struct {
		on   bool
		name string
	}{{v.Readonly, "readonly"}, {v.Continuous, "continuous"}, {v.Atomic, "atomic"}} {
		if f.on {
			l = append(l, f.name)
		}
	}
	return l
}

func ranksText(c *catalog.Catalog, v *catalog.Variable) string {
	return joinFunc(c.RankGroups(v), "; ", func(g catalog.RankGroup) string {
		return "r" + text.RankList(g.Ranks) + "=" + VariableText(c, v, &g.Reading)
	})
}

func ranksJSON(c *catalog.Catalog, v *catalog.Variable) any {
	groups := []json.RawMessage{}
	for _, g := range c.RankGroups(v) {
		b, _ := export.AppendJSON([]byte(`{"ranks":`), g.Ranks)
		b = append(b, ',')
		brace := len(b)
		b, _ = export.AppendJSON(b, &g.Reading)
		groups = append(groups, slices.Delete(b, brace, brace+1))
	}
	return groups
}
