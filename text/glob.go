package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Glob matches whole names: * any text, ? one character, [a-z] and [!a-z] one character of a set, \x the character x. ASCII
// letters match ignoring case.
type Glob struct {
	literal string // the pattern itself, for names that contain these characters
	parts   []globPart
}

type globPart struct {
	star, any, set bool
	text           string // a character, or the set: pairs of first and last
	negated        bool
}

// CompileGlob reads a pattern. An error says what is wrong with it.
func CompileGlob(pattern string) (Glob, error) {
	g := Glob{literal: pattern}
	for s := Lower(pattern); s != ""; {
		c, n := utf8.DecodeRuneInString(s)
		switch c {
		case '*':
			if len(g.parts) == 0 || !g.parts[len(g.parts)-1].star {
				g.parts = append(g.parts, globPart{star: true})
			}
		case '?':
			g.parts = append(g.parts, globPart{any: true})
		case '[':
			part, size := globSet(s)
			if size == 0 {
				return g, fmt.Errorf("pattern %q: missing ] after [", pattern)
			}
			g.parts = append(g.parts, part)
			n = size
		case '\\':
			if len(s) == 1 {
				return g, fmt.Errorf(`pattern %q: no character after \`, pattern)
			}
			_, n = utf8.DecodeRuneInString(s[1:])
			g.parts = append(g.parts, globPart{text: s[1 : 1+n]})
			n++
		default:
			g.parts = append(g.parts, globPart{text: s[:n]})
		}
		s = s[n:]
	}
	return g, nil
}

// globSet parses the set at the start of s and returns its length; 0 if the set is not closed.
func globSet(s string) (globPart, int) {
	part := globPart{set: true}
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		part.negated = true
		i++
	}
	var b strings.Builder
	for start := i; i < len(s); {
		if s[i] == ']' && i > start {
			part.text = b.String()
			return part, i + 1
		}
		lo, n := utf8.DecodeRuneInString(s[i:])
		i += n
		hi := lo
		if i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			hi, n = utf8.DecodeRuneInString(s[i+1:])
			i += 1 + n
		}
		b.WriteRune(lo)
		b.WriteRune(hi)
	}
	return globPart{}, 0
}

// Match reports whether a name matches. It takes at most the product of both lengths: after a mismatch only the last star matches more.
func (g *Glob) Match(name string) bool {
	if name == g.literal {
		return true
	}
	p, star, mark := 0, -1, 0
	for i := 0; i < len(name); {
		if p < len(g.parts) && g.parts[p].star {
			star, mark = p, i
			p++
			continue
		}
		if p < len(g.parts) {
			if n := g.parts[p].width(name[i:]); n > 0 {
				i += n
				p++
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(name[mark:])
		mark += n
		p, i = star+1, mark
	}
	for p < len(g.parts) && g.parts[p].star {
		p++
	}
	return p == len(g.parts)
}

// width is the number of bytes of s that this part matches; 0 if it does not match.
func (p *globPart) width(s string) int {
	if !p.any && !p.set {
		if p.text[0] == lowerByte(s[0]) && strings.HasPrefix(s[1:], p.text[1:]) {
			return len(p.text)
		}
		return 0
	}
	c, n := utf8.DecodeRuneInString(s)
	if p.any {
		return n
	}
	if c < utf8.RuneSelf {
		c = rune(lowerByte(byte(c)))
	}
	in := false
	for t := p.text; t != ""; {
		lo, a := utf8.DecodeRuneInString(t)
		hi, b := utf8.DecodeRuneInString(t[a:])
		t = t[a+b:]
		in = in || lo <= c && c <= hi
	}
	if in == p.negated {
		return 0
	}
	return n
}

// Lower changes only ASCII letters: strings.ToLower would damage names that are not UTF-8.
func Lower(s string) string {
	i := strings.IndexFunc(s, func(c rune) bool { return c >= 'A' && c <= 'Z' })
	if i < 0 {
		return s
	}
	b := []byte(s)
	for ; i < len(b); i++ {
		b[i] = lowerByte(b[i])
	}
	return string(b)
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// IsGlob reports whether a name given to a filter is a pattern.
func IsGlob(name string) bool { return strings.ContainsAny(name, `*?[\`) }
