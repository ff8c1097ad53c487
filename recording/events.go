package recording

import (
	"container/heap"
	"fmt"
	"math"
	"time"

	"mpitx/recording/store"
)

// EventType is a type of event that a process declared.
type EventType struct{ layout }

// Event is something that happened in one thread at one time. It is valid until the next one is yielded.
type Event struct {
	Time   time.Duration // since the job's start
	Ticks  uint64        // the same, of the clock of the run's process: see [Run.TimeAt]
	Rank   *Rank
	Thread int        // the operating system's thread ID
	Type   *EventType // nil: events were lost
	Values []Value    // of all fields' elements; nil with Options.Bodies
	Body   []byte     // the fields as they are in the run, with Options.Bodies: see [Field.Offset]
	Lost   uint64     // the number of events lost, if Type is nil
	Chain  int        // identifies the chain of chunks among those of all ranks, from 0
	Block  uint64     // the [EventBlock.Sequence] of its block
}

// FieldValues returns the values of one field.
func (e *Event) FieldValues(f *Field) []Value { return e.Values[f.First : f.First+f.Count] }

// Events yields the events of all threads and ranks in time order, including records of lost events. Memory is bounded as
// with [Run.Instants]. Only the options Rank, From, To and Bodies apply.
func (run *Run) Events(o Options) func(yield func(*Event) bool) {
	return func(yield func(*Event) bool) {
		var all eventHeap
		for _, r := range run.Ranks {
			if o.Rank != nil && !o.Rank(r) {
				continue
			}
			for _, chain := range r.process.Chains(store.KindEvents) {
				all = append(all, &eventCursor{run: run, records: records{chunks: run.store.Cursor(r.process, chain)}, bodies: o.Bodies,
					event: Event{Rank: r, Time: math.MinInt64, Chain: len(all)}})
			}
		}
		waiting := all[:0]
		size := max(min(readBudget/max(len(all), 1), 1<<18), 4096)
		for _, c := range all {
			if c.chunks.Size = size; c.next() {
				waiting = append(waiting, c)
			}
		}
		waiting.give(o, yield)
	}
}

// give yields the events of all cursors that have one.
func (h eventHeap) give(o Options, yield func(*Event) bool) {
	limited := o.To > o.From
	heap.Init(&h)
	for len(h) > 0 {
		c := h[0]
		if limited && c.event.Time >= o.To {
			return
		}
		if c.event.Block, _ = c.chunks.Chunk(); (!limited || c.event.Time >= o.From) && !yield(&c.event) {
			return
		}
		if c.next() {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
}

// eventCursor reads a chain of events in order.
type eventCursor struct {
	run *Run
	records
	bodies bool // do not read the values
	event  Event
}

func (c *eventCursor) next() bool {
	e := &c.event
	for {
		t, ok := c.records.next()
		if !ok {
			return false
		}
		var typ *EventType
		if id := int(t.tag) - tagSet; id >= 0 && id < len(e.Rank.EventTypes) {
			typ = e.Rank.EventTypes[id]
		}
		word := len(t.body) == 8
		switch {
		case t.tag == tagThread && word:
			e.Thread = int(uint32(le.Uint64(t.body)))
		case t.tag == tagLost && word:
			e.Type, e.Values, e.Body, e.Lost = nil, e.Values[:0], nil, le.Uint64(t.body)
		case typ == nil:
			if c.undeclared(c.run, e.Rank, store.KindEvents, t.tag, "events of type %d of rank %d is lost: they cannot be read") {
				continue
			}
		case typ.bytes != len(t.body):
			c.leave(fmt.Errorf("an event of type %s has %d bytes, not %d", typ.Name, len(t.body), typ.bytes))
			continue
		case c.bodies:
			e.Type, e.Body, e.Lost = typ, t.body, 0
		default:
			e.Type, e.Values, e.Lost = typ, typ.read(c.run, t.body, e.Values[:0]), 0
		}
		c.skip(t)
		if typ != nil || t.tag == tagLost {
			e.Time, e.Ticks = max(e.Time, c.run.time(e.Rank, t.ticks)), t.ticks
			return true
		}
	}
}

// eventHeap orders cursors by time; at equal times by rank.
type eventHeap []*eventCursor

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	a, b := &h[i].event, &h[j].event
	if a.Time != b.Time {
		return a.Time < b.Time
	}
	if a.Rank.Rank != b.Rank.Rank {
		return a.Rank.Rank < b.Rank.Rank
	}
	return a.Chain < b.Chain
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(*eventCursor)) }
func (h *eventHeap) Pop() any {
	old := *h
	c := old[len(old)-1]
	*h = old[:len(old)-1]
	return c
}
