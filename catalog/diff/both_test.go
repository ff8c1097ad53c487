package diff

import (
	"testing"
)

// Attributes has both sides of all attributes, those that differ first, and the value of the stage that differs.
func TestAttributes(t *testing.T) {
	side := func(name, file string) Side { return Side{Name: name, Catalog: snapshot(t, file)} }
	d := Compare(side("A", "openmpi-4.1.4"), side("B", "openmpi-6.0.0rc2"), Options{})
	for i := range d.Items {
		it := &d.Items[i]
		equal := false
		all := map[string]Attribute{}
		for _, a := range d.Attributes(it) {
			if a.Differs && equal {
				t.Errorf("%s: %s differs and is not first", it.Name, a.Name)
			}
			equal = !a.Differs
			all[a.Name] = a
			if it.A == nil && a.A != "" || it.B == nil && a.B != "" {
				t.Errorf("%s: %s on the side that lacks it: %+v", it.Name, a.Name, a)
			}
		}
		for _, f := range it.Fields {
			if a := all[f.Name]; !a.Differs || a.A == a.B || isValue(f.Name) && (a.A != f.A || a.B != f.B) {
				t.Errorf("%s: %s is %+v, not %+v", it.Name, f.Name, a, f)
			}
		}
		if it.Name == "coll_han_priority" {
			if a := all["type"]; a.Differs || a.A != "int" || a.B != "int" || all["default"] != (Attribute{"default", "0", "35", true}) {
				t.Errorf("%+v", all)
			}
		}
	}
}
