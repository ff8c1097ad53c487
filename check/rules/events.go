//go:build cgo && linux

package rules

import (
	"cmp"
	"fmt"
	"slices"

	"mpitx/binding"
	"mpitx/catalog"
)

const noEvents = "the library has no events"

var eventRules = section{subject: "events", needs: "MPI_T_event_get_num", none: noEvents, rules: []rule{
	{Rule: promise("event-names-unique", "MPI_T_event_get_info(3)", "The name of an event type is unique among event types, and not empty."), run: eventNames},
	{Rule: promise("event-get-index", "MPI_T_event_get_index(3)", "MPI_T_event_get_index finds each event type by its name, and returns MPI_T_ERR_INVALID_NAME for others."), run: eventIndex},
	{Rule: promise("event-elements", "MPI_T_event_get_info(3)", "Elements have basic datatypes of the standard and displacements of at least 0 that do not overlap."), run: eachEntry(eventElements, events)},
	{Rule: promise("event-info-identical", "MPI_T_event_get_info(3) and MPI_T_source_get_info(3)", "Repeated calls of MPI_T_event_get_info and MPI_T_source_get_info for the same event type or source return the same information."), run: eachEntry(infoIdentical, events, sources)},
	{Rule: allowed("event-invalid-index", "MPI_T_event_get_info(3)", "Routines return MPI_T_ERR_INVALID_INDEX for the index of an event type or source that does not exist."), run: eventInvalidIndex},
}}

// mostElements are those of an event type that are tested.
const mostElements = 64

func events(m *mpi) *list {
	return &list{m, "event type", "MPI_T_event", m.raw.NumEvents,
		func(name []byte, _ *entry, index *int32) binding.Error { return m.raw.EventIndex(name, index) },
		"name name_len verbosity types displacements num_elements enumtype info desc desc_len bind",
		func(index int32, e *entry) binding.Error {
			var v binding.RawEvent
			rc := m.raw.EventInfo(index, e.name.p(), e.nameLen.p(), e.desc.p(), e.descLen.p(), e.types.b, e.offsets.b, &v)
			e.set(v.Enum, v.Verbosity, v.Elements, v.Bind)
			return rc
		}}
}

func sources(m *mpi) *list {
	return &list{mpi: m, what: "source", prefix: "MPI_T_source", num: m.raw.NumSources,
		arguments: "name name_len desc desc_len ordering ticks_per_second max_ticks info",
		info: func(index int32, e *entry) binding.Error {
			var v binding.RawSource
			rc := m.raw.SourceInfo(index, e.name.p(), e.nameLen.p(), e.desc.p(), e.descLen.p(), &v)
			e.set(0, v.Ordering)
			e.ticks.b[0], e.ticks.b[1] = v.TicksPerSecond, v.Max
			return rc
		}}
}

// eventLists are the lists of event types and sources; none in a library without events.
func eventLists(m *mpi) []*list {
	if !m.lib.Has("MPI_T_event_get_num") {
		return nil
	}
	return []*list{events(m), sources(m)}
}

func eventNames(m *mpi) { uniqueNames(m, events(m), (*buffer).notEmpty) }

func eventIndex(m *mpi) {
	m.entries(events(m), func(e *entry) {
		index := m.indexOf(e.list, e.label(), e)
		m.expect(index.code.is(0), index.is(e.index))
	})
	if m.items > 0 && m.item("a name that no event type has") {
		m.expect(m.noSuchName(events(m)).is(binding.ErrInvalidName))
	}
}

func eventElements(e *entry) {
	n := e.num("num_elements")
	if !e.expect(n.ge(0).as("a number of elements")) {
		return
	}
	if n.v > mostElements {
		panic(untestable(fmt.Sprintf("an event type has %d elements, and mpitx tests at most %d", n.v, mostElements)))
	}
	type span struct{ from, to *number[int64] }
	var spans []span
	for k := range int(n.v) {
		at, size := e.offsets.at(k), int64(catalog.Datatype(e.types.b[k]).Size())
		basic := cond{size > 0, isOneOf(e.types.at(k).c, basicTypes()), "a basic datatype", typeName(e.types.b[k])}
		e.expect(basic, at.ge(0).as("a displacement of at least 0"))
		spans = append(spans, span{at, named(fmt.Sprintf("%s + %d", at.c, size), at.v+size)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from.v, b.from.v) })
	for k := 1; k < len(spans); k++ {
		a, b := spans[k-1], spans[k]
		e.expect(either(b.from.ge(a.to), a.from.ge(b.to)).as("elements that do not overlap").
			but("from %v to %v, and from %v to %v", a.from, a.to, b.from, b.to))
	}
}

func eventInvalidIndex(m *mpi) {
	for _, l := range eventLists(m) {
		for _, index := range []int{-1, m.quietCount(l), 1 << 30} {
			if m.item("%s_get_info (index %d)", l.prefix, index) {
				m.expect(m.entry(l, index).is(binding.ErrInvalidIndex))
			}
			if l.what == "source" && m.item("MPI_T_source_get_timestamp (index %d)", index) {
				m.expect(m.timestamp(index).code.is(binding.ErrInvalidIndex))
			} else if l.what != "source" && m.item("MPI_T_event_handle_alloc (index %d)", index) {
				m.expect(m.registration(index).is(binding.ErrInvalidIndex))
			}
		}
	}
}
