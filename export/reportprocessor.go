package export

import (
	"fmt"

	"mpitx/recording/processor"
	"mpitx/recording/profile"
	"mpitx/text"
)

// The members of a report's JSON document about processors.
type (
	jsonCores struct {
		Groups  []jsonCoreGroup `json:"groups"`
		DelayNs int64           `json:"delay_ns"`
	}
	jsonCoreGroup struct {
		Host  string  `json:"host"`
		Ranks []int   `json:"ranks"`
		Cores int     `json:"cores,omitzero"`
		Quota float64 `json:"quota,omitzero"`
	}
	jsonRange struct {
		LeastNs int64 `json:"least_ns"`
		MostNs  int64 `json:"most_ns"`
	}
	jsonProcessor struct {
		Cores     int        `json:"cores,omitzero"`
		CPUTimeNs int64      `json:"cpu_time_ns"`
		CPUWaitNs int64      `json:"cpu_wait_ns"`
		Estimated bool       `json:"estimated,omitzero"`
		WaitNs    int64      `json:"wait_ns"`
		Computed  *jsonRange `json:"computed,omitempty"`
		Waited    *jsonRange `json:"waited,omitempty"`
		Slept     *jsonRange `json:"slept,omitempty"`
	}
)

func coresOf(p *processor.Processor) jsonCores {
	return jsonCores{mapped(p.Groups, func(g processor.Group) jsonCoreGroup {
		return jsonCoreGroup{g.Host, mapped(g.Ranks, func(r *processor.Rank) int { return r.Number }), g.Cores, g.Quota}
	}), int64(p.Delay())}
}

func rangeOf(r processor.Range) *jsonRange { return &jsonRange{int64(r.Least), int64(r.Most)} }

func processorOf(p *profile.Profile, rank *profile.Rank) *jsonProcessor {
	r := rank.Processor
	if r == nil {
		return nil
	}
	j := &jsonProcessor{Cores: r.Cores, CPUTimeNs: int64(r.Time), CPUWaitNs: int64(r.Wait), Estimated: r.Estimated, WaitNs: int64(r.ThreadWait)}
	if len(p.Cut.Phases) == 0 {
		j.Computed, j.Waited, j.Slept = rangeOf(r.Ran), rangeOf(r.Waited), rangeOf(r.Slept)
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
	cells[1], cells[2], cells[3] = j.CPUTimeNs, j.CPUWaitNs, j.WaitNs
	for i, r := range []*jsonRange{j.Computed, j.Waited, j.Slept} {
		if r != nil {
			cells[4+2*i], cells[5+2*i] = r.LeastNs, r.MostNs
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
