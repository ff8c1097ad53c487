package settings

import (
	"errors"
	"fmt"
	"strings"

	"mpitx/text"
)

// Given are the settings of a file.
type Given struct {
	Set     []NameValue // of control variables
	Environ []string    // of other environment variables: NAME=VALUE
	Options []string    // of the launcher, as words: "--bind-to", "core"
}

// ReadSettings reads a file of settings: lines of a parameter file (NAME = VALUE), or of a shell script (export NAME=VALUE, as mpitx writes
// them), or comments that begin with [own] (see [BeyondLines]). The error names the line.
func ReadSettings(file, content string) (g Given, err error) {
	n := 0
	for line := range strings.Lines(content) {
		n++
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), own))
		if line == "" || line[0] == '#' {
			continue
		}
		if err := g.read(line); err != nil {
			return Given{}, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return g, nil
}

func (g *Given) read(line string) error {
	words, script := strings.CutPrefix(line, "export ")
	name, value, ok := strings.Cut(words, "=")
	name = strings.TrimSpace(name)
	switch {
	case !ok || name == "" || strings.ContainsAny(name, " \t\"'$`;"):
		return errors.New("must be NAME = VALUE or export NAME=VALUE")
	case script:
		word := value
		if value, ok = text.UnquotePOSIX(word); !ok {
			return fmt.Errorf("%s is more than a value in the shell's quotes", word)
		}
	default:
		value = unquote(strings.TrimSpace(value))
	}
	cvar, mca := strings.CutPrefix(name, "OMPI_MCA_")
	switch {
	case IsOption(name) && !script:
		g.Options = append(g.Options, name, value)
	case mca, strings.HasPrefix(name, "MPIR_CVAR_"), !script && Reader(name) == "":
		g.Set = append(g.Set, NameValue{cvar, value})
	case IsEnvironment(name):
		g.Environ = append(g.Environ, name+"="+value)
	default:
		return fmt.Errorf("%s is not a setting of an MPI library or of what it builds on", name)
	}
	return nil
}
