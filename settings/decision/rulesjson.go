package decision

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a value of a JSON document with its line.
type node struct {
	line    int
	kind    jsontext.Kind // '{', '[', '"', '0', 't', 'f', 'n'
	text    string        // of a string or a number
	keys    []string      // of an object, in order; of names given twice the last value, as libraries have it
	lines   []int         // of the keys
	members []*node       // of an object or a list
}

// member is the value of a name; nil if there is none.
func (n *node) member(name string) *node {
	if k := slices.Index(n.keys, name); n.kind == '{' && k >= 0 {
		return n.members[k]
	}
	return nil
}

// parseJSON reads a document; whole: nothing may follow it. An error has the line.
func parseJSON(data []byte, whole bool) (*node, Problem, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	line := lines{data: data}
	root, err := parseNode(d, &line, 0)
	if err == nil && whole {
		if _, err = d.ReadToken(); err == io.EOF {
			err = nil
		} else if err == nil {
			err = errors.New("text follows the document")
		}
	}
	if err == nil {
		return root, Problem{}, true
	}
	text, at := err.Error(), d.InputOffset()
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		text, at = syntactic.Err.Error(), syntactic.ByteOffset
	}
	return nil, Problem{line.of(at), "not JSON: " + text, true}, false
}

// lines finds the lines of growing offsets.
type lines struct {
	data []byte
	at   int64
	line int
}

func (l *lines) of(offset int64) int {
	offset = max(min(offset, int64(len(l.data))), l.at)
	l.line += bytes.Count(l.data[l.at:offset], []byte("\n"))
	l.at = offset
	return l.line + 1
}

const deepest = 200

func parseNode(d *jsontext.Decoder, l *lines, depth int) (*node, error) {
	if depth > deepest {
		return nil, fmt.Errorf("more than %d levels", deepest)
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: token.Kind(), line: l.of(d.InputOffset())}
	switch n.kind {
	case '"', '0':
		n.text = token.String()
	case '[':
		for d.PeekKind() != ']' {
			m, err := parseNode(d, l, depth+1)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, m)
		}
		_, err = d.ReadToken()
	case '{':
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key, line := name.String(), l.of(d.InputOffset())
			m, err := parseNode(d, l, depth+1)
			if err != nil {
				return nil, err
			}
			if k := slices.Index(n.keys, key); k >= 0 {
				n.members[k], n.lines[k] = m, line
				continue
			}
			n.keys, n.lines, n.members = append(n.keys, key), append(n.lines, line), append(n.members, m)
		}
		_, err = d.ReadToken()
	}
	return n, err
}

// readRulesJSON follows ompi_coll_tuned_read_rules_json in coll_tuned_dynamic_file.c of Open MPI 6.0.
func readRulesJSON(root *node, l *Library) *Table {
	t := &Table{Form: JSON, library: l}
	all := root.member("collectives")
	if all == nil || all.kind != '{' {
		t.problem(root.line, true, `expected {"collectives": {…}}`)
		return t
	}
	for k, operation := range all.keys {
		if !slices.Contains(collectives, operation) {
			t.problem(all.lines[k], true, "%q, expected a collective in lower case, such as %q", operation, "allreduce")
			continue
		}
		if all.members[k].kind != '[' {
			t.problem(all.members[k].line, true, "expected a list of rules for sizes of communicators")
			continue
		}
		for _, m := range all.members[k].members {
			t.communicators(m, operation)
		}
	}
	t.finish()
	return t
}

// communicators reads the rules for some communicators.
func (t *Table) communicators(n *node, operation string) {
	of := newRule(n.line, Function(operation))
	of.Of[Ranks] = Range{t.integer(n, "comm_size_min", 0), t.integer(n, "comm_size_max", math.MaxInt64)}
	if d := n.member("comm_rank_distribution"); d != nil {
		switch {
		case d.kind != '"':
			t.problem(d.line, true, `expected "any", "one-per-node" or "single-node"`)
		case d.text == "one-per-node":
			of.Needs = append(of.Needs, Need{d.text, func(c *Call) bool { return c.Ranks == max(c.Nodes, 1) }})
		case d.text == "single-node":
			of.Needs = append(of.Needs, Need{d.text, func(c *Call) bool { return c.Nodes <= 1 }})
		case d.text != "any":
			t.problem(d.line, false, `%q is read as "any", expected "any", "one-per-node" or "single-node"`, d.text)
		}
	}
	rules := n.member("rules")
	if rules == nil || rules.kind != '[' {
		t.problem(n.line, true, `expected a list "rules"`)
		return
	}
	t.unknown(n, "comm_size_min", "comm_size_max", "comm_rank_distribution", "rules")
	for _, m := range rules.members {
		r := *of
		r.Line = m.line
		t.message(m, operation, &r)
		t.Rules = append(t.Rules, &r)
	}
	of.Missing = true // the rules of other communicators are not looked at
	t.Rules = append(t.Rules, of)
}

// message reads a rule for some messages.
func (t *Table) message(n *node, operation string, r *Rule) {
	r.Of[Bytes] = Range{t.integer(n, "msg_size_min", 0), t.integer(n, "msg_size_max", math.MaxInt64)}
	r.Fanout, r.Segment, r.Requests = int(t.integer(n, "faninout", 0)), t.integer(n, "seg_size", 0), int(t.integer(n, "reqs", 0))
	t.unknown(n, "msg_size_min", "msg_size_max", "faninout", "seg_size", "reqs", "alg")
	a, names := n.member("alg"), t.library.Algorithms[operation]
	switch {
	case a != nil && !slices.Contains(tuned, operation):
		t.problem(a.line, true, "\"alg\" of %s crashes MPI_Init: coll tuned has no algorithms of it", r.Function)
		t.Crashes = true
	case a == nil || a.kind != '"' && a.kind != '0':
		t.problem(n.line, false, `no "alg": the library decides as without a file`)
	case a.kind == '"' && slices.Contains(names, a.text):
		r.Number = slices.Index(names, a.text)
	default:
		number, err := strconv.Atoi(a.text)
		if len(names) > 0 && (err != nil || number < 0 || number >= len(names) || names[number] == "") {
			t.problem(a.line, false, "%s has no algorithm %s of %s, expected 0 to %d or %s: it ignores the rule", t.library.Text(), a.text, r.Function,
				len(names)-1, strings.Join(names[1:], ", "))
			r.Never = "its algorithm is unknown"
			return
		}
		r.Number = number
	}
	t.library.judge(r, operation)
}

// integer reads a member that is a whole number or "inf".
func (t *Table) integer(n *node, name string, absent int64) int64 {
	m := n.member(name)
	if m == nil {
		return absent
	}
	number, err := strconv.ParseInt(m.text, 10, 64)
	switch {
	case m.kind == '0' && err == nil:
		if number < 0 {
			t.problem(m.line, false, "%s %d, expected 0 or more", name, number)
		}
		return number
	case m.kind == '"' && (strings.HasPrefix(m.text, "inf") || strings.HasPrefix(m.text, "Inf") || strings.HasPrefix(m.text, "INF")):
		return math.MaxInt64
	}
	t.problem(m.line, true, `%s: expected a whole number or "inf"`, name)
	return absent
}

// unknown warns of members that the library does not read.
func (t *Table) unknown(n *node, names ...string) {
	for k, name := range n.keys {
		if !slices.Contains(names, name) {
			t.problem(n.lines[k], false, "%q is not read, expected one of %s", name, strings.Join(names, ", "))
		}
	}
}
