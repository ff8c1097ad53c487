package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/machine/layers"
	"mpitx/recording/finding"
	"mpitx/recording/profile"
	"mpitx/settings"
	"mpitx/tune/campaign"
)

// Subject is a run, and what is known about its library.
type Subject struct {
	Profile  *profile.Profile
	Findings []finding.Finding
	Damaged  bool   // parts of the run cannot be read
	Family   string // of the library: machine.OpenMPI …

	Catalog *catalog.Catalog // of the library with its settings; nil: unknown, then nothing can be tried
	Judge   *settings.Judge
	Default func(cvar string) (value string, ok bool) // what the library has without settings; nil: unknown

	Layers  func(given []string) layers.Known // what UCX says of its settings, and of settings NAME=VALUE; nil: unknown
	Options []string                          // of the launcher that settings may give; nil: unknown, or none
	PRRTE   func() map[string]bool            // parameters of the launcher of Open MPI from 5.0 on; nil: unknown

	Unexpected float64 // the part of the messages that came before their receive; 0: none, or unknown
	NUMANodes  int     // of each node; 0: unknown
	rules      []Rule  // that Propose asks

	placed struct { // see Placement
		done, unknown bool
		better        *Placement
		why           string
	}
}

// Now is the value of a setting in the run, by its name in the enumeration if it has one; "" if it is not known.
func (s *Subject) Now(name string) string {
	switch {
	case s.Catalog == nil || settings.IsOption(name):
		return ""
	case settings.IsEnvironment(name):
		return s.outside(name).now
	}
	return Value(s.Catalog, name)
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
	s.rules = rules
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
				idle := ""
				if p.Try, p.Left, idle = s.candidates(r, f, p.Text); len(p.Try) == 0 && p.Look == "" && idle != "" {
					p.Text += "; " + idle
					p.Look = "mpitx report RUN " + map[bool]string{true: "algorithms", false: "paths"}[f.name == "collective"]
				}
			}
			if len(p.Try) > 0 || p.Look != "" || s.Catalog == nil {
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
