//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"

	"mpitx/binding"
	"mpitx/catalog"
)

const noEvents = "the library has no events"

var eventRules = section{"events", []rule{
	{Rule: promise("event-names-unique", "MPI-4.0, 15.3.8", "The name of an event type is unique among event types, and not empty."), stage: after, needs: "MPI_T_event_get_num", run: eventNames},
	{Rule: promise("event-get-index", "MPI-4.0, 15.3.8", "MPI_T_event_get_index finds each event type by its name, and returns MPI_T_ERR_INVALID_NAME for others."), stage: after, needs: "MPI_T_event_get_num", run: eventIndex},
	{Rule: promise("event-elements", "MPI-4.0, 15.3.8", "Elements have datatypes of the standard and displacements of at least 0 that do not overlap."), stage: after, needs: "MPI_T_event_get_num", run: eventElements},
	{Rule: promise("event-handle", "MPI-4.0, 15.3.8", "Each event type that is not bound to an object can be registered and freed."), stage: after, needs: "MPI_T_event_get_num", run: eventHandle},
	{Rule: promise("source-info", "MPI-4.0, 15.3.8", "A source has a name, an ordering of the standard, and at least one tick per second."), stage: after, needs: "MPI_T_event_get_num", run: sourceInfo},
	{Rule: promise("source-clock", "MPI-4.0, 15.3.8", "The timestamps of an ordered source do not fall."), stage: after, needs: "MPI_T_event_get_num", run: sourceClock},
}}

var peruseRules = section{"PERUSE", []rule{
	{Rule: promise("peruse-init", "PERUSE 2.0, 5.2.1", "PERUSE_Init succeeds after MPI_Init, again and again."), stage: after, needs: "PERUSE_Init", run: peruseInit},
	{Rule: promise("peruse-events", "PERUSE 2.0, 5.2.2 to 5.2.4", "Each supported event has a name, by which PERUSE_Query_event finds it and which PERUSE_Query_event_name returns."), stage: after, needs: "PERUSE_Init", run: peruseEvents},
	{Rule: promise("peruse-unknown-event", "PERUSE 2.0, 5.2.3", "PERUSE_Query_event returns an error for a name that no event has."), stage: after, needs: "PERUSE_Init", run: peruseUnknown},
}}

// rawEvent is what MPI_T_event_get_info returns.
type rawEvent struct {
	code
	strings4
	info    binding.RawEvent
	types   []int32
	offsets []int64
	cTypes  string
	cOffs   string
}

func (m *mpi) event(index int) *rawEvent {
	e := &rawEvent{strings4: *m.strings(wholeName, wholeDesc), types: make([]int32, 64), offsets: make([]int64, 64), cTypes: m.fresh("types"), cOffs: m.fresh("displacements")}
	m.line("MPI_Datatype %s[64]; MPI_Aint %s[64]; int verbosity = 0, bind = 0, elements = 64; MPI_T_enum enumtype; MPI_Info info;", e.cTypes, e.cOffs)
	e.code = m.call("MPI_T_event_get_info", func() binding.Error {
		return m.raw.EventInfo(int32(index), e.name.p(), e.nameLen.p(), e.desc.p(), e.descLen.p(), e.types, e.offsets, &e.info)
	}, lit("%d", index), e.name.out(), e.nameLen.out(), lit("&verbosity"), lit("%s", e.cTypes), lit("%s", e.cOffs),
		arg{c: "&elements", show: func() string { return fmt.Sprintf("elements = %d", e.info.Elements) }}, lit("&enumtype"), lit("&info"), e.desc.out(), e.descLen.out(), lit("&bind"))
	return e
}

// events calls f for each event type.
func (m *mpi) events(f func(e *rawEvent, index int)) {
	n := m.num("num", untouched)
	c := m.call("MPI_T_event_get_num", func() binding.Error { return m.raw.NumEvents(n.p()) }, n.out())
	if !c.ok() || n.v < 1 {
		m.notApplicable(noEvents)
		return
	}
	for k := range int(n.v) {
		if m.item("event type %d", k) {
			if e := m.event(k); e.ok() {
				m.rename(e.name.String())
				f(e, k)
			}
		}
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
		m.line("int same;")
		m.line("{")
		other := m.event(first)
		m.line("same = strcmp(%s, %s) == 0; }", e.name.c, other.name.c)
		m.expect(false, "!same", "one event type of this name", fmt.Sprintf("the indices %d and %d have it", first, index))
	})
}

func eventIndex(m *mpi) {
	find := func(name string) (code, *num) {
		n := m.num("index", untouched)
		return m.call("MPI_T_event_get_index", func() binding.Error { return m.raw.EventIndex(cString(name), n.p()) }, lit("%s", quoted(name)), n.out()), n
	}
	m.events(func(e *rawEvent, index int) {
		c, n := find(e.name.String())
		m.expect(c.ok() && int(n.v) == index, fmt.Sprintf("%s == MPI_SUCCESS && %s == %d", c.c, n.c, index), fmt.Sprintf("index %d", index), fmt.Sprintf("%s, %d", codeName(c.rc), n.v))
	})
	if m.items > 0 && m.item("a name that no event type has") {
		c, _ := find("mpitx_no_such_name")
		m.wants(c, binding.ErrInvalidName)
	}
}

func eventElements(m *mpi) {
	m.events(func(e *rawEvent, _ int) {
		n := e.info.Elements
		if !m.expect(n >= 0 && n <= 64, "elements >= 0 && elements <= 64", "a number of elements", fmt.Sprint(n)) {
			return
		}
		type span struct{ from, to int64 }
		var spans []span
		for k := range n {
			size := catalog.Datatype(e.types[k]).Size()
			m.expect(e.offsets[k] >= 0 && e.offsets[k] < 1<<16, fmt.Sprintf("%s[%d] >= 0 && %s[%d] < 65536", e.cOffs, k, e.cOffs, k), "a displacement below 64 KiB", fmt.Sprint(e.offsets[k]))
			spans = append(spans, span{e.offsets[k], e.offsets[k] + int64(size)})
		}
		slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
		for k := 1; k < len(spans); k++ {
			if spans[k].from < spans[k-1].to {
				m.expect(false, "0", "elements that do not overlap", fmt.Sprint(spans))
			}
		}
	})
}

func eventHandle(m *mpi) {
	m.events(func(e *rawEvent, index int) {
		if e.info.Bind != int32(catalog.BindNoObject) {
			return
		}
		h := m.handle("registration", "MPI_T_event_registration", "0")
		c := m.call("MPI_T_event_handle_alloc", func() binding.Error { return m.raw.AllocEvent(int32(index), binding.NoObject, &h.v) },
			lit("%d", index), lit("NULL"), lit("MPI_INFO_NULL"), h.out())
		if m.succeeds(c) {
			m.succeeds(m.call("MPI_T_event_handle_free", func() binding.Error { return m.raw.FreeEvent(h.v) }, h.in(), lit("NULL"), lit("NULL")))
		}
	})
}

// sources calls f for each event source.
func (m *mpi) sources(f func(index int, s *strings4, info binding.RawSource)) {
	n := m.num("num", untouched)
	c := m.call("MPI_T_source_get_num", func() binding.Error { return m.raw.NumSources(n.p()) }, n.out())
	if !c.ok() || n.v < 1 {
		m.notApplicable("the library has no event sources")
		return
	}
	for k := range int(n.v) {
		if !m.item("source %d", k) {
			continue
		}
		s := m.strings(wholeName, wholeDesc)
		var info binding.RawSource
		m.line("int ordering = -42; MPI_Count ticks = -42, max_ticks = -42; MPI_Info info;")
		c := m.call("MPI_T_source_get_info", func() binding.Error {
			return m.raw.SourceInfo(int32(k), s.name.p(), s.nameLen.p(), s.desc.p(), s.descLen.p(), &info)
		}, lit("%d", k), s.name.out(), s.nameLen.out(), s.desc.out(), s.descLen.out(), lit("&ordering"), lit("&ticks"), lit("&max_ticks"), lit("&info"))
		if c.ok() {
			m.rename(s.name.String())
			f(k, s, info)
		}
	}
}

func sourceInfo(m *mpi) {
	m.sources(func(_ int, s *strings4, info binding.RawSource) {
		m.expect(s.name.String() != "" && (info.Ordering == 1 || info.Ordering == 2) && info.TicksPerSecond > 0 && info.Max > 0,
			fmt.Sprintf("%s[0] != 0 && (ordering == MPI_T_SOURCE_ORDERED || ordering == MPI_T_SOURCE_UNORDERED) && ticks > 0 && max_ticks > 0", s.name.c),
			"a name, an ordering, ticks", fmt.Sprintf("%q, ordering %s, %d ticks per second, at most %d", s.name.String(), unknown(info.Ordering), info.TicksPerSecond, info.Max))
	})
}

func sourceClock(m *mpi) {
	m.sources(func(index int, _ *strings4, info binding.RawSource) {
		if info.Ordering != 1 {
			return
		}
		was, cWas := int64(-1), ""
		for range 4 {
			var t int64
			name := m.fresh("t")
			m.line("MPI_Count %s = -42;", name)
			c := m.call("MPI_T_source_get_timestamp", func() binding.Error { return m.raw.SourceTimestamp(int32(index), &t) }, lit("%d", index),
				arg{c: "&" + name, show: func() string { return fmt.Sprintf("%s = %d", name, t) }})
			if !c.ok() {
				return // it need not have a clock outside of events
			}
			if cWas != "" {
				m.expect(t >= was, name+" >= "+cWas, fmt.Sprintf("at least %d", was), fmt.Sprint(t))
			}
			was, cWas = t, name
		}
	})
}

// ---- PERUSE ----

func (m *mpi) initPeruse() code { return m.call("PERUSE_Init", m.raw.InitPeruse) }

func peruseInit(m *mpi) {
	if m.item("PERUSE_Init") {
		m.succeeds(m.initPeruse())
		m.succeeds(m.initPeruse())
	}
}

func peruseEvents(m *mpi) {
	m.initPeruse()
	names, events, rc := m.raw.PeruseEvents()
	if rc != 0 {
		return
	}
	for k, name := range names {
		if !m.item("%s", name) {
			continue
		}
		n := m.num("event", untouched)
		c := m.call("PERUSE_Query_event", func() binding.Error { return m.raw.PeruseEvent(cString(name), n.p()) }, lit("%s", quoted(name)), n.out())
		m.expect(c.ok() && n.v == events[k], fmt.Sprintf("%s == 0 && %s == %d", c.c, n.c, events[k]), fmt.Sprintf("the descriptor %d", events[k]), fmt.Sprintf("%s, %d", codeName(c.rc), n.v))
		var back string
		cName := m.fresh("event_name")
		m.line("char *%s = NULL;", cName)
		c = m.call("PERUSE_Query_event_name", func() (rc binding.Error) { back, rc = m.raw.PeruseEventName(events[k]); return rc }, lit("%d", events[k]),
			arg{c: "&" + cName, show: func() string { return fmt.Sprintf("%s = %q", cName, back) }})
		m.expect(c.ok() && back == name, fmt.Sprintf("%s == 0 && %s && strcmp(%s, %s) == 0", c.c, cName, cName, quoted(name)), name, fmt.Sprintf("%s, %q", codeName(c.rc), back))
	}
}

func peruseUnknown(m *mpi) {
	if m.item("PERUSE_Query_event") {
		m.initPeruse()
		n := m.num("event", untouched)
		c := m.call("PERUSE_Query_event", func() binding.Error { return m.raw.PeruseEvent(cString("MPITX_NO_SUCH_EVENT"), n.p()) }, lit(`"MPITX_NO_SUCH_EVENT"`), n.out())
		m.expect(!c.ok(), c.c+" != 0", "an error", codeName(c.rc))
	}
}
