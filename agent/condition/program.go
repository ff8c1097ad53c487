package condition

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The program is in postfix notation. An operand is put on a stack, and an operator replaces its operands. if:N and unless:N skip N words
// if the last operand is false or true: then the rest of an and or an or is not needed.
var binary = []string{"eq", "ne", "lt", "le", "gt", "ge", "and", "or"}

type operandKind int

const (
	aNumber operandKind = iota
	anArgument
	aVariable
	aText
)

type operand struct {
	kind     operandKind
	at       token
	value    float64
	isTime   bool
	argument string
	variable Variable
	load     load
}

// load is how a variable is read.
type load struct {
	mode string // one of aggregates, or the number of an element
	time bool   // in nanoseconds
	text string
}

type node interface{ emit(c *Condition) }

type both struct {
	code, skip  string
	left, right node
}

type negation struct{ inner node }

type comparing struct {
	code        string
	left, right operand
}

type leaf struct{ word string }

func (n *both) emit(c *Condition) {
	n.left.emit(c)
	at := len(c.words)
	c.words = append(c.words, "")
	n.right.emit(c)
	c.words = append(c.words, n.code)
	c.words[at] = n.skip + ":" + strconv.Itoa(len(c.words)-at-1)
}

func (n *negation) emit(c *Condition) {
	n.inner.emit(c)
	c.words = append(c.words, "not")
}

func (n *leaf) emit(c *Condition) { c.words = append(c.words, n.word) }

func (n *comparing) emit(c *Condition) {
	n.left.emit(c)
	n.right.emit(c)
	c.words = append(c.words, n.code)
}

func (o *operand) emit(c *Condition) {
	switch o.kind {
	case aNumber:
		c.words = append(c.words, fmt.Sprintf("n%016x", math.Float64bits(o.value)))
	case anArgument:
		c.AtReturn = c.AtReturn || slices.Contains([]string{"bytes", "received", "time"}, o.argument)
		c.words = append(c.words, o.argument)
	case aVariable:
		i := slices.IndexFunc(c.Variables, func(v Variable) bool { return v.Name == o.variable.Name && v.Object == o.variable.Object })
		if i < 0 {
			i = len(c.Variables)
			c.Variables = append(c.Variables, o.variable)
		}
		w := fmt.Sprintf("v%d:%s", i, o.load.mode)
		if o.load.time {
			w += ":ns"
		}
		c.words = append(c.words, w)
		c.Values = append(c.Values, o.load.text)
	}
}

// Trigger is a condition, the functions in whose calls it is checked, and the actions that follow.
type Trigger struct {
	*Condition
	On   []string // names and patterns; none: all functions
	Then Actions
}

// Configuration is the value of the agent's key trigger.
func (t *Trigger) Configuration() string {
	var b strings.Builder
	line := func(key, value string) { fmt.Fprintf(&b, "%s %s\n", key, value) }
	line("text", t.Text)
	if len(t.On) > 0 {
		line("on", strings.Join(t.On, ","))
	}
	for _, v := range t.Variables {
		line("variable", v.Pattern())
	}
	for _, v := range t.Values {
		line("value", v)
	}
	for _, n := range t.names {
		line("name", n)
	}
	for _, f := range t.functions {
		line("function", f.Name)
	}
	if t.AtReturn {
		line("check", "return")
	}
	for _, a := range t.Then.words() {
		line("then", a)
	}
	line("code", strings.Join(t.words, " "))
	return b.String()
}
