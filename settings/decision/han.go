package decision

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Han is the form of the rules of Open MPI's component coll han, which name a component for each level of a hierarchy.
const Han Form = "rules of coll han"

// components are those that coll han knows (ompi_coll_han_available_components in coll_han_component.c). xhc is one from 6.0 on.
var components = strings.Fields("self basic libnbc tuned sm adapt han xhc")

// levels are the communicators that rules are for: those of the nodes and between them, which han makes itself, and that of the program.
var levels = strings.Fields("intra_node inter_node global_communicator")

// onGlobal are the operations that coll han serves on communicators of programs (mca_coll_han_comm_query in coll_han_module.c).
var onGlobal = strings.Fields("allgather allreduce barrier bcast gather reduce scatter")

// hanAlgorithms are those of coll han by operation, from number 1 on (coll_han_algorithms.c of 5.0 and 6.0).
var hanAlgorithms = map[string][]string{
	"barrier": {"simple"}, "bcast": {"intra", "simple"}, "reduce": {"intra", "simple", "reproducible"}, "allreduce": {"intra", "simple", "reproducible"},
	"scatter": {"intra", "simple"}, "gather": {"intra", "simple"}, "allgather": {"intra", "simple"},
}

var hanAlgorithmsSince6 = map[string][]string{"scatterv": {"intra"}, "gatherv": {"intra"}, "alltoall": {"smsc"}, "alltoallv": {"smsc"}}

func (l *Library) hanAlgorithms(operation string) []string {
	if all := hanAlgorithmsSince6[operation]; all != nil && l.since(6) {
		return all
	}
	return hanAlgorithms[operation]
}

// isHan reports whether a file is one of coll han: those of coll tuned have numbers only.
func isHan(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		if slices.ContainsFunc(strings.Fields(line), func(word string) bool { return slices.Contains(components, word) }) {
			return true
		}
	}
	return false
}

// word reads as ompi_coll_base_file_getnext_string: up to 32 characters.
func (s *scanner) word() (word string, line int, ok bool) {
	for {
		for s.at < len(s.data) && (s.data[s.at] == ' ' || '\t' <= s.data[s.at] && s.data[s.at] <= '\r') {
			if s.data[s.at] == '\n' {
				s.line++
			}
			s.at++
		}
		start := s.at
		for s.at < len(s.data) && s.at < start+32 && s.data[s.at] != ' ' && (s.data[s.at] < '\t' || s.data[s.at] > '\r') {
			s.at++
		}
		switch {
		case s.at == start:
			return "", s.line, false
		case s.data[start] != '#':
			return string(s.data[start:s.at]), s.line, true
		}
		for s.at < len(s.data) && s.data[s.at] != '\n' {
			s.at++
		}
	}
}

// follows takes a character if it is the next one that is not blank, nor in a comment, as ompi_coll_base_file_peek_next_char_is; end is at the end of
// the file.
func (s *scanner) follows(c byte) (yes, end bool) {
	for ; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case c:
			s.at++
			return true, false
		case '\n':
			s.line++
		case '#':
			for s.at+1 < len(s.data) && s.data[s.at+1] != '\n' {
				s.at++
			}
		case ' ', '\t':
		default:
			return false, false
		}
	}
	return false, true
}

// han is the reader of mca_coll_han_init_dynamic_rules.
type han struct{ classic }

func readHan(data []byte, of *Library) *Table {
	l := *of
	l.han = true
	r := &han{classic{Table: &Table{Form: Han, library: &l}}}
	r.scanner = scanner{data: data, line: 1, skipped: func(line int, word string) {
		r.problem(line, false, "the text %q is skipped, but numbers in it are read; comments start with #", word)
	}}
	r.rules()
	r.finish()
	return r.Table
}

func (r *han) wrong(line int, format string, args ...any) bool {
	r.problem(line, true, format, args...)
	return false
}

func (r *han) rules() {
	count, first, ok := r.number(math.MaxInt32, "the number of collectives")
	if ok && count == 0 {
		ok = r.wrong(first, "0, expected the number of collectives (1 and more)")
	}
	for range count {
		if !ok {
			return
		}
		ok = r.operation()
	}
	if !ok {
		return
	}
	if _, line, more := r.next(); more {
		r.problem(line, false, "the library does not read this and what follows")
	}
}

// operation reads the rules of one collective.
func (r *han) operation() bool {
	name, line, ok := r.word()
	if !ok {
		return r.wrong(line, "end of the file, expected a collective, such as bcast")
	}
	id, err := strconv.Atoi(name)
	switch {
	case slices.Contains(collectives, name):
	case err == nil && id >= 0 && id < len(collectives):
		name = collectives[id]
	default:
		return r.wrong(line, "%q, expected a collective in lower case, such as bcast, or its number (0 to %d)", name, len(collectives)-1)
	}
	function := Function(name)
	for _, rule := range r.Rules {
		if rule.Function == function && rule.Never == "" {
			rule.Never = fmt.Sprintf("line %d starts the rules of %s again", line, function)
		}
	}
	levels, _, ok := r.number(math.MaxInt32, "how many levels follow for %s", function)
	for range levels {
		if !ok || !r.level(name, function) {
			return false
		}
	}
	return ok
}

// level reads the rules of one level.
func (r *han) level(operation, function string) bool {
	number, line, ok := int64(0), 0, false
	if r.library.since(5) {
		var word string
		if word, line, ok = r.word(); !ok {
			return r.wrong(line, "end of the file, expected a level for %s: %s", function, strings.Join(levels, ", "))
		}
		if number = int64(slices.Index(levels, word)); number < 0 {
			n, err := strconv.Atoi(word)
			if number = int64(n); err != nil || n < 0 || n >= len(levels) {
				return r.wrong(line, "%q, expected a level for %s: %s, or 0 to %d", word, function, strings.Join(levels, ", "), len(levels)-1)
			}
		}
	} else if number, line, ok = r.number(int64(len(levels)-1), "a level for %s", function); !ok {
		return false
	}
	name := levels[number]
	for _, rule := range r.Rules {
		if rule.Function == function && rule.Never == "" && rule.Needs[0].Text == name {
			rule.Never = fmt.Sprintf("line %d starts the rules of %s on this level again", line, function)
		}
	}
	count, _, ok := r.number(math.MaxInt32, "how many sizes of communicators follow for %s", function)
	var all []*block
	for k := range count {
		b := &block{}
		if !ok || !r.size(b, k == 0, operation, function, int(number)) {
			return false
		}
		all = append(all, b)
	}
	for k, b := range all {
		ranks := until(b.size, all[k+1:], func(b *block) int64 { return b.size })
		for i, rule := range b.rules {
			rule.Of[Ranks], rule.Of[Bytes] = ranks, until(b.sizes[i], b.sizes[i+1:], func(size int64) int64 { return size })
			rule.Needs = []Need{{name, func(c *Call) bool { return number == 2 && c.Nodes > 1 && c.Ranks > 1 }}}
			r.judgeHan(rule, operation, int(number))
			r.Rules = append(r.Rules, rule)
		}
	}
	return ok
}

// until is from a size to the first of those that follow it in the file and go before it, because the library begins with the last.
func until[T any](from int64, later []T, size func(T) int64) Range {
	r := Range{from, math.MaxInt64}
	for _, one := range later {
		r.Max = min(r.Max, size(one)-1)
	}
	return r
}

// size reads the rules of one size of communicators.
func (r *han) size(b *block, first bool, operation, function string, level int) bool {
	var ok bool
	if b.size, b.line, ok = r.number(math.MaxInt32, "a size of communicators for %s", function); !ok {
		return false
	}
	if b.size < 1 || first && b.size > 1 {
		return r.wrong(b.line, "%d, expected 1: the first rule must be for communicators of 1 rank and more", b.size)
	}
	count, _, ok := r.number(math.MaxInt32, "how many rules follow for %s", function)
	for k := range count {
		if !ok || !r.rule(b, k == 0, operation, function, level) {
			return false
		}
	}
	return ok
}

// rule reads a rule: a size, a component, and what may follow.
func (r *han) rule(b *block, first bool, operation, function string, level int) bool {
	r.decimal = true
	size, line, ok := r.next()
	r.decimal = false
	switch {
	case !ok:
		return r.wrong(line, "end of the file, expected a size of messages for %s", function)
	case size < 0: // the library reads it without a sign
		r.problem(line, false, "%d is read as a very large size", size)
		size = math.MaxInt64
	}
	if first && size > 1 {
		return r.wrong(line, "%d, expected 0: the first rule must be for messages of 0 bytes and more", size)
	}
	rule := newRule(line, function)
	known := components
	if !r.library.since(6) {
		known = components[:7]
	}
	name, at, ok := r.word()
	if !ok || !slices.Contains(known, name) {
		return r.wrong(at, "%q, expected a component: %s", name, strings.Join(known, ", "))
	}
	if rule.Algorithm = name; name == "han" && r.library.since(5) {
		if yes, _ := r.follows('@'); yes && !r.algorithm(rule, operation, function) {
			return false
		}
	}
	if yes, _ := r.follows('['); yes {
		if level != 0 {
			r.problem(r.line, false, "the library does not use lengths of segments; they are for the level %s", levels[0])
		}
		warn := r.skipped
		defer func() { r.skipped = warn }()
		for r.skipped = func(int, string) {}; ; { // as commas are
			closed, end := r.follows(']')
			if closed || end {
				break
			}
			if _, line, ok := r.next(); !ok {
				return r.wrong(line, "end of the file, expected ]")
			}
		}
	}
	b.rules, b.sizes = append(b.rules, rule), append(b.sizes, size)
	return true
}

// algorithm reads an algorithm of han after @.
func (r *han) algorithm(rule *Rule, operation, function string) bool {
	name, line, ok := r.word()
	if !ok {
		return r.wrong(line, "end of the file, expected an algorithm of han")
	}
	all := r.library.hanAlgorithms(operation)
	number, err := strconv.Atoi(name)
	switch {
	case name == "default":
		number = 0
	case len(all) == 0:
		r.Crashes = true
		return r.wrong(line, "an algorithm after @ crashes MPI_Init: coll han has no algorithms of %s", function)
	case slices.Contains(all, name):
		number = 1 + slices.Index(all, name)
	case err != nil || number < 0 || number > len(all):
		return r.wrong(line, "%q, expected an algorithm of %s: default, %s, or 0 to %d", name, function, strings.Join(all, ", "), len(all))
	}
	if rule.Number = number; number > 0 {
		rule.Parameters = []string{"algorithm=" + all[number-1]}
	}
	return true
}

// judgeHan says what a reader might not expect.
func (r *han) judgeHan(rule *Rule, operation string, level int) {
	serves := slices.Contains(onGlobal, operation) || r.library.since(6) && hanAlgorithmsSince6[operation] != nil
	switch {
	case !serves && operation != "allgatherv":
		rule.Never = "coll han does not serve " + rule.Function
	case level == 2 && !serves:
		rule.Never = "coll han serves " + rule.Function + " only on the communicators that it makes itself"
	case level != 2 && rule.Algorithm == "han":
		rule.Note = "han does not serve its own communicators: another component does"
	case rule.Algorithm == "sm" && r.library.since(6):
		rule.Note = "6.0 has no component sm: another one does"
	}
}
