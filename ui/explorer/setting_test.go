package explorer

import (
	"testing"

	"mpitx/catalog"
)

// S asks for a value if there is none to repeat: a placeholder is of no use in the clipboard.
func TestCopySetting(t *testing.T) {
	how := func(_ *catalog.Catalog, all []Setting) []string {
		v, value := all[0].V, all[0].Value
		if value.IsZero() {
			return []string{"export X_" + v.Name + "=VALUE"}
		}
		return []string{"export X_" + v.Name + "=" + value.String()}
	}
	c := &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{
		{Kind: catalog.Cvars, Name: "empty", Type: catalog.TypeChar, After: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText(""), Count: 64}},
		{Kind: catalog.Cvars, Name: "failed", Type: catalog.TypeInt, After: &catalog.Reading{Status: catalog.StatusError}},
		{Kind: catalog.Cvars, Name: "full", Type: catalog.TypeChar, After: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText("tcp"), Count: 64}},
	}}}
	m := explorer(t, c, Options{HowToSet: how}, 80, 24)
	contains(t, m, "(S asks for a value and copies the first)")
	press(m, "S")
	contains(t, m, "value for the next run", "type the value for the next run")
	press(m, "enter", "'self", "enter")
	contains(t, m, "copied export X_empty=self", "NAME")
	press(m, "S", "esc")
	lacks(t, m, "copied", "value for the next run")
	press(m, "j", "S", "'x", "enter")
	contains(t, m, "is not a value of type int")
	press(m, "backspace", "'12", "enter")
	contains(t, m, "copied export X_failed=12")
	press(m, "j")
	contains(t, m, "(S copies the first)")
	press(m, "S")
	contains(t, m, "copied export X_full=tcp")
	m = explorer(t, c, Options{}, 80, 24)
	press(m, "S")
	contains(t, m, "mpitx knows no way to set empty for a run")
}
