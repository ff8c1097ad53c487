package settings

import (
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// Complete returns assignments with what they need to have an effect: further ones, each before the first that needs it. Variables that
// the user assigns are left alone. What has no effect in spite of that is among the notes. c is the library without the assignments.
func (j *Judge) Complete(c *catalog.Catalog, given []Assignment) []Assignment {
	s := completion{judge: j, from: c, bare: c, with: c, all: slices.Clone(given)}
	if len(given) > 1 || len(given) == 1 && s.lacks(&given[0]) { // most need nothing
		s.bare, s.with = assuming(c, given), assuming(c, given)
	}
	for k := 0; k < len(s.all); k++ {
		s.complete(k)
	}
	for k := range s.all {
		a := &s.all[k]
		name := a.Variable.Name
		for _, cond := range s.effect(s.with, a).Conditions {
			if cond.Met == tuning.No {
				a.Notes = append(slices.Clone(a.Notes), name+" "+cond.Verdict())
			}
		}
	}
	return s.ordered(len(given))
}

// assuming returns a catalog in which control variables have other values, which nobody set.
func assuming(c *catalog.Catalog, all []Assignment) *catalog.Catalog {
	out := *c
	out.Cvars = slices.Clone(c.Cvars)
	for _, a := range all {
		assign(&out, a)
	}
	return &out
}

func assign(c *catalog.Catalog, a Assignment) {
	if v := c.Cvar(a.Variable.Name); v != nil && !a.Value.IsZero() {
		Assume(c, v.Name, a.Value)
		v.Origin, v.Origins = nil, nil
	}
}

type completion struct {
	judge *Judge
	from  *catalog.Catalog
	bare  *catalog.Catalog // with what the user assigns
	with  *catalog.Catalog // also with what that needs
	all   []Assignment
}

// effect is what is known about an assignment in a catalog.
func (s *completion) effect(c *catalog.Catalog, a *Assignment) tuning.Effect {
	v := c.Cvar(a.Variable.Name)
	if v == nil {
		return tuning.Effect{}
	}
	e := s.judge.Knowledge.Effect(c, v, Enums(s.judge.Impl, c))
	if !a.Value.IsZero() {
		s.judge.FindFile(&e, a.Value.String())
	}
	return e
}

// lacks reports whether an assignment alone needs others.
func (s *completion) lacks(a *Assignment) bool {
	return slices.ContainsFunc(s.effect(s.from, a).Conditions, func(cond tuning.Condition) bool { return cond.Met == tuning.No && cond.Fix != nil })
}

// complete adds what one of the assignments needs, or notes that it needs what was added for another.
func (s *completion) complete(k int) {
	name := s.all[k].Variable.Name
	with := s.effect(s.with, &s.all[k])
	for _, cond := range s.effect(s.bare, &s.all[k]).Conditions {
		if cond.Met == tuning.Yes {
			s.keep(cond.Of, name)
		}
		if cond.Met != tuning.No || cond.Fix == nil {
			continue
		}
		met := !slices.ContainsFunc(with.Conditions, func(other tuning.Condition) bool { return other.Met == tuning.No && other.Text == cond.Text })
		for _, fix := range cond.Fix {
			other, value, _ := strings.Cut(fix, "=")
			if s.take(other, value, name, met) {
				break
			}
		}
	}
}

// keep assigns the present values of variables that meet a condition because something other than the system's files sets them: the next run
// may start without that.
func (s *completion) keep(names []string, by string) {
	for _, name := range names {
		v := s.from.Cvar(name)
		if v == nil || v.Origin == nil || inSystemFile(v.Origin) || s.join(name, by) {
			continue
		}
		r := v.Current()
		if r == nil || r.Status != catalog.StatusOK {
			continue
		}
		value := r.Value
		if set, unreported := s.from.Unreported(v); unreported {
			value = catalog.NewText(set)
		}
		s.add(Assignment{Variable: v, Enum: s.from.Enum(v.Enum), Value: value, NeededBy: []string{by}})
	}
}

// join notes that an assignment is needed by another variable, too. It reports whether the variable is assigned.
func (s *completion) join(name, by string) bool {
	at := slices.IndexFunc(s.all, func(a Assignment) bool { return a.Variable.Name == name })
	if at >= 0 && s.all[at].NeededBy != nil && !slices.Contains(s.all[at].NeededBy, by) {
		s.all[at].NeededBy = append(s.all[at].NeededBy, by)
	}
	return at >= 0
}

// add adds an assignment, and reports whether it can be made for a run.
func (s *completion) add(a Assignment) bool {
	if len(HowToSet(s.judge.Impl, "", []Assignment{a}, text.UTF8)) == 0 {
		return false
	}
	if s.with == s.from {
		s.with = assuming(s.from, nil)
	}
	assign(s.with, a)
	s.all = append(s.all, a)
	return true
}

// take assigns a value that a variable needs of another, and reports whether that helps.
func (s *completion) take(name, value, by string, met bool) bool {
	at := slices.IndexFunc(s.all, func(a Assignment) bool { return a.Variable.Name == name })
	if at >= 0 {
		if met {
			s.join(name, by)
		}
		return met && s.all[at].NeededBy != nil
	}
	v := s.from.Cvar(name)
	if v == nil || met || v.Current() == nil {
		return false
	}
	items := Enums(s.judge.Impl, s.from)(v)
	parsed, err := catalog.ParseValue(v, items, max(v.Current().Count, 1), value)
	if err != nil {
		return false
	}
	return s.add(Assignment{Variable: v, Enum: s.from.Enum(v.Enum), Value: parsed, NeededBy: []string{by}})
}

// ordered puts what was added before the first assignment that needs it. n is the number of those that the user gave.
func (s *completion) ordered(n int) (out []Assignment) {
	var put func(a Assignment)
	done := map[string]bool{}
	put = func(a Assignment) {
		name := a.Variable.Name
		if done[name] {
			return
		}
		done[name] = true
		for _, need := range s.all[n:] {
			if slices.Contains(need.NeededBy, name) {
				put(need)
			}
		}
		out = append(out, a)
	}
	for _, a := range s.all[:n] {
		put(a)
	}
	return out
}
