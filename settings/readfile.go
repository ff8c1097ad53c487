package settings

import (
	"fmt"
	"strings"

	"mpitx/text"
)

// ReadSettings reads a file of settings: lines of a parameter file (NAME = VALUE), or of a shell script (export NAME=VALUE, as mpitx writes
// them). It returns those of control variables, and those of other environment variables as NAME=VALUE. The error names the line.
func ReadSettings(file, content string) (set []NameValue, environ []string, err error) {
	n := 0
	for line := range strings.Lines(content) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words, script := strings.CutPrefix(line, "export ")
		name, value, ok := strings.Cut(words, "=")
		name = strings.TrimSpace(name)
		switch {
		case !ok || name == "" || strings.ContainsAny(name, " \t\"'$`;"):
			err = fmt.Errorf("must be NAME = VALUE or export NAME=VALUE")
		case script:
			word := value
			if value, ok = text.UnquotePOSIX(word); !ok {
				err = fmt.Errorf("%s is more than a value in the shell's quotes", word)
			}
		default:
			value = unquote(strings.TrimSpace(value))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		cvar, mca := strings.CutPrefix(name, "OMPI_MCA_")
		switch {
		case mca, strings.HasPrefix(name, "MPIR_CVAR_"), !script && Reader(name) == "":
			set = append(set, NameValue{cvar, value})
		case Reader(name) != "" && SetsMPI(name):
			environ = append(environ, name+"="+value)
		default:
			return nil, nil, fmt.Errorf("%s:%d: %s is not a setting of an MPI library or of what it builds on", file, n, name)
		}
	}
	return set, environ, nil
}
