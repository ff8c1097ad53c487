package condition

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind int

const (
	end kind = iota
	word
	quoted
	number
	symbol // comparison, parenthesis
)

type token struct {
	kind kind
	text string
	at   int // byte offset
}

func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return t.text
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// split divides a condition into tokens; the last one is the end.
func split(text string) ([]token, error) {
	var all []token
	for i := 0; i < len(text); {
		c, start := text[i], i
		switch {
		case c == ' ':
			i++
			continue
		case c == '"' || c == '\'':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return nil, &Error{text, column(text, i), "the quotation mark is not closed"}
			}
			all = append(all, token{quoted, text[i+1 : i+1+n], start})
			i += n + 2
			continue
		case isDigit(c), c == '.' && i+1 < len(text) && isDigit(text[i+1]), (c == '-' || c == '+') && i+1 < len(text) && (isDigit(text[i+1]) || text[i+1] == '.'):
			i = numberEnd(text, i)
			all = append(all, token{number, text[start:i], start})
			continue
		case isLetter(c):
			i = wordEnd(text, i)
			all = append(all, token{word, text[start:i], start})
			continue
		}
		i += symbolLength(text[i:])
		if i == start {
			_, n := utf8.DecodeRuneInString(text[i:])
			return nil, &Error{text, column(text, i), fmt.Sprintf("%s is not an operator; use < <= > >= == !=, and, or, not", text[i:i+n])}
		}
		all = append(all, token{symbol, text[start:i], start})
	}
	return append(all, token{end, "", len(text)}), nil
}

func symbolLength(s string) int {
	for _, one := range []string{"<=", ">=", "==", "!=", "&&", "||", "<", ">", "=", "(", ")", "!"} {
		if strings.HasPrefix(s, one) {
			return len(one)
		}
	}
	return 0
}

// numberEnd returns the end of a number with its unit.
func numberEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		c := text[i]
		exponent := (c == '-' || c == '+') && (text[i-1] == 'e' || text[i-1] == 'E') && i >= 2 && isDigit(text[i-2])
		if !isLetter(c) && !isDigit(c) && c != '.' && !exponent {
			break
		}
	}
	return i
}

// wordEnd returns the end of a name, with class, object and element: coll_count:counter@world[3], mpitx:calls/MPI_Send, MPI_*send.
func wordEnd(text string, i int) int {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case isLetter(c), isDigit(c), strings.IndexByte(":/.@-*?", c) >= 0:
		case c == '[':
			n := strings.IndexByte(text[i:], ']')
			if n < 0 {
				return len(text)
			}
			i += n
		default:
			return i
		}
	}
	return i
}

func column(text string, at int) int { return utf8.RuneCountInString(text[:at]) + 1 }
