//go:build cgo && linux

package rules

import (
	"fmt"

	"mpitx/binding"
	"mpitx/catalog"
)

// Rules about events that fire: two ranks communicate while a callback is registered (binding/event_watch.h).
var firedRules = section{"events", []rule{
	firedRule("event-callback", "register_callback", "A callback can be registered for each safety level, and gets its registration and its user data.", eventCallback),
	firedRule("event-data", "copy", "MPI_T_event_copy puts each element at its displacement, as MPI_T_event_read returns it, and writes nothing after the last.", eventData),
	firedRule("event-source", "get_source", "MPI_T_event_get_source returns the index of a source.", eventSource),
	firedRule("event-timestamps", "get_timestamp", "The timestamps of the events of an ordered source do not fall.", eventTimestamps),
	firedRule("event-safety", "register_callback", "A callback is called only where its safety level suffices.", eventSafety),
	firedRule("event-dropped", "set_dropped_handler", "The handler of dropped events gets their number, which is above 0, its registration and the index of a source.", eventDropped),
	firedRule("event-free", "handle_free", "After MPI_T_event_handle_free, the free callback is called once, with its user data, and the callback not again when events come.", eventFree),
}}

func firedRule(name, page, text string, run func(*mpi)) rule {
	return rule{Rule: promise(name, "MPI_T_event_"+page+"(3)", text), stage: after, needs: "MPI_T_event_register_callback", ranks: 2, file: binding.EventWatch, run: run}
}

// watched is an event type whose callback notes what it sees.
type watched struct {
	m    *mpi
	rank *num
	h    *handle
}

// eachWatched calls f for each event type that can be registered, in an item.
func (m *mpi) eachWatched(reads bool, f func(w *watched)) {
	n, rank := m.num("num", untouched), m.num("rank", untouched)
	size := int32(0)
	m.call("MPI_Comm_rank", func() binding.Error { return m.raw.World(&rank.v, &size) }, lit("MPI_COMM_WORLD"), rank.out())
	c := m.call("MPI_T_event_get_num", func() binding.Error { return m.raw.NumEvents(n.p()) }, n.out())
	if !c.ok() || n.v < 1 {
		m.notApplicable(noEvents)
		return
	}
	ordered := m.orderedSources()
	for k := range int(n.v) {
		if !m.item("event type %d", k) {
			continue
		}
		e := m.event(k)
		bind := catalog.Bind(e.info.Bind)
		object := map[catalog.Bind]binding.Object{catalog.BindNoObject: binding.NoObject, catalog.BindComm: binding.CommWorld}[bind]
		if !e.ok() || bind != catalog.BindNoObject && bind != catalog.BindComm || e.info.Elements < 0 || e.info.Elements > 64 {
			continue
		}
		m.rename(e.name.String())
		m.watch(e, ordered)
		w := &watched{m, rank, m.handle("registration", "MPI_T_event_registration", "0")}
		c := m.call("MPI_T_event_handle_alloc", func() binding.Error { return m.raw.AllocEvent(int32(k), object, &w.h.v) },
			lit("%d", k), m.object(object), lit("MPI_INFO_NULL"), w.h.out())
		if !c.ok() {
			continue // event-handle tests this
		}
		m.raw.WatchHandle(w.h.v, reads)
		m.line("watch.handle = %s, watch.reads = %d;", w.h.c, map[bool]int{true: 1}[reads])
		f(w)
		if w.h.v != 0 {
			m.call("MPI_T_event_handle_free", func() binding.Error { return m.raw.FreeEvent(w.h.v) }, w.h.in(), lit("NULL"), lit("NULL"))
		}
	}
}

// orderedSources says of each source whether it is ordered (1).
func (m *mpi) orderedSources() (ordered []int32) {
	n := m.quietCount(eventLists(m)[1])
	for k := range n {
		m.quietly(func() *entry {
			one := int32(0)
			if s := m.sourceWith(k, &nameAndDescription{}); s.ok() && s.info.Ordering == 1 {
				one = 1
			}
			ordered = append(ordered, one)
			return nil
		})
	}
	m.line("watch.sources = %d;", n)
	for k, one := range ordered {
		if k < 16 {
			m.line("watch.ordered[%d] = %d;", k, one)
		}
	}
	return ordered
}

// watch says which elements the callback finds.
func (m *mpi) watch(e *rawEvent, ordered []int32) {
	n := e.info.Elements
	size := make([]int32, n)
	m.line("watch.elements = %d;", n)
	for k := range n {
		if e.offsets[k] >= 0 && e.offsets[k] < 1<<16-4096 {
			size[k] = int32(catalog.Datatype(e.types[k]).Size())
		}
		m.line("watch.at[%d] = %d, watch.size[%d] = %d;", k, e.offsets[k], k, size[k])
	}
	m.raw.WatchEvents(e.offsets, size, ordered)
}

// safetyLevels are the levels of callbacks, from the least.
var safetyLevels = [...]string{"MPI_T_CB_REQUIRE_NONE", "MPI_T_CB_REQUIRE_MPI_RESTRICTED", "MPI_T_CB_REQUIRE_THREAD_SAFE", "MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE"}

// register registers the callback for a level, from 1.
func (w *watched) register(level int) code {
	m, name := w.m, safetyLevels[level-1]
	m.line("watch.level = %s;", name)
	return m.call("MPI_T_event_register_callback", func() binding.Error { return m.raw.WatchRegister(w.h.v, int32(level)) },
		w.h.in(), lit("%s", name), lit("MPI_INFO_NULL"), lit("&watch"), lit("watch_event"))
}

// registerAll registers it for all levels, as far as the library allows.
func (w *watched) registerAll() {
	for level := range safetyLevels {
		w.register(level + 1)
	}
}

// work makes events, and returns what the callbacks noted.
func (w *watched) work() binding.WatchNotes {
	w.m.call("work", func() binding.Error { return w.m.raw.Work(w.rank.v) }, lit("%s", w.rank.c))
	return w.m.raw.WatchNotes()
}

// right expects that the callbacks noted nothing wrong.
func (w *watched) right(field string, wrong int, expected string) {
	w.m.expect(wrong == 0, "watch."+field+" == 0", expected, fmt.Sprintf("in %d of %d callbacks not", wrong, w.m.raw.WatchNotes().Events))
}

const silent = "no event fired in messages between two ranks and in the duplication of a communicator"

// fired applies a rule to the events of each type, and does not apply if none came.
func (m *mpi) fired(reads bool, f func(w *watched, n binding.WatchNotes)) {
	events := 0
	m.eachWatched(reads, func(w *watched) {
		w.registerAll()
		n := w.work()
		events += n.Events
		f(w, n)
	})
	if events == 0 && m.items > 0 && m.skip == 0 {
		m.notApplicable(silent)
	}
}

func eventCallback(m *mpi) {
	m.eachWatched(false, func(w *watched) {
		for level := range safetyLevels {
			if !m.succeeds(w.register(level + 1)) {
				break
			}
		}
		w.right("others", w.work().Others, "the registration, and the user data that was registered")
	})
}

func eventData(m *mpi) {
	m.fired(true, func(w *watched, n binding.WatchNotes) {
		w.right("data", n.Data, "each element of the copy as MPI_T_event_read returns it, and nothing after the last")
	})
}

func eventSource(m *mpi) {
	m.fired(false, func(w *watched, n binding.WatchNotes) {
		w.right("source", n.Source, "MPI_SUCCESS and the index of a source")
	})
}

func eventTimestamps(m *mpi) {
	m.fired(false, func(w *watched, n binding.WatchNotes) {
		w.right("times", n.Times, "a timestamp that is not below the last one of this source")
	})
}

// eventSafety adds one level after the other, so that the highest one must suffice for each call.
func eventSafety(m *mpi) {
	events := 0
	m.eachWatched(false, func(w *watched) {
		for level, name := range safetyLevels {
			if !w.register(level + 1).ok() {
				return
			}
			n := w.work()
			events += n.Events
			w.right("safety", n.Safety, "no more than "+name+", the highest level that has a callback")
		}
	})
	if events == 0 && m.items > 0 && m.skip == 0 {
		m.notApplicable(silent)
	}
}

// eventDropped registers the least level only, so that the library must drop events that require more.
func eventDropped(m *mpi) {
	drops := 0
	m.eachWatched(false, func(w *watched) {
		c := m.call("MPI_T_event_set_dropped_handler", func() binding.Error { return m.raw.WatchDrops(w.h.v) }, w.h.in(), lit("watch_dropped"))
		if m.succeeds(c) && w.register(1).ok() {
			n := w.work()
			drops += n.Drops
			m.expect(n.EmptyDrops == 0, "watch.empty_drops == 0", "a number above 0, the registration, and a source", fmt.Sprintf("in %d of %d calls not", n.EmptyDrops, n.Drops))
		}
	})
	if drops == 0 && m.items > 0 && m.skip == 0 {
		m.notApplicable("the library dropped no event")
	}
}

func eventFree(m *mpi) {
	m.eachWatched(false, func(w *watched) {
		w.registerAll()
		w.work()
		c := m.call("MPI_T_event_handle_free", func() binding.Error { return m.raw.WatchFree(w.h.v) }, w.h.in(), lit("&watch"), lit("watch_freed"))
		w.h.v = 0
		if m.succeeds(c) {
			n := w.work()
			m.expect(n.Frees == 1 && n.Late == 0, "watch.frees == 1 && watch.late == 0", "one call of the free callback, and none of the callback afterwards",
				fmt.Sprintf("%d calls, and %d afterwards", n.Frees, n.Late))
		}
	})
}
