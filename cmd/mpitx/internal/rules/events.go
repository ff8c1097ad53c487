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
	{Rule: promise("event-info-identical", "MPI-4.0, 15.3.8", "Repeated calls of MPI_T_event_get_info for the same event type return the same information."), stage: after, needs: "MPI_T_event_get_num", run: eventIdentical},
	{Rule: allowed("event-invalid-index", "MPI-4.0, 15.3.8", "Routines return MPI_T_ERR_INVALID_INDEX for the index of an event type or source that does not exist."), stage: after, needs: "MPI_T_event_get_num", run: eventInvalidIndex},
	{Rule: promise("event-handle", "MPI-4.0, 15.3.8", "Each event type that is not bound to an object can be registered and freed."), stage: after, needs: "MPI_T_event_get_num", run: eventHandle},
	{Rule: promise("source-info", "MPI-4.0, 15.3.8", "A source has a name, an ordering of the standard, and at least one tick per second."), stage: after, needs: "MPI_T_event_get_num", run: sourceInfo},
	{Rule: promise("source-clock", "MPI-4.0, 15.3.8", "The timestamps of an ordered source do not fall."), stage: after, needs: "MPI_T_event_get_num", run: sourceClock},
}}

var peruseRules = section{"PERUSE", []rule{
	{Rule: promise("peruse-init", "PERUSE 2.0, 5.2.1", "PERUSE_Init succeeds after MPI_Init, again and again."), stage: after, needs: "PERUSE_Init", run: peruseInit},
	{Rule: promise("peruse-before-init", "PERUSE 2.0, 5.2.1", "PERUSE_Init returns PERUSE_ERR_MPI_INIT before MPI_Init."), stage: bare, needs: "PERUSE_Init", run: peruseBeforeInit},
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
	cNums   string // verbosity, number of elements, binding
}

func (m *mpi) event(index int) *rawEvent { return m.eventWith(index, m.strings(wholeName, wholeDesc)) }

func (m *mpi) eventWith(index int, s *strings4) *rawEvent {
	e := &rawEvent{strings4: *s, types: make([]int32, 64), offsets: make([]int64, 64), cTypes: m.fresh("types"), cOffs: m.fresh("displacements"), cNums: m.fresh("numbers")}
	m.line("MPI_Datatype %s[64]; MPI_Aint %s[64]; int %s[3] = {0, 64, 0}; MPI_T_enum enumtype_of_%s; MPI_Info info_of_%s;", e.cTypes, e.cOffs, e.cNums, e.cNums, e.cNums)
	e.code = m.call("MPI_T_event_get_info", func() binding.Error {
		return m.raw.EventInfo(int32(index), e.name.p(), e.nameLen.p(), e.desc.p(), e.descLen.p(), e.types, e.offsets, &e.info)
	}, lit("%d", index), e.name.out(), e.nameLen.out(), lit("&%s[0]", e.cNums), lit("%s", e.cTypes), lit("%s", e.cOffs),
		arg{c: "&" + e.cNums + "[1]", show: func() string { return fmt.Sprintf("%s[1] = %d", e.cNums, e.info.Elements) }},
		lit("&enumtype_of_%s", e.cNums), lit("&info_of_%s", e.cNums), e.desc.out(), e.descLen.out(), lit("&%s[2]", e.cNums))
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
		if !m.expect(n >= 0 && n <= 64, fmt.Sprintf("%s[1] >= 0 && %s[1] <= 64", e.cNums, e.cNums), "a number of elements", fmt.Sprint(n)) {
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

func eventIdentical(m *mpi) {
	m.events(func(e *rawEvent, index int) {
		again, n := m.event(index), min(64, max(0, int(e.info.Elements)))
		same := again.ok() && again.info.Verbosity == e.info.Verbosity && again.info.Bind == e.info.Bind && again.info.Elements == e.info.Elements &&
			slices.Equal(again.types[:n], e.types[:n]) && slices.Equal(again.offsets[:n], e.offsets[:n]) && again.name.String() == e.name.String() && again.desc.String() == e.desc.String()
		kept := fmt.Sprintf("%s == MPI_SUCCESS && strcmp(%s, %s) == 0 && strcmp(%s, %s) == 0", again.c, e.name.c, again.name.c, e.desc.c, again.desc.c)
		kept += fmt.Sprintf(" && memcmp(%s, %s, sizeof %s) == 0 && memcmp(%s, %s, %d * sizeof *%s) == 0 && memcmp(%s, %s, %d * sizeof *%s) == 0",
			e.cNums, again.cNums, e.cNums, e.cTypes, again.cTypes, n, e.cTypes, e.cOffs, again.cOffs, n, e.cOffs)
		m.expect(same, kept, "the same information as in the first call", fmt.Sprintf("%s, %v %v, then %v %v", codeName(again.rc), e.info, e.types[:n], again.info, again.types[:n]))
	})
}

func eventInvalidIndex(m *mpi) {
	var events, sources int32
	m.raw.NumEvents(&events)
	m.raw.NumSources(&sources)
	for _, index := range []int{-1, int(events), 1 << 30} {
		if m.item("MPI_T_event_get_info, index %d", index) {
			m.wants(m.event(index).code, binding.ErrInvalidIndex)
		}
		if m.item("MPI_T_event_handle_alloc, index %d", index) {
			h := m.handle("registration", "MPI_T_event_registration", "0")
			m.wants(m.call("MPI_T_event_handle_alloc", func() binding.Error { return m.raw.AllocEvent(int32(index), binding.NoObject, &h.v) },
				lit("%d", index), lit("NULL"), lit("MPI_INFO_NULL"), h.out()), binding.ErrInvalidIndex)
		}
	}
	for _, index := range []int{-1, int(sources), 1 << 30} {
		if m.item("MPI_T_source_get_info, index %d", index) {
			c, _ := m.sourceWith(index, m.strings(wholeName, wholeDesc))
			m.wants(c, binding.ErrInvalidIndex)
		}
		if m.item("MPI_T_source_get_timestamp, index %d", index) {
			var t int64
			m.line("MPI_Count t;")
			m.wants(m.call("MPI_T_source_get_timestamp", func() binding.Error { return m.raw.SourceTimestamp(int32(index), &t) }, lit("%d", index), lit("&t")), binding.ErrInvalidIndex)
		}
	}
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
		if c, info := m.sourceWith(k, s); c.ok() {
			m.rename(s.name.String())
			f(k, s, info)
		}
	}
}

func (m *mpi) sourceWith(index int, s *strings4) (c code, info binding.RawSource) {
	order, ticks := m.fresh("ordering"), m.fresh("ticks")
	m.line("int %s = -42; MPI_Count %s[2] = {-42, -42}; MPI_Info info_of_%s;", order, ticks, ticks)
	c = m.call("MPI_T_source_get_info", func() binding.Error {
		return m.raw.SourceInfo(int32(index), s.name.p(), s.nameLen.p(), s.desc.p(), s.descLen.p(), &info)
	}, lit("%d", index), s.name.out(), s.nameLen.out(), s.desc.out(), s.descLen.out(), lit("&%s", order), lit("&%s[0]", ticks), lit("&%s[1]", ticks), lit("&info_of_%s", ticks))
	return c, info
}

func sourceInfo(m *mpi) {
	m.sources(func(_ int, s *strings4, info binding.RawSource) {
		m.expect(s.name.String() != "" && (info.Ordering == 1 || info.Ordering == 2) && info.TicksPerSecond > 0 && info.Max > 0,
			fmt.Sprintf("%s[0] != 0 && (ordering1 == MPI_T_SOURCE_ORDERED || ordering1 == MPI_T_SOURCE_UNORDERED) && ticks1[0] > 0 && ticks1[1] > 0", s.name.c),
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

func peruseBeforeInit(m *mpi) {
	if m.item("PERUSE_Init") {
		m.wants(m.initPeruse(), binding.ErrPeruseMPIInit)
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
