//go:build cgo && linux

package rules

import (
	"fmt"

	"mpitx/binding"
)

var sourceRules = section{"events", []rule{
	{Rule: promise("source-names-unique", "MPI_T_source_get_info(3)", "The name of a source is unique among sources."), stage: after, needs: "MPI_T_event_get_num", run: sourceNames},
	{Rule: promise("source-info", "MPI_T_source_get_info(3)", "A source has a name, an ordering of the standard, and at least one tick per second."), stage: after, needs: "MPI_T_event_get_num", run: sourceInfo},
	{Rule: promise("source-clock", "MPI_T_source_get_timestamp(3)", "The timestamps of an ordered source do not fall."), stage: after, needs: "MPI_T_event_get_num", run: sourceClock},
}}

// rawSource is what MPI_T_source_get_info returns, with the numbers as C variables.
type rawSource struct {
	code
	nameAndDescription
	info  binding.RawSource
	order string
	ticks string // per second, and at most
}

// eachSource calls f for each event source, in an item.
func (m *mpi) eachSource(f func(s *rawSource, index int)) (any bool) {
	if !m.lib.Has("MPI_T_event_get_num") {
		return false
	}
	c, n := m.count(eventLists(m)[1])
	if !c.ok() {
		return false
	}
	for k := range int(n.v) {
		if m.item("source %d", k) {
			if s := m.source(k); s.ok() {
				m.rename(s.name.String())
				f(s, k)
			} else {
				m.absent()
			}
		}
	}
	return n.v > 0
}

// sources is eachSource for a rule that does not apply to a library without sources.
func (m *mpi) sources(f func(s *rawSource, index int)) {
	if !m.eachSource(f) {
		m.notApplicable("the library has no event sources")
	}
}

func (m *mpi) source(index int) *rawSource {
	return m.sourceWith(index, m.strings(wholeName, wholeDesc))
}

func (m *mpi) sourceWith(index int, with *nameAndDescription) *rawSource {
	s := &rawSource{nameAndDescription: *with, order: m.fresh("ordering"), ticks: m.fresh("ticks")}
	m.line("int %s = -42; MPI_Count %s[2] = {-42, -42}; MPI_Info info_of_%s;", s.order, s.ticks, s.ticks)
	s.code = m.call("MPI_T_source_get_info", func() binding.Error {
		return m.raw.SourceInfo(int32(index), s.name.p(), s.nameLen.p(), s.desc.p(), s.descLen.p(), &s.info)
	}, lit("%d", index), s.name.out(), s.nameLen.out(), s.desc.out(), s.descLen.out(), lit("(void *)&%s", s.order), lit("&%s[0]", s.ticks), lit("&%s[1]", s.ticks), lit("&info_of_%s", s.ticks))
	return s
}

func sourceInfo(m *mpi) {
	m.sources(func(s *rawSource, _ int) {
		info := s.info
		m.expect(s.name.String() != "" && (info.Ordering == 1 || info.Ordering == 2) && info.TicksPerSecond > 0 && info.Max > 0,
			fmt.Sprintf("%s[0] != 0 && (%s == MPI_T_SOURCE_ORDERED || %s == MPI_T_SOURCE_UNORDERED) && %s[0] > 0 && %s[1] > 0", s.name.c, s.order, s.order, s.ticks, s.ticks),
			"a name, an ordering, ticks", fmt.Sprintf("%q, ordering %s, %d ticks per second, at most %d", s.name.String(), unknown(info.Ordering), info.TicksPerSecond, info.Max))
	})
}

func sourceClock(m *mpi) {
	m.sources(func(s *rawSource, index int) {
		if s.info.Ordering != 1 {
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

func sourceNames(m *mpi) {
	seen := map[string]int{}
	m.sources(func(s *rawSource, index int) {
		first, twice := seen[s.name.String()]
		if !twice {
			seen[s.name.String()] = index
			return
		}
		other := m.source(first)
		m.expect(false, fmt.Sprintf("strcmp(%s, %s) != 0", s.name.c, other.name.c), "one source of this name", fmt.Sprintf("the indices %d and %d have it", first, index))
	})
}
