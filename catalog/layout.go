package catalog

import "bytes"

// onOneLine is the depth from which an object stands on one line, as readings, ranks and items do.
const onOneLine = 4

// appendLayout breaks a JSON document without white space into lines. Unprintable characters are escaped.
func appendLayout(b, doc []byte) []byte {
	depth, inline := 0, 0 // inline: the depth of the object on one line, or 0
	newline := func() {
		if inline == 0 {
			b = append(append(b, '\n'), "        "[:2*depth]...) // depth is below onOneLine here
		}
	}
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; c {
		case '"':
			end := endOfString(doc, i)
			b = appendPrintable(b, doc[i:end])
			i = end - 1
		case '{', '[':
			b = append(b, c)
			if doc[i+1] == c+2 { // the closing one in ASCII
				i++
				b = append(b, c+2)
				continue
			}
			depth++
			if c == '{' && depth >= onOneLine && inline == 0 {
				inline = depth
			}
			newline()
		case '}', ']':
			depth--
			newline()
			b = append(b, c)
			if depth < inline {
				inline = 0
			}
		case ',':
			b = append(b, c)
			if inline > 0 {
				b = append(b, ' ')
			}
			newline()
		case ':':
			b = append(b, ':', ' ')
		default:
			b = append(b, c)
		}
	}
	return append(b, '\n')
}

func endOfString(doc []byte, i int) int {
	for {
		i += 1 + bytes.IndexByte(doc[i+1:], '"')
		escaped := 0
		for doc[i-1-escaped] == '\\' {
			escaped++
		}
		if escaped%2 == 0 {
			return i + 1
		}
	}
}
