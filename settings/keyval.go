package settings

import (
	"strings"

	"mpitx/catalog"
)

// keyvalLine is what Open MPI makes of a line of a parameter file.
type keyvalLine struct {
	number   int
	text     string
	settings []Setting // "name = value", or mpirun's -mca; without their places
	environ  []Setting // mpirun's -x NAME=value, likewise
	nothing  bool      // it is neither a comment nor empty, and sets nothing
}

// keyval reads a parameter file as Open MPI does (opal/util/keyval, the same from 4.1 to 6.0). It reads tokens, not lines: "a b links = 3" and
// "; links = 3" set links, and so does a comment in the last line, if that does not end with a newline.
type keyval struct {
	rest   string
	inside string // the state: "", "value", "option", "comment"
	line   int
	lines  []keyvalLine
}

// token is a kind of token.
type token int

const (
	done token = iota
	newline
	word
	equals
	value
	mcaOption
	envOption // with a value
	envName   // without one
	strange
)

const (
	keyvalBlanks = " \t\f\v"
	keyvalWord   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
)

func parseKeyval(text string) []keyvalLine {
	k := &keyval{rest: text, line: 1}
	for l := range strings.Lines(text) {
		k.lines = append(k.lines, keyvalLine{number: len(k.lines) + 1, text: strings.Trim(l, fileBlanks)})
	}
	k.lines = append(k.lines, keyvalLine{number: len(k.lines) + 1}) // the end of the text
	for {
		at := k.line
		switch t, text := k.next(); t {
		case done:
			return k.lines
		case newline:
		case word:
			k.assignment(text, at)
		case mcaOption, envOption, envName:
			k.options(t, text, at)
		default:
			k.lines[at-1].nothing = true
		}
	}
}

// assignment reads what follows the first word of a line.
func (k *keyval) assignment(name string, at int) {
	if t, _ := k.next(); t != equals {
		k.lines[at-1].nothing = true
		return
	}
	switch t, text := k.next(); t {
	case word, value:
		k.set(at, name, text)
		k.next()
	case newline, done:
		k.set(at, name, "")
	}
}

// options reads mpirun's options up to the end of the line. Variables of -x are set in the environment.
func (k *keyval) options(t token, text string, at int) {
	for t != newline && t != done {
		switch t {
		case mcaOption:
			name := strings.Fields(text)[1]
			if t, text = k.next(); t != value {
				k.lines[at-1].nothing = true
				return
			}
			k.set(at, name, unquote(strings.TrimRight(text, keyvalBlanks)))
		case envOption:
			name := strings.Trim(strings.Fields(text)[1], "=")
			if t, text = k.next(); t != value {
				return
			}
			l := &k.lines[at-1]
			l.environ = append(l.environ, Setting{Name: name, Origin: catalog.Origin{Value: unquote(strings.TrimRight(text, keyvalBlanks))}})
		}
		t, text = k.next()
	}
}

func (k *keyval) set(at int, name, value string) {
	l := &k.lines[at-1]
	l.settings = append(l.settings, Setting{Name: name, Origin: catalog.Origin{Value: value}})
}

// take cuts a token off the rest.
func (k *keyval) take(n int) string {
	s := k.rest[:n]
	k.rest = k.rest[n:]
	k.line += strings.Count(s, "\n")
	return s
}

// span is the number of characters of a set from a place on.
func (k *keyval) span(at int, set string) int {
	return len(k.rest[at:]) - len(strings.TrimLeft(k.rest[at:], set))
}

// next reads a token.
func (k *keyval) next() (token, string) {
	if k.rest == "" {
		return done, ""
	}
	switch k.inside {
	case "value":
		return k.nextValue()
	case "option":
		return k.nextOption()
	case "comment":
		end := strings.Index(k.rest, "*/")
		if line := strings.IndexByte(k.rest, '\n'); line >= 0 && (end < 0 || line < end) {
			return newline, k.take(line + 1)
		}
		if end < 0 {
			k.take(len(k.rest))
			return done, ""
		}
		k.inside = ""
		return newline, k.take(end + 2)
	}
	return k.nextWord()
}

// nextValue reads the rest of a line after "=".
func (k *keyval) nextValue() (token, string) {
	line, _, ended := strings.Cut(k.rest, "\n")
	text := strings.TrimRight(line, " \t")
	if strings.Trim(line, keyvalBlanks) == "" && ended {
		k.inside = ""
		return newline, k.take(len(line) + 1)
	}
	if text == "" {
		k.take(len(k.rest))
		return done, ""
	}
	return value, k.take(len(text))
}

// nextOption reads the value of an option.
func (k *keyval) nextOption() (token, string) {
	blanks := k.span(0, keyvalBlanks)
	if blanks < len(k.rest) && k.rest[blanks] == '\n' {
		k.inside = ""
		return newline, k.take(blanks + 1)
	}
	n := strings.IndexAny(k.rest, " \t\n")
	if n < 0 {
		n = len(k.rest)
	}
	line, _, _ := strings.Cut(k.rest, "\n")
	if q := k.rest[0]; q == '"' || q == '\'' { // up to the last quote with a blank after it
		for end := len(line) - 1; end > n; end-- {
			if line[end-1] == q && strings.IndexByte(keyvalBlanks, line[end]) >= 0 {
				n = end + k.span(end, keyvalBlanks)
				break
			}
		}
	}
	if n == 0 {
		k.take(1)
		return strange, ""
	}
	k.inside = ""
	return value, k.take(n)
}

// nextWord reads a token outside of values.
func (k *keyval) nextWord() (token, string) {
	blanks := k.span(0, keyvalBlanks)
	line, _, ended := strings.Cut(k.rest, "\n")
	switch {
	case blanks < len(k.rest) && k.rest[blanks] == '\n':
		return newline, k.take(blanks + 1)
	case ended && (line[0] == '#' || strings.HasPrefix(line, "//")):
		return newline, k.take(len(line) + 1)
	case strings.HasPrefix(line, "/*"):
		k.inside = "comment"
		return newline, k.take(2)
	case blanks < len(k.rest) && k.rest[blanks] == '=':
		k.inside = "value"
		return equals, k.take(blanks + 1 + k.span(blanks+1, keyvalBlanks))
	case blanks > 0:
		k.take(blanks)
		return k.next()
	}
	if t, n := k.option(); n > 0 {
		if t != envName {
			k.inside = "option"
		}
		return t, k.take(n)
	}
	if n := k.span(0, keyvalWord); n > 0 {
		return word, k.take(n)
	}
	return strange, k.take(1)
}

// option is the length of an option of mpirun at the start of the rest: -mca NAME, -x NAME= or -x NAME; 0: there is none.
func (k *keyval) option() (t token, n int) {
	name := strings.TrimLeft(k.rest, "-")
	dashes := len(k.rest) - len(name)
	mca := strings.HasPrefix(name, "mca")
	if dashes < 1 || dashes > 2 || !mca && !strings.HasPrefix(name, "x") {
		return 0, 0
	}
	at := dashes + len("x")
	if mca {
		at = dashes + len("mca")
	}
	part := func(set string) bool {
		m := k.span(at, set)
		at += m
		return m > 0
	}
	if !part(keyvalBlanks) || !part(keyvalWord) {
		return 0, 0
	}
	after := part(keyvalBlanks)
	switch {
	case mca && after:
		return mcaOption, at
	case mca:
		return 0, 0
	case at < len(k.rest) && k.rest[at] == '=':
		at++
		part(keyvalBlanks)
		return envOption, at
	}
	return envName, at
}
