package main

import (
	"slices"
	"strings"

	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/text"
)

// gapLines says which events of MPI_T and PERUSE a run does not have, and why. asked are the names of --event: of others it does not
// matter that none was raised.
func gapLines(run *recording.Run, gaps []trace.EventGap, asked []string) (lines []string) {
	for _, g := range gaps {
		events := count(g.Count, "event") + " of " + g.Name
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
			words = "the clock of event source " + g.Name + " went back " + count(g.Count, "time")
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

// notOfQueues reports whether a finding is not about the events of mpitx queues.
func notOfQueues(g trace.EventGap) bool {
	return g.Gap == trace.Backwards || !strings.HasPrefix(g.Name, "PERUSE_") && !strings.HasPrefix(g.Name, "unexp_message_")
}
