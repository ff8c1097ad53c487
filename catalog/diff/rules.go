package diff

import (
	_ "embed"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed rules.txt
var ruleText string

// rules say how much changes matter.
type rules struct {
	changes map[string]change
	byFirst map[string][]*rule // by the first word of the name, with those for any word, in order
	any     []*rule            // for any first word
	process map[string]bool    // control variables whose values differ between processes by nature

	uninitialized map[string]bool // control variables that no library initializes
	follows       []follows
	known         map[string]*rule // by name
}

type change struct {
	factor float64 // percent
	reason string
}

type rule struct {
	weight  int
	whole   bool     // the pattern is for the whole name
	needles []string // every match contains one of these; nil: not known
	pattern *regexp.Regexp
	reason  string
}

// builtinRules returns the rules of rules.txt. A test checks that they parse.
func builtinRules() *rules {
	r, err := compiled()
	if err != nil {
		panic(err)
	}
	return &rules{changes: r.changes, byFirst: r.byFirst, any: r.any, process: r.process, uninitialized: r.uninitialized, follows: r.follows, known: map[string]*rule{}}
}

var compiled = sync.OnceValues(func() (*rules, error) { return parseRules(ruleText) })

func parseRules(text string) (*rules, error) {
	r := &rules{changes: map[string]change{}, process: map[string]bool{}, uninitialized: map[string]bool{}, byFirst: map[string][]*rule{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		bad := func(why string) (*rules, error) { return nil, fmt.Errorf("rules.txt:%d: %s", n, why) }
		if names := map[string]map[string]bool{"process": r.process, "uninitialized": r.uninitialized}[words[0]]; names != nil {
			for _, name := range words[1:] {
				names[name] = true
			}
			continue
		}
		if len(words) < 3 {
			return bad("too few words")
		}
		if words[0] == "follows" {
			if len(words) != 4 && len(words) != 6 || words[2] != "=" || len(words) == 6 && words[4] != "+" {
				return bad("is not follows NAME = NAME [+ NAME]")
			}
			of := []string{words[3]}
			if len(words) == 6 {
				of = append(of, words[5])
			}
			r.follows = append(r.follows, follows{words[1], of})
			continue
		}
		number := words[1]
		if words[0] == "change" {
			number = words[2]
		}
		x, err := strconv.Atoi(number)
		if err != nil || x < 0 || x > 100 {
			return bad(number + " is not a number from 0 to 100")
		}
		switch words[0] {
		case "change":
			r.changes[words[1]] = change{float64(x), strings.Join(words[3:], " ")}
		case "weight":
			if len(words) < 5 {
				return bad("needs a first word, a pattern and a reason")
			}
			p, err := regexp.Compile(words[3])
			if err != nil {
				return bad(err.Error())
			}
			parsed, _ := syntax.Parse(words[3], syntax.Perl) // it compiled
			r.add(words[2], &rule{x, words[2] == "*", needles(parsed), p, strings.Join(words[4:], " ")})
		default:
			return bad(words[0] + " is not change, process, uninitialized, follows or weight")
		}
	}
	return r, nil
}

// needles returns texts; every match of an expression contains one of them. It returns nil if there are no such texts. Looking for them first saves
// most of the time that expressions take.
func needles(re *syntax.Regexp) (best []string) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			some := needles(sub)
			if some == nil {
				return nil
			}
			best = append(best, some...)
		}
	case syntax.OpConcat: // any part will do: the one that is least likely by chance
		for _, sub := range re.Sub {
			if some := needles(sub); shortest(some) > shortest(best) {
				best = some
			}
		}
	}
	return best
}

// shortest is the length of the shortest of some texts.
func shortest(all []string) int {
	if len(all) == 0 {
		return 0
	}
	return len(slices.MinFunc(all, func(a, b string) int { return len(a) - len(b) }))
}

// matches reports whether the rule is for a text.
func (x *rule) matches(text string) bool {
	if x.needles != nil && !slices.ContainsFunc(x.needles, func(n string) bool { return strings.Contains(text, n) }) {
		return false
	}
	return x.pattern.MatchString(text)
}

// add adds a rule after the others.
func (r *rules) add(first string, x *rule) {
	if x.whole {
		r.any = append(r.any, x)
		for word := range r.byFirst {
			r.byFirst[word] = append(r.byFirst[word], x)
		}
		return
	}
	for word := range strings.SplitSeq(first, ",") {
		if r.byFirst[word] == nil {
			r.byFirst[word] = slices.Clone(r.any)
		}
		r.byFirst[word] = append(r.byFirst[word], x)
	}
}

var noRule = &rule{weight: 10, reason: "no effect on speed is known"}

// of returns the rule of a control variable.
func (r *rules) of(name string) *rule {
	if found := r.known[name]; found != nil {
		return found
	}
	found := noRule
	whole := strings.ToLower(name)
	first, rest, _ := strings.Cut(whole, "_")
	list, special := r.byFirst[first]
	if !special {
		list = r.any
	}
	for _, x := range list {
		text := rest
		if x.whole {
			text = whole
		}
		if x.matches(text) {
			found = x
			break
		}
	}
	r.known[name] = found
	return found
}
