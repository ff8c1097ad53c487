package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/recording/paths"
	"mpitx/settings"
	"mpitx/tune/campaign"
)

// target is what a rule sets: a control variable, an environment variable of UCX, or an option of the launcher.
type target struct {
	name   string
	now    string // "": unknown
	usual  string // the value without a setting, if it is known
	known  bool
	values []string
	cvar   *catalog.Variable // nil: it is something else
}

// candidates are the settings of a rule that the library has, takes, and that can act. idle says why one cannot in this run.
func (s *Subject) candidates(r *Rule, f *fact, reason string) (all []campaign.Candidate, left []string, idle string) {
	for _, t := range r.Tries {
		for _, to := range s.targets(f.fill(t.Name)) {
			for _, value := range s.values(to, t) {
				sets := [][]settings.NameValue{{{Name: to.name, Value: value}}}
				if t.With != "" {
					sets = nil
					for _, also := range t.Also {
						sets = append(sets, []settings.NameValue{{Name: to.name, Value: value}, {Name: f.fill(t.With), Value: also}})
					}
				}
				for _, set := range sets {
					whole, why := s.complete(set)
					if why != "" {
						left = append(left, why)
						if strings.Contains(why, changesNothing) {
							idle = cmp.Or(idle, why)
						}
						continue
					}
					group := r.Name + " " + f.subject
					switch f.name {
					case "setting": // what was set may be what other rules try
						group = to.name
					case "collective": // one algorithm or component serves a function
						group = f.subject
					}
					all = append(all, campaign.Candidate{Name: nameOf(set), Set: whole, Group: group, Rule: r.Name, Reason: reason})
				}
			}
		}
	}
	return all, left, idle
}

// Add is a candidate that the user asks for. The notes say why it may have no effect.
func (s *Subject) Add(name, value string) (one campaign.Candidate, notes []string, err error) {
	set := []settings.NameValue{{Name: name, Value: value}}
	one = campaign.Candidate{Name: nameOf(set), Set: set, Group: name, Rule: "--add", Reason: "it was asked for"}
	if settings.IsBeyond(set[0]) {
		if why := s.refused(set[0]); why != "" {
			return one, nil, fmt.Errorf("%s: %s", name, why)
		}
	} else {
		one.Set, notes, err = s.withNeeds(set)
	}
	return one, notes, err
}

// Same reports whether two sets give the same variables the same values, in whatever words and order.
func (s *Subject) Same(a, b []settings.NameValue) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x settings.NameValue) bool {
		return !slices.ContainsFunc(b, func(y settings.NameValue) bool {
			return strings.EqualFold(x.Name, y.Name) && s.parsed(x) == s.parsed(y)
		})
	})
}

// parsed is a value as the library reads it.
func (s *Subject) parsed(n settings.NameValue) string {
	if all, err := s.Judge.Assign(s.Catalog, []settings.NameValue{n}); err == nil && !settings.IsBeyond(n) {
		return all[0].Value.String()
	}
	return n.Value
}

func nameOf(set []settings.NameValue) string {
	words := make([]string, len(set))
	for k, n := range set {
		words[k] = n.Name + "=" + n.Value
	}
	return strings.Join(words, " ")
}

// targets are what a name or pattern of a rule stands for, as far as it may be set.
func (s *Subject) targets(name string) (all []target) {
	if settings.IsBeyond(settings.NameValue{Name: name}) {
		return []target{s.outside(name)}
	}
	for _, v := range s.variables(name) {
		t := target{name: v.Name, now: v.Current().Value.String(), cvar: v}
		if items := settings.Enums(s.Judge.Impl, s.Catalog)(v); items != nil {
			for _, item := range items.Items {
				t.values = append(t.values, item.Name)
			}
		}
		if v.Name == "pml" { // the one that carried messages
			t.now = cmp.Or(s.engine(), t.now)
		}
		if s.Default != nil {
			t.usual, t.known = s.Default(v.Name)
		}
		all = append(all, t)
	}
	return all
}

// engine is the component of Open MPI's pml that carried messages; "": unknown.
func (s *Subject) engine() string {
	for _, p := range s.Profile.Paths {
		for _, c := range p.Carriers {
			if name := map[paths.Layer]string{paths.BTL: "ob1", paths.UCX: "ucx", paths.MTL: "cm"}[c.Layer]; name != "" {
				return name
			}
		}
	}
	return ""
}

// outside is a setting that is none of a control variable.
func (s *Subject) outside(name string) target {
	t := target{name: name}
	if settings.IsOption(name) {
		return t
	}
	if s.Layers != nil {
		known, ok := s.Layers(nil).Setting(name)
		t.now, t.usual, t.known, t.values = known.Default, known.Default, ok, known.Values()
	}
	for _, o := range s.Catalog.Outside {
		if o.Name == name {
			t.now = o.Origin.Value
		}
	}
	return t
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

// values are those that a rule tries, without the present one.
func (s *Subject) values(to target, t Try) (all []string) {
	add := func(value string) {
		if value == to.now || slices.Contains(all, value) {
			return
		}
		if to.cvar != nil {
			parsed, err := catalog.ParseValue(to.cvar, settings.Enums(s.Judge.Impl, s.Catalog)(to.cvar), max(to.cvar.Current().Count, 1), value)
			if err == nil && parsed.String() == to.now {
				return
			}
		}
		all = append(all, value)
	}
	for _, value := range t.Values {
		switch {
		case value == "default" && to.known:
			add(to.usual)
		case value == "default":
		case value == "each":
			for _, word := range to.values {
				if !slices.Contains(t.Except, word) {
					add(word)
				}
			}
		case value[0] == '*' || value[0] == '/':
			number, err := strconv.ParseInt(to.now, 10, 64)
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

// refused says why nothing takes a setting that is none of a control variable.
func (s *Subject) refused(n settings.NameValue) string {
	reader := settings.Reader(n.Name)
	parameter, ofPRRTE := strings.CutPrefix(n.Name, "PRTE_MCA_")
	switch {
	case settings.IsOption(n.Name) && !slices.Contains(s.Options, n.Name):
		return "the launcher has no such option that settings may give" + oneOf(s.Options)
	case settings.IsOption(n.Name):
		return ""
	case ofPRRTE:
		if s.PRRTE == nil || !s.PRRTE()[parameter] {
			return "this launcher has no such parameter, or cannot be asked (prte_info)"
		}
		return ""
	case reader != "UCX":
		return reader + " cannot be asked whether it has this variable"
	case s.Layers == nil:
		return "the settings of UCX are not known here"
	}
	known := s.Layers([]string{n.Name + "=" + n.Value})
	if _, has := known.Setting(n.Name); !has {
		return cmp.Or(known.Fault(n.Name, n.Value), "the library loads no UCX that has this variable")
	}
	return known.Fault(n.Name, n.Value)
}

func oneOf(words []string) string {
	if words == nil {
		return ""
	}
	return "; it has " + strings.Join(words, ", ")
}

// complete returns settings with what they need; why says why they cannot act.
func (s *Subject) complete(set []settings.NameValue) (whole []settings.NameValue, why string) {
	selects := false
	for _, n := range set {
		if settings.IsBeyond(n) {
			if why := s.refused(n); why != "" {
				return nil, n.Name + "=" + n.Value + ": " + why
			}
		} else if why := s.unfit(n); why != "" {
			return nil, why
		}
		if why := s.idle(n); why != "" && !selects {
			return nil, n.Name + "=" + n.Value + changesNothing + why
		}
		selects = selects || !settings.IsBeyond(n)
	}
	whole, notes, err := s.withNeeds(settings.OfCvars(set))
	if err != nil {
		return nil, err.Error()
	}
	for _, n := range set {
		if settings.IsBeyond(n) {
			whole = append(whole, n)
		}
	}
	return whole, strings.Join(notes, "; ")
}

// unfit says why a control variable cannot have a value; "": it can.
func (s *Subject) unfit(n settings.NameValue) string {
	v := s.Catalog.Cvar(n.Name)
	if v == nil {
		return n.Name + ": the library has no such variable"
	}
	if err := settings.Takes(s.Judge.Impl, s.Catalog, v, n.Value); err != nil {
		return fmt.Sprintf("%s=%s: %v", n.Name, n.Value, err)
	}
	if _, err := settings.Variable(s.Judge.Impl, n.Name); err != nil {
		return n.Name + ": cannot be set for a run"
	}
	if n.Name == "btl" || n.Name == "pml" { // a job with an unknown component ends in MPI_Init
		for component := range strings.SplitSeq(n.Value, ",") {
			if component == "vader" && s.hasComponent(n.Name, "sm") {
				return n.Name + "=" + n.Value + ": vader is another name of sm"
			}
			if component != "" && component[0] != '^' && !s.hasComponent(n.Name, component) {
				return n.Name + "=" + n.Value + ": the library has no component " + component
			}
		}
	}
	return settings.CrashHint(s.Judge.Impl, func() string { return "" }, n.Name, n.Value)
}

func (s *Subject) hasComponent(framework, name string) bool {
	if framework == "btl" { // of a component that is left over from an older release, the library has other variables
		return len(s.variables("btl_"+name+"_eager_limit")) > 0
	}
	return slices.ContainsFunc(s.Catalog.Cvars, func(v catalog.Variable) bool { return strings.HasPrefix(v.Name, framework+"_"+name+"_") })
}

// withNeeds returns settings of control variables with what they need, and why they have no effect in spite of that.
func (s *Subject) withNeeds(set []settings.NameValue) (whole []settings.NameValue, notes []string, err error) {
	given, err := s.Judge.Assign(s.Catalog, set)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range s.Judge.Complete(s.Catalog, given) {
		notes = append(notes, a.Notes...)
		if k := slices.IndexFunc(set, func(n settings.NameValue) bool { return strings.EqualFold(n.Name, a.Variable.Name) }); k >= 0 {
			whole = append(whole, set[k])
			continue
		}
		name, value, ok := strings.Cut(a.Environment(s.Judge.Impl), "=")
		if !ok {
			return nil, nil, fmt.Errorf("%s: is needed and cannot be set for a run", a.Variable.Name)
		}
		whole = append(whole, settings.NameValue{Name: strings.TrimPrefix(name, "OMPI_MCA_"), Value: value})
	}
	return whole, notes, nil
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
