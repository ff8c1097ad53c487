package tuning

import (
	"regexp"
	"strings"

	"mpitx/catalog"
)

// A clause of a description states a condition: "Only relevant if coll_tuned_use_dynamic_rules is true." The groups are the
// names and what must hold. Names in words ("the PUT flag is set") do not match.
var (
	clause = regexp.MustCompile(`(?i)\bonly (?:relevant|used|valid|effective|meaningful|applicable|has (?:an )?effect|has (?:a )?meaning|applies|matters)` +
		`,? (?:if|when) (?:the )?([A-Za-z][A-Za-z0-9_]*(?:(?: or |, )[A-Za-z][A-Za-z0-9_]*)*) (?:is|are|equals|=) ?(?:set to )?` +
		`(>=|<=|>|<|=|!=|not )? ?"?([A-Za-z0-9_.^-]+)"?`)
	apart = regexp.MustCompile(` or |, `)
)

// said returns the conditions that the description of a variable states about other control variables of the catalog.
func said(c *catalog.Catalog, v *catalog.Variable) (out []need) {
	for _, found := range clause.FindAllStringSubmatch(v.Description, -1) {
		n := need{op: strings.TrimSpace(found[2]), value: strings.TrimRight(found[3], ".")}
		switch n.op {
		case "":
			n.op = "="
		case "not":
			n.op = "!="
		}
		for _, name := range apart.Split(found[1], -1) {
			if full := resolve(c, v.Name, name); full != "" && strings.Contains(name, "_") { // "if algorithm is forced" names no value
				n.names = append(n.names, full)
			}
		}
		if n.names != nil {
			out = append(out, n)
		}
	}
	return out
}

// resolve returns the name of the control variable that a description means: its whole name, or its end after the component of the
// variable described ("barrier_before" in coll_sync_priority). "": none.
func resolve(c *catalog.Catalog, of, name string) string {
	if strings.EqualFold(name, of) {
		return ""
	}
	for k := range c.Cvars {
		if strings.EqualFold(c.Cvars[k].Name, name) {
			return c.Cvars[k].Name
		}
	}
	for at := strings.LastIndexByte(of, '_'); at > 0; at = strings.LastIndexByte(of[:at], '_') {
		if v := c.Cvar(of[:at+1] + name); v != nil && v.Name != of {
			return v.Name
		}
	}
	return ""
}
