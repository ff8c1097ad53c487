//go:build cgo && linux

package inspect

import (
	"errors"
	"maps"
	"slices"

	"mpitx/binding"
	"mpitx/catalog"
)

// number is a number of entries; 0 if the library is older than MPI-4.
func (o *observer) number(what string, get func() (int, error)) int {
	n, err := get()
	if err != nil && !errors.Is(err, binding.ErrNotProvided) {
		o.notes.add("%s: %v", what, err)
	}
	return n
}

// known reports whether an entry can be queried. It counts those that have become invalid, and notes those that crash.
func (o *observer) known(what string, index int, t binding.Trial, dead *int) bool {
	switch {
	case t.Dead:
		*dead++
	case t.Nameless:
		o.notes.at(what, index, t.Reading.Reason)
	default:
		return true
	}
	return false
}

// events reads the event types that survived the probe, and returns their names by index. Of types with the same name, which the
// standard forbids, the first is listed.
func (o *observer) events(p *catalog.Process, trials []binding.Trial) map[int]string {
	p.Stage.Events = len(trials)
	names := make(map[int]string, len(trials))
	seen := map[string]bool{}
	for k, t := range trials {
		if !o.known("event", k, t, &p.Stage.DeadEvents) {
			continue
		}
		info, err := o.tool.EventInfo(k)
		if err != nil {
			o.notes.at("event", k, "get_info: "+err.Error())
			continue
		}
		names[k] = info.Name
		if seen[info.Name] {
			o.notes.add("event %s is listed twice", info.Name)
			continue
		}
		seen[info.Name] = true
		e := catalog.Event{Name: info.Name, Verbosity: info.Verbosity, Bind: info.Bind, Hints: hints(info.Hints), HandleHints: hints(t.Hints), Description: info.Description,
			Status: t.Reading.Status, Reason: t.Reading.Reason}
		if _, err := info.Bytes(); e.Status == catalog.StatusOK && errors.Is(err, binding.ErrElementOutside) {
			e.Status, e.Reason = catalog.StatusError, err.Error()
		}
		for _, x := range info.Elements {
			e.Elements = append(e.Elements, catalog.Element{Type: x.Type, Displacement: x.Displacement})
		}
		e.Enum = o.enum(info.Enum, t)
		e.NameElements(o.enumList[e.Enum].Items)
		p.Meta.Events = append(p.Meta.Events, e)
	}
	return names
}

// sources reads the event sources that survived the probe.
func (o *observer) sources(p *catalog.Process, trials []binding.Trial) {
	p.Stage.Sources = len(trials)
	dead := 0 // a source's index stays valid
	seen := map[string]bool{}
	for k, t := range trials {
		if !o.known("event source", k, t, &dead) {
			continue
		}
		info, err := o.tool.SourceInfo(k)
		if err != nil {
			o.notes.at("event source", k, "get_info: "+err.Error())
			continue
		}
		if seen[info.Name] {
			o.notes.add("event source %s is listed twice", info.Name)
			continue
		}
		seen[info.Name] = true
		s := catalog.Source{Name: info.Name, Description: info.Description, Order: info.Order, TicksPerSecond: info.TicksPerSecond,
			MaxTicks: info.MaxTicks, Hints: hints(info.Hints), Status: t.Reading.Status, Reason: t.Reading.Reason}
		if s.Status != catalog.StatusFaulty {
			_, err := o.tool.SourceTimestamp(k)
			s.Readable = err == nil
			if s.Readable || errors.Is(err, binding.ErrNotSupported) {
				s.Status, s.Reason = catalog.StatusOK, "" // many sources have timestamps in events only
			}
		}
		p.Meta.Sources = append(p.Meta.Sources, s)
	}
}

func hints(h binding.Hints) []catalog.Hint {
	var list []catalog.Hint
	for _, key := range slices.Sorted(maps.Keys(h)) {
		list = append(list, catalog.Hint{Key: key, Value: h[key]})
	}
	return list
}
