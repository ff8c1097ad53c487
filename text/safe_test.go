package text

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	for _, c := range []struct{ in, utf8, ascii string }{
		{"", "", ""},
		{"btl_tcp_flags", "btl_tcp_flags", "btl_tcp_flags"},
		{"a\x1b[31m", `a\x1b[31m`, `a\x1b[31m`},
		{"tab\tnl\ncr\r", `tab\x09nl\x0acr\x0d`, `tab\x09nl\x0acr\x0d`},
		{"del\x7f", `del\x7f`, `del\x7f`},
		{"c1\u009b", `c1\u009b`, `c1\u{9b}`},
		{"byte\x9b", `byte\x9b`, `byte\x9b`},
		{"bidi\u202e", `bidi\u202e`, `bidi\u{202e}`},
		{"zero\u200bwidth", `zero\u200bwidth`, `zero\u{200b}width`},
		{"tag\U000E0001", `tag\u{e0001}`, `tag\u{e0001}`},
		{"nbsp\u00a0", `nbsp\u00a0`, `nbsp\u{a0}`},
		{"selector\ufe0f", `selector\ufe0f`, `selector\u{fe0f}`},
		{"é漢", "é漢", `\u{e9}\u{6f22}`},
		{`C:\Program Files\x`, `C:\Program Files\x`, `C:\Program Files\x`},
		{`C:\users`, `C:\users`, `C:\users`},
		{`\x1b`, `\\x1b`, `\\x1b`},
		{`\u202e \u{e9}`, `\\u202e \\u{e9}`, `\\u202e \\u{e9}`},
		{`\\server`, `\\\server`, `\\\server`},
		{"\\\x1b", `\\\x1b`, `\\\x1b`},
		{`end\`, `end\`, `end\`},
		{"\\é", `\é`, `\\\u{e9}`},
	} {
		if got := Safe(c.in); got != c.utf8 {
			t.Errorf("Safe(%q) = %q, want %q", c.in, got, c.utf8)
		}
		if got := SafeASCII(c.in); got != c.ascii {
			t.Errorf("SafeASCII(%q) = %q, want %q", c.in, got, c.ascii)
		}
	}
}

// unescape is the inverse of Safe and SafeASCII, to show that they lose nothing.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		rest := s[i:]
		number := func(digits string, n int) {
			v, err := strconv.ParseUint(digits, 16, 32)
			if err != nil {
				panic(err)
			}
			if rest[1] == 'x' {
				b.WriteByte(byte(v))
			} else {
				b.WriteRune(rune(v))
			}
			i += n
		}
		switch {
		case rest[0] != '\\' || len(rest) == 1:
			b.WriteByte(rest[0])
			i++
		case rest[1] == '\\':
			b.WriteByte('\\')
			i += 2
		case rest[1] == 'x' && hexDigits(rest[2:], 2):
			number(rest[2:4], 4)
		case strings.HasPrefix(rest, `\u{`):
			end := strings.IndexByte(rest, '}')
			number(rest[3:end], end+1)
		case rest[1] == 'u' && hexDigits(rest[2:], 4):
			number(rest[2:6], 6)
		default:
			b.WriteByte('\\')
			i++
		}
	}
	return b.String()
}

func FuzzSafe(f *testing.F) {
	for _, s := range []string{"a\x1b[31mred\r\x07\u009b2J\u202egnp\u200b\xff\n\\x1b\u2028end", `\\\x1b`, `\u{1`, "\\\xff", "\\\\", "é\\é", "\\\u00e9x41", `\\x41`, "\u2028\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, ascii := range []bool{false, true} {
			safe := Escape(s, ascii)
			if !utf8.ValidString(safe) {
				t.Fatalf("%q is not UTF-8", safe)
			}
			for _, r := range safe {
				if bad := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp); bad || ascii && r > '~' {
					t.Fatalf("Escape(%q, %v) = %q has %U", s, ascii, safe, r)
				}
			}
			if back := unescape(safe); back != s {
				t.Fatalf("Escape(%q, %v) = %q, which reads as %q", s, ascii, safe, back)
			}
		}
	})
}
