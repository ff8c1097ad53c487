//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/binding"
)

// Rules about PERUSE's handles and callbacks: the process sends itself messages while a callback is registered (binding/peruse_watch.h).
var peruseFiredRules = section{subject: "PERUSE", needs: "PERUSE_Init", none: "the library lists no event of PERUSE", file: binding.PeruseWatch, rules: []rule{
	{Rule: promise("peruse-register", "PERUSE 2.0, 5.2.7, 5.2.11 and 5.2.12", "Each supported event can be registered for a communicator. Its handle gives the event and the communicator."), run: onPeruse(peruseRegister)},
	{Rule: promise("peruse-arguments", "PERUSE 2.0, 5.2.7 to 5.2.12", "An unknown event, a null callback and a null handle are refused with their error codes."), run: peruseArguments},
	{Rule: promise("peruse-activation", "PERUSE 2.0, 5.2.8 and 5.2.9", "The callback is called while its handle is active, for each receive, and at no other time."), run: onFired(peruseActivation)},
	{Rule: promise("peruse-two-handles", "PERUSE 2.0, 5.4", "The callbacks of all active handles of an event and a communicator are called."), run: onFired(peruseTwoHandles)},
	{Rule: promise("peruse-callback", "PERUSE 2.0, 5.1.2", "The callback gets its handle, the parameter that was registered, and the whole request."), run: onFired(peruseCallback)},
	{Rule: promise("peruse-identifiers", "PERUSE 2.0, 5.1.2", "An identifier belongs to one request, message or search from its beginning event to its ending event."), run: peruseIdentifiers},
	{Rule: promise("peruse-release", "PERUSE 2.0, 5.2.10", "PERUSE_Event_release sets the handle to PERUSE_EVENT_HANDLE_NULL, and its callback is not called again."), run: onFired(peruseRelease)},
	{Rule: promise("peruse-callback-set", "PERUSE 2.0, 5.2.13", "The callback and the parameter of an inactive handle can be replaced."), run: onPeruse(peruseCallbackSet)},
	{Rule: promise("peruse-active-handle", "PERUSE 2.0, 5.2.13 and 5.2.15", "For an active handle, PERUSE_Event_comm_callback_set and PERUSE_Event_propagate return PERUSE_ERR_EVENT_HANDLE."), run: onPeruse(peruseActiveHandle)},
	{Rule: promise("peruse-propagate", "PERUSE 2.0, 5.2.15", "A handle applies to duplicates of its communicator after PERUSE_Event_propagate, and not without it."), run: onFired(perusePropagate)},
	{Rule: lenient("peruse-lock-in-callback", "PERUSE 2.0, 5.2.16", "A callback gets the lock that nobody holds.", "a library may refuse the lock to a callback"), needs: "PERUSE_Lock", file: peruseLocks, run: onFired(peruseLockInCallback)},
}}

var peruseLocks = "#define PERUSE_LOCKS\n" + binding.PeruseWatch

// perused has handles of events, by number.
type perused struct {
	*mpi
	peruseEvent // of the item
	w           binding.PeruseWatcher
	used        []int
}

func (m *mpi) perused(e peruseEvent) *perused {
	return &perused{mpi: m, peruseEvent: e, w: m.raw.PeruseWatcher()}
}

// eachPeruse calls f for each event, in an item, and returns how often the callbacks were called.
func (m *mpi) eachPeruse(f func(p *perused)) (calls int) {
	m.initPeruse()
	for _, e := range m.peruseEvents() {
		if m.item("%s", e.name) {
			p := m.perused(e)
			f(p)
			calls += p.end()
		}
	}
	return calls
}

// onPeruse is a rule about each event, and onFired one that does not apply if no event comes.
func onPeruse(f func(p *perused)) func(*mpi) { return func(m *mpi) { m.eachPeruse(f) } }

func onFired(f func(p *perused)) func(*mpi) {
	return func(m *mpi) {
		if m.eachPeruse(f) == 0 && m.items > 0 && m.skip == 0 {
			m.notApplicable("no event of PERUSE came in messages of the process to itself")
		}
	}
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

func peruseHandle(k int) string { return fmt.Sprintf("peruse_watch[%d].handle", k) }

func (p *perused) onHandle(routine string, k int, f func(int) binding.Error, args ...arg) code {
	return p.call(routine, func() binding.Error { return f(k) }, append([]arg{lit("%s", peruseHandle(k))}, args...)...)
}

func (p *perused) activate(k int) code { return p.onHandle("PERUSE_Event_activate", k, p.w.Activate) }

func (p *perused) deactivate(k int) code {
	return p.onHandle("PERUSE_Event_deactivate", k, p.w.Deactivate)
}

func (p *perused) release(k int) code {
	return p.call("PERUSE_Event_release", func() binding.Error { return p.w.Release(k) }, lit("&%s", peruseHandle(k)))
}

// get asks for the event of a handle.
func (p *perused) get(k int) *num {
	return p.ask("PERUSE_Event_get", "event", func(event *int32) binding.Error { return p.w.Event(k, event) }, lit("%s", peruseHandle(k)))
}

// register registers a handle for an event of MPI_COMM_WORLD.
func (p *perused) register(k int, event int32, callback bool) code {
	p.used = append(p.used, k)
	p.line("peruse_watch[%d].event = %d;", k, event)
	return p.call("PERUSE_Event_comm_register", func() binding.Error { return p.w.Register(k, event, binding.CommWorld, callback) }, lit("%d", event), lit("MPI_COMM_WORLD"),
		lit("%s", map[bool]string{true: "peruse_called", false: "NULL"}[callback]), lit("&peruse_watch[%d]", k), lit("&%s", peruseHandle(k)))
}

// active registers and activates a handle.
func (p *perused) active(k int, event int32) bool {
	return p.register(k, event, true).ok() && p.succeeds(p.activate(k))
}

// mark sets a field of a handle, which says what its callbacks look at.
func (p *perused) mark(k int, field string, marks binding.PeruseMarks) {
	p.w.Mark(k, marks)
	p.line("peruse_watch[%d].%s = 1;", k, field)
}

// work sends messages, on MPI_COMM_WORLD or another communicator.
func (p *perused) work(comm binding.Object, c string) {
	p.call("peruse_work", func() binding.Error { return p.w.Work(comm) }, lit("%s", c))
}

func (p *perused) workOnWorld() { p.work(binding.CommWorld, "MPI_COMM_WORLD") }

// calls is the number of callbacks of a handle so far, and was the same in a variable that keeps it.
func (p *perused) calls(k int) *number[int] {
	return named(fmt.Sprintf("peruse_watch[%d].calls", k), p.w.Notes(k).Calls)
}

func (p *perused) was(k int) *number[int] {
	calls := p.calls(k)
	was := named(p.fresh("calls"), calls.v)
	p.line("int %s = %s;", was.c, calls.c)
	return was
}

// quiet expects that no callback came after others.
func (p *perused) quiet(was *number[int], when string) {
	now := p.calls(0)
	p.expect(now.is(was).as("no callback %s", when).but("%d calls", now.v-was.v))
}

// right expects that the callbacks of the first handle noted nothing wrong.
func (p *perused) right(field string, wrong int, expected string) {
	p.expect(noted("peruse_watch[0]."+field, wrong, p.calls(0).v).as("%s", expected))
}

func peruseRegister(p *perused) {
	if !p.succeeds(p.register(0, p.event, true)) {
		return
	}
	event := p.get(0)
	p.expect(event.code.is(0), event.is(p.event).as("the event %d", p.event))
	comm := int32(untouched)
	p.line("void *object = NULL;")
	c := p.onHandle("PERUSE_Event_object_get", 0, func(k int) binding.Error { return p.w.Object(k, &comm) }, lit("&object"))
	p.expect(c.is(0), cond{comm == int32(binding.CommWorld), "(uintptr_t)object == (uintptr_t)MPI_COMM_WORLD", "MPI_COMM_WORLD", "another object"})
}

func peruseArguments(m *mpi) {
	m.initPeruse()
	unknown, events := int32(1000), m.peruseEvents()
	for _, e := range events {
		unknown = max(unknown, e.event+1000)
	}
	for _, one := range []struct {
		what string
		call func(p *perused) code
		want binding.Error
	}{
		{"an unknown event", func(p *perused) code { return p.register(0, unknown, true) }, binding.ErrPeruseEvent},
		{"a null callback", func(p *perused) code { return p.register(0, p.event, false) }, binding.ErrPeruseParameter},
		{"a null handle for PERUSE_Event_activate", func(p *perused) code { return p.activate(0) }, binding.ErrPeruseEventHandle},
		{"a null handle for PERUSE_Event_deactivate", func(p *perused) code { return p.deactivate(0) }, binding.ErrPeruseEventHandle},
		{"a null handle for PERUSE_Event_release", func(p *perused) code { return p.release(0) }, binding.ErrPeruseEventHandle},
		{"a null handle for PERUSE_Event_get", func(p *perused) code { return p.get(0).code }, binding.ErrPeruseEventHandle},
	} {
		if len(events) > 0 && m.item("%s", one.what) {
			m.expect(one.call(m.perused(events[0])).is(one.want))
		}
	}
}

const requestActivated = "PERUSE_COMM_REQ_ACTIVATE"

func peruseActivation(p *perused) {
	if !p.register(0, p.event, true).ok() {
		return
	}
	p.workOnWorld()
	p.expect(p.calls(0).is(0).as("no callback before the activation"))
	if !p.succeeds(p.activate(0)) {
		return
	}
	p.workOnWorld()
	if p.name == requestActivated { // a library need not have requests for small sends
		all := named("2 * PERUSE_MESSAGES", 2*binding.PeruseMessages)
		p.expect(named("peruse_watch[0].receives", p.w.Notes(0).Receives).is(all).as("a callback for each of %v receives", all))
	}
	was := p.was(0)
	if p.succeeds(p.deactivate(0)) {
		p.workOnWorld()
		p.quiet(was, "after the deactivation")
	}
}

func peruseTwoHandles(p *perused) {
	if !p.register(0, p.event, true).ok() || !p.register(1, p.event, true).ok() || !p.succeeds(p.activate(0)) || !p.succeeds(p.activate(1)) {
		return
	}
	p.workOnWorld()
	a, b := p.calls(0), p.calls(1)
	p.expect(a.is(b).as("as many calls for the first handle as for the second").but("%v and %v calls", a, b))
}

// peruseRequests are the events whose callbacks get the request that the program made.
var peruseRequests = prefixed("PERUSE_COMM_REQ_", []string{"ACTIVATE", "MATCH_UNEX", "INSERT_IN_POSTED_Q", "REMOVE_FROM_POSTED_Q", "XFER_BEGIN", "XFER_END", "COMPLETE", "NOTIFY"})

func peruseCallback(p *perused) {
	if slices.Contains(peruseRequests, p.name) {
		p.mark(0, "request", binding.PeruseMarks{Request: true})
	}
	if p.active(0, p.event) {
		p.workOnWorld()
		n := p.w.Notes(0)
		p.right("others", n.Others, "the handle that was registered, which gives its event")
		p.right("wrong", n.Wrong, "communicator, buffer, count, datatype, peer, tag and operation of the request")
	}
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
	events := m.peruseEvents()
	find := func(name string) int {
		return slices.IndexFunc(events, func(e peruseEvent) bool { return e.name == name })
	}
	for _, scope := range peruseScopes {
		if slices.ContainsFunc(scope, func(name string) bool { return find(name) < 0 }) || !m.item("%s to %s", scope[0], strings.Join(scope[1:], " or ")) {
			continue
		}
		p, ok := m.perused(peruseEvent{}), true
		for k, name := range scope {
			p.mark(k, map[bool]string{true: "begins", false: "ends"}[k == 0], binding.PeruseMarks{Begins: k == 0, Ends: k > 0})
			ok = ok && p.active(k, events[find(name)].event)
		}
		if ok {
			p.workOnWorld()
			twice, stray := p.w.Identifiers()
			m.expect(named("peruse_ids.twice", twice).is(0).as("identifiers that are used again only after their end").but("%d began while they were in use", twice),
				named("peruse_ids.unknown", stray).is(0).as("identifiers that end as they began").but("%d ended that were not in use", stray))
		}
		p.end()
	}
}

func peruseRelease(p *perused) {
	if !p.active(0, p.event) {
		return
	}
	p.workOnWorld()
	was := p.was(0)
	c := p.release(0)
	null := "PERUSE_EVENT_HANDLE_NULL"
	p.expect(c.is(0), cond{p.w.Null(0), peruseHandle(0) + " == " + null, null, "another handle"})
	p.workOnWorld()
	p.quiet(was, "after the release")
}

// setCallback replaces the parameter: callbacks note what they see as those of another handle.
func (p *perused) setCallback(k, other int) code {
	return p.onHandle("PERUSE_Event_comm_callback_set", k, func(int) binding.Error { return p.w.SetCallback(k, other) }, lit("peruse_called"), lit("&peruse_watch[%d]", other))
}

func peruseCallbackSet(p *perused) {
	if p.register(0, p.event, true).ok() && p.succeeds(p.setCallback(0, 1)) && p.succeeds(p.activate(0)) {
		p.workOnWorld()
		p.expect(p.calls(0).is(0).as("no call with the old parameter"))
	}
}

func (p *perused) propagate(k int) code {
	return p.onHandle("PERUSE_Event_propagate", k, func(int) binding.Error { return p.w.Propagate(k, true) }, lit("1"))
}

func peruseActiveHandle(p *perused) {
	if p.active(0, p.event) {
		p.expect(p.setCallback(0, 1).is(binding.ErrPeruseEventHandle))
		p.expect(p.propagate(0).is(binding.ErrPeruseEventHandle))
	}
}

// duplicate duplicates MPI_COMM_WORLD.
func (p *perused) duplicate() (comm int32, c string, ok bool) {
	c = p.fresh("duplicate")
	p.line("MPI_Comm %s;", c)
	rc := p.call("MPI_Comm_dup", func() binding.Error { return p.raw.Dup(binding.CommWorld, &comm) }, lit("MPI_COMM_WORLD"), lit("&%s", c))
	return comm, c, rc.ok()
}

func perusePropagate(p *perused) {
	tested := []string{requestActivated, "PERUSE_COMM_REQ_COMPLETE", "PERUSE_COMM_REQ_NOTIFY"} // the demo MPI has 13 duplicates
	if !slices.Contains(tested, p.name) || !p.active(0, p.event) {
		return
	}
	comm, c, ok := p.duplicate()
	if !ok {
		return
	}
	was := p.was(0)
	p.work(binding.Object(comm), c)
	p.quiet(was, "for messages on the duplicate")
	if !p.succeeds(p.deactivate(0)) || !p.succeeds(p.propagate(0)) || !p.succeeds(p.activate(0)) {
		return
	}
	if comm, c, ok = p.duplicate(); !ok {
		return
	}
	before := p.was(0)
	p.workOnWorld()
	was = p.was(0)
	p.work(binding.Object(comm), c)
	p.expect(either(was.is(before), p.calls(0).above(was).as("callbacks for messages on a duplicate, after PERUSE_Event_propagate").but("none")))
}

func peruseLockInCallback(p *perused) {
	p.mark(0, "lock", binding.PeruseMarks{Lock: true})
	if p.active(0, p.event) {
		p.workOnWorld()
		p.right("refused", p.w.Notes(0).Refused, "the lock")
	}
}
