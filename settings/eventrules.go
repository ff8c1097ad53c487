package settings

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
)

//go:embed eventrules.txt
var ownEventRules string

// eventRule names events of a family that are only counted, because their data cannot be read.
type eventRule struct{ family, glob, reason string }

// CountedEvents returns the events that are only counted, by mpitx's rules and those in the user's configuration, as the agent takes
// them: family, glob and reason. The error names the line that is wrong.
func CountedEvents(e *machine.Env) (all []string, err error) {
	rules, err := parseEventRules("mpitx's rules", ownEventRules)
	if err != nil {
		return nil, err
	}
	if file, text, err := e.ReadConfig("events.txt"); err == nil {
		more, err := parseEventRules(file, text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	for _, r := range rules {
		all = append(all, r.family+" "+r.glob+" "+r.reason)
	}
	return all, nil
}

func parseEventRules(file, text string) (rules []eventRule, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		place := file + ":" + strconv.Itoa(n)
		if len(words) < 3 {
			return nil, wrongRule("%s: a rule has a family, a pattern of event names and a reason", place)
		}
		if words[0] != machine.OpenMPI && words[0] != machine.MPICH {
			return nil, wrongRule("%s: %q is not a family of MPI libraries; use openmpi or mpich", place, words[0])
		}
		if _, err := catalog.ParsePattern(words[1]); err != nil {
			return nil, wrongRule("%s: %q: %v", place, words[1], err)
		}
		rules = append(rules, eventRule{words[0], words[1], strings.Join(words[2:], " ")})
	}
	return rules, nil
}

func wrongRule(format string, args ...any) error {
	return &machine.Error{What: fmt.Sprintf(format, args...), Usage: true}
}
