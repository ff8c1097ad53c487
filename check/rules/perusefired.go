//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/binding"
)

// Rules about PERUSE's handles and callbacks: the process sends itself messages while a callback is registered (binding/peruse_watch.h).
var peruseFiredRules = section{"PERUSE", []rule{
	peruseRule("peruse-register", "5.2.7, 5.2.11 and 5.2.12", "Each supported event can be registered for a communicator. Its handle gives the event and the communicator.", peruseRegister),
	peruseRule("peruse-arguments", "5.2.7 to 5.2.12", "An unknown event, a null callback and a null handle are refused with their error codes.", peruseArguments),
	peruseRule("peruse-activation", "5.2.8 and 5.2.9", "The callback is called while its handle is active, for each receive, and at no other time.", peruseActivation),
	peruseRule("peruse-two-handles", "5.4", "The callbacks of all active handles of an event and a communicator are called.", peruseTwoHandles),
	peruseRule("peruse-callback", "5.1.2", "The callback gets its handle, the parameter that was registered, and the whole request.", peruseCallback),
	peruseRule("peruse-identifiers", "5.1.2", "An identifier belongs to one request, message or search from its beginning event to its ending event.", peruseIdentifiers),
	peruseRule("peruse-release", "5.2.10", "PERUSE_Event_release sets the handle to PERUSE_EVENT_HANDLE_NULL, and its callback is not called again.", peruseRelease),
	peruseRule("peruse-callback-set", "5.2.13", "The callback and the parameter of an inactive handle can be replaced.", peruseCallbackSet),
	peruseRule("peruse-active-handle", "5.2.13 and 5.2.15", "For an active handle, PERUSE_Event_comm_callback_set and PERUSE_Event_propagate return PERUSE_ERR_EVENT_HANDLE.", peruseActiveHandle),
	peruseRule("peruse-propagate", "5.2.15", "A handle applies to duplicates of its communicator after PERUSE_Event_propagate, and not without it.", perusePropagate),
	peruseLockRule(refusable(peruseRule("peruse-lock-in-callback", "5.2.16", "A callback gets the lock that nobody holds.", peruseLockInCallback))),
}}

func peruseRule(name, sections, text string, run func(*mpi)) rule {
	return rule{Rule: promise(name, "PERUSE 2.0, "+sections, text), stage: after, needs: "PERUSE_Init", file: binding.PeruseWatch, run: run}
}

func peruseLockRule(r rule) rule {
	r.needs, r.file = "PERUSE_Lock", "#define PERUSE_LOCKS\n"+r.file
	return r
}

func refusable(r rule) rule {
	r.Allowed = "a library may refuse the lock to a callback"
	return r
}

// perused has handles of events, by number.
type perused struct {
	m     *mpi
	w     binding.PeruseWatcher
	name  string // of the item's event
	event int32
	used  []int
}

// eachPeruse calls f for each event, in an item, and returns how often the callbacks were called.
func (m *mpi) eachPeruse(f func(p *perused)) (calls int) {
	m.initPeruse()
	names, events, rc := m.peruseEvents()
	if rc != 0 || len(names) == 0 {
		m.notApplicable("the library lists no event of PERUSE")
		return 0
	}
	for k, name := range names {
		if m.item("%s", name) {
			p := &perused{m: m, w: m.raw.PeruseWatcher(), name: name, event: events[k]}
			f(p)
			calls += p.end()
		}
	}
	return calls
}

// end releases the handles.
func (p *perused) end() (calls int) {
	for _, k := range p.used {
		calls += p.w.Notes(k).Calls
		if !p.w.Null(k) {
			p.deactivate(k)
			p.release(k)
		}
	}
	return calls
}

// perusedFired is eachPeruse for a rule that does not apply if no event comes.
func (m *mpi) perusedFired(f func(p *perused)) {
	if m.eachPeruse(f) == 0 && m.items > 0 && m.skip == 0 {
		m.notApplicable("no event of PERUSE came in messages of the process to itself")
	}
}

func peruseHandle(k int) string { return fmt.Sprintf("peruse_watch[%d].handle", k) }

func (p *perused) onHandle(routine string, k int, f func(int) binding.Error, args ...arg) code {
	return p.m.call(routine, func() binding.Error { return f(k) }, append([]arg{lit("%s", peruseHandle(k))}, args...)...)
}

func (p *perused) activate(k int) code { return p.onHandle("PERUSE_Event_activate", k, p.w.Activate) }
func (p *perused) deactivate(k int) code {
	return p.onHandle("PERUSE_Event_deactivate", k, p.w.Deactivate)
}
func (p *perused) release(k int) code {
	return p.m.call("PERUSE_Event_release", func() binding.Error { return p.w.Release(k) }, lit("&%s", peruseHandle(k)))
}

// register registers a handle for an event of MPI_COMM_WORLD.
func (p *perused) register(k int, event int32, callback bool) code {
	p.used = append(p.used, k)
	p.m.line("peruse_watch[%d].event = %d;", k, event)
	return p.m.call("PERUSE_Event_comm_register", func() binding.Error { return p.w.Register(k, event, binding.CommWorld, callback) }, lit("%d", event), lit("MPI_COMM_WORLD"),
		lit("%s", map[bool]string{true: "peruse_called", false: "NULL"}[callback]), lit("&peruse_watch[%d]", k), lit("&%s", peruseHandle(k)))
}

// active registers and activates a handle.
func (p *perused) active(k int, event int32) bool {
	return p.register(k, event, true).ok() && p.m.succeeds(p.activate(k))
}

// mark sets a field of a handle, which says what its callbacks look at.
func (p *perused) mark(k int, field string, marks binding.PeruseMarks) {
	p.w.Mark(k, marks)
	p.m.line("peruse_watch[%d].%s = 1;", k, field)
}

// work sends messages, on MPI_COMM_WORLD or another communicator.
func (p *perused) work(comm binding.Object, c string) {
	p.m.call("peruse_work", func() binding.Error { return p.w.Work(comm) }, lit("%s", c))
}

func (p *perused) workOnWorld() { p.work(binding.CommWorld, "MPI_COMM_WORLD") }

// calls returns the callbacks of a handle so far, and a C variable with their number.
func (p *perused) calls(k int) (int, string) {
	c := p.m.fresh("calls")
	p.m.line("int %s = peruse_watch[%d].calls;", c, k)
	return p.w.Notes(k).Calls, c
}

func peruseRegister(m *mpi) {
	m.eachPeruse(func(p *perused) {
		if !m.succeeds(p.register(0, p.event, true)) {
			return
		}
		event, comm := m.num("event", untouched), int32(untouched)
		c := p.onHandle("PERUSE_Event_get", 0, func(k int) binding.Error { return p.w.Event(k, event.p()) }, event.out())
		m.expect(c.ok() && event.v == p.event, fmt.Sprintf("%s == 0 && %s == %d", c.c, event.c, p.event), fmt.Sprintf("the event %d", p.event), fmt.Sprintf("%s, %v", codeName(c.rc), event))
		m.line("void *object = NULL;")
		c = p.onHandle("PERUSE_Event_object_get", 0, func(k int) binding.Error { return p.w.Object(k, &comm) }, lit("&object"))
		m.expect(c.ok() && comm == int32(binding.CommWorld), c.c+" == 0 && (uintptr_t)object == (uintptr_t)MPI_COMM_WORLD", "MPI_COMM_WORLD", codeName(c.rc)+", another object")
	})
}

func peruseArguments(m *mpi) {
	m.initPeruse()
	_, events, _ := m.peruseEvents()
	if len(events) == 0 {
		m.notApplicable("the library lists no event of PERUSE")
		return
	}
	in := func(what string) *perused {
		if !m.item("%s", what) {
			return nil
		}
		return &perused{m: m, w: m.raw.PeruseWatcher()}
	}
	if p := in("an unknown event"); p != nil {
		m.wants(p.register(0, slices.Max(events)+1000, true), binding.ErrPeruseEvent)
	}
	if p := in("a null callback"); p != nil {
		m.wants(p.register(0, events[0], false), binding.ErrPeruseParameter)
	}
	event := func(p *perused) code {
		n := m.num("event", untouched)
		return p.onHandle("PERUSE_Event_get", 0, func(k int) binding.Error { return p.w.Event(k, n.p()) }, n.out())
	}
	for _, one := range []struct {
		what string
		call func(p *perused) code
	}{
		{"activate", func(p *perused) code { return p.activate(0) }}, {"deactivate", func(p *perused) code { return p.deactivate(0) }},
		{"release", func(p *perused) code { return p.release(0) }}, {"get", event},
	} {
		if p := in("a null handle for PERUSE_Event_" + one.what); p != nil {
			m.wants(one.call(p), binding.ErrPeruseEventHandle)
		}
	}
}

const requestActivated = "PERUSE_COMM_REQ_ACTIVATE"

func peruseActivation(m *mpi) {
	m.perusedFired(func(p *perused) {
		if !p.register(0, p.event, true).ok() {
			return
		}
		p.workOnWorld()
		n := p.w.Notes(0).Calls
		m.expect(n == 0, "peruse_watch[0].calls == 0", "no callback before the activation", fmt.Sprintf("%d calls", n))
		if !m.succeeds(p.activate(0)) {
			return
		}
		p.workOnWorld()
		if p.name == requestActivated { // a library need not have requests for small sends
			n := p.w.Notes(0).Receives
			m.expect(n == 2*binding.PeruseMessages, "peruse_watch[0].receives == 2 * PERUSE_MESSAGES", fmt.Sprintf("a callback for each of %d receives", 2*binding.PeruseMessages), fmt.Sprintf("%d callbacks", n))
		}
		was, c := p.calls(0)
		if m.succeeds(p.deactivate(0)) {
			p.workOnWorld()
			now := p.w.Notes(0).Calls
			m.expect(now == was, "peruse_watch[0].calls == "+c, "no callback after the deactivation", fmt.Sprintf("%d calls", now-was))
		}
	})
}

func peruseTwoHandles(m *mpi) {
	m.perusedFired(func(p *perused) {
		if !p.register(0, p.event, true).ok() || !p.register(1, p.event, true).ok() || !m.succeeds(p.activate(0)) || !m.succeeds(p.activate(1)) {
			return
		}
		p.workOnWorld()
		a, b := p.w.Notes(0).Calls, p.w.Notes(1).Calls
		m.expect(a == b, "peruse_watch[0].calls == peruse_watch[1].calls", "as many calls for the first handle as for the second", fmt.Sprintf("%d and %d calls", a, b))
	})
}

// peruseRequests are the events whose callbacks get the request that the program made.
var peruseRequests = prefixed("PERUSE_COMM_REQ_", []string{"ACTIVATE", "MATCH_UNEX", "INSERT_IN_POSTED_Q", "REMOVE_FROM_POSTED_Q", "XFER_BEGIN", "XFER_END", "COMPLETE", "NOTIFY"})

func peruseCallback(m *mpi) {
	m.perusedFired(func(p *perused) {
		if slices.Contains(peruseRequests, p.name) {
			p.mark(0, "request", binding.PeruseMarks{Request: true})
		}
		if p.active(0, p.event) {
			p.workOnWorld()
			n := p.w.Notes(0)
			m.expect(n.Others == 0, "peruse_watch[0].others == 0", "the handle that was registered, which gives its event", fmt.Sprintf("in %d of %d callbacks not", n.Others, n.Calls))
			m.expect(n.Wrong == 0, "peruse_watch[0].wrong == 0", "communicator, buffer, count, datatype, peer, tag and operation of the request", fmt.Sprintf("in %d of %d callbacks not", n.Wrong, n.Calls))
		}
	})
}

// peruseScopes are the events between which an identifier is in use: the first begins it, the others end it.
var peruseScopes = [][]string{
	{requestActivated, "PERUSE_COMM_REQ_NOTIFY"},
	{"PERUSE_COMM_MSG_ARRIVED", "PERUSE_COMM_MSG_REMOVE_FROM_UNEX_Q", "PERUSE_COMM_MSG_MATCH_POSTED_REQ"},
	{"PERUSE_COMM_SEARCH_POSTED_Q_BEGIN", "PERUSE_COMM_SEARCH_POSTED_Q_END"},
	{"PERUSE_COMM_SEARCH_UNEX_QUEUE_BEGIN", "PERUSE_COMM_SEARCH_UNEX_Q_END"},
	{"PERUSE_COMM_SEARCH_UNEX_Q_BEGIN", "PERUSE_COMM_SEARCH_UNEX_Q_END"}, // the name in Open MPI
}

func peruseIdentifiers(m *mpi) {
	m.initPeruse()
	names, events, _ := m.peruseEvents()
	lacks := func(name string) bool { return !slices.Contains(names, name) }
	for _, scope := range peruseScopes {
		if slices.ContainsFunc(scope, lacks) || !m.item("%s to %s", scope[0], strings.Join(scope[1:], " or ")) {
			continue
		}
		p, ok := &perused{m: m, w: m.raw.PeruseWatcher()}, true
		for k, name := range scope {
			p.mark(k, map[bool]string{true: "begins", false: "ends"}[k == 0], binding.PeruseMarks{Begins: k == 0, Ends: k > 0})
			ok = ok && p.active(k, events[slices.Index(names, name)])
		}
		if ok {
			p.workOnWorld()
			twice, stray := p.w.Identifiers()
			m.expect(twice == 0 && stray == 0, "peruse_ids.twice == 0 && peruse_ids.unknown == 0", "identifiers that are used again only after their end, and that end as they began",
				fmt.Sprintf("%d began while they were in use, %d ended that were not", twice, stray))
		}
		p.end()
	}
	if m.items == 0 {
		m.notApplicable("the library does not have the events at which identifiers begin and end")
	}
}

func peruseRelease(m *mpi) {
	m.perusedFired(func(p *perused) {
		if !p.active(0, p.event) {
			return
		}
		p.workOnWorld()
		was, calls := p.calls(0)
		c := p.release(0)
		m.expect(c.ok() && p.w.Null(0), fmt.Sprintf("%s == 0 && %s == PERUSE_EVENT_HANDLE_NULL", c.c, peruseHandle(0)), "a null handle", fmt.Sprintf("%s, null: %v", codeName(c.rc), p.w.Null(0)))
		p.workOnWorld()
		now := p.w.Notes(0).Calls
		m.expect(now == was, "peruse_watch[0].calls == "+calls, "no callback after the release", fmt.Sprintf("%d calls", now-was))
	})
}

// setCallback replaces the parameter: callbacks note what they see as those of another handle.
func (p *perused) setCallback(k, other int) code {
	return p.onHandle("PERUSE_Event_comm_callback_set", k, func(int) binding.Error { return p.w.SetCallback(k, other) }, lit("peruse_called"), lit("&peruse_watch[%d]", other))
}

func peruseCallbackSet(m *mpi) {
	m.eachPeruse(func(p *perused) {
		if p.register(0, p.event, true).ok() && m.succeeds(p.setCallback(0, 1)) && m.succeeds(p.activate(0)) {
			p.workOnWorld()
			n := p.w.Notes(0).Calls
			m.expect(n == 0, "peruse_watch[0].calls == 0", "no call with the old parameter", fmt.Sprintf("%d calls", n))
		}
	})
}

func (p *perused) propagate(k int) code {
	return p.onHandle("PERUSE_Event_propagate", k, func(int) binding.Error { return p.w.Propagate(k, true) }, lit("1"))
}

func peruseActiveHandle(m *mpi) {
	m.eachPeruse(func(p *perused) {
		if p.active(0, p.event) {
			m.wants(p.setCallback(0, 1), binding.ErrPeruseEventHandle)
			m.wants(p.propagate(0), binding.ErrPeruseEventHandle)
		}
	})
}

// duplicate duplicates MPI_COMM_WORLD.
func (p *perused) duplicate() (comm int32, c string, ok bool) {
	c = p.m.fresh("duplicate")
	p.m.line("MPI_Comm %s;", c)
	rc := p.m.call("MPI_Comm_dup", func() binding.Error { return p.m.raw.Dup(binding.CommWorld, &comm) }, lit("MPI_COMM_WORLD"), lit("&%s", c))
	return comm, c, rc.ok()
}

func perusePropagate(m *mpi) {
	tested := []string{requestActivated, "PERUSE_COMM_REQ_COMPLETE", "PERUSE_COMM_REQ_NOTIFY"} // the demo MPI has 13 duplicates
	m.perusedFired(func(p *perused) {
		if !slices.Contains(tested, p.name) || !p.active(0, p.event) {
			return
		}
		comm, text, ok := p.duplicate()
		was, c := p.calls(0)
		if !ok {
			return
		}
		p.work(binding.Object(comm), text)
		now := p.w.Notes(0).Calls
		m.expect(now == was, "peruse_watch[0].calls == "+c, "no callback for messages on the duplicate", fmt.Sprintf("%d calls", now-was))
		if !m.succeeds(p.deactivate(0)) || !m.succeeds(p.propagate(0)) || !m.succeeds(p.activate(0)) {
			return
		}
		if comm, text, ok = p.duplicate(); !ok {
			return
		}
		before, cBefore := p.calls(0)
		p.workOnWorld()
		was, c = p.calls(0)
		p.work(binding.Object(comm), text)
		now = p.w.Notes(0).Calls
		m.expect(was == before || now > was, fmt.Sprintf("%s == %s || peruse_watch[0].calls > %s", c, cBefore, c), "callbacks for messages on a duplicate, after PERUSE_Event_propagate", "none")
	})
}

func peruseLockInCallback(m *mpi) {
	m.perusedFired(func(p *perused) {
		p.mark(0, "lock", binding.PeruseMarks{Lock: true})
		if p.active(0, p.event) {
			p.workOnWorld()
			n := p.w.Notes(0)
			m.expect(n.Refused == 0, "peruse_watch[0].refused == 0", "the lock", fmt.Sprintf("refused in %d of %d callbacks", n.Refused, n.Calls))
		}
	})
}
