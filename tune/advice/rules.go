// Package advice proposes settings that may make a program faster, by what a run of it shows. What it knows is in a readable file of rules,
// to which users can add. It concludes nothing: whether a setting helps, experiments say (package tune/campaign).
package advice

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"mpitx/machine"
	"mpitx/settings/tuning"
)

//go:embed rules.txt
var ownRules string

// Rule proposes settings for what a run shows.
type Rule struct {
	Name     string
	Families []string
	Ifs      []If
	Say      string // to people; words in braces are those of the fact
	Tries    []Try
	Look     string // a command to look further; "": none
	Wrong    string // when the rule is wrong
	Source   string
}

// If is something that a run must show, and in what part of it at least.
type If struct {
	Fact string // one of Facts, or "finding KIND"
	Part float64
}

// Try is a setting with its values.
type Try struct {
	Name   string
	Values []string // "each", "*4", "default", or values
	Except []string // with "each": these not
	With   string   // a further setting, and
	Also   []string // its values
}

// Facts are what rules may ask for.
var Facts = []string{"collective", "large messages", "messages", "unexpected", "placement", "setting", "one node", "several nodes", "several NUMA nodes", "two ranks", "more ranks than cores", "cores for all", "spare cores", "shared cores", "bound ranks", "shared memory", "late ranks", "fragments"}

const findingFact = "finding "

// OwnRules are those that mpitx comes with.
func OwnRules() []Rule {
	rules, err := ParseRules("mpitx", ownRules)
	if err != nil {
		panic(err) // a test reads them
	}
	return rules
}

// ReadRules are OwnRules and those of the user's configuration directory. A file that is wrong is left out from its first wrong rule on, and
// is one of the problems.
func ReadRules(env *machine.Env) (rules []Rule, problems []error) {
	rules = OwnRules()
	file, content, err := env.ReadConfig("advice.txt")
	if err == nil {
		var more []Rule
		more, err = ParseRules(file, content)
		rules = append(rules, more...)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, fmt.Errorf("%w; the rest of the file is ignored", err))
	}
	return rules, problems
}

// ParseRules reads a file of rules. The error names the line that is wrong; the rules before it are returned.
func ParseRules(file, text string) (rules []Rule, err error) {
	n, start := 0, 0
	var r *Rule
	ends := func() error {
		if r == nil {
			return nil
		}
		if what := r.lacks(); what != "" {
			return fmt.Errorf("%s:%d: the rule %q %s", file, start, r.Name, what)
		}
		rules = append(rules, *r)
		return nil
	}
	for line := range strings.Lines(text) {
		n++
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if !indented {
			if err := ends(); err != nil {
				return rules, err
			}
			start = n
			r, err = newRule(line)
		} else if r == nil {
			err = errors.New("a line FAMILY NAME must come first")
		} else {
			word, rest, _ := strings.Cut(line, " ")
			err = r.add(word, strings.TrimSpace(rest))
		}
		if err != nil {
			return rules, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	err = ends()
	return rules, err
}

// lacks says which line a rule needs; "": none.
func (r *Rule) lacks() string {
	switch {
	case r.Source == "":
		return "has no source: add a line from …"
	case len(r.Ifs) == 0:
		return "has no condition: add a line if …"
	case r.Say == "":
		return "says nothing: add a line say …"
	case len(r.Tries) == 0 && r.Look == "":
		return "proposes nothing: add a line try … or look …"
	case r.Wrong == "":
		return "does not say when it is wrong: add a line wrong …"
	}
	return ""
}

func newRule(line string) (*Rule, error) {
	families, name, ok := strings.Cut(line, " ")
	if !ok {
		return nil, errors.New("a rule starts with FAMILY NAME")
	}
	r := &Rule{Name: strings.TrimSpace(name), Families: strings.Split(families, ",")}
	for _, f := range r.Families {
		if !slices.Contains(tuning.Families, f) {
			return nil, fmt.Errorf("%q is not a family of MPI libraries; use %s", f, strings.Join(tuning.Families, " or "))
		}
	}
	return r, nil
}

func (r *Rule) add(word, rest string) (err error) {
	if rest == "" {
		return fmt.Errorf("%s needs more words", word)
	}
	switch word {
	case "if":
		var i If
		if i, err = parseIf(rest); err == nil {
			r.Ifs = append(r.Ifs, i)
		}
	case "try":
		var t Try
		if t, err = parseTry(rest); err == nil {
			r.Tries = append(r.Tries, t)
		}
	case "say":
		r.Say = rest
	case "look":
		r.Look = rest
	case "wrong":
		r.Wrong = rest
	case "from":
		r.Source = rest
	default:
		err = fmt.Errorf("%q is not a line of a rule; use if, say, try, look, wrong or from", word)
	}
	return err
}

func parseIf(text string) (i If, err error) {
	i.Fact = text
	if words := strings.Fields(text); len(words) > 2 && words[len(words)-1] == "%" {
		percent, err := strconv.ParseFloat(words[len(words)-2], 64)
		if err != nil || percent < 0 || percent > 100 {
			return i, fmt.Errorf("%q is not a percentage", words[len(words)-2])
		}
		i.Fact, i.Part = strings.Join(words[:len(words)-2], " "), percent/100
	}
	if !slices.Contains(Facts, i.Fact) && !strings.HasPrefix(i.Fact, findingFact) {
		return i, fmt.Errorf("%q is no fact; use %s, or finding KIND", i.Fact, strings.Join(Facts, ", "))
	}
	return i, nil
}

func parseTry(text string) (t Try, err error) {
	text, with, has := strings.Cut(text, " with ")
	name, values, ok := strings.Cut(text, "=")
	t.Name = strings.TrimSpace(name)
	if values = strings.TrimSpace(values); !ok || t.Name == "" || values == "" || strings.Contains(t.Name, " ") {
		return t, fmt.Errorf("%q: must be NAME = VALUES", text)
	}
	if except, each := strings.CutPrefix(values, "each but "); each {
		values, t.Except = "each", strings.Split(except, "|")
	}
	t.Values = strings.Split(values, "|")
	if has {
		name, values, ok := strings.Cut(with, "=")
		if t.With, t.Also = strings.TrimSpace(name), strings.Split(strings.TrimSpace(values), "|"); !ok || t.With == "" {
			return t, fmt.Errorf("%q: must be NAME=VALUES", with)
		}
	}
	if slices.Contains(slices.Concat(t.Values, t.Also), "") {
		return t, fmt.Errorf("%q: a value is empty", text)
	}
	return t, nil
}
