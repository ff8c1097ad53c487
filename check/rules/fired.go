//go:build cgo && linux

package rules

import (
	"mpitx/binding"
	"mpitx/catalog"
)

// Rules about events that fire: two ranks communicate while a callback is registered (binding/event_watch.h).
var firedRules = section{subject: "events", needs: "MPI_T_event_register_callback", none: noEvents, file: binding.EventWatch, ranks: 2, rules: []rule{
	{Rule: promise("event-callback", "MPI_T_event_register_callback(3)", "A callback can be registered for each safety level, and gets its registration and its user data."), run: eachWatched(eventCallback)},
	{Rule: promise("event-data", "MPI_T_event_copy(3)", "MPI_T_event_copy puts each element at its displacement, as MPI_T_event_read returns it, and writes nothing after the last."), run: firedAndRead(true, silent, eventData)},
	{Rule: promise("event-source", "MPI_T_event_get_source(3)", "MPI_T_event_get_source returns the index of a source."), run: fired(silent, eventSource)},
	{Rule: promise("event-timestamps", "MPI_T_event_get_timestamp(3)", "The timestamps of the events of an ordered source do not fall."), run: fired(silent, eventTimestamps)},
	{Rule: promise("event-safety", "MPI_T_event_register_callback(3)", "A callback is called only where its safety level suffices."), run: fired(silent, eventSafety)},
	{Rule: promise("event-dropped", "MPI_T_event_set_dropped_handler(3)", "The handler of dropped events gets their number, which is above 0, its registration and the index of a source."), run: fired("the library dropped no event", eventDropped)},
	{Rule: promise("event-free", "MPI_T_event_handle_free(3)", "After MPI_T_event_handle_free, the free callback is called once, with its user data, and the callback not again when events come."), run: eachWatched(eventFree)},
}}

// watched is an event type whose callback notes what it sees.
type watched struct {
	*mpi
	*handle
	rank *num
}

// eachWatched calls f for each event type that can be registered, in an item.
func (m *mpi) eachWatched(reads bool, f func(w *watched)) {
	rank := m.rank()
	ordered := m.orderedSources()
	for k := range int(m.count(events(m)).v) {
		if !m.item("event type %d", k) {
			continue
		}
		e := m.entry(events(m), k)
		object, known := map[catalog.Bind]binding.Object{catalog.BindNoObject: binding.NoObject, catalog.BindComm: binding.CommWorld}[e.bound()]
		if n := e.value("num_elements"); !e.ok() || !known || n < 0 || n > mostElements {
			continue
		}
		m.rename(e.label())
		m.watch(e, ordered)
		w := &watched{m, m.registrationOn(k, object), rank}
		if !w.ok() {
			continue // event-handle tests this
		}
		m.raw.WatchHandle(w.v, reads)
		m.line("watch.handle = %s, watch.reads = %d;", w.in().c, map[bool]int{true: 1}[reads])
		f(w)
		if w.v != 0 {
			m.freeRegistration(w.handle)
		}
	}
}

// orderedSources says of each source whether it is ordered (1).
func (m *mpi) orderedSources() []int32 {
	all := make([]int32, m.quietCount(sources(m)))
	for s := range m.listed(sources(m)) {
		if s.value("ordering") == ordered {
			all[s.index] = 1
		}
	}
	m.line("watch.sources = %d;", len(all))
	for k, one := range all[:min(16, len(all))] {
		m.line("watch.ordered[%d] = %d;", k, one)
	}
	return all
}

// watch says which elements the callback finds.
func (m *mpi) watch(e *entry, ordered []int32) {
	n := e.value("num_elements")
	size := make([]int32, n)
	m.line("watch.elements = %d;", n)
	for k, offset := range e.offsets.b[:n] {
		if offset >= 0 && offset < 1<<16-4096 {
			size[k] = int32(catalog.Datatype(e.types.b[k]).Size())
		}
		m.line("watch.at[%d] = %d, watch.size[%d] = %d;", k, offset, k, size[k])
	}
	m.raw.WatchEvents(e.offsets.b, size, ordered)
}

// safetyLevels are the levels of callbacks, from the least.
var safetyLevels = [...]string{"MPI_T_CB_REQUIRE_NONE", "MPI_T_CB_REQUIRE_MPI_RESTRICTED", "MPI_T_CB_REQUIRE_THREAD_SAFE", "MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE"}

// register registers the callback for a level, from 1.
func (w *watched) register(level int) code {
	w.line("watch.level = %s;", safetyLevels[level-1])
	return w.registerCallback(w.handle, level)
}

// registerAll registers it for all levels, as far as the library allows.
func (w *watched) registerAll() {
	for level := range safetyLevels {
		w.register(level + 1)
	}
}

// work makes events, and returns what the callbacks noted.
func (w *watched) work() binding.WatchNotes {
	w.call("work", func() binding.Error { return w.raw.Work(w.rank.v) }, lit("%s", w.rank.c))
	return w.raw.WatchNotes()
}

// right expects that the callbacks noted nothing wrong.
func (w *watched) right(field string, wrong, calls int, expected string) {
	w.expect(noted("watch."+field, wrong, calls).as("%s", expected))
}

// noted expects that callbacks noted nothing wrong.
func noted(c string, wrong, calls int) cond {
	return named(c, wrong).is(0).but("in %d of %d calls not", wrong, calls)
}

const silent = "no event fired in messages between two ranks and in the duplication of a communicator"

// eachWatched is a rule about each type of event, and fired one that does not apply if f counts nothing.
func eachWatched(f func(w *watched)) func(*mpi) { return func(m *mpi) { m.eachWatched(false, f) } }

func fired(why string, f func(w *watched) int) func(*mpi) { return firedAndRead(false, why, f) }

func firedAndRead(reads bool, why string, f func(w *watched) int) func(*mpi) {
	return func(m *mpi) {
		n := 0
		m.eachWatched(reads, func(w *watched) { n += f(w) })
		if n == 0 && m.items > 0 && m.skip == 0 {
			m.notApplicable("%s", why)
		}
	}
}

func eventData(w *watched) int {
	return w.notes("data", func(n binding.WatchNotes) int { return n.Data },
		"each element of the copy as MPI_T_event_read returns it, and nothing after the last")
}

func eventSource(w *watched) int {
	return w.notes("source", func(n binding.WatchNotes) int { return n.Source }, "MPI_SUCCESS and the index of a source")
}

func eventTimestamps(w *watched) int {
	return w.notes("times", func(n binding.WatchNotes) int { return n.Times }, "a timestamp that is not below the last one of this source")
}

// notes expects that the callbacks for all levels noted nothing wrong in a field, and returns the number of calls.
func (w *watched) notes(field string, wrong func(n binding.WatchNotes) int, expected string) int {
	w.registerAll()
	n := w.work()
	w.right(field, wrong(n), n.Events, expected)
	return n.Events
}

func eventCallback(w *watched) {
	for level := range safetyLevels {
		if !w.succeeds(w.register(level + 1)) {
			break
		}
	}
	n := w.work()
	w.right("others", n.Others, n.Events, "the registration, and the user data that was registered")
}

// eventSafety adds one level after the other, so that the highest one must suffice for each call.
func eventSafety(w *watched) (events int) {
	for level, name := range safetyLevels {
		if !w.register(level + 1).ok() {
			break
		}
		n := w.work()
		events += n.Events
		w.right("safety", n.Safety, n.Events, "no more than "+name+", the highest level that has a callback")
	}
	return events
}

// eventDropped registers the least level only, so that the library must drop events that require more.
func eventDropped(w *watched) int {
	c := w.call("MPI_T_event_set_dropped_handler", func() binding.Error { return w.raw.WatchDrops(w.v) }, w.in(), lit("watch_dropped"))
	if !w.succeeds(c) || !w.register(1).ok() {
		return 0
	}
	n := w.work()
	w.right("empty_drops", n.EmptyDrops, n.Drops, "a number above 0, the registration, and a source")
	return n.Drops
}

func eventFree(w *watched) {
	w.registerAll()
	w.work()
	c := w.call("MPI_T_event_handle_free", func() binding.Error { return w.raw.WatchFree(w.v) }, w.in(), lit("&watch"), lit("watch_freed"))
	w.v = 0
	if w.succeeds(c) {
		n := w.work()
		w.expect(named("watch.frees", n.Frees).is(1).as("one call of the free callback"),
			named("watch.late", n.Late).is(0).as("no call of the callback afterwards"))
	}
}
