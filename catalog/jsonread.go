package catalog

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The limits of what is read: beyond any real catalog, and small enough that a hostile file does no harm.
const (
	maxFileSize = 256 << 20 // bytes of a document
	maxDecoded  = 256 << 20 // bytes of all list elements in it, as decoded
	maxNesting  = 100       // of fields that are skipped
)

// ReadError says what is wrong with a document, and where.
type ReadError struct {
	File   string // "" when it did not come from a file
	Line   int    // from 1
	Column int    // from 1, in bytes
	Path   string // the field: "cvars[3].before.value"; "" for the document itself
	Err    error
}

func (e *ReadError) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	} else {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Column)
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *ReadError) Unwrap() error { return e.Err }

// reader is a strict JSON reader over a whole document. Its first error stays, and makes every later call return at
// once with a zero value.
type reader struct {
	s      string
	pos    int
	err    *ReadError
	path   []step
	budget int

	typ       Datatype // of the variable being read, once its type was met
	valueType Datatype // of the value of valueOf, where it has a type of its own
	valueOf   *Reading
	scratch   []byte
	block     *strings.Builder // of keep
}

// step is one step of the path to the field being read: a name, or an index.
type step struct {
	name  string
	index int
}

func (r *reader) push(name string, index int) { r.path = append(r.path, step{name, index}) }
func (r *reader) pop()                        { r.path = r.path[:len(r.path)-1] }

func (r *reader) fail(pos int, err error) {
	if r.err != nil {
		return
	}
	pos = min(pos, len(r.s))
	e := &ReadError{Err: err, Path: r.pathString()}
	e.Line = 1 + strings.Count(r.s[:pos], "\n")
	e.Column = pos - strings.LastIndexByte(r.s[:pos], '\n')
	r.err = e
	r.pos = len(r.s)
}

func (r *reader) failf(pos int, format string, args ...any) {
	r.fail(pos, fmt.Errorf(format, args...))
}

func (r *reader) pathString() string {
	var b strings.Builder
	for _, p := range r.path {
		switch {
		case p.name == "":
			fmt.Fprintf(&b, "[%d]", p.index)
		case b.Len() > 0:
			b.WriteString("." + p.name)
		default:
			b.WriteString(p.name)
		}
	}
	return b.String()
}

// spend charges the decoded size of an element against the document's budget.
func (r *reader) spend(pos, size int) bool {
	if r.budget -= size; r.budget < 0 {
		r.failf(pos, "too many elements: this document would take too much memory")
		return false
	}
	return true
}

// peek skips white space and returns the next byte; 0 at the end.
func (r *reader) peek() byte {
	for r.pos < len(r.s) {
		switch c := r.s[r.pos]; c {
		case ' ', '\t', '\r', '\n':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

var errTruncated = fmt.Errorf("the file ends too early: %w", io.ErrUnexpectedEOF)

// unexpected reports the next byte, which is not what the grammar wants.
func (r *reader) unexpected(want string) {
	if r.pos >= len(r.s) {
		r.fail(r.pos, errTruncated)
		return
	}
	c, n := utf8.DecodeRuneInString(r.s[r.pos:])
	if c == utf8.RuneError && n == 1 {
		r.failf(r.pos, "byte 0x%02x where %s should be", r.s[r.pos], want)
		return
	}
	r.failf(r.pos, "%q where %s should be", c, want)
}

// open reads the opening brace or bracket.
func (r *reader) open(c byte, what string) bool {
	if r.err != nil {
		return false
	}
	if r.peek() != c {
		r.unexpected(what)
		return false
	}
	r.pos++
	return true
}

// more goes to the next member: it reads the comma before it, or the closing brace or bracket behind the last.
func (r *reader) more(first *bool, end byte) bool {
	if r.err != nil {
		return false
	}
	switch c := r.peek(); {
	case c == end:
		r.pos++
		return false
	case *first:
		*first = false
		return true
	case c == ',':
		r.pos++
		return true
	default:
		r.unexpected(fmt.Sprintf("',' or '%c'", end))
		return false
	}
}

// literal reads this word, if it is the next.
func (r *reader) literal(word string) bool {
	r.peek()
	rest := r.s[r.pos:]
	switch {
	case strings.HasPrefix(rest, word):
		r.pos += len(word)
		return true
	case rest != "" && strings.HasPrefix(word, rest):
		r.fail(len(r.s), errTruncated)
	}
	return false
}

// null reads a null, which stands for a field that is not there.
func (r *reader) null() bool { return r.peek() == 'n' && r.literal("null") }

// key reads a member's name and the colon behind it.
func (r *reader) key() string {
	k := r.quoted()
	if r.err != nil {
		return ""
	}
	if r.peek() != ':' {
		r.unexpected("':'")
		return ""
	}
	r.pos++
	return k
}

// number reads a JSON number and returns it as written.
func (r *reader) number() string {
	if r.err != nil {
		return ""
	}
	r.peek()
	start := r.pos
	i := start
	digits := func() bool {
		from := i
		for i < len(r.s) && r.s[i] >= '0' && r.s[i] <= '9' {
			i++
		}
		return i > from
	}
	at := func(set string) bool {
		if i < len(r.s) && strings.IndexByte(set, r.s[i]) >= 0 {
			i++
			return true
		}
		return false
	}
	at("-")
	ok := at("0") || digits()
	if ok && at(".") {
		ok = digits()
	}
	if ok && at("eE") {
		at("+-")
		ok = digits()
	}
	if !ok {
		r.pos = i
		r.unexpected("a number")
		return ""
	}
	r.pos = i
	return r.s[start:i]
}

// integer reads a whole number in a range.
func (r *reader) integer(lo, hi int64) int64 {
	r.peek()
	start := r.pos
	text := r.number()
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		r.failf(start, "%s is not a whole number", clip(text))
	case err != nil || n < lo || n > hi:
		r.failf(start, "%s is out of range: %d to %d", clip(text), lo, hi)
	}
	return n
}

func (r *reader) boolean() bool {
	switch {
	case r.err != nil:
	case r.literal("true"):
		return true
	case !r.literal("false"):
		r.unexpected("true or false")
	}
	return false
}

// skip reads a value of any kind and drops it.
func (r *reader) skip() {
	var open [maxNesting]byte
	depth := 0
	for r.err == nil {
		switch c := r.peek(); c {
		case '{', '[':
			if depth == maxNesting {
				r.failf(r.pos, "nested more than %d deep", maxNesting)
				return
			}
			r.pos++
			open[depth] = c + 2 // the ASCII codes of both closing ones
			depth++
			if r.peek() != open[depth-1] {
				if c == '{' {
					r.key()
				}
				continue
			}
		case '"':
			r.quoted()
		case 't', 'f':
			r.boolean()
		case 'n':
			if !r.null() {
				r.unexpected("null")
			}
		default:
			r.number()
		}
		for r.err == nil && depth > 0 && r.peek() == open[depth-1] {
			r.pos++
			depth--
		}
		if depth == 0 {
			return
		}
		if r.err != nil || r.peek() != ',' {
			r.unexpected(fmt.Sprintf("',' or '%c'", open[depth-1]))
			return
		}
		r.pos++
		if open[depth-1] == '}' {
			r.key()
		}
	}
}

// clip shortens foreign text for an error message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
