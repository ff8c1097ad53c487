package tuning

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// When is the moment at which a library reads a control variable.
type When string

// The moments.
const (
	AtInit         When = "init"         // once, in MPI_Init
	AtCommunicator When = "communicator" // when a communicator is created, MPI_COMM_WORLD in MPI_Init
	AtWindow       When = "window"       // when a window is created
	AtFile         When = "file"         // when a file is opened
	AtCall         When = "call"         // at each call that it is about
	Never          When = "never"        // it is only shown
	Unknown        When = ""
)

// rule is what is known about some variables of a family.
type rule struct {
	at       string // "FILE:LINE"
	family   string
	versions versionRange
	name     *catalog.Matcher
	read     When
	needs    []need
	selected []string // components: "pml_cm"
	across   bool     // the needs hold only for communicators that span nodes; without needs, the effect does
	beyond   []string // components: it serves only processes that none of them connects
	device   string   // a pattern: the device that MPICH was built for
	built    *option  // an option that MPICH was built with
	pvars    string   // a pattern: performance variables that the library must have
	only     string   // where it has an effect, in words
	file     bool     // the value names a file or directory that must exist
	unloaded bool     // it acts although MPI_Init unloads its component's variables
	source   string
}

// need is a condition on another variable. If several may meet it, one is enough.
type need struct {
	at    string // "FILE:LINE" of a rule
	names []string
	op    string
	value string // with "=", several are separated by |, and one is enough
}

// words start the lines of a rule.
var words = []string{"read", "needs", "selected", "across", "beyond", "device", "built", "pvars", "only", "names", "acts", "from"}

var operators = []string{"=", "!=", "<=", ">=", "<", ">"}

// AddRules adds the text of a file of rules. The error names the line that is wrong; the rules before it are added.
func (k *Knowledge) AddRules(file, text string) error {
	var rules []rule
	err := lines(file, text, func(at, line string) error {
		parts := strings.Fields(line)
		if slices.Contains(words, parts[0]) {
			if rules == nil {
				return errors.New("a line FAMILY VERSIONS NAMES must come first")
			}
			return rules[len(rules)-1].add(at, parts[0], strings.TrimSpace(strings.TrimPrefix(line, parts[0])))
		}
		if len(parts) != 3 {
			return errors.New("a rule starts with FAMILY VERSIONS NAMES")
		}
		r := rule{at: at, family: parts[0]}
		var err error
		if err = checkFamily(r.family); err != nil {
			return err
		}
		if r.versions, err = parseVersions(parts[1]); err != nil {
			return err
		}
		if r.name, err = compile(parts[2]); err != nil {
			return err
		}
		rules = append(rules, r)
		return nil
	})
	for n, r := range rules {
		if r.source == "" {
			last := n == len(rules)-1
			rules = rules[:n]
			if !last || err == nil { // else the line that is wrong says more
				err = fmt.Errorf("%s: this rule has no source: add a line from …", r.at)
			}
			break
		}
	}
	k.rules = append(k.rules, rules...)
	return err
}

// Unknown describes the conditions of users' rules on variables that a library does not have, if the rules are for this library.
func (k *Knowledge) Unknown(c *catalog.Catalog) (out []string) {
	family, version := Library(c)
	names := make([]string, len(c.Cvars))
	for i := range c.Cvars {
		names[i] = c.Cvars[i].Name
	}
	for _, r := range k.rules[k.own:] {
		if r.family != family || !r.versions.has(version) || !slices.ContainsFunc(names, r.name.MatchName) {
			continue
		}
		for _, n := range r.needs {
			if c.Cvar(n.names[0]) == nil {
				out = append(out, fmt.Sprintf("%s: needs %s: the library has no such control variable%s", n.at, n.names[0], catalog.DidYouMean(names, n.names[0])))
			}
		}
	}
	return out
}

// rulesOf are the rules about a control variable of a library.
func (k *Knowledge) rulesOf(c *catalog.Catalog, v *catalog.Variable) iter.Seq[*rule] {
	family, version := Library(c)
	return func(yield func(*rule) bool) {
		for n := range k.rules {
			if r := &k.rules[n]; r.family == family && r.versions.has(version) && r.name.MatchName(v.Name) && !yield(r) {
				return
			}
		}
	}
}

func (r *rule) add(at, word, text string) error {
	switch word {
	case "read":
		when := When(text)
		if !slices.Contains([]When{AtInit, AtCommunicator, AtWindow, AtFile, AtCall, Never}, when) {
			return fmt.Errorf("read %s: use init, communicator, window, file, call or never", text)
		}
		r.read = when
	case "needs":
		words := strings.Fields(text)
		if len(words) != 3 || !slices.Contains(operators, words[1]) {
			return fmt.Errorf("needs %s: must be NAME OP VALUE, with one of %s", text, strings.Join(operators, " "))
		}
		r.needs = append(r.needs, need{at: at, names: words[:1], op: words[1], value: strings.Trim(words[2], `"`)})
	case "selected":
		if !isComponent(text) {
			return fmt.Errorf("selected %s: must be FRAMEWORK_COMPONENT", text)
		}
		r.selected = append(r.selected, text)
	case "beyond":
		if r.beyond = strings.Fields(text); len(r.beyond) == 0 || slices.ContainsFunc(r.beyond, func(word string) bool { return !isComponent(word) }) {
			return fmt.Errorf("beyond %s: must be components, FRAMEWORK_COMPONENT", text)
		}
	case "across":
		if text != "nodes" {
			return fmt.Errorf("across %s: use across nodes", text)
		}
		r.across = true
	case "names":
		if text != "file" {
			return fmt.Errorf("names %s: use names file", text)
		}
		r.file = true
	case "acts":
		if text != "unloaded" {
			return fmt.Errorf("acts %s: use acts unloaded", text)
		}
		r.unloaded = true
	case "device":
		if _, err := path.Match(text, ""); err != nil || text == "" {
			return fmt.Errorf("device %s: must be a pattern of devices, such as ch4:*ofi*", text)
		}
		r.device = text
	case "built":
		var err error
		if r.built, err = parseOption(text); err != nil {
			return err
		}
	case "pvars":
		if _, err := compile(text); err != nil || text == "" {
			return fmt.Errorf("pvars %s: must be a pattern of performance variables", text)
		}
		r.pvars = text
	case "only":
		if text == "" {
			return errors.New("only: must say where the variable has an effect")
		}
		r.only = strings.TrimPrefix(text, "in ")
	case "from":
		r.source = text
	}
	return nil
}

// isComponent reports whether a word is FRAMEWORK_COMPONENT.
func isComponent(word string) bool {
	framework, name, _ := strings.Cut(word, "_")
	return framework != "" && name != "" && !strings.Contains(word, " ")
}

// versionRange is a list of comparisons, which must all hold; empty: any version.
type versionRange []struct {
	op      string
	version []int
}

var comparison = lazy(`^(>=|<=|<|>|=)(\d+(?:\.\d+)*)$`)

func parseVersions(word string) (out versionRange, err error) {
	if word == "*" {
		return nil, nil
	}
	for part := range strings.SplitSeq(word, ",") {
		found := comparison().FindStringSubmatch(part)
		if found == nil {
			return nil, fmt.Errorf("%q is not a range of versions; use * or one such as >=4.1,<5", word)
		}
		out = append(out, struct {
			op      string
			version []int
		}{found[1], numbers(found[2])})
	}
	return out, nil
}

func numbers(version string) (out []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

// has reports whether a version is in the range. As many of its numbers count as the range has: 4.1.4 is =4.1, and 5.0 is =5.0.0. A version
// that is not known is in none but the whole range.
func (r versionRange) has(version string) bool {
	if version == "" {
		return len(r) == 0
	}
	for _, c := range r {
		have := numbers(version)
		for len(have) < len(c.version) {
			have = append(have, 0)
		}
		if !holds(slices.Compare(have[:len(c.version)], c.version), c.op) {
			return false
		}
	}
	return true
}

// holds reports whether the outcome of a comparison, as of cmp.Compare, meets an operator.
func holds(order int, op string) bool {
	switch op {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return cmp.Compare(order, 0) >= 0
}
