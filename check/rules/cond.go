//go:build cgo && linux

package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mpitx/binding"
	"mpitx/check"
)

// cond is a condition of a rule. It is stated once, for the rule, for programs and for reports.
type cond struct {
	ok   bool   // whether it holds
	c    string // the same in C
	want string // what is expected, in words
	got  string // what there is instead
}

// as says in other words what is expected, and but what there is instead.
func (c cond) as(format string, args ...any) cond {
	c.want = fmt.Sprintf(format, args...)
	return c
}

func (c cond) but(format string, args ...any) cond {
	c.got = fmt.Sprintf(format, args...)
	return c
}

// every holds if all conditions do. Its words are those of the conditions that do not.
func every(some ...cond) cond {
	if len(some) == 1 {
		return some[0]
	}
	out := cond{ok: true}
	var c, want, got []string
	for _, one := range some {
		c = append(c, enclosed(one.c, " || "))
		if !one.ok {
			out.ok, want, got = false, append(want, one.want), append(got, one.got)
		}
	}
	out.c, out.want, out.got = strings.Join(c, " && "), strings.Join(slices.Compact(want), ", "), strings.Join(got, ", ")
	return out
}

// either holds if one of the conditions does. Its words are those of the last.
func either(some ...cond) cond {
	var c []string
	for _, one := range some {
		c = append(c, enclosed(one.c, " && "))
	}
	last := some[len(some)-1]
	return cond{slices.ContainsFunc(some, func(one cond) bool { return one.ok }), strings.Join(c, " || "), last.want, last.got}
}

// enclosed puts an expression with another operator in parentheses.
func enclosed(c, operator string) string {
	if strings.Contains(c, operator) {
		return "(" + c + ")"
	}
	return c
}

// is expects a return code, or one of several.
func (c code) is(want ...binding.Error) cond {
	var names []string
	for _, w := range want {
		names = append(names, codeName(w))
	}
	return cond{slices.Contains(want, c.rc), isOneOf(c.c, names), c.routine + " returns " + strings.Join(names, " or "), codeName(c.rc)}
}

// fails expects an error.
func (c code) fails() cond { return cond{!c.ok(), c.c + " != MPI_SUCCESS", "an error", codeName(c.rc)} }

func isOneOf(c string, names []string) string {
	words := make([]string, len(names))
	for k, n := range names {
		words[k] = c + " == " + n
	}
	return strings.Join(words, " || ")
}

// Numbers are compared with Go's numbers and with others of the same type.
func (n *number[T]) is(than any) cond    { return n.compare("==", "", than) }
func (n *number[T]) isnt(than any) cond  { return n.compare("!=", "not ", than) }
func (n *number[T]) ge(than any) cond    { return n.compare(">=", "at least ", than) }
func (n *number[T]) le(than any) cond    { return n.compare("<=", "at most ", than) }
func (n *number[T]) above(than any) cond { return n.compare(">", "above ", than) }
func (n *number[T]) below(than any) cond { return n.compare("<", "below ", than) }

func (n *number[T]) compare(operator, words string, than any) cond {
	var other *number[T]
	switch x := than.(type) {
	case *number[T]:
		other = x
	case T:
		other = named(fmt.Sprint(x), x)
	default:
		other = named(fmt.Sprint(x), T(x.(int)))
	}
	order := cmp.Compare(n.v, other.v)
	ok := map[string]bool{"==": order == 0, "!=": order != 0, ">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0}
	want := words + other.String()
	if operator == "==" {
		want = shown(n.c, want)
	}
	return cond{ok[operator], n.c + " " + operator + " " + other.c, want, shown(n.c, n.String())}
}

// oneOf expects a constant of the standard. Their numbers in mpitx are 1, 2, …
func (n *number[T]) oneOf(names []string) cond {
	return cond{n.v >= 1 && int(n.v) <= len(names), isOneOf(n.c, names), strings.Join(names, " or "), fmt.Sprintf("%s is %s", label(n.c), unknown(n.v))}
}

// unknown is a number of the library that is in no table.
func unknown[T numeric](n T) string {
	if n >= 0x40000000 {
		n -= 0x40000000
	}
	return fmt.Sprint(n)
}

// isNull expects a handle that was freed.
func (h *handle) isNull() cond {
	return cond{h.v == 0, h.c + " == " + h.null, h.null, "another handle"}
}

// equals and differs compare the strings of two buffers, reads compares with a string of Go.
func (b *buffer) equals(other *buffer) cond  { return b.compare("==", other.c, other.String()) }
func (b *buffer) differs(other *buffer) cond { return b.compare("!=", other.c, other.String()) }
func (b *buffer) reads(s string) cond        { return b.compare("==", check.Quote(s), s) }

func (b *buffer) compare(operator, c, s string) cond {
	want := map[string]string{"==": excerpt(s, 60), "!=": "another string"}[operator]
	c = fmt.Sprintf("strcmp(%s, %s) %s 0", b.c, c, operator)
	return cond{(b.String() == s) == (operator == "=="), c, want, excerpt(b.String(), 60)}
}

// notEmpty expects a name of at least one character.
func (b *buffer) notEmpty() cond {
	return cond{b.String() != "", b.c + "[0] != 0", "a name of at least one character", "an empty name"}
}

// ended expects a null character within the first size bytes.
func (b *buffer) ended(size int) cond {
	return cond{bytes.IndexByte(b.b[:size], 0) >= 0, fmt.Sprintf("memchr(%s, 0, %d) != NULL", b.c, size), "a null character", excerpt(string(b.b[:size]), 40)}
}

// same compares the first size bytes of two buffers.
func (b *buffer) same(other *buffer, size int) cond {
	return cond{bytes.Equal(b.b[:size], other.b[:size]), fmt.Sprintf("memcmp(%s, %s, %d) == 0", b.c, other.c, size), other.show(size), b.show(size)}
}

// intact expects that size bytes of a filled buffer are as they were before a call.
func (b *buffer) intact(from, size int) cond {
	rest, mark, c := b.b[from:from+size], strings.Repeat("#", size), b.c
	if from > 0 {
		c = fmt.Sprintf("%s + %d", c, from)
	}
	c = fmt.Sprintf("memcmp(%s, %q, %d) == 0", c, mark, size)
	return cond{string(rest) == mark, c, fmt.Sprintf("nothing after %d bytes", from), fmt.Sprintf("%q", rest)}
}

// same compares the first elements of two arrays.
func (a *array[T]) same(other *array[T], n int) cond {
	return cond{slices.Equal(a.b[:n], other.b[:n]), fmt.Sprintf("memcmp(%s, %s, %d * sizeof *%s) == 0", a.c, other.c, n, a.c),
		fmt.Sprint(other.b[:n]), fmt.Sprint(a.b[:n])}
}
