package main

import (
	"fmt"
	"path/filepath"

	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/export"
	"mpitx/recording"
)

// tellAway says which nodes have samples that this machine cannot read, and how to get them.
func tellAway(a *app, run *recording.Run) {
	hosts, ranks := run.Away()
	if len(ranks) == 0 {
		return
	}
	what := "the newest samples"
	for _, r := range run.Ranks {
		if r.State == recording.StateUnreachable && r.Undeclared() {
			what = "the newest samples, and what all others need to be read,"
			break
		}
	}
	a.complain("%s: %s are still in memory there and missing here; %s", awayText(hosts, ranks), what, fetchText(run.Dir))
}

func awayText(hosts []string, ranks []int) string {
	return fmt.Sprintf("%s (%s)", recording.HostsText(hosts), export.Ranks(ranks))
}

// fetchText says how samples come out of other nodes' memory.
func fetchText(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return "once the job has ended, run there: mpitx recover " + origin.Quote(dir)
}
