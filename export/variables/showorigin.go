package variables

import (
	"mpitx/catalog"
	"mpitx/text"
)

// origins writes how the user set a variable, and on which ranks if not on all.
func (p *page) origins(v *catalog.Variable) {
	if !v.IsSet() {
		return
	}
	label, settings := "set", p.c.Settings(v)
	for _, g := range settings {
		s := "not set"
		if o := g.Origin; o != nil {
			s = "by " + either(originWords[o.Kind], p.term.Safe(string(o.Kind))) + " " + p.term.Safe(o.Where)
			if o.Value != "" {
				s += ", to " + p.term.Safe(o.Value)
			}
		}
		if len(settings) > 1 {
			s = text.Ranks(g.Ranks) + ": " + s
		}
		p.entry(label, s)
		label = ""
	}
}
