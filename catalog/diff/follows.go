package diff

import (
	"strings"

	"mpitx/catalog"
)

// follows is a rule: the default of the variable is the value of another one, or the sum of two.
type follows struct {
	name string // * is any text
	of   []string
}

// followsSetting reports whether a variable follows from other variables on both sides, and the user set one of these to different values.
func (c *comparison) followsSetting(name string, reading func(*catalog.Variable) *catalog.Reading) bool {
	for _, r := range c.rules.follows {
		star, matches := between(r.name, name)
		if !matches {
			continue
		}
		differ, holds := false, true
		var first [2][]string
		for s := range c.sides {
			sum := int64(0)
			own, text := c.number(s, name, reading)
			var value string
			for _, of := range r.of {
				of = strings.Replace(of, "*", star, 1)
				number, word := c.number(s, of, reading)
				sum, value = sum+number, word
				first[s] = append(first[s], word)
				holds = holds && word != "" && of != name
				differ = differ || holds && c.sides[s].Cvar(of).IsSet()
			}
			holds = holds && (len(r.of) == 1 && value == text || len(r.of) > 1 && sum == own)
		}
		if holds && differ && strings.Join(first[0], " ") != strings.Join(first[1], " ") {
			return true
		}
	}
	return false
}

// number is a variable's value on a side, as a number and as text; "" if it has none.
func (c *comparison) number(side int, name string, reading func(*catalog.Variable) *catalog.Reading) (int64, string) {
	v := c.sides[side].Cvar(name)
	if v == nil {
		return 0, ""
	}
	r := reading(v)
	if r == nil || r.Status != catalog.StatusOK || r.Value.Len() != 1 || len(v.Ranks) > 0 {
		return 0, ""
	}
	if form := r.Value.Type().Form(); form != catalog.FormSigned && form != catalog.FormUnsigned {
		return 0, r.Value.String()
	}
	return r.Value.Int(0), r.Value.String()
}

// between returns the text of * in a pattern.
func between(pattern, name string) (star string, ok bool) {
	before, after, any := strings.Cut(pattern, "*")
	if !any {
		return "", pattern == name
	}
	rest, ok := strings.CutPrefix(name, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, after)
}
