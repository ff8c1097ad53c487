//go:build cgo && linux

package rules

import (
	"fmt"

	"mpitx/binding"
)

var sourceRules = section{subject: "events", needs: "MPI_T_event_get_num", none: "the library has no event sources", rules: []rule{
	{Rule: promise("source-names-unique", "MPI_T_source_get_info(3)", "The name of a source is unique among sources."), run: func(m *mpi) { uniqueNames(m, sources(m)) }},
	{Rule: promise("source-info", "MPI_T_source_get_info(3)", "A source has a name, an ordering of the standard, and at least one tick per second."), run: eachEntry(sourceInfo, sources)},
	{Rule: promise("source-clock", "MPI_T_source_get_timestamp(3)", "The timestamps of an ordered source do not fall."), run: eachEntry(sourceClock, sources)},
}}

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
