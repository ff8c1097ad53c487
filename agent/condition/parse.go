package condition

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/text"
)

type parser struct {
	text   string
	tokens []token
	into   *Condition
	open   int // nested parentheses and nots
}

func (p *parser) wrong(t token, what string) error { return &Error{p.text, column(p.text, t.at), what} }
func (p *parser) peek() token                      { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept skips one of these words.
func (p *parser) accept(words ...string) bool {
	t := p.peek()
	if (t.kind == word || t.kind == symbol) && slices.Contains(words, strings.ToLower(t.text)) {
		p.next()
		return true
	}
	return false
}

func (p *parser) or() (node, error) {
	left, err := p.and()
	for err == nil && p.accept("or", "||") {
		var right node
		right, err = p.and()
		left = &both{"or", "unless", left, right}
	}
	return left, err
}

func (p *parser) and() (node, error) {
	left, err := p.not()
	for err == nil && p.accept("and", "&&") {
		var right node
		right, err = p.not()
		left = &both{"and", "if", left, right}
	}
	return left, err
}

func (p *parser) not() (node, error) {
	first := p.peek()
	if p.open++; p.open > maxWords {
		return nil, p.wrong(first, "too many parentheses")
	}
	defer func() { p.open-- }()
	if p.accept("not", "!") {
		inner, err := p.not()
		return &negation{inner}, err
	}
	if !p.accept("(") {
		return p.comparison()
	}
	inner, err := p.or()
	if err == nil && !p.accept(")") {
		err = p.wrong(first, "the parenthesis is not closed")
	}
	return inner, err
}

var comparisons = map[string]string{"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}

func (p *parser) comparison() (node, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	op := p.next()
	if op.text == "=" {
		return nil, p.wrong(op, "= is not an operator; use ==")
	}
	code := comparisons[op.text]
	if op.kind != symbol || code == "" {
		return nil, p.wrong(op, fmt.Sprintf("a comparison is missing after %s; use < <= > >= == !=", left.at.text))
	}
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); comparisons[t.text] != "" && t.kind == symbol {
		return nil, p.wrong(t, "only two operands can be compared; write a < b and b < c")
	}
	return p.compare(left, op, code, right)
}

// compare checks that two operands can be compared.
func (p *parser) compare(left operand, op token, code string, right operand) (node, error) {
	if right.argument == "comm" || right.argument == "function" {
		left, right = right, left
	}
	switch {
	case left.argument == "comm" || left.argument == "function":
		return p.match(left, op, right)
	case left.kind == aNumber && right.kind == aNumber:
		return nil, p.wrong(op, "both sides are numbers; compare with an argument of the call or a variable")
	}
	for _, o := range []*operand{&left, &right} {
		if o.kind == aText {
			return nil, p.wrong(o.at, fmt.Sprintf("%q is a text; only comm and function are compared with texts", o.at.text))
		}
	}
	left.load.time, right.load.time = right.isTime, left.isTime
	return &comparing{code, left, right}, nil
}

// match is a comparison of comm or function with a name.
func (p *parser) match(what operand, op token, with operand) (node, error) {
	if op.text != "==" && op.text != "!=" {
		return nil, p.wrong(op, fmt.Sprintf("%s is compared with == or !=", what.argument))
	}
	var test string
	name := with.at.text
	switch {
	case with.at.kind == number || with.at.kind == end || with.kind == anArgument:
		example := "world, self or its name"
		if what.argument == "function" {
			example = "MPI_Recv"
		}
		return nil, p.wrong(with.at, fmt.Sprintf("%s is compared with %s", what.argument, example))
	case what.argument == "function":
		test = "function:" + strconv.Itoa(len(p.into.functions))
		p.into.functions = append(p.into.functions, Function{name, column(p.text, with.at.at)})
	case with.at.kind == word && (name == "world" || name == "self"):
		test = "comm:" + name
	case name == "MPI_COMM_WORLD" || name == "MPI_COMM_SELF":
		test = "comm:" + strings.ToLower(strings.TrimPrefix(name, "MPI_COMM_"))
	default:
		test = "comm:" + strconv.Itoa(len(p.into.names))
		p.into.names = append(p.into.names, name)
	}
	if len(p.into.names) >= maxNames || len(p.into.functions) >= maxNames {
		return nil, p.wrong(with.at, fmt.Sprintf("more than %d names in one condition; use several --when", maxNames-1))
	}
	if op.text == "!=" {
		return &negation{&leaf{test}}, nil
	}
	return &leaf{test}, nil
}

var aggregates = []string{"sum", "max", "min", "delta", "rate"}

// operand reads a number, an argument, a variable or a function of a variable.
func (p *parser) operand() (operand, error) {
	t := p.next()
	switch t.kind {
	case end, symbol:
		return operand{}, p.wrong(t, fmt.Sprintf("a number or a name is missing before %s", t))
	case number:
		return p.number(t)
	case quoted: // a name with other characters; or a text, which the other side decides
		if o, err := p.variable(t, "sum"); err == nil {
			return o, nil
		}
		return operand{kind: aText, at: t}, nil
	}
	lower := strings.ToLower(t.text)
	if p.peek().text == "(" && p.peek().kind == symbol {
		open := p.next()
		if !slices.Contains(aggregates, lower) {
			return operand{}, p.wrong(t, fmt.Sprintf("unknown function %s; use %s%s", t.text, strings.Join(aggregates, ", "), catalog.DidYouMean(aggregates, lower)))
		}
		inner := p.next()
		if inner.kind != word && inner.kind != quoted {
			return operand{}, p.wrong(inner, fmt.Sprintf("%s() needs the name of a variable", lower))
		}
		if !p.accept(")") {
			return operand{}, p.wrong(open, "the parenthesis is not closed")
		}
		return p.variable(inner, lower)
	}
	if i := slices.Index(Arguments, lower); i >= 0 {
		return operand{kind: anArgument, at: t, argument: lower, isTime: lower == "time"}, nil
	}
	if slices.Contains([]string{"and", "or", "not"}, lower) {
		return operand{}, p.wrong(t, fmt.Sprintf("a number or a name is missing before %s", t))
	}
	return p.variable(t, "sum")
}

// variable reads NAME[:CLASS][@OBJECT][[ELEMENT]].
func (p *parser) variable(t token, mode string) (operand, error) {
	o := operand{kind: aVariable, at: t, load: load{mode: mode, text: t.text}}
	if mode != "sum" {
		o.load.text = mode + "(" + t.text + ")"
	}
	name := t.text
	if k := strings.IndexByte(name, '['); k >= 0 && t.kind == word {
		element := strings.TrimSuffix(name[k+1:], "]")
		n, err := strconv.ParseUint(element, 10, 20)
		if err != nil || mode != "sum" || len(element)+2 != len(name)-k {
			return o, p.wrong(t, fmt.Sprintf("%s: an element is a number in brackets at the end, such as NAME[3]", t.text))
		}
		o.load.mode, name = strconv.FormatUint(n, 10), name[:k]
	}
	name, object, bound := strings.Cut(name, "@")
	switch {
	case bound && !slices.Contains([]string{"world", "self", "comm"}, object):
		return o, p.wrong(t, fmt.Sprintf("%s: unknown object after @; use world, self or comm (the call's communicator)", t.text))
	case object == "comm" && (mode == "delta" || mode == "rate"):
		return o, p.wrong(t, fmt.Sprintf("%s: calls have different communicators; use @world or @self", mode))
	}
	if _, err := catalog.ParsePattern(name); err != nil || text.IsGlob(name) {
		o.kind = aText // a pattern of functions
		return o, nil
	}
	o.variable = Variable{name, object, column(p.text, t.at)}
	return o, nil
}

var sizes = map[string]float64{"": 1, "k": 1 << 10, "m": 0, "g": 1 << 30, "t": 1 << 40}
var times = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}

// number reads a number with an optional unit.
func (p *parser) number(t token) (operand, error) {
	o := operand{kind: aNumber, at: t}
	digits := strings.TrimRightFunc(t.text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	unit := t.text[len(digits):]
	n, err := strconv.ParseFloat(digits, 64)
	factor, isTime := times[unit]
	if !isTime {
		size := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(unit), "b"), "i")
		factor = sizes[size]
		if size == "m" && unit[0] == 'M' {
			factor = 1 << 20
		}
	}
	switch {
	case err != nil || math.IsInf(n*factor, 0) || strings.ContainsAny(digits, "xX_"):
		return o, p.wrong(t, t.text+" is not a number")
	case factor == 0:
		return o, p.wrong(t, fmt.Sprintf("unknown unit %s; use k, M, G, T for sizes, or ns, us, ms, s for times", unit))
	}
	o.value, o.isTime = n*factor, isTime
	return o, nil
}
