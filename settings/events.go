package settings

import (
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
)

// knownEvents are events and event sources of libraries. A prefix of their own stands for those of other releases.
var knownEvents = []struct {
	library, prefix string
	names           []string
}{
	{"Open MPI 6", "ompi.", []string{"ompi.mpi.initialization", "ompi.mpi.finalization", "ompi.mpi.communicator_created", "ompi.mpi.communicator_freed",
		"ompi.mpi.communicator_name_set", "ompi.mpi.errhandler_invoked", "ompi.mpi.win_created", "ompi.mpi.win_freed", "ompi.mca.memory.patcher.released"}},
	{"MPICH (ch4) built with --enable-mpit-events", "unexp_message_", []string{"unexp_message_enqueued", "unexp_message_dequeued", "RECVQ"}},
	{"Open MPI built with --enable-peruse", "PERUSE_", nil},
}

// EventHints is the end of a message about a name that does not exist: which libraries have such an event, and similar names. It may
// be "".
func EventHints(names []string, name string) (text string) {
	for _, k := range knownEvents {
		switch {
		case catalog.MatchesAny(name, k.names):
			text += "; libraries that have it: " + k.library
		case strings.HasPrefix(strings.ToLower(name), strings.ToLower(k.prefix)):
			text += "; " + k.library + " has events " + k.prefix + "*"
			names = slices.Concat(names, k.names)
		}
	}
	return text + catalog.DidYouMean(names, name)
}

// WithoutEvents says why a library has no events, and what to use instead; "" if it has some, or if that is not known.
func WithoutEvents(c *catalog.Catalog) string {
	if slices.ContainsFunc(c.Events, func(e catalog.Event) bool { return !e.Peruse() }) || !c.Before.Read && !c.After.Read || c.After.Events > 0 || c.Before.Events > 0 {
		return ""
	}
	why := " has no MPI_T events, which came with MPI-4"
	switch {
	case c.Library.Events && c.Library.Family == machine.MPICH:
		why = " has no MPI_T events (they need ch4 and --enable-mpit-events)"
	case c.Library.Events:
		why = " has the routines of MPI_T events, but no events"
	}
	return c.LibraryName() + why + "; libraries that have: Open MPI 6, MPICH (ch4) built with --enable-mpit-events. " +
		"With any MPI, mpitx trace records calls and messages and derives events of PERUSE from them, and mpitx report RUN queues says what waited"
}
