//go:build cgo && linux

package rules

import (
	"mpitx/binding"
	"mpitx/catalog"
)

var eventHandleRules = section{"events", []rule{
	{Rule: promise("event-handle", "MPI_T_event_handle_alloc(3)", "Each event type that is not bound to an object can be registered and freed."), stage: after, needs: "MPI_T_event_get_num", run: eventHandle},
	{Rule: promise("event-hints", "MPI_T_event_handle_get_info(3) and MPI_T_event_callback_get_info(3)", "The hints of a registration and of its callback can be asked for, and set to what was returned."), stage: after, needs: "MPI_T_event_handle_get_info", file: binding.EventWatch, run: eventHints},
	{Rule: allowed("event-invalid-handle", "MPI_T_event_handle_free(3)", "Routines return MPI_T_ERR_INVALID_HANDLE for a registration that is null or was freed."), stage: after, needs: "MPI_T_event_get_num", file: binding.EventWatch, run: eventInvalidHandle},
}}

// registration allocates a registration of an event type that is not bound to an object.
func (m *mpi) registration(index int) (*handle, code) {
	h := m.handle("registration", "MPI_T_event_registration", "0")
	return h, m.call("MPI_T_event_handle_alloc", func() binding.Error { return m.raw.AllocEvent(int32(index), binding.NoObject, &h.v) },
		lit("%d", index), lit("NULL"), lit("MPI_INFO_NULL"), h.out())
}

func (m *mpi) freeRegistration(h *handle) code {
	return m.call("MPI_T_event_handle_free", func() binding.Error { return m.raw.FreeEvent(h.v) }, h.in(), lit("NULL"), lit("NULL"))
}

func (m *mpi) registerCallback(h *handle) code {
	m.raw.WatchEvents(nil, nil, nil)
	return m.call("MPI_T_event_register_callback", func() binding.Error { return m.raw.WatchRegister(h.v, 1) }, h.in(), lit("%s", safetyLevels[0]), lit("MPI_INFO_NULL"), lit("&watch"), lit("watch_event"))
}

func eventHandle(m *mpi) {
	m.events(func(e *rawEvent, index int) {
		if e.info.Bind != int32(catalog.BindNoObject) {
			return
		}
		if h, c := m.registration(index); m.succeeds(c) {
			m.succeeds(m.freeRegistration(h))
		}
	})
}

// handleHints and its like are the routines about hints: of the registration, and of its callback of the least safety level.
func (m *mpi) handleHints(h, info *handle) code {
	return m.call("MPI_T_event_handle_get_info", func() binding.Error { return m.raw.EventInfoOf(h.v, &info.v) }, h.in(), info.out())
}

func (m *mpi) setHandleHints(h, info *handle) code {
	return m.call("MPI_T_event_handle_set_info", func() binding.Error { return m.raw.SetEventInfo(h.v, info.v) }, h.in(), info.in())
}

func (m *mpi) callbackHints(h, info *handle) code {
	return m.call("MPI_T_event_callback_get_info", func() binding.Error { return m.raw.CallbackInfo(h.v, 1, &info.v) }, h.in(), lit("%s", safetyLevels[0]), info.out())
}

func (m *mpi) setCallbackHints(h, info *handle) code {
	return m.call("MPI_T_event_callback_set_info", func() binding.Error { return m.raw.SetCallbackInfo(h.v, 1, info.v) }, h.in(), lit("%s", safetyLevels[0]), info.in())
}

func (m *mpi) hints() *handle { return m.handle("info", "MPI_Info", "MPI_INFO_NULL") }

func eventHints(m *mpi) {
	m.events(func(e *rawEvent, index int) {
		if e.info.Bind != int32(catalog.BindNoObject) {
			return
		}
		h, c := m.registration(index)
		if !c.ok() {
			return // event-handle tests this
		}
		info := m.hints()
		if m.succeeds(m.handleHints(h, info)) {
			m.succeeds(m.setHandleHints(h, info))
		}
		if m.registerCallback(h).ok() {
			info := m.hints()
			if m.succeeds(m.callbackHints(h, info)) {
				m.succeeds(m.setCallbackHints(h, info))
			}
		}
		m.freeRegistration(h)
	})
}

func eventInvalidHandle(m *mpi) {
	calls := []struct {
		name string
		call func(h *handle) code
	}{
		{"MPI_T_event_handle_get_info", func(h *handle) code { return m.handleHints(h, m.hints()) }},
		{"MPI_T_event_callback_get_info", func(h *handle) code { return m.callbackHints(h, m.hints()) }},
		{"MPI_T_event_register_callback", m.registerCallback},
		{"MPI_T_event_handle_free", m.freeRegistration},
	}
	for _, one := range calls {
		if m.lib.Has(one.name) && m.item("%s (a null registration)", one.name) {
			m.wants(one.call(m.handle("registration", "MPI_T_event_registration", "0")), binding.ErrInvalidHandle)
		}
	}
	free := -1
	for k := range m.quietCount(eventLists(m)[0]) {
		m.quietly(func() *entry {
			if free < 0 && m.event(k).info.Bind == int32(catalog.BindNoObject) {
				free = k
			}
			return nil
		})
	}
	for _, one := range calls {
		if free >= 0 && m.lib.Has(one.name) && m.item("%s (a freed registration)", one.name) {
			if h, c := m.registration(free); c.ok() && m.freeRegistration(h).ok() {
				m.wants(one.call(h), binding.ErrInvalidHandle)
			}
		}
	}
}
