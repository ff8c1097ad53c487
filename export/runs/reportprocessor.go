package runs

import (
	"fmt"
	"time"

	"mpitx/recording/processor"
	"mpitx/recording/profile"
	"mpitx/text"
)

// The members of a report's JSON document about processors.
type (
	jsonCores struct {
		Groups []processor.Group `json:"groups"`
		Delay  time.Duration     `json:"delay_ns"`
	}
	jsonProcessor struct {
		Cores     int              `json:"cores,omitzero"`
		CPUTime   time.Duration    `json:"cpu_time_ns"`
		CPUWait   time.Duration    `json:"cpu_wait_ns"`
		Estimated bool             `json:"estimated,omitzero"`
		Wait      time.Duration    `json:"wait_ns"`
		Computed  *processor.Range `json:"computed,omitempty"`
		Waited    *processor.Range `json:"waited,omitempty"`
		Slept     *processor.Range `json:"slept,omitempty"`
	}
)

func processorOf(p *profile.Profile, rank *profile.Rank) *jsonProcessor {
	r := rank.Processor
	if r == nil {
		return nil
	}
	j := &jsonProcessor{Cores: r.Cores, CPUTime: r.Time, CPUWait: r.Wait, Estimated: r.Estimated, Wait: r.ThreadWait}
	if len(p.Cut.Phases) == 0 {
		j.Computed, j.Waited, j.Slept = &r.Ran, &r.Waited, &r.Slept
	}
	return j
}

// processorCells are the columns of a rank in CSV.
const processorNames = " cores cpu_time_ns cpu_wait_ns wait_ns computed_least_ns computed_most_ns waited_least_ns waited_most_ns slept_least_ns slept_most_ns"

func processorCells(p *profile.Profile, rank *profile.Rank) []any {
	cells := make([]any, 10)
	j := processorOf(p, rank)
	if j == nil {
		return cells
	}
	if j.Cores > 0 {
		cells[0] = j.Cores
	}
	cells[1], cells[2], cells[3] = int64(j.CPUTime), int64(j.CPUWait), int64(j.Wait)
	for i, r := range []*processor.Range{j.Computed, j.Waited, j.Slept} {
		if r != nil {
			cells[4+2*i], cells[5+2*i] = int64(r.Least), int64(r.Most)
		}
	}
	return cells
}

// processorText says how much of the time outside of MPI ranks had a core; "" if nearly all of it, or if it is unknown.
func processorText(e profile.Efficiency) string {
	if e.Processor == 0 || e.Processor >= 0.99 {
		return ""
	}
	return fmt.Sprintf(". Outside of MPI, ranks had a core for %s of the time; load balance of computing %s", text.Percent(e.Processor), text.Percent(e.Computing))
}
