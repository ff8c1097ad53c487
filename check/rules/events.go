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

var eventRules = section{"events", []rule{
	{Rule: promise("event-names-unique", "MPI_T_event_get_info(3)", "The name of an event type is unique among event types, and not empty."), stage: after, needs: "MPI_T_event_get_num", run: eventNames},
	{Rule: promise("event-get-index", "MPI_T_event_get_index(3)", "MPI_T_event_get_index finds each event type by its name, and returns MPI_T_ERR_INVALID_NAME for others."), stage: after, needs: "MPI_T_event_get_num", run: eventIndex},
	{Rule: promise("event-elements", "MPI_T_event_get_info(3)", "Elements have basic datatypes of the standard and displacements of at least 0 that do not overlap."), stage: after, needs: "MPI_T_event_get_num", run: eventElements},
	{Rule: promise("event-info-identical", "MPI_T_event_get_info(3) and MPI_T_source_get_info(3)", "Repeated calls of MPI_T_event_get_info and MPI_T_source_get_info for the same event type or source return the same information."), stage: after, needs: "MPI_T_event_get_num", run: eventIdentical},
	{Rule: allowed("event-invalid-index", "MPI_T_event_get_info(3)", "Routines return MPI_T_ERR_INVALID_INDEX for the index of an event type or source that does not exist."), stage: after, needs: "MPI_T_event_get_num", run: eventInvalidIndex},
}}

// mostElements are those of an event type that are tested.
const mostElements = 64

// rawEvent is what MPI_T_event_get_info returns.
type rawEvent struct {
	code
	nameAndDescription
	info    binding.RawEvent
	types   []int32
	offsets []int64
	cTypes  string
	cOffs   string
	cNums   string // verbosity, number of elements, binding
}

func (m *mpi) event(index int) *rawEvent { return m.eventWith(index, m.strings(wholeName, wholeDesc)) }

func (m *mpi) eventWith(index int, s *nameAndDescription) *rawEvent {
	e := &rawEvent{nameAndDescription: *s, types: make([]int32, mostElements), offsets: make([]int64, mostElements), cTypes: m.fresh("types"), cOffs: m.fresh("displacements"), cNums: m.fresh("numbers")}
	m.line("MPI_Datatype %s[%d]; MPI_Aint %s[%d]; int %s[3] = {0, %d, 0}; MPI_T_enum enumtype_of_%s; MPI_Info info_of_%s;", e.cTypes, mostElements, e.cOffs, mostElements,
		e.cNums, mostElements, e.cNums, e.cNums)
	e.code = m.call("MPI_T_event_get_info", func() binding.Error {
		return m.raw.EventInfo(int32(index), e.name.p(), e.nameLen.p(), e.desc.p(), e.descLen.p(), e.types, e.offsets, &e.info)
	}, lit("%d", index), e.name.out(), e.nameLen.out(), lit("&%s[0]", e.cNums), lit("%s", e.cTypes), lit("%s", e.cOffs),
		arg{c: "&" + e.cNums + "[1]", show: func() string { return fmt.Sprintf("%s[1] = %d", e.cNums, e.info.Elements) }},
		lit("&enumtype_of_%s", e.cNums), lit("&info_of_%s", e.cNums), e.desc.out(), e.descLen.out(), lit("&%s[2]", e.cNums))
	return e
}

// eventLists are the lists of event types and sources, as far as get_num needs them; none in a library without events.
func eventLists(m *mpi) []*list {
	if !m.lib.Has("MPI_T_event_get_num") {
		return nil
	}
	return []*list{{what: "event type", prefix: "MPI_T_event", num: m.raw.NumEvents}, {what: "source", prefix: "MPI_T_source", num: m.raw.NumSources}}
}

// eachEvent calls f for each event type, in an item.
func (m *mpi) eachEvent(f func(e *rawEvent, index int)) (any bool) {
	if !m.lib.Has("MPI_T_event_get_num") {
		return false
	}
	c, n := m.count(eventLists(m)[0])
	if !c.ok() {
		return false
	}
	for k := range int(n.v) {
		if m.item("event type %d", k) {
			if e := m.event(k); e.ok() {
				m.rename(e.name.String())
				f(e, k)
			} else {
				m.absent()
			}
		}
	}
	return n.v > 0
}

// events is eachEvent for a rule that does not apply to a library without events.
func (m *mpi) events(f func(e *rawEvent, index int)) {
	if !m.eachEvent(f) {
		m.notApplicable(noEvents)
	}
}

func eventNames(m *mpi) {
	seen := map[string]int{}
	m.events(func(e *rawEvent, index int) {
		name := e.name.String()
		m.expect(name != "", e.name.c+"[0] != 0", "a name", "an empty name")
		first, twice := seen[name]
		if !twice {
			seen[name] = index
			return
		}
		other := m.event(first)
		m.expect(false, fmt.Sprintf("strcmp(%s, %s) != 0", e.name.c, other.name.c), "one event type of this name", fmt.Sprintf("the indices %d and %d have it", first, index))
	})
}

func eventIndex(m *mpi) {
	find := func(name string) (code, *num) {
		n := m.num("index", untouched)
		return m.call("MPI_T_event_get_index", func() binding.Error { return m.raw.EventIndex(cString(name), n.p()) }, lit("%s", quoted(name)), n.out()), n
	}
	m.events(func(e *rawEvent, index int) {
		c, n := find(e.name.String())
		m.expect(c.ok() && int(n.v) == index, fmt.Sprintf("%s == MPI_SUCCESS && %s == %d", c.c, n.c, index), fmt.Sprintf("index %d", index), fmt.Sprintf("%s, %v", codeName(c.rc), n))
	})
	if m.items > 0 && m.item("a name that no event type has") {
		c, _ := find("mpitx_no_such_name")
		m.wants(c, binding.ErrInvalidName)
	}
}

func eventElements(m *mpi) {
	m.events(func(e *rawEvent, _ int) {
		n := e.info.Elements
		if !m.expect(n >= 0, e.cNums+"[1] >= 0", "a number of elements", fmt.Sprint(n)) {
			return
		}
		if n > mostElements {
			panic(untestable(fmt.Sprintf("an event type has %d elements, and mpitx tests at most %d", n, mostElements)))
		}
		type span struct {
			from, to int64
			c, end   string
		}
		var spans []span
		for k := range n {
			size := catalog.Datatype(e.types[k]).Size()
			typ, at := fmt.Sprintf("%s[%d]", e.cTypes, k), fmt.Sprintf("%s[%d]", e.cOffs, k)
			m.expect(size > 0, isOneOf(typ, basicTypes()), "a basic datatype", typeName(e.types[k]))
			m.expect(e.offsets[k] >= 0, at+" >= 0", "a displacement of at least 0", fmt.Sprint(e.offsets[k]))
			spans = append(spans, span{e.offsets[k], e.offsets[k] + int64(size), at, fmt.Sprintf("%s + %d", at, size)})
		}
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		for k := 1; k < len(spans); k++ {
			a, b := spans[k-1], spans[k]
			m.expect(b.from >= a.to, fmt.Sprintf("%s >= %s || %s >= %s", b.c, a.end, a.c, b.end), "elements that do not overlap", fmt.Sprintf("from %d to %d, and from %d to %d", a.from, a.to, b.from, b.to))
		}
	})
}

func eventIdentical(m *mpi) {
	events := m.eachEvent(func(e *rawEvent, index int) {
		again, n := m.event(index), min(mostElements, max(0, int(e.info.Elements)))
		same := again.ok() && again.info.Verbosity == e.info.Verbosity && again.info.Bind == e.info.Bind && again.info.Elements == e.info.Elements &&
			slices.Equal(again.types[:n], e.types[:n]) && slices.Equal(again.offsets[:n], e.offsets[:n]) && again.name.String() == e.name.String() && again.desc.String() == e.desc.String()
		kept := fmt.Sprintf("%s == MPI_SUCCESS && strcmp(%s, %s) == 0 && strcmp(%s, %s) == 0", again.c, e.name.c, again.name.c, e.desc.c, again.desc.c)
		kept += fmt.Sprintf(" && memcmp(%s, %s, sizeof %s) == 0 && memcmp(%s, %s, %d * sizeof *%s) == 0 && memcmp(%s, %s, %d * sizeof *%s) == 0",
			e.cNums, again.cNums, e.cNums, e.cTypes, again.cTypes, n, e.cTypes, e.cOffs, again.cOffs, n, e.cOffs)
		m.expect(same, kept, "the same information as in the first call", fmt.Sprintf("%s, %v %v, then %v %v", codeName(again.rc), e.info, e.types[:n], again.info, again.types[:n]))
	})
	sources := m.eachSource(func(s *rawSource, index int) {
		again := m.source(index)
		kept := fmt.Sprintf("%s == MPI_SUCCESS && strcmp(%s, %s) == 0 && strcmp(%s, %s) == 0 && %s == %s && memcmp(%s, %s, sizeof %s) == 0",
			again.c, s.name.c, again.name.c, s.desc.c, again.desc.c, s.order, again.order, s.ticks, again.ticks, s.ticks)
		m.expect(again.ok() && s.info == again.info && s.name.String() == again.name.String() && s.desc.String() == again.desc.String(), kept,
			"the same information as in the first call", fmt.Sprintf("%s, %v, then %v", codeName(again.rc), s.info, again.info))
	})
	if !events && !sources {
		m.notApplicable(noEvents)
	}
}

func eventInvalidIndex(m *mpi) {
	all := eventLists(m)
	events, sources := m.quietCount(all[0]), m.quietCount(all[1])
	for _, index := range []int{-1, events, 1 << 30} {
		if m.item("MPI_T_event_get_info (index %d)", index) {
			m.wants(m.event(index).code, binding.ErrInvalidIndex)
		}
		if m.item("MPI_T_event_handle_alloc (index %d)", index) {
			h := m.handle("registration", "MPI_T_event_registration", "0")
			m.wants(m.call("MPI_T_event_handle_alloc", func() binding.Error { return m.raw.AllocEvent(int32(index), binding.NoObject, &h.v) },
				lit("%d", index), lit("NULL"), lit("MPI_INFO_NULL"), h.out()), binding.ErrInvalidIndex)
		}
	}
	for _, index := range []int{-1, sources, 1 << 30} {
		if m.item("MPI_T_source_get_info (index %d)", index) {
			m.wants(m.source(index).code, binding.ErrInvalidIndex)
		}
		if m.item("MPI_T_source_get_timestamp (index %d)", index) {
			var t int64
			m.line("MPI_Count t;")
			m.wants(m.call("MPI_T_source_get_timestamp", func() binding.Error { return m.raw.SourceTimestamp(int32(index), &t) }, lit("%d", index), lit("&t")), binding.ErrInvalidIndex)
		}
	}
}
