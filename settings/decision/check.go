package decision

import (
	"fmt"
	"slices"

	"mpitx/catalog"
	"mpitx/settings/tuning"
)

// Report is what is known about a file and a library with its present settings.
type Report struct {
	File    string
	Library *Library
	Table   *Table
	Acting  []tuning.Condition // what must hold so that the library uses the file
	Call    *Call              // nil: no call was asked for
	Answer  Answer
}

// Variable is the control variable that names the file; "" if the library has none.
func (l *Library) Variable() string {
	switch {
	case l.han:
		return "coll_han_dynamic_rules_filename"
	case l.composed:
		return "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"
	}
	return map[string]string{"openmpi": "coll_tuned_dynamic_rules_filename", "mpich": "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"}[l.Family]
}

// Check reads a file as the library of a catalog does. effect says what is known about settings of a variable; same reports whether a value of a
// variable names the file. A call with a function is looked up.
func Check(file string, data []byte, l *Library, c *catalog.Catalog, effect func(*catalog.Variable) tuning.Effect, same func(value string) bool, call Call) (*Report, error) {
	table, err := Read(data, l)
	if err != nil {
		return nil, err
	}
	r := &Report{File: file, Library: table.library, Table: table}
	r.acting(c, effect, same)
	r.forced(c)
	if call.Function != "" {
		r.Call, r.Answer = &call, table.Serve(call)
	}
	return r, nil
}

// acting finds out whether the library uses the file.
func (r *Report) acting(c *catalog.Catalog, effect func(*catalog.Variable) tuning.Effect, same func(string) bool) {
	name := r.Library.Variable()
	named := tuning.Condition{Text: name + " must name this file", Met: tuning.No, Have: r.Library.Text() + " has no such variable", Of: []string{name}}
	defer func() { r.Acting = slices.Insert(r.Acting, 0, named) }()
	found := c.Lookup(name)
	if len(found) == 0 {
		return
	}
	v := found[0]
	named.Fix = []string{name + "=" + r.File}
	switch reading := v.Current(); {
	case reading == nil || reading.Status != catalog.StatusOK:
		named.Met, named.Have = tuning.CannotTell, ""
	case same(reading.Value.String()):
		named.Met, named.Have, named.Fix = tuning.Yes, "it does", nil
	case reading.Value.String() == "":
		named.Have = "it is empty"
	default:
		named.Have = "it is " + reading.Value.String()
	}
	for _, cond := range effect(v).Conditions {
		if !cond.Wrong {
			r.Acting = append(r.Acting, cond)
		}
	}
}

// ForcedFirst reports whether a variable that forces the algorithm of a function goes before the file.
func (l *Library) ForcedFirst() bool { return l.Family == "mpich" || l.since(5) }

// forced finds lines whose function has a variable that goes before the file: from 5.0 on, coll_tuned_*_algorithm does.
func (r *Report) forced(c *catalog.Catalog) {
	if r.Library.Family != "openmpi" || !r.Library.ForcedFirst() || r.Library.han {
		return
	}
	for _, rule := range r.Table.Rules {
		for _, v := range c.Lookup("coll_tuned_" + key(rule.Function) + "_algorithm") {
			if reading := v.Current(); rule.Never == "" && reading != nil && reading.Status == catalog.StatusOK && reading.Value.String() != "0" {
				rule.Never = fmt.Sprintf("%s is %s, which goes before the file", v.Name, c.ValueText(v, reading.Value))
			}
		}
	}
}

// Acts reports whether the library uses the file.
func (r *Report) Acts() tuning.Met {
	answer := tuning.Yes
	for _, cond := range r.Acting {
		if cond.Met == tuning.No {
			return tuning.No
		}
		if cond.Met == tuning.CannotTell {
			answer = tuning.CannotTell
		}
	}
	if r.Table.Rejected() {
		return tuning.No
	}
	return answer
}
