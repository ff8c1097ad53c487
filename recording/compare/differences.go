package compare

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/recording"
)

// Difference is a property of the runs that differs between the sides. Several values of a side are joined by commas. Of functions and
// phases it names those that only one side has.
type Difference struct {
	What string `json:"what"`
	Base string `json:"base"`
	New  string `json:"new"`
}

// differences lists what was run differently.
func (c *Comparison) differences() (list []Difference) {
	var names []string
	settings := true // of all runs are known
	c.each(func(_ place, in *Input) { settings = settings && in.Settings != nil })
	values := [2]map[string]map[string]bool{{}, {}}
	c.each(func(at place, in *Input) {
		for _, p := range properties(in, settings) {
			if values[Base][p.name] == nil {
				names = append(names, p.name)
				values[Base][p.name], values[New][p.name] = map[string]bool{}, map[string]bool{}
			}
			values[at.side][p.name][p.value] = true
		}
	})
	for _, name := range names {
		a, b := values[Base][name], values[New][name]
		if maps.Equal(a, b) || strings.HasPrefix(name, "build of ") && (len(a) == 0 || len(b) == 0) {
			continue
		}
		list = append(list, Difference{name, joined(a), joined(b)})
	}
	for _, l := range []struct {
		what  string
		items []*Item
	}{{"functions", c.Functions}, {"phases", c.Phases}} {
		var only [2][]string
		for _, it := range l.items {
			if it.Side != Both && it.Within == "" && it.Name != "" {
				only[it.Side] = append(only[it.Side], it.Name)
			}
		}
		if len(only[Base])+len(only[New]) > 0 {
			list = append(list, Difference{l.what, strings.Join(only[Base], ", "), strings.Join(only[New], ", ")})
		}
	}
	return list
}

func joined(set map[string]bool) string {
	if len(set) == 0 {
		return "not set"
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}

type property struct{ name, value string }

const mostHosts = 4 // whose names are listed

// properties are what is known about how a run was made.
func properties(in *Input, settings bool) (list []property) {
	add := func(name, value string) {
		if p := (property{name, value}); value != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	size, hosts, states := 0, map[string]bool{}, map[recording.State]int{}
	for _, r := range in.Run.Ranks {
		size = max(size, r.Size)
		hosts[r.Host] = true
		states[r.State]++
	}
	add("ranks", fmt.Sprint(size))
	if len(hosts) <= mostHosts {
		add("hosts", joined(hosts))
	} else {
		add("hosts", fmt.Sprint(len(hosts)))
	}
	for _, r := range in.Run.Ranks {
		library, _, _ := strings.Cut(r.Library, "\n")
		add("program", r.Program)
		add("MPI library", strings.Join(strings.Fields(library), " "))
		if r.Thread != 0 {
			add("thread level", r.Thread.String())
		}
		if r.Interval > 0 && in.Stats != nil {
			add("sampling interval", r.Interval.String())
		}
		for _, a := range r.Assignments {
			if a.Read != "" {
				add(a.Cvar, a.Read)
			}
		}
	}
	if p := in.Profile; p != nil && p.Total.Calls > 0 {
		add("times of short local calls", map[bool]string{true: "estimated", false: "exact"}[p.Total.Untimed > 0])
	}
	add("QMPI tools", cmp.Or(strings.Join(in.Tools, ", "), "none"))
	if settings {
		for _, name := range slices.Sorted(maps.Keys(in.Settings)) {
			add(name, cmp.Or(in.Settings[name], "empty"))
		}
	}
	incomplete := "none"
	if list := in.Run.IncompleteRanks(); len(list) > 0 {
		incomplete = strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
	}
	add("incomplete ranks", incomplete)
	if states[recording.StateEnded] == len(in.Run.Ranks) {
		add("state", "ended")
	}
	for _, s := range []recording.State{recording.StateRunning, recording.StateDied, recording.StateUnreachable, recording.StateDamaged} {
		if states[s] > 0 {
			add("state", fmt.Sprintf("%d %s", states[s], s))
		}
	}
	if in.Profile != nil {
		for _, s := range in.Profile.Sites {
			for _, a := range s.Stack {
				if a.BuildID != "" {
					add("build of "+filepath.Base(a.Path), a.BuildID[:min(len(a.BuildID), 8)])
				}
			}
		}
	}
	return list
}
