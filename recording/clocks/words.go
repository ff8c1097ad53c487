package clocks

import (
	"fmt"
	"math"
	"time"

	"mpitx/recording"
	"mpitx/text"
)

// Lines say how far the clocks of nodes were apart, and how exact corrected times are. They say nothing of nodes without messages between
// them.
func Lines(c *recording.Clocks) (lines []string) {
	if c == nil {
		return nil
	}
	var known, unknown []recording.ClockPair
	for _, p := range c.Pairs {
		if p.Known {
			known = append(known, p)
		} else {
			unknown = append(unknown, p)
		}
	}
	if len(known) > 0 {
		lines = append(lines, knownLine(known))
	}
	if len(unknown) > 0 {
		lines = append(lines, unknownLine(unknown))
	}
	return lines
}

func knownLine(all []recording.ClockPair) string {
	var apart, bound time.Duration
	var drift float64
	var messages, after uint64
	for _, p := range all {
		apart, bound, drift = max(apart, p.Apart, -p.Apart), max(bound, p.Error), max(drift, math.Abs(p.Drift))
		messages, after = messages+p.Messages, after+p.After
	}
	line := fmt.Sprintf("clocks of %s were %s%s apart and drift %s%s; corrected by %s to within %s", nodes(all), upTo(all), text.RoughDuration(apart), upTo(all), ppm(drift),
		text.Count(messages, "message"), text.RoughDuration(bound))
	if after > 0 {
		line += fmt.Sprintf("; %s %s back in time", text.Count(after, "arrow"), text.Verb(int(min(after, 2)), "points", "point"))
	}
	return line
}

func unknownLine(all []recording.ClockPair) string {
	var back uint64
	for _, p := range all {
		back += p.After
	}
	line := fmt.Sprintf("clocks of %s: how far they are apart is unknown: messages one way only", nodes(all))
	if back > 0 {
		line += fmt.Sprintf("; %s %s back in time", text.Count(back, "arrow"), text.Verb(int(min(back, 2)), "points", "point"))
	}
	return line
}

// nodes names the nodes of a pair, or counts them.
func nodes(all []recording.ClockPair) string {
	if len(all) == 1 {
		return all[0].Hosts[0] + " and " + all[0].Hosts[1]
	}
	different := map[int]bool{}
	for _, p := range all {
		different[p.Nodes[0]], different[p.Nodes[1]] = true, true
	}
	return text.Count(len(different), "node")
}

func upTo(all []recording.ClockPair) string {
	if len(all) == 1 {
		return ""
	}
	return "up to "
}

func ppm(drift float64) string {
	if drift < 0.05e-6 {
		return "by less than 0.1 ppm"
	}
	return fmt.Sprintf("%.*f ppm", map[bool]int{true: 1, false: 0}[drift < 9.95e-6], drift*1e6)
}
