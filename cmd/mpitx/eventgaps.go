package main

import (
	"slices"
	"strings"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/trace"
)

// gapLines says which events of MPI_T and PERUSE a run does not have, and why. asked are the names of --event: of others it does not
// matter that none was raised.
func gapLines(run *recording.Run, gaps []trace.EventGap, asked []string) (lines []string) {
	for _, g := range gaps {
		events := count(g.Count, "event") + " of " + g.Name
		text := ""
		switch g.Gap {
		case trace.OnlyCounted:
			text = events + " counted, not recorded: " + g.Reason
		case trace.Refused:
			text = events + " not recorded: raised in signal handlers, or the library could not read them"
		case trace.Late:
			text = events + " counted, not recorded: the library called back after it had freed the registration"
		case trace.Dropped:
			text = events + " dropped by the library"
		case trace.Backwards:
			text = "the clock of event source " + g.Name + " went back " + count(g.Count, "time")
		case trace.Silent:
			if !slices.ContainsFunc(asked, func(name string) bool { return strings.EqualFold(name, g.Name) }) {
				continue
			}
			text = "no " + g.Name + " was raised while events were recorded, after MPI_Init and before MPI_Finalize"
		}
		if len(g.Ranks) < len(run.Ranks) {
			text = export.Ranks(g.Ranks) + ": " + text
		}
		lines = append(lines, text)
	}
	return lines
}

// notOfQueues reports whether a finding is not about the events of mpitx queues.
func notOfQueues(g trace.EventGap) bool {
	return g.Gap == trace.Backwards || !strings.HasPrefix(g.Name, "PERUSE_") && !strings.HasPrefix(g.Name, "unexp_message_")
}
