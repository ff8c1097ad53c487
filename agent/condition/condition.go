// Package condition reads conditions over an MPI call, such as `pml_ob1_unexpected_msgq_length > 5 and bytes > 64k`, and compiles
// them for the agent, which checks them in the calls of an application.
//
// A condition compares operands with <, <=, >, >=, == and !=, and combines comparisons with and, or, not and parentheses. Operands are:
//
//	5, 64k, 10ms                    numbers; k, M, G, T are powers of 1024, times are in nanoseconds
//	peer, tag, root                 arguments of the call
//	sent, received, bytes, time     what the call transfers, and how long it takes
//	comm, function                  compared with a communicator or a function by == and !=
//	NAME[:CLASS][@world|@self|@comm][[ELEMENT]]   a performance variable; the sum of its elements
//	max(NAME), min(NAME)            the largest, the smallest of its elements
//	delta(NAME), rate(NAME)         its increase since the last check, and per second
//
// A comparison with an argument that the call does not have is neither true nor false.
package condition

import (
	"fmt"
	"slices"
	"strings"
)

// The agent's limits (agent/tools/trigger/trigger.h).
const (
	maxText  = 400
	maxWords = 64
	maxStack = 16
	maxLoads = 8
	maxNames = 8
)

// Condition is a compiled condition.
type Condition struct {
	Text      string
	Variables []Variable // each once
	Values    []string   // the values of variables that the condition reads, as they are written in it
	AtReturn  bool       // it is checked when the call returns, because it needs what is known only then

	words     []string
	names     []string // of communicators
	functions []Function
}

// Variable is a performance variable of a condition.
type Variable struct {
	Name   string // NAME or NAME:CLASS
	Object string // world, self, comm; "" if it is not given
	Column int    // of its first use
}

// Pattern is the pattern that selects the variable for the agent (--pvar).
func (v Variable) Pattern() string {
	switch v.Object {
	case "":
		return v.Name
	case "comm":
		return v.Name + "@all"
	}
	return v.Name + "@" + v.Object
}

// Function is a name or a pattern of functions in a condition.
type Function struct {
	Name   string
	Column int
}

// Error is a mistake in a condition.
type Error struct {
	Text   string
	Column int // from 1, in characters
	What   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%q: %s (column %d)", e.Text, e.What, e.Column)
}

// Arguments are the words for what a call has.
var Arguments = []string{"bytes", "sent", "received", "peer", "tag", "root", "time", "comm", "function"}

// Functions are the names and patterns of functions in the condition.
func (c *Condition) Functions() []Function { return c.functions }

// Parse reads a condition.
func Parse(text string) (*Condition, error) {
	text = strings.Join(strings.Fields(text), " ")
	c := &Condition{Text: text}
	if len(text) > maxText {
		return nil, &Error{text[:40] + "…", maxText, fmt.Sprintf("it has more than %d characters", maxText)}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
		return nil, &Error{text, 1, "it has characters that cannot be displayed"}
	}
	tokens, err := split(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens, into: c}
	if len(tokens) == 1 {
		return nil, p.wrong(tokens[0], "the condition is empty; compare something, such as bytes > 64k")
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.next(); t.kind != end {
		return nil, p.wrong(t, fmt.Sprintf("%s does not belong here; join comparisons with and, or", t))
	}
	root.emit(c)
	if len(c.words) > maxWords || len(c.Values) > maxLoads || depth(c.words) > maxStack {
		return nil, p.wrong(tokens[0], "the condition is too long; use several --when")
	}
	return c, nil
}

// depth is how many operands the agent's stack holds at most.
func depth(words []string) (most int) {
	n := 0
	for _, w := range words {
		switch {
		case slices.Contains(binary, w):
			n--
		case w == "not", strings.HasPrefix(w, "if:"), strings.HasPrefix(w, "unless:"):
		default:
			n++
		}
		most = max(most, n)
	}
	return most
}
