package explorer

import (
	"regexp"
	"strings"
)

var (
	rankPrefix = regexp.MustCompile(`^\[\d+\] `)
	rule       = regexp.MustCompile(`^[-=*]{8,}$`)
	traced     = regexp.MustCompile(`^\[[^ ]+:\d+\] `)         // "[host:pid] ...", which says less
	property   = regexp.MustCompile(`^[A-Z][A-Za-z ]*: +\S+$`) // "Component: nosuch", as Open MPI's messages end
)

// initReason is why MPI_Init failed, from what the library printed: the first sentence of its first message with the properties below
// it, or the end of MPICH's error stack. "": it printed nothing.
func initReason(log []string) string {
	var text, properties []string
	framed := false // between two rules
	for i, l := range log {
		l = strings.TrimSpace(rankPrefix.ReplaceAllString(l, ""))
		switch {
		case rule.MatchString(l) && framed && len(text) > 0:
			return sentence(text, properties)
		case rule.MatchString(l):
			framed, text, properties = true, nil, nil
		case l == "", traced.MatchString(l):
		case strings.HasSuffix(l, "error stack:"):
			return strings.Join(strings.Fields(rankPrefix.ReplaceAllString(stackEnd(log[i+1:]), "")), " ")
		case property.MatchString(l) && len(text) > 0:
			if !strings.HasPrefix(l, "Host:") {
				properties = append(properties, strings.Join(strings.Fields(l), " "))
			}
		case len(properties) == 0:
			text = append(text, l)
		}
	}
	return sentence(text, properties)
}

func stackEnd(lines []string) string {
	end := ""
	for _, l := range lines {
		if !strings.Contains(l, "): ") && !strings.Contains(l, ").") {
			break
		}
		end = l
	}
	return end
}

func sentence(lines, properties []string) string {
	s := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimSuffix(s, ".")
	if len(properties) > 0 {
		s += " (" + strings.Join(properties, ", ") + ")"
	}
	return s
}
