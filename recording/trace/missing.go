package trace

import (
	"strings"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/text"
)

// Missing says, of each glob of --event for events of PERUSE that the library did not raise, what is derived instead and what is
// unavailable.
func Missing(run *recording.Run, globs []string) (lines []string) {
	native := Raised(run)
	for _, glob := range globs {
		if !catalog.OfPeruse(glob) {
			continue
		}
		m, err := (&catalog.Filter{Names: []string{glob}}).Compile()
		if err != nil {
			continue
		}
		derivable := Derivable(run, glob)
		var derived, unavailable []string
		why := ""
		for _, e := range catalog.PeruseEvents() {
			other := catalog.OtherSpelling(e.Name)
			switch {
			case !m.MatchName(e.Name) && (other == "" || !m.MatchName(other)) || native && strings.HasPrefix(e.Section, "4."):
			case derivable[e.Name]:
				derived = append(derived, e.Name)
			default:
				unavailable, why = append(unavailable, e.Name), e.How
			}
		}
		short := func(names []string) string {
			if len(names) > 4 {
				return strings.Join(names[:4], ", ") + " …"
			}
			return strings.Join(names, ", ")
		}
		switch {
		case text.IsGlob(glob) && len(derived)+len(unavailable) == 0:
		case len(unavailable) == 1 && !text.IsGlob(glob):
			lines = append(lines, "--event "+glob+": unavailable: "+why+"; libraries that raise it: Open MPI built with --enable-peruse")
		case len(derived)+len(unavailable) > 0 && (len(derived) > 0 || !native):
			words := "--event " + glob + ": "
			if len(derived) > 0 {
				words += text.Count(len(derived), "event") + " derived from calls: " + short(derived)
			}
			if len(unavailable) > 0 {
				words += strings.Repeat("; ", min(len(derived), 1)) + text.Count(len(unavailable), "event") + " unavailable, as this library does not raise them; see mpitx list events"
			}
			lines = append(lines, words)
		}
	}
	return lines
}
