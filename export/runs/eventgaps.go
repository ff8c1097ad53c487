package runs

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/text"
)

// GapLines says which events of MPI_T and PERUSE a run does not have, and why. asked are the names of --event: of others it does not
// matter that none was raised.
func GapLines(run *recording.Run, gaps []trace.EventGap, asked []string) (lines []string) {
	for _, g := range gaps {
		events := text.Count(g.Count, "event") + " of " + g.Name
		words := ""
		switch g.Gap {
		case trace.OnlyCounted:
			words = events + " counted, not recorded: " + g.Reason
		case trace.Refused:
			words = events + " not recorded: raised in signal handlers, or the library could not read them"
		case trace.Late:
			words = events + " counted, not recorded: the library called back after it had freed the registration"
		case trace.Dropped:
			words = events + " dropped by the library"
		case trace.Backwards:
			words = "the clock of event source " + g.Name + " went back " + text.Count(g.Count, "time")
		case trace.Silent:
			if !slices.ContainsFunc(asked, func(name string) bool { return strings.EqualFold(name, g.Name) }) {
				continue
			}
			words = "no " + g.Name + " was raised while events were recorded, after MPI_Init and before MPI_Finalize"
		}
		if len(g.Ranks) < len(run.Ranks) {
			words = text.Ranks(g.Ranks) + ": " + words
		}
		lines = append(lines, words)
	}
	return lines
}

// NotOfQueues reports whether a finding is not about the events of mpitx report RUN queues.
func NotOfQueues(g trace.EventGap) bool {
	return g.Gap == trace.Backwards || !strings.HasPrefix(g.Name, "PERUSE_") && !strings.HasPrefix(g.Name, "unexp_message_")
}

// LostEvents counts the events of all ranks that were dropped.
func LostEvents(run *recording.Run) (n uint64) {
	for _, r := range run.Ranks {
		n += r.Counters.LostEvents
	}
	return n
}

// Replaced says how many events --policy last has discarded; "": none.
func Replaced(run *recording.Run) string {
	n, until := run.Replaced()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s until %s replaced by newer ones, as --max-size was reached (--policy last)", text.Count(n, "event"), text.RoughDuration(until))
}
