//go:build cgo && linux

package rules

import (
	"cmp"
	"fmt"
	"slices"

	"mpitx/binding"
	"mpitx/catalog"
)

const (
	noEvents  = "the library has no events"
	noSources = "the library has no event sources"
)

var eventRules = section{subject: "events", needs: "MPI_T_event_get_num", none: noEvents, rules: []rule{
	{Rule: promise("event-names-unique", "MPI_T_event_get_info(3)", "The name of an event type is unique among event types, and not empty."), run: eventNames},
	{Rule: promise("event-get-index", "MPI_T_event_get_index(3)", "MPI_T_event_get_index finds each event type by its name, and returns MPI_T_ERR_INVALID_NAME for others."), run: eventIndex},
	{Rule: promise("event-elements", "MPI_T_event_get_info(3)", "Elements have basic datatypes of the standard and displacements of at least 0 that do not overlap."), run: eachEntry(eventElements, events)},
	{Rule: promise("event-info-identical", "MPI_T_event_get_info(3) and MPI_T_source_get_info(3)", "Repeated calls of MPI_T_event_get_info and MPI_T_source_get_info for the same event type or source return the same information."), run: eachEntry(infoIdentical, events, sources)},
	{Rule: allowed("event-invalid-index", "MPI_T_event_get_info(3)", "Routines return MPI_T_ERR_INVALID_INDEX for the index of an event type or source that does not exist."), run: eventInvalidIndex},
	{Rule: promise("event-handle", "MPI_T_event_handle_alloc(3)", "Each event type that is not bound to an object can be registered and freed."), run: eachEntry(eventHandle, events)},
	{Rule: promise("event-hints", "MPI_T_event_handle_get_info(3) and MPI_T_event_callback_get_info(3)", "The hints of a registration and of its callback can be asked for, and set to what was returned."), needs: "MPI_T_event_handle_get_info", file: binding.EventWatch, run: eachEntry(eventHints, events)},
	{Rule: allowed("event-invalid-handle", "MPI_T_event_handle_free(3)", "Routines return MPI_T_ERR_INVALID_HANDLE for a registration that is null or was freed."), file: binding.EventWatch, run: eventInvalidHandle},
	{Rule: promise("source-names-unique", "MPI_T_source_get_info(3)", "The name of a source is unique among sources."), none: noSources, run: func(m *mpi) { uniqueNames(m, sources(m)) }},
	{Rule: promise("source-info", "MPI_T_source_get_info(3)", "A source has a name, an ordering of the standard, and at least one tick per second."), none: noSources, run: eachEntry(sourceInfo, sources)},
	{Rule: promise("source-clock", "MPI_T_source_get_timestamp(3)", "The timestamps of an ordered source do not fall."), none: noSources, run: eachEntry(sourceClock, sources)},
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

func (m *mpi) noRegistration() *handle {
	h := &handle{c: m.fresh("registration")}
	m.line("MPI_T_event_registration %s = 0;", h.c)
	return h
}

// registration allocates a registration of an event type that is not bound to an object, registrationOn of one that may be.
func (m *mpi) registration(index int) *handle { return m.registrationOn(index, binding.NoObject) }

func (m *mpi) registrationOn(index int, object binding.Object) *handle {
	r := m.noRegistration()
	r.code = m.call("MPI_T_event_handle_alloc", func() binding.Error { return m.raw.AllocEvent(int32(index), object, &r.v) },
		lit("%d", index), m.object(object), lit("MPI_INFO_NULL"), r.out())
	return r
}

func (m *mpi) freeRegistration(r *handle) code {
	return m.call("MPI_T_event_handle_free", func() binding.Error { return m.raw.FreeEvent(r.v) }, r.in(), lit("NULL"), lit("NULL"))
}

// registerCallback registers the callback for a safety level, from 1.
func (m *mpi) registerCallback(r *handle, level int) code {
	return m.call("MPI_T_event_register_callback", func() binding.Error { return m.raw.WatchRegister(r.v, int32(level)) },
		r.in(), lit("%s", safetyLevels[level-1]), lit("MPI_INFO_NULL"), lit("&watch"), lit("watch_event"))
}

func eventHandle(e *entry) {
	if e.unbound() {
		if r := e.registration(e.index); e.succeeds(r.code) {
			e.succeeds(e.freeRegistration(r))
		}
	}
}

func (m *mpi) hints() *handle { return m.handle("info", "MPI_Info") }

// handleHints and its like are the routines about hints: of the registration, and of its callback of the least safety level.
func (m *mpi) handleHints(r, info *handle) code {
	return m.call("MPI_T_event_handle_get_info", func() binding.Error { return m.raw.EventInfoOf(r.v, &info.v) }, r.in(), info.out())
}

func (m *mpi) setHandleHints(r, info *handle) code {
	return m.call("MPI_T_event_handle_set_info", func() binding.Error { return m.raw.SetEventInfo(r.v, info.v) }, r.in(), info.in())
}

func (m *mpi) callbackHints(r, info *handle) code {
	return m.call("MPI_T_event_callback_get_info", func() binding.Error { return m.raw.CallbackInfo(r.v, 1, &info.v) }, r.in(), lit("%s", safetyLevels[0]), info.out())
}

func (m *mpi) setCallbackHints(r, info *handle) code {
	return m.call("MPI_T_event_callback_set_info", func() binding.Error { return m.raw.SetCallbackInfo(r.v, 1, info.v) }, r.in(), lit("%s", safetyLevels[0]), info.in())
}

func eventHints(e *entry) {
	if !e.unbound() {
		return
	}
	r := e.registration(e.index)
	if !r.ok() {
		return // event-handle tests this
	}
	if info := e.hints(); e.succeeds(e.handleHints(r, info)) {
		e.succeeds(e.setHandleHints(r, info))
	}
	e.raw.WatchEvents(nil, nil, nil)
	if e.registerCallback(r, 1).ok() {
		if info := e.hints(); e.succeeds(e.callbackHints(r, info)) {
			e.succeeds(e.setCallbackHints(r, info))
		}
	}
	e.freeRegistration(r)
}

func eventInvalidHandle(m *mpi) {
	calls := []struct {
		name string
		call func(r *handle) code
	}{
		{"MPI_T_event_handle_get_info", func(r *handle) code { return m.handleHints(r, m.hints()) }},
		{"MPI_T_event_callback_get_info", func(r *handle) code { return m.callbackHints(r, m.hints()) }},
		{"MPI_T_event_register_callback", func(r *handle) code { return m.registerCallback(r, 1) }},
		{"MPI_T_event_handle_free", m.freeRegistration},
	}
	m.raw.WatchEvents(nil, nil, nil)
	for _, one := range calls {
		if m.lib.Has(one.name) && m.item("%s (a null registration)", one.name) {
			m.expect(one.call(m.noRegistration()).is(binding.ErrInvalidHandle))
		}
	}
	free := m.firstUnbound(events(m))
	for _, one := range calls {
		if free != nil && m.lib.Has(one.name) && m.item("%s (a freed registration)", one.name) {
			if r := m.registration(free.index); r.ok() && m.freeRegistration(r).ok() {
				m.expect(one.call(r).is(binding.ErrInvalidHandle))
			}
		}
	}
}

const ordered = 1 // mpitx's number of MPI_T_SOURCE_ORDERED

func sourceInfo(e *entry) {
	order := e.num("ordering").oneOf([]string{"MPI_T_SOURCE_ORDERED", "MPI_T_SOURCE_UNORDERED"})
	e.expect(e.name.notEmpty(), order, e.ticks.at(0).ge(1), e.ticks.at(1).ge(1))
}

// timestamp calls MPI_T_source_get_timestamp.
func (m *mpi) timestamp(index int) *number[int64] {
	t := named(m.fresh("t"), int64(untouched))
	m.line("MPI_Count %s = %d;", t.c, untouched)
	t.code = m.call("MPI_T_source_get_timestamp", func() binding.Error { return m.raw.SourceTimestamp(int32(index), &t.v) }, lit("%d", index),
		arg{c: "&" + t.c, show: func() string { return fmt.Sprintf("%s = %d", t.c, t.v) }})
	return t
}

func sourceClock(e *entry) {
	if e.value("ordering") != ordered {
		return
	}
	for was, n := e.timestamp(e.index), 1; n < 4 && was.ok(); n++ { // it need not have a clock outside of events
		now := e.timestamp(e.index)
		e.expect(either(now.fails(), now.ge(was)))
		was = now
	}
}
