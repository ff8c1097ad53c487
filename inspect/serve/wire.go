package serve

import (
	"mpitx/catalog"
	"mpitx/ui/link"
)

// After everything is collected, the ranks' fronts communicate over sockets: waiting there costs nothing, while waiting
// in MPI means polling. A front never hangs, so rank 0's front always learns what happened to a back end.

// task is the next work for a back end that serves. Each task has exactly one answer.
type task struct {
	Number   uint64
	Do       string   // link.DoRead, link.DoWrite, link.DoWorkload, link.DoRefresh
	IDs      []string // of variables to read
	Write    catalog.WriteRequest
	Workload string
}

type answer struct {
	Number   uint64
	Host     string
	Readings []catalog.Reading
	Outcomes catalog.Outcomes
	Process  []byte // of link.DoRefresh: a catalog.Process
	Changed  bool   // the library lists other variables or categories than when they were last collected
	Failed   string
}

// place is the access that a back end is in, or was in when it died.
type place struct{ Variable, Text string }

// tasks are the unanswered tasks of a back end.
type tasks map[uint64]task

// variable is the variable of access k of a task.
func (all tasks) variable(number uint64, k int) string {
	t, ok := all[number]
	switch {
	case !ok || k < 0:
		return ""
	case t.Do == link.DoWrite:
		return t.Write.Name
	case k < len(t.IDs):
		return t.IDs[k]
	}
	return ""
}
