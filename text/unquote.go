package text

import "strings"

// UnquotePOSIX is the text of one word of a shell, of bare characters, single quotes and backslashes. It is false for anything that a shell
// would expand, and for several words.
func UnquotePOSIX(word string) (string, bool) {
	var b strings.Builder
	for word != "" {
		switch c := word[0]; {
		case c == '\'':
			end := strings.IndexByte(word[1:], '\'')
			if end < 0 {
				return "", false
			}
			b.WriteString(word[1 : 1+end])
			word = word[end+2:]
			continue
		case c == '\\' && len(word) > 1:
			b.WriteByte(word[1])
			word = word[1:]
		case strings.IndexByte(" \t\n\"$`\\;&|<>()*?[#~!{}", c) >= 0:
			return "", false
		default:
			b.WriteByte(c)
		}
		word = word[1:]
	}
	return b.String(), true
}
