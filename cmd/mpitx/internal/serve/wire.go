package serve

import (
	"mpitx/catalog"
	"mpitx/ui/link"
)

// Once everything is collected, the fronts of the ranks speak over sockets: waiting there costs nothing, where waiting in
// MPI means to ask again and again. A front never hangs, so rank 0's always learns what has become of a back end.

// task is what a back end that serves is to do next. Each has exactly one answer.
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

// place is where a back end is, or was when it died.
type place struct{ Variable, Text string }

// tasks are those that a back end was given and has not answered.
type tasks map[uint64]task

// variable is the one of access k of a task.
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
