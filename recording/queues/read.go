package queues

import (
	"fmt"
	"slices"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// The events of a run that say something about queues (docs/run-format.md).
const (
	peruseEvent  = "peruse"
	mpichArrived = "mpi_t unexp_message_enqueued"
	mpichLeft    = "mpi_t unexp_message_dequeued"
	peruseSource = "PERUSE"
	mpichSource  = "MPI_T events"
)

func has(run *recording.Run, name string) bool {
	return slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool {
		return slices.ContainsFunc(r.EventTypes, func(t *recording.EventType) bool { return t != nil && t.Name == name })
	})
}

func source(run *recording.Run) string {
	switch {
	case has(run, peruseEvent):
		return peruseSource
	case has(run, mpichArrived):
		return mpichSource
	}
	return ""
}

// Read computes the queues of a run, live or ended, from the events that the options Rank, From and To select. It returns nil if the
// run has no such events.
func Read(run *recording.Run, o recording.Options) *Queues {
	name := source(run)
	if name == "" {
		return nil
	}
	r := reader{objects: trace.Objects(run), leaves: has(run, mpichLeft)}
	first, last, any, lost := time.Duration(0), time.Duration(0), false, uint64(0)
	for e := range run.Events(o) {
		if e.Type == nil {
			lost += e.Lost
		} else if _, ok := r.event(e); ok {
			if !any {
				first = e.Time
			}
			any, last = true, e.Time
		}
	}
	a := NewAdder(name, first, last)
	for e := range run.Events(o) {
		if e.Type == nil {
			continue
		}
		if event, ok := r.event(e); ok && event.Time >= first && event.Time <= last { // a live run may have grown
			a.Add(&event)
		}
	}
	q := a.Queues()
	q.Lost = lost
	return q
}

type reader struct {
	objects map[*recording.Rank]map[uint32]*trace.Object
	leaves  bool // MPICH's event of a message that leaves the queue is recorded
}

// event translates an event; false for those that do not concern queues.
func (r *reader) event(e *recording.Event) (Event, bool) {
	out := Event{Time: e.Time, Rank: e.Rank.Rank, Thread: e.Thread, Peer: -1}
	value := func(name string) recording.Value {
		for i := range e.Type.Fields {
			if f := &e.Type.Fields[i]; f.Name == name {
				return e.Values[f.First]
			}
		}
		return recording.Value{}
	}
	number := func(name string) int { n, _ := value(name).Int64(); return int(n) }
	switch e.Type.Name {
	case peruseEvent:
		out.Name = value("event").String()
		out.Request, _ = value("request").Uint64()
		id, _ := value("object").Uint64()
		if out.Comm = r.objects[e.Rank][uint32(id)].String(); out.Comm == "" {
			out.Comm = fmt.Sprintf("communicator %d", id)
		}
		out.Peer, out.Tag, out.Send = number("peer"), number("tag"), number("operation") == 1
	case mpichArrived, mpichLeft: // elements: the source's rank in the communicator, and MPICH's number of the communicator
		switch {
		case !r.leaves: // their removal is not recorded, so nothing is known of the queue
			out.Name = unexpectedMessage
		case e.Type.Name == mpichArrived:
			out.Name = "MSG_INSERT_IN_UNEX_Q"
		default:
			out.Name = "MSG_REMOVE_FROM_UNEX_Q"
		}
		out.Peer, out.Comm = number("element 0"), fmt.Sprintf("context %d", number("element 1"))
	default:
		return out, false
	}
	return out, true
}
