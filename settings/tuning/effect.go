package tuning

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// Effect is what is known about whether a setting of a control variable takes effect.
type Effect struct {
	Arrived    Met         `json:"arrived,omitzero"`    // whether the library has the value that was set; "" if none was set
	Asked      string      `json:"asked,omitzero"`      // the value that was set
	Have       string      `json:"have,omitzero"`       // the value that the library has, or reports, instead
	Unreported string      `json:"unreported,omitzero"` // why the library may have the value that was set although it reports another one
	Written    string      `json:"written,omitzero"`    // why a write has no effect although the library accepts it
	Accepted   Met         `json:"accepted,omitzero"`   // whether the library accepts a write; "" if none was set
	Trial      string      `json:"trial,omitzero"`      // the evidence for Accepted
	Read       When        `json:"read,omitzero"`
	Why        string      `json:"why,omitzero"` // the evidence for Read
	Conditions []Condition `json:"conditions,omitempty"`
	File       string      `json:"-"`               // the source that says that the value names a file or directory which must exist
	Unused     bool        `json:"unused,omitzero"` // MPI_Init unloaded its component, so that it can matter only for the choice of components
}

// Condition is one that the effect depends on.
type Condition struct {
	Text   string   `json:"text"`           // "coll_tuned_use_dynamic_rules must be true"
	Have   string   `json:"have,omitzero"`  // "it is false"; empty if unknown
	Met    Met      `json:"met"`            // whether it is met
	Source string   `json:"source"`         // where it is stated
	Wrong  bool     `json:"wrong,omitzero"` // the value itself is wrong: the library may ignore it, or fail
	Fix    []string `json:"fix,omitempty"`  // assignments NAME=VALUE: any of them meets the condition; nil if none is known
	Of     []string `json:"-"`              // the control variables that decide it
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
	return e.Arrived == "" && e.Written == "" && e.Read == Unknown && len(e.Conditions) == 0 && !e.Unused
}

// FileMissing adds the condition that the named file or directory must exist, which is not met.
func (e *Effect) FileMissing(name string) {
	e.Conditions = append(e.Conditions, Condition{Text: name + " must exist", Have: "it does not", Met: No, Source: e.File, Wrong: true})
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
	e.arriveAll(c, v, enums)
	family, _ := Library(c)
	if r := v.Current(); r != nil && r.Writable == catalog.WritableYes && c.WritesUnused(v) {
		e.Written = catalog.WhyUnused
	}
	e.Unused = c.Before.Read && c.After.Read && v.Before != nil && v.After == nil
	add := func(cond *Condition) {
		if cond == nil || slices.ContainsFunc(e.Conditions, func(o Condition) bool { return o.Text == cond.Text }) {
			return
		}
		e.Conditions = append(e.Conditions, *cond)
	}
	rules := slices.Collect(k.rulesOf(c, v))
	for _, n := range said(c, v) {
		if !slices.ContainsFunc(rules, func(r *rule) bool { return r.implies(n) }) {
			add(judge(c, enums, n, "the library's description"))
		}
	}
	for _, r := range rules {
		if r.read != Unknown {
			e.Read, e.Why = r.read, r.source
		}
		for _, n := range r.needs {
			cond := judge(c, enums, n, r.source)
			if cond != nil && r.across {
				cond.acrossNodes(c)
			}
			add(cond)
		}
		for _, component := range r.selected {
			add(selection(c, component, r.source))
		}
		if r.file {
			e.File = r.source
		}
		e.Unused = e.Unused && !r.unloaded
		add(r.ofPlace(c))
		for cond := range r.ofLibrary(c) {
			add(cond)
		}
		if r.only != "" {
			add(&Condition{Text: "it acts only in " + r.only, Met: CannotTell, Source: r.source})
		}
	}
	// Open MPI calls readonly what only a run's start can set.
	if r := v.After; r != nil && e.Read != Never &&
		(r.Writable == catalog.WritableNotNow || r.Writable == catalog.WritableNever && v.Scope == catalog.ScopeReadonly && family == "openmpi") {
		e.Read, e.Why = AtInit, "the library refuses writes after MPI_Init"
	}
	if e.Read == Never { // other conditions do not matter then
		e.Conditions = []Condition{{Text: "nothing in the library reads it", Met: No, Source: e.Why}}
	}
	return e
}

// arriveAll compares the value that was set with the one that the library has, on all ranks. If it has not arrived on one rank, it has not arrived.
func (e *Effect) arriveAll(c *catalog.Catalog, v *catalog.Variable, enums Enums) {
	settings := c.Settings(v)
	for _, s := range settings {
		var one Effect
		one.arrive(c, s.Variable, enums)
		if one.Have != "" && len(settings) > 1 {
			one.Have += " on rank " + strconv.Itoa(s.Ranks[0])
		}
		if one.Arrived != "" && (e.Arrived == "" || e.Arrived == Yes || one.Arrived == No) {
			*e = one
		}
	}
}

// arrive compares the value that was set with the one that the library has.
func (e *Effect) arrive(c *catalog.Catalog, v *catalog.Variable, enums Enums) {
	r := v.Current()
	if v.Origin == nil || v.Origin.Value == "" {
		return
	}
	e.Arrived, e.Asked = CannotTell, v.Origin.Value
	e.Accepted, e.Trial = accepted(r)
	if !c.After.Read { // MPI_Init failed, or was not called
		e.Accepted, e.Trial = CannotTell, "the library was not read after MPI_Init"
		defer func() {
			if e.Arrived == Yes {
				e.Arrived = CannotTell
			}
		}()
	}
	if r == nil || r.Status != catalog.StatusOK {
		return
	}
	if _, unreported := c.Unreported(v); unreported {
		e.Unreported, e.Have = catalog.WhyUnreported, r.Value.String()
		return
	}
	items := enums(v)
	family, _ := Library(c)
	isFile := family == "openmpi" && strings.HasSuffix(v.Name, "_file_prefix")
	asked, isList := strings.ReplaceAll(e.Asked, ",", "|"), items != nil && items.Flags
	value, err := catalog.ParseValue(v, items, r.Value.Len(), e.Asked)
	switch {
	case err == nil && value == r.Value, same(r.Value, items, e.Asked), isList && same(r.Value, items, asked):
		e.Arrived = Yes
	case err != nil && items == nil && isNumber(r.Value) && family == "openmpi" && startsWithDigit(e.Asked):
		if number, whole := openMPINumber(e.Asked); whole && r.Value.String() == number {
			e.Arrived = Yes
		} else {
			e.Arrived, e.Have = No, r.Value.String()
		}
	case isFile && foundIn(r.Value.String(), e.Asked): // the library found it in a directory
		e.Arrived = Yes
	case family == "openmpi" && translated(v.Name, e.Asked):
	case isNumber(r.Value) && items == nil && err != nil && isName(e.Asked) && (r.Value.String() != "0" || '0' <= e.Asked[0] && e.Asked[0] <= '9'):
		// Only the library understands unlimited. Of a word that it does not understand, C makes 0.
	default:
		e.Arrived, e.Have = No, r.Value.Format(items)
	}
}

// translated reports whether Open MPI makes another value of one: names of interfaces of subnets, and no file of none.
func translated(name, value string) bool {
	subnet := strings.Contains(value, "/")
	return subnet && (strings.HasSuffix(name, "_include") || strings.HasSuffix(name, "_exclude")) || name == "orte_default_hostfile" && value == "none"
}

// foundIn reports whether files are those that were asked for, or ones of these names in directories. Both are lists.
func foundIn(files, asked string) bool {
	have, names := strings.Split(files, ","), strings.Split(asked, ",")
	for i, name := range names {
		if len(have) != len(names) || have[i] != name && !strings.HasSuffix(have[i], "/"+name) {
			return false
		}
	}
	return true
}

// accepted says whether the library accepts a write, and why.
func accepted(r *catalog.Reading) (Met, string) {
	switch {
	case r == nil:
	case r.Writable == catalog.WritableYes:
		return Yes, "writing back the current value succeeded"
	case r.Writable == catalog.WritableNotNow:
		return No, "the library refuses a write at this time"
	case r.Writable == catalog.WritableNever:
		return No, "the library refuses every write"
	case r.Status == catalog.StatusOK && r.Reason != "":
		return CannotTell, r.Reason
	}
	return CannotTell, "no write was tried"
}

// judge compares a condition with the values in the catalog; nil if the library has none of its variables.
func judge(c *catalog.Catalog, enums Enums, n need, source string) *Condition {
	out := &Condition{Met: CannotTell, Source: source}
	var haves []string
	value, other := n.value, c.Cvar(n.value)
	if other != nil && other.Current() != nil {
		value = other.Current().Value.String()
	}
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
		items, have := enums(v), r.Value
		if set, unreported := c.Unreported(v); unreported {
			have = catalog.NewText(set)
		}
		switch {
		case slices.ContainsFunc(n.alternatives(value), func(value string) bool { return meets(have, items, n.op, value) }):
			out.Met = Yes
		case out.Met == CannotTell && (items != nil || !isNumber(have) || !isName(n.alternatives(value)[0])):
			out.Met = No
		}
		if text := have.Format(items); text == "" {
			haves = append(haves, "empty")
		} else {
			haves = append(haves, text)
		}
	}
	text := n.value
	switch {
	case text == "":
		text = "empty"
	case other != nil:
		text += " (" + value + ")"
	default:
		alternatives := n.alternatives(text)
		for k, word := range alternatives {
			alternatives[k] = itemName(enums(c.Cvar(names[0])), word)
		}
		text = strings.Join(alternatives, " or ")
	}
	words := map[string]string{"=": "", "!=": "other than ", "<": "less than ", "<=": "at most ", ">": "greater than ", ">=": "at least "}
	out.Text = strings.Join(names, " or ") + " must be " + words[n.op] + text
	switch {
	case len(haves) == 1 && other != nil:
		out.Have = names[0] + " is " + haves[0]
	case len(haves) == 1:
		out.Have = "it is " + haves[0]
	case len(haves) > 1:
		out.Have = "they are " + strings.Join(haves, " and ")
	}
	if out.Of = names; other != nil {
		out.Of = append(slices.Clone(names), other.Name)
	}
	if fix, ok := n.fix(value); ok {
		for _, name := range names {
			out.Fix = append(out.Fix, name+"="+spelt(c.Cvar(name), enums, fix))
		}
	}
	return out
}

// alternatives lists the accepted values: one match is enough.
func (n *need) alternatives(value string) []string {
	if n.op != "=" {
		return []string{value}
	}
	return strings.Split(value, "|")
}

// implies reports whether a rule requires one of some values of the variable that a description only needs to differ from another.
func (r *rule) implies(said need) bool {
	return said.op == "!=" && slices.ContainsFunc(r.needs, func(n need) bool { return n.op == "=" && slices.Equal(n.names, said.names) })
}

// fix returns a value that meets the condition; value is what it compares with.
func (n *need) fix(value string) (string, bool) {
	if n.op == "=" {
		return n.alternatives(value)[0], true
	}
	step, ok := map[string]int64{"<": -1, "<=": 0, ">=": 0, ">": 1}[n.op]
	number, err := strconv.ParseInt(value, 10, 64)
	return strconv.FormatInt(number+step, 10), ok && err == nil
}

// meets compares a value with a word: equality by text, item or truth without case, order by number.
func meets(v catalog.Value, e *catalog.Enum, op, want string) bool {
	switch op {
	case "=":
		return same(v, e, want) || v.Type().Form() == catalog.FormText && (isTrue(want) && !isFalse(v.String()) || isFalse(want) && v.String() == "")
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

// spelt is a truth value as a variable takes it: a text or a number has none.
func spelt(v *catalog.Variable, enums Enums, value string) string {
	r := v.Current()
	if r == nil || r.Status != catalog.StatusOK || enums(v) != nil || r.Value.Type().Form() != catalog.FormText && !isNumber(r.Value) {
		return value
	}
	switch value {
	case "true":
		return "1"
	case "false":
		return "0"
	}
	return value
}

// itemName returns the name of an enumeration's item if a word is its number, else the word.
func itemName(e *catalog.Enum, word string) string {
	if number, err := strconv.Atoi(word); err == nil && e != nil {
		if k := slices.IndexFunc(e.Items, func(i catalog.Item) bool { return i.Value == number }); k >= 0 {
			return e.Items[k].Name
		}
	}
	return word
}

func isTrue(word string) bool {
	return slices.Contains([]string{"true", "t", "yes", "y", "on", "enabled"}, strings.ToLower(word))
}

func isFalse(word string) bool {
	return slices.Contains([]string{"", "0", "false", "f", "no", "n", "off", "disabled"}, strings.ToLower(word))
}

// isName reports whether a word is neither a number nor a truth value, so that only an enumeration can tell which number it is.
func isName(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err != nil && !isTrue(word) && !isFalse(word)
}

// same reports whether a value is the one that a word means. Any number but 0 is true.
func same(v catalog.Value, e *catalog.Enum, want string) bool {
	have := v.String()
	switch {
	case strings.EqualFold(v.Format(e), want), strings.EqualFold(have, want):
		return true
	case isTrue(want) && e != nil && slices.ContainsFunc(e.Items, func(i catalog.Item) bool { return i.Name == "true" }):
		return isTrue(v.Format(e)) // auto is not
	case isTrue(want):
		n, err := strconv.ParseInt(have, 10, 64)
		return err == nil && n != 0 || have == "true"
	case want != "" && isFalse(want):
		return have == "0" || have == "false"
	}
	if n, err := strconv.ParseInt(want, 0, 64); err == nil && n != 0 {
		negative := n < 0 && v.Type().Form() == catalog.FormUnsigned && have == strconv.FormatUint(uint64(n), 10)
		return negative || strings.EqualFold(v.Format(e), "true")
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
		return "never"
	}
	return "at a time that is not known"
}

// AcceptedWords says whether the library accepts a write.
func (e *Effect) AcceptedWords() string {
	if e.Accepted == CannotTell {
		return "not known"
	}
	return string(e.Accepted)
}

// String is the condition in one sentence: "coll_tuned_use_dynamic_rules must be true; it is false".
func (c *Condition) String() string {
	switch {
	case c.Have != "":
		return c.Text + "; " + c.Have
	case c.Met == CannotTell:
		return c.Text + "; whether it holds is not known"
	}
	return c.Text
}

// Advice is the condition in one sentence, and what would meet it if it is not met: "…; it is false; set coll_tuned_use_dynamic_rules=true
// too".
func (c *Condition) Advice() string {
	if c.Met != No || c.Fix == nil {
		return c.String()
	}
	return c.String() + "; set " + strings.Join(c.Fix, " or ") + " too"
}

// Verdict says that the setting has no effect, or is wrong, because of the condition, and what would help.
func (c *Condition) Verdict() string {
	if c.Wrong {
		return "is wrong: " + c.Advice()
	}
	return "has no effect now: " + c.Advice()
}
