//go:build cgo && linux

package rules

import (
	"mpitx/binding"
)

var eventHandleRules = section{subject: "events", needs: "MPI_T_event_get_num", none: noEvents, rules: []rule{
	{Rule: promise("event-handle", "MPI_T_event_handle_alloc(3)", "Each event type that is not bound to an object can be registered and freed."), run: eachEntry(eventHandle, events)},
	{Rule: promise("event-hints", "MPI_T_event_handle_get_info(3) and MPI_T_event_callback_get_info(3)", "The hints of a registration and of its callback can be asked for, and set to what was returned."), needs: "MPI_T_event_handle_get_info", file: binding.EventWatch, run: eachEntry(eventHints, events)},
	{Rule: allowed("event-invalid-handle", "MPI_T_event_handle_free(3)", "Routines return MPI_T_ERR_INVALID_HANDLE for a registration that is null or was freed."), file: binding.EventWatch, run: eventInvalidHandle},
}}

// registration is a handle of an event type.
type registration struct {
	code // of handle_alloc
	*handle
}

func (m *mpi) noRegistration() *registration {
	return &registration{handle: m.handle("registration", "MPI_T_event_registration", "0")}
}

// registration allocates a registration of an event type that is not bound to an object, registrationOn of one that may be.
func (m *mpi) registration(index int) *registration { return m.registrationOn(index, binding.NoObject) }

func (m *mpi) registrationOn(index int, object binding.Object) *registration {
	r := m.noRegistration()
	r.code = m.call("MPI_T_event_handle_alloc", func() binding.Error { return m.raw.AllocEvent(int32(index), object, &r.v) },
		lit("%d", index), m.object(object), lit("MPI_INFO_NULL"), r.out())
	return r
}

func (m *mpi) freeRegistration(r *registration) code {
	return m.call("MPI_T_event_handle_free", func() binding.Error { return m.raw.FreeEvent(r.v) }, r.in(), lit("NULL"), lit("NULL"))
}

// registerCallback registers the callback for a safety level, from 1.
func (m *mpi) registerCallback(r *registration, level int) code {
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

func (m *mpi) hints() *handle { return m.handle("info", "MPI_Info", "MPI_INFO_NULL") }

// handleHints and its like are the routines about hints: of the registration, and of its callback of the least safety level.
func (m *mpi) handleHints(r *registration, info *handle) code {
	return m.call("MPI_T_event_handle_get_info", func() binding.Error { return m.raw.EventInfoOf(r.v, &info.v) }, r.in(), info.out())
}

func (m *mpi) setHandleHints(r *registration, info *handle) code {
	return m.call("MPI_T_event_handle_set_info", func() binding.Error { return m.raw.SetEventInfo(r.v, info.v) }, r.in(), info.in())
}

func (m *mpi) callbackHints(r *registration, info *handle) code {
	return m.call("MPI_T_event_callback_get_info", func() binding.Error { return m.raw.CallbackInfo(r.v, 1, &info.v) }, r.in(), lit("%s", safetyLevels[0]), info.out())
}

func (m *mpi) setCallbackHints(r *registration, info *handle) code {
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
		call func(r *registration) code
	}{
		{"MPI_T_event_handle_get_info", func(r *registration) code { return m.handleHints(r, m.hints()) }},
		{"MPI_T_event_callback_get_info", func(r *registration) code { return m.callbackHints(r, m.hints()) }},
		{"MPI_T_event_register_callback", func(r *registration) code { return m.registerCallback(r, 1) }},
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
