package launch

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/text"
)

// mostOutcomes limits the results listed for one setting; usually all ranks agree.
const mostOutcomes = 4

// outcomes describes the results of --set and --set-after: a line per setting, with the ranks if they differ. cached
// are the names that the library had at its last reading, before or after MPI_Init; near are all names to suggest from; item
// names a value of a variable.
func outcomes(run *recording.Run, cached, near []string, item func(cvar, value string) string) (lines []string) {
	var settings []string
	of := map[string]*messages{}
	for _, r := range run.Ranks {
		for _, o := range r.Assignments {
			setting := "--set " + o.Cvar + "=" + o.Asked
			if o.After {
				setting = "--set-after " + o.Cvar + "=" + o.Asked
			}
			if of[setting] == nil {
				settings, of[setting] = append(settings, setting), &messages{}
			}
			number := isNumber(o.Read)
			for _, value := range []*string{&o.Old, &o.Read} {
				switch name := item(o.Cvar, *value); {
				case name == "" || *value == o.Asked:
				case name == o.Asked:
					*value = name
				default:
					*value = name + " (" + *value + ")"
				}
			}
			text := outcomeText(&o, slices.Contains(cached, o.Cvar))
			if r.Family == machine.MPICH && !o.After && o.Result == anotherValue && !number {
				text = "set; whether it arrived is not known: " + catalog.WhyUnreported
			}
			if r.Family == machine.MPICH && o.After && o.Result == "ok" && !number {
				text += "; but it has no effect: " + catalog.WhyUnused
			}
			if o.Result == noSuchVariable && !slices.Contains(cached, o.Cvar) {
				text += catalog.DidYouMean(near, o.Cvar)
			}
			of[setting].add(r.Rank, text)
		}
	}
	for _, setting := range settings {
		lines = append(lines, setting+": "+of[setting].line())
	}
	return lines
}

// line is "ok; ranks 2-3: not now", with the result of most ranks first.
func (m *messages) line() string {
	order := slices.Clone(m.all)
	slices.SortStableFunc(order, func(a, b *message) int { return len(b.ranks) - len(a.ranks) })
	var parts []string
	others := 0
	for n, t := range order {
		switch {
		case n >= mostOutcomes:
			others += len(t.ranks)
		case n > 0, len(order) > 1 && len(t.ranks) == 1:
			parts = append(parts, text.Ranks(t.ranks)+": "+t.text)
		default:
			parts = append(parts, t.text)
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d more ranks: something else", others))
	}
	return strings.Join(parts, "; ")
}

// Results in the agent's words.
const (
	noSuchVariable = "no such variable"
	anotherValue   = "another value"
)

// isNumber reports whether a value is a number or a list of numbers.
func isNumber(value string) bool { return value != "" && strings.Trim(value, "-0123456789,.") == "" }

// outcomeText describes the result of a setting on one rank. known is true if the library has a variable of that name
// in any stage.
func outcomeText(o *recording.Assignment, known bool) string {
	switch {
	case o.Result == noSuchVariable && !o.After && known:
		return "set, but not read back, because the library has it before MPI_Init only"
	case o.Result == noSuchVariable && !o.After:
		return "the library has no such variable after MPI_Init; if it has one before (mpitx show " + o.Cvar + "), that one was set"
	case o.Result == noSuchVariable && known:
		return "the library has it before MPI_Init only; use --set"
	case o.Old != "" && o.Read == "" && !strings.HasPrefix(o.Result, "ok"): // nothing was written
		return o.Result + ": it is " + o.Old + " as before"
	case o.Old != "" && o.Old == o.Read:
		return o.Result + ": it is " + o.Read + " as before"
	case o.Old != "" && o.Read == o.Asked:
		return o.Result + ": it was " + o.Old
	case o.Old != "":
		return o.Result + ": it was " + o.Old + " and is " + o.Read
	case o.Read != "" && o.Read != o.Asked:
		return o.Result + ": it is " + o.Read
	}
	return o.Result
}
