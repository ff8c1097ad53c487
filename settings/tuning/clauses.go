package tuning

import (
	"strings"

	"mpitx/catalog"
)

// A description states a condition in a clause that follows a lead: "Only relevant if" coll_tuned_use_dynamic_rules is true. Names in
// words ("the PUT flag is set") are not understood. A description that begins with "If NAME is true," is about that case only.
const (
	effective = `(?:relevant|used|valid|effective|meaningful|applicable|has (?:an )?effect|has (?:a )?meaning|applies|matters)`
	without   = `(?:ignored|invalid|irrelevant|meaningless|has no effect|has no meaning|not (?:\w+ or )?` + effective + `)`
)

var (
	lead = lazy(`(?i)\b(` + without + `),? (?:if|when) |\b` + without + `,? unless ` +
		`|(^)(?:if|when) |\b` + effective + `,? (?:only )?(?:if|when) `)
	clause = lazy(`(?i)^(?:the )?([A-Z][A-Z0-9_]*(?:(?: or |, )[A-Z][A-Z0-9_]*)*)` +
		`(?: (?:is|are|equals) (?:set to )?(>=|<=|!=|>|<|=|not )?| ?(>=|<=|!=|>|<|=)) ?"?([A-Z0-9_.^-]+)"?`)
	apart = lazy(` or |, `)
)

// opposite is the comparison that holds if another does not.
var opposite = map[string]string{"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// said returns the conditions that the description of a variable states about other control variables of the catalog.
func said(c *catalog.Catalog, v *catalog.Variable) (out []need) {
	text := strings.Join(strings.Fields(v.Description), " ")
	for _, at := range lead().FindAllStringSubmatchIndex(text, -1) {
		all, rest := clauses(text[at[1]:])
		negated, first := at[2] >= 0, at[4] >= 0
		if negated && len(all) > 1 || first && !strings.HasPrefix(rest, ",") { // "ignored if both …": either may fail
			continue
		}
		for _, n := range all {
			n.names = resolved(c, v.Name, n.names)
			switch {
			case n.names == nil:
			case negated:
				out = append(out, n.negated()...)
			default:
				out = append(out, n)
			}
		}
	}
	return out
}

// clauses parses the clauses at the start of a text, which "and" separates, and returns the text after them.
func clauses(text string) (out []need, rest string) {
	for rest = text; ; {
		found := clause().FindStringSubmatch(rest)
		if found == nil {
			return out, rest
		}
		n := need{names: apart().Split(found[1], -1), op: strings.TrimSpace(found[2] + found[3]), value: strings.TrimRight(found[4], ".")}
		switch n.op {
		case "":
			n.op = "="
		case "not":
			n.op = "!="
		}
		if strings.EqualFold(n.value, "forced") { // an algorithm, by its number
			n.op, n.value = "!=", "0"
		}
		out, rest = append(out, n), rest[len(found[0]):]
		more := false
		if rest, more = strings.CutPrefix(rest, " and "); !more {
			return out, rest
		}
	}
}

// negated returns what must hold if the clause must not: of several names, each is one too many.
func (n need) negated() (out []need) {
	for _, name := range n.names {
		not := need{names: []string{name}, op: opposite[n.op], value: n.value}
		if not.op == "!=" && strings.EqualFold(not.value, "true") {
			not.op, not.value = "=", "false"
		}
		out = append(out, not)
	}
	return out
}

// resolved returns the names of the control variables that a description means, without those that the library does not have.
func resolved(c *catalog.Catalog, of string, names []string) (out []string) {
	for _, name := range names {
		if full := resolve(c, of, name); full != "" {
			out = append(out, full)
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
