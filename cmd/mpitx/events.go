package main

import (
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

// eventKinds are the kinds of events, of MPI_T and PERUSE.
const eventKinds = catalog.Events | catalog.Sources

// knownEvents are events of libraries, by the beginnings of their names.
var knownEvents = []struct{ prefix, library string }{
	{"ompi.", "Open MPI 6"},
	{"unexp_message_", "MPICH (ch4) built with --enable-mpit-events"},
	{"RECVQ", "MPICH (ch4) built with --enable-mpit-events"},
	{"PERUSE_", "Open MPI built with --enable-peruse has events of PERUSE of its own"},
}

// hasEvent says which libraries have an event or event source; "" if mpitx does not know.
func hasEvent(name string) string {
	for _, k := range knownEvents {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(k.prefix)) {
			return "; libraries that have it: " + k.library
		}
	}
	return ""
}

// withoutEvents says why a library has no events, and what to use instead; "" if it has some, or if that is not known.
func withoutEvents(c *catalog.Catalog) string {
	if slices.ContainsFunc(c.Events, func(e catalog.Event) bool { return !e.Peruse() }) || !c.Before.Read && !c.After.Read || c.After.Events > 0 || c.Before.Events > 0 {
		return ""
	}
	why := " has no MPI_T events, which came with MPI-4"
	switch {
	case c.Library.Events && c.Library.Family == locate.MPICH:
		why = " has no MPI_T events (they need ch4 and --enable-mpit-events)"
	case c.Library.Events:
		why = " has the routines of MPI_T events, but no events"
	}
	return libraryName(c) + why + "; libraries that have: Open MPI 6, MPICH (ch4) built with --enable-mpit-events. " +
		"With any MPI, mpitx trace records calls and messages and derives events of PERUSE from them, and mpitx queues says what waited"
}
