package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/recording/finding"
	"mpitx/recording/profile"
	"mpitx/settings"
	"mpitx/tune/campaign"
)

// Subject is a run, and what is known about its library.
type Subject struct {
	Profile  *profile.Profile
	Findings []finding.Finding
	Family   string // of the library: machine.OpenMPI …

	Catalog *catalog.Catalog // of the library with its settings; nil: unknown, then nothing can be tried
	Judge   *settings.Judge
	Default func(cvar string) (value string, ok bool) // what the library has without settings; nil: unknown

	Unexpected float64 // the part of the messages that came before their receive; 0: none, or unknown
}

// Now is the value of a control variable in the run, by its name in the enumeration if it has one; "" if it is not known.
func (s *Subject) Now(cvar string) string {
	if s.Catalog == nil {
		return ""
	}
	return Value(s.Catalog, cvar)
}

// Value is the value of a control variable in a catalog, by its name in the enumeration if it has one; "" if it is not known.
func Value(c *catalog.Catalog, cvar string) string {
	v := c.Cvar(cvar)
	if v == nil || v.Current() == nil || v.Current().Status != catalog.StatusOK {
		return ""
	}
	return cmp.Or(c.ItemOf(v, v.Current().Value), v.Current().Value.String())
}

// Proposal is a rule that a run meets, and what may help.
type Proposal struct {
	Rule    *Rule
	Subject string  // "MPI_Allreduce", a variable; "": the whole run
	Share   float64 // of the run's time that it is about
	Text    string
	Look    string // a command to look further; "": none
	Figures finding.Figures
	Try     []campaign.Candidate
	Left    []string // settings that the library has and that cannot be tried, each with the reason
}

// Propose finds what rules say about a run, those about most of its time first. Candidates whose settings are the same are proposed once.
func (s *Subject) Propose(rules []Rule) (all []Proposal) {
	facts := s.facts()
	for k := range rules {
		r := &rules[k]
		if !slices.Contains(r.Families, s.Family) {
			continue
		}
		for i := range facts {
			f := &facts[i]
			if !r.Ifs[0].met(f) || !r.others(facts) {
				continue
			}
			p := Proposal{Rule: r, Subject: f.subject, Share: f.share, Text: f.fill(r.Say), Look: f.fill(r.Look), Figures: f.figures}
			if s.Catalog != nil {
				p.Try, p.Left = s.candidates(r, f, p.Text)
			}
			if len(p.Try) > 0 || r.Look != "" || s.Catalog == nil {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Proposal) int { return cmp.Compare(b.Share, a.Share) })
	seen := map[string]bool{}
	for k := range all {
		all[k].Try = slices.DeleteFunc(all[k].Try, func(c campaign.Candidate) bool {
			key := fmt.Sprint(c.Set)
			defer func() { seen[key] = true }()
			return seen[key]
		})
	}
	return all
}

func (i *If) met(f *fact) bool { return f.name == i.Fact && f.part >= i.Part }

// others reports whether a run meets the conditions of a rule after the first.
func (r *Rule) others(facts []fact) bool {
	for k := range r.Ifs[1:] {
		if !slices.ContainsFunc(facts, func(f fact) bool { return r.Ifs[k+1].met(&f) }) {
			return false
		}
	}
	return true
}

// fill puts the words of a fact in the place of their names in braces.
func (f *fact) fill(text string) string {
	for name, word := range f.words {
		text = strings.ReplaceAll(text, "{"+name+"}", word)
	}
	return text
}

// candidates are the settings of a rule that the library has, takes, and that can act.
func (s *Subject) candidates(r *Rule, f *fact, reason string) (all []campaign.Candidate, left []string) {
	for _, t := range r.Tries {
		name := f.fill(t.Name)
		for _, v := range s.variables(name) {
			for _, value := range s.values(v, t) {
				sets := [][]settings.NameValue{{{Name: v.Name, Value: value}}}
				if t.With != "" {
					sets = nil
					for _, also := range t.Also {
						sets = append(sets, []settings.NameValue{{Name: v.Name, Value: value}, {Name: f.fill(t.With), Value: also}})
					}
				}
				for _, set := range sets {
					whole, why := s.complete(set)
					if why != "" {
						left = append(left, why)
						continue
					}
					group := r.Name + " " + f.subject
					switch f.name {
					case "setting": // what was set may be what other rules try
						group = v.Name
					case "collective": // one algorithm or component serves a function
						group = f.subject
					}
					all = append(all, campaign.Candidate{Name: nameOf(set), Set: whole, Group: group, Rule: r.Name, Reason: reason})
				}
			}
		}
	}
	return all, left
}

func nameOf(set []settings.NameValue) string {
	words := make([]string, len(set))
	for k, n := range set {
		words[k] = n.Name + "=" + n.Value
	}
	return strings.Join(words, " ")
}

// variables are the control variables of a name or pattern that somebody may set.
func (s *Subject) variables(name string) (all []*catalog.Variable) {
	m, err := (&catalog.Filter{Names: []string{name}}).Compile()
	if err != nil {
		return nil
	}
	for k := range s.Catalog.Cvars {
		if v := &s.Catalog.Cvars[k]; m.MatchName(v.Name) && v.Current() != nil && v.Current().Status == catalog.StatusOK {
			all = append(all, v)
		}
	}
	return all
}

// values are those that a rule tries for a variable, without the one that it has.
func (s *Subject) values(v *catalog.Variable, t Try) (all []string) {
	now := v.Current().Value.String()
	items := settings.Enums(s.Judge.Impl, s.Catalog)(v)
	add := func(value string) {
		parsed, err := catalog.ParseValue(v, items, max(v.Current().Count, 1), value)
		if err == nil && parsed.String() == now || value == now || slices.Contains(all, value) {
			return
		}
		all = append(all, value)
	}
	for _, value := range t.Values {
		number, err := strconv.ParseInt(now, 10, 64)
		switch {
		case value == "default":
			if s.Default != nil {
				if text, ok := s.Default(v.Name); ok {
					add(text)
				}
			}
		case value == "each":
			if items == nil {
				continue
			}
			for _, item := range items.Items {
				if !slices.Contains(t.Except, item.Name) {
					add(item.Name)
				}
			}
		case value[0] == '*' || value[0] == '/':
			by, factorErr := strconv.ParseInt(value[1:], 10, 64)
			if err != nil || factorErr != nil || by <= 0 || number <= 0 {
				continue
			}
			if value[0] == '*' {
				add(strconv.FormatInt(number*by, 10))
			} else if number/by > 0 {
				add(strconv.FormatInt(number/by, 10))
			}
		default:
			add(value)
		}
	}
	return all
}

// complete returns settings with what they need; why says why they cannot act.
func (s *Subject) complete(set []settings.NameValue) (whole []settings.NameValue, why string) {
	for _, n := range set {
		v := s.Catalog.Cvar(n.Name)
		if v == nil {
			return nil, n.Name + ": the library has no such variable"
		}
		if err := settings.Takes(s.Judge.Impl, s.Catalog, v, n.Value); err != nil {
			return nil, fmt.Sprintf("%s=%s: %v", n.Name, n.Value, err)
		}
		if _, err := settings.Variable(s.Judge.Impl, n.Name); err != nil {
			return nil, n.Name + ": cannot be set for a run"
		}
		if n.Name == "btl" { // a job with an unknown component ends in MPI_Init
			for _, component := range strings.Split(n.Value, ",") {
				if len(s.variables("btl_"+component+"_eager_limit")) == 0 && component != "" && component[0] != '^' {
					return nil, n.Name + "=" + n.Value + ": the library has no component " + component
				}
			}
		}
		if hint := settings.CrashHint(s.Judge.Impl, func() string { return "" }, n.Name, n.Value); hint != "" {
			return nil, hint
		}
	}
	given, err := s.Judge.Assign(s.Catalog, set)
	if err != nil {
		return nil, err.Error()
	}
	for _, a := range s.Judge.Complete(s.Catalog, given) {
		if len(a.Notes) > 0 {
			return nil, strings.Join(a.Notes, "; ")
		}
		k := slices.IndexFunc(set, func(n settings.NameValue) bool { return n.Name == a.Variable.Name })
		if k >= 0 {
			whole = append(whole, set[k])
			continue
		}
		variable := a.Environment(s.Judge.Impl)
		name, value, ok := strings.Cut(variable, "=")
		if !ok {
			return nil, a.Variable.Name + ": is needed and cannot be set for a run"
		}
		whole = append(whole, settings.NameValue{Name: strings.TrimPrefix(name, "OMPI_MCA_"), Value: value})
	}
	return whole, ""
}

// communicates reports whether a variable is one of those that people tune, and not one that only prints or checks.
func (s *Subject) communicates(v *catalog.Variable) bool {
	if strings.HasSuffix(v.Name, "_verbose") || v.Name == "rmaps_base_oversubscribe" {
		return false
	}
	if _, err := settings.Variable(s.Judge.Impl, v.Name); err != nil {
		return false
	}
	name := strings.ToLower(v.Name)
	if strings.HasPrefix(name, "coll_") || s.Judge.Impl == machine.MPICH && strings.HasSuffix(name, "_algorithm") {
		return true
	}
	for _, g := range s.Judge.Knowledge.Essentials(s.Catalog) {
		if !strings.HasPrefix(g.Title, "Checking") && slices.ContainsFunc(g.Cvars, func(e *catalog.Variable) bool { return e.Name == v.Name }) {
			return true
		}
	}
	return false
}

// Candidates are what a campaign tries for proposals: of each rule in turn, so that a small budget tries something of each.
func Candidates(all []Proposal) (out []campaign.Candidate) {
	for k := 0; ; k++ {
		more := false
		for _, p := range all {
			if k < len(p.Try) {
				out, more = append(out, p.Try[k]), true
			}
		}
		if !more {
			return out
		}
	}
}
