package tuning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// Effect is what is known about whether a setting of a control variable takes effect.
type Effect struct {
	Arrived    Met         `json:"arrived,omitzero"` // whether the library has the value that was set; "" if none was set
	Asked      string      `json:"asked,omitzero"`   // the value that was set
	Have       string      `json:"have,omitzero"`    // the value that the library has instead
	Read       When        `json:"read,omitzero"`
	Why        string      `json:"why,omitzero"` // the evidence for Read
	Conditions []Condition `json:"conditions,omitempty"`
	Unused     bool        `json:"unused,omitzero"` // MPI_Init unloaded its component, so that it can matter only for the choice of components
}

// Condition is one that the effect depends on.
type Condition struct {
	Text   string   `json:"text"`          // "coll_tuned_use_dynamic_rules must be true"
	Have   string   `json:"have,omitzero"` // "it is false"; empty if unknown
	Met    Met      `json:"met"`           // whether it is met
	Source string   `json:"source"`        // where it is stated
	Fix    []string `json:"fix,omitempty"` // assignments NAME=VALUE, one of which would meet it; nil if none is known
}

// Met says whether a condition is met.
type Met string

// The answers.
const (
	Yes        Met = "yes"
	No         Met = "no"
	CannotTell Met = "unknown"
)

// IsZero reports whether nothing is known.
func (e *Effect) IsZero() bool {
	return e.Arrived == "" && e.Read == Unknown && len(e.Conditions) == 0 && !e.Unused
}

// Fails returns the first condition that is not met, or nil.
func (e *Effect) Fails() *Condition {
	k := slices.IndexFunc(e.Conditions, func(c Condition) bool { return c.Met == No })
	if k < 0 {
		return nil
	}
	return &e.Conditions[k]
}

// Enums returns the enumeration of a variable's values, also one that the library describes in words only; nil if there is none.
type Enums func(*catalog.Variable) *catalog.Enum

// Effect returns what is known about settings of a control variable of a catalog.
func (k *Knowledge) Effect(c *catalog.Catalog, v *catalog.Variable, enums Enums) Effect {
	var e Effect
	e.arrive(v, enums)
	family, version := Library(c)
	e.Unused = c.Before.Read && c.After.Read && v.Before != nil && v.After == nil
	add := func(cond *Condition) {
		if cond == nil || slices.ContainsFunc(e.Conditions, func(o Condition) bool { return o.Text == cond.Text }) {
			return
		}
		e.Conditions = append(e.Conditions, *cond)
	}
	for _, n := range said(c, v) {
		add(judge(c, enums, n, "its description"))
	}
	for _, r := range k.rules {
		if r.family != family || !r.versions.has(version) || !r.name.MatchName(v.Name) {
			continue
		}
		if r.read != Unknown {
			e.Read, e.Why = r.read, r.source
		}
		for _, n := range r.needs {
			add(judge(c, enums, n, r.source))
		}
		for _, component := range r.selected {
			add(selection(c, component, r.source))
		}
	}
	// Open MPI calls readonly what only a run's start can set.
	if r := v.After; r != nil && e.Read != Never &&
		(r.Writable == catalog.WritableNotNow || r.Writable == catalog.WritableNever && v.Scope == catalog.ScopeReadonly && family == "openmpi") {
		e.Read, e.Why = AtInit, "the library refuses writes after MPI_Init"
	}
	return e
}

// arrive compares the value that was set with the one that the library has.
func (e *Effect) arrive(v *catalog.Variable, enums Enums) {
	r := v.Current()
	if v.Origin == nil || v.Origin.Value == "" {
		return
	}
	e.Arrived, e.Asked = CannotTell, v.Origin.Value
	if r == nil || r.Status != catalog.StatusOK {
		return
	}
	items := enums(v)
	asked, isList := strings.ReplaceAll(e.Asked, ",", "|"), items != nil && items.Flags
	switch {
	case same(r.Value, items, e.Asked), isList && same(r.Value, items, asked):
		e.Arrived = Yes
	case isNumber(r.Value) && items == nil && isName(e.Asked): // such as 64k, which only the library understands
	default:
		e.Arrived, e.Have = No, r.Value.Format(items)
	}
}

// selection judges the condition that a component of Open MPI is selected: those that are not are unloaded with their variables.
func selection(c *catalog.Catalog, component, source string) *Condition {
	framework, name, _ := strings.Cut(component, "_")
	out := &Condition{Text: fmt.Sprintf("%s %s must be selected", framework, name), Met: CannotTell, Source: source}
	if !c.After.Read {
		return out
	}
	out.Met, out.Have = No, "it is not"
	if slices.ContainsFunc(c.Cvars, func(v catalog.Variable) bool { return v.After != nil && strings.HasPrefix(v.Name, component+"_") }) {
		out.Met, out.Have = Yes, "it is"
	}
	return out
}

// judge compares a condition with the values in the catalog; nil if the library has none of its variables.
func judge(c *catalog.Catalog, enums Enums, n need, source string) *Condition {
	out := &Condition{Met: CannotTell, Source: source}
	var haves []string
	names := slices.DeleteFunc(slices.Clone(n.names), func(name string) bool { return c.Cvar(name) == nil })
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		v := c.Cvar(name)
		r := v.Current()
		if r == nil || r.Status != catalog.StatusOK {
			continue
		}
		want := n.value
		if other := c.Cvar(n.value); other != nil && other.Current() != nil {
			want = other.Current().Value.String()
		}
		items := enums(v)
		switch {
		case meets(r.Value, items, n.op, want):
			out.Met = Yes
		case out.Met == CannotTell && (items != nil || !isNumber(r.Value) || !isName(want)):
			out.Met = No
		}
		if text := r.Value.Format(items); text == "" {
			haves = append(haves, "empty")
		} else {
			haves = append(haves, text)
		}
	}
	value := n.value
	if value == "" {
		value = "empty"
	}
	words := map[string]string{"=": "", "!=": "other than ", "<": "less than ", "<=": "at most ", ">": "greater than ", ">=": "at least "}
	out.Text = strings.Join(names, " or ") + " must be " + words[n.op] + value
	if len(haves) == 1 {
		out.Have = "it is " + haves[0]
	} else if len(haves) > 1 {
		out.Have = "they are " + strings.Join(haves, " and ")
	}
	if n.op == "=" {
		for _, name := range names {
			out.Fix = append(out.Fix, name+"="+n.value)
		}
	}
	return out
}

// meets compares a value with a word: equality by text, item or truth without case, order by number.
func meets(v catalog.Value, e *catalog.Enum, op, want string) bool {
	switch op {
	case "=":
		return same(v, e, want)
	case "!=":
		return !same(v, e, want)
	}
	a, errA := strconv.ParseFloat(v.String(), 64)
	b, errB := strconv.ParseFloat(want, 64)
	return errA == nil && errB == nil && holds(cmp.Compare(a, b), op)
}

// isNumber reports whether a value is one whole number.
func isNumber(v catalog.Value) bool {
	form := v.Type().Form()
	return form == catalog.FormSigned || form == catalog.FormUnsigned
}

// isName reports whether a word is neither a number nor a truth value, so that only an enumeration can tell which number it is.
func isName(word string) bool {
	switch strings.ToLower(word) {
	case "", "true", "yes", "on", "enabled", "false", "no", "off", "disabled":
		return false
	}
	_, err := strconv.ParseFloat(word, 64)
	return err != nil
}

// same reports whether a value is the one that a word means. Any number but 0 is true.
func same(v catalog.Value, e *catalog.Enum, want string) bool {
	have := v.String()
	if strings.EqualFold(v.Format(e), want) || strings.EqualFold(have, want) {
		return true
	}
	switch strings.ToLower(want) {
	case "true", "yes", "on", "enabled":
		n, err := strconv.ParseInt(have, 10, 64)
		return err == nil && n != 0 || have == "true"
	case "false", "no", "off", "disabled", "0":
		return have == "0" || have == "false"
	case "1":
		return have == "true"
	}
	return false
}

// Words says when a variable is read, as the end of a sentence that starts with "it is read ".
func (w When) Words() string {
	switch w {
	case AtInit:
		return "once, in MPI_Init"
	case AtCommunicator:
		return "when a communicator is created (MPI_COMM_WORLD in MPI_Init)"
	case AtWindow:
		return "when a window is created"
	case AtFile:
		return "when a file is opened"
	case AtCall:
		return "at each call"
	case Never:
		return "never: it only informs"
	}
	return "at a time that is not known"
}

// String is the condition in one sentence: "coll_tuned_use_dynamic_rules must be true; it is false".
func (c *Condition) String() string {
	if c.Have == "" {
		return fmt.Sprintf("%s; whether it holds is not known", c.Text)
	}
	return c.Text + "; " + c.Have
}
