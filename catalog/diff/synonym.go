package diff

import (
	"strings"

	"mpitx/catalog"
)

// synonym is the field of an entry that appeared or vanished while its other name stays.
const synonym = "synonym"

// leastSynonyms is how many variables a component has, at least, for which another one is a second name. Fewer can be alike by chance.
const leastSynonyms = 5

// synonyms notes the other names of control variables that appeared or vanished with their component, while a component with the same
// variables stays: Open MPI 5 has those of btl/sm also under the old name, vader.
func (c *comparison) synonyms(all [2][]*entry) {
	var parts [2]map[string]map[string]*catalog.Variable // by component and the rest of the name
	for s := range all {
		parts[s] = map[string]map[string]*catalog.Variable{}
		for _, x := range all[s] {
			if component, rest := component(x.name); rest != "" {
				if parts[s][component] == nil {
					parts[s][component] = map[string]*catalog.Variable{}
				}
				parts[s][component][rest] = x.Entry.(*catalog.Variable)
			}
		}
	}
	known := [2]map[string]string{{}, {}}
	for i := range c.out.Items {
		it := &c.out.Items[i]
		side := map[Change]int{Vanished: 0, Appeared: 1}[it.Change]
		if it.Kind != catalog.Cvars || it.Change != Vanished && it.Change != Appeared {
			continue
		}
		component, rest := component(it.Name)
		if rest == "" || parts[1-side][component] != nil {
			continue
		}
		other, found := known[side][component]
		if !found {
			other = c.sameComponent(side, component, parts)
			known[side][component] = other
		}
		if other == "" {
			continue
		}
		f := Field{Name: synonym, A: other + "_" + rest}
		if side == 1 {
			f.A, f.B = f.B, f.A
		}
		it.Fields = []Field{f}
	}
}

// component divides the name of a variable: btl_sm and eager_limit.
func component(name string) (component, rest string) {
	i := strings.IndexByte(name, '_')
	j := strings.IndexByte(name[i+1:], '_')
	if i < 0 || j < 0 {
		return name, ""
	}
	return name[:i+1+j], name[i+j+2:]
}

// sameComponent finds the component of both sides that has the same variables on a side; "": none, or several.
func (c *comparison) sameComponent(side int, component string, parts [2]map[string]map[string]*catalog.Variable) (found string) {
	mine := parts[side][component]
	if len(mine) < leastSynonyms {
		return ""
	}
	framework, _, _ := strings.Cut(component, "_")
	for other, theirs := range parts[side] {
		if other == component || len(theirs) != len(mine) || parts[1-side][other] == nil || !strings.HasPrefix(other, framework+"_") {
			continue
		}
		same := true
		for rest, v := range mine {
			w := theirs[rest]
			same = same && w != nil && v.Type == w.Type && v.Description == w.Description && c.setting(side, v, nil).value == c.setting(side, w, nil).value
		}
		if same && found != "" {
			return ""
		}
		if same {
			found = other
		}
	}
	return found
}
