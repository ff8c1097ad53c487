// Package binding is the Go API of the MPI tool information interface (MPI-3.1, section 14.3, with MPI-4.0's events) and of PERUSE.
// It has every routine, in the standard's order, under its name in Go's spelling.
//
//	section  file         routines
//	14.3.4   library.go   MPI_T_init_thread, MPI_T_finalize
//	14.3.5   enum.go      MPI_T_enum_get_info, MPI_T_enum_get_item
//	14.3.6   cvar.go      MPI_T_cvar_get_num, _get_info, _get_index, _handle_alloc, _handle_free, _read, _write
//	14.3.7   pvar.go      MPI_T_pvar_get_num, _get_info, _get_index
//	         session.go   MPI_T_pvar_session_create, _free, _handle_alloc, _handle_free, _start, _stop, _read, _write, _reset, _readreset
//	14.3.8   category.go  MPI_T_category_get_num, _get_info, _get_index, _get_cvars, _get_pvars, _get_categories, _changed; MPI-4's events
//	14.3.9   errors.go    Table 14.6
//
// and of MPI-4.0, which a library need not have:
//
//	15.3.8   source.go        MPI_T_source_get_num, _get_info, _get_timestamp
//	         event.go         MPI_T_event_get_num, _get_info, _get_index
//	         registration.go  MPI_T_event_handle_alloc, _handle_set_info, _handle_get_info, _handle_free, _register_callback,
//	                          _callback_set_info, _callback_get_info, _set_dropped_handler, _read, _copy, _get_timestamp, _get_source
//
// and of PERUSE 2.0, which a library need not have:
//
//	5.2.1 to 5.2.6, 5.2.16, 5.2.17  peruse.go  PERUSE_Init, _Query_supported_events, _Query_event, _Query_event_name,
//	                          _Query_environment, _Query_queue_event_scope, _Lock, _Unlock
//	5.2.7 to 5.2.15  peruse_handle.go  PERUSE_Event_comm_register, _activate, _deactivate, _release, _get, _object_get,
//	                          _comm_callback_set, _comm_callback_get, _propagate
//	5.1.2    peruse_ring.go   callbacks: what they report goes through a ring
//
// The MPI library is loaded at run time through a shim: a neutral function table compiled with one MPI family's mpi.h
// (binding/shim). [Demo] uses the fixture MPI instead.
//
// # Concurrency
//
// MPI libraries may not be thread-safe. All calls into one [Library], and into everything created from it, must come from the
// goroutine that called [Load], which locks it to its thread. The library may call callbacks of events in its own threads.
//
// # Errors
//
// Methods return the library's return code as an [Error] or an error that their comments name. Without a reference to the
// interface that is ErrNotInitialized, for an index ErrInvalidIndex, and after a Free ErrInvalidHandle or ErrInvalidSession. [ErrBadCount]
// means that the library returned an impossible number.
//
// # Checks
//
// Real libraries crash on arguments that the standard says they reject. This package therefore checks indices, handles, sessions
// and objects before every call and returns the standard's error. Calls that may still crash (opening or reading a variable that
// the library lists) are tried in a forked child first: see [Interface.Probe].
package binding
