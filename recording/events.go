package recording

import (
	"fmt"
	"math"
	"slices"
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
	Old    bool       // newer events have replaced these (--policy last)
	Chain  int        // identifies the chain of chunks among those of all ranks, from 0
	Block  uint64     // the [EventBlock.Sequence] of its block

	// The time in which events were lost, if Type is nil: Time is its end, or its beginning if no event of the chain follows.
	From, To time.Duration
}

// loss is the events of a chain that were lost after its last one, until a time.
type loss struct{ events, ticks uint64 }

// FieldValues returns the values of one field.
func (e *Event) FieldValues(f *Field) []Value { return e.Values[f.First : f.First+f.Count] }

// Events yields the events of all threads and ranks in time order, including records of lost events. Memory is bounded as
// with [Run.Instants]. Only the options Rank, From, To, Bodies and Readers apply.
func (run *Run) Events(o Options) func(yield func(*Event) bool) {
	return func(yield func(*Event) bool) {
		var all []*eventCursor
		for _, r := range run.Ranks {
			if o.Rank != nil && !o.Rank(r) {
				continue
			}
			for _, chain := range r.eventChains() {
				c := &eventCursor{run: run, records: records{chunks: run.store.Cursor(r.process, chain.chain)}, bodies: o.Bodies}
				c.begin(chain, true)
				c.event.Chain = len(all)
				all = append(all, c)
			}
		}
		var waiting eventHeap
		size := max(min(readBudget/max(len(all), o.Readers, 1), 1<<18), 4096)
		for _, c := range all {
			if c.chunks.Size = size; c.next() {
				waiting = append(waiting, due{c.event.Time, c.event.Rank.Rank, c})
			}
		}
		waiting.give(o, yield)
	}
}

// give yields the events of all cursors that have one.
func (h eventHeap) give(o Options, yield func(*Event) bool) {
	limited := o.To > o.From
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	for len(h) > 0 {
		c := h[0].cursor
		if limited && c.event.Time >= o.To {
			return
		}
		if c.event.Block, _ = c.chunks.Chunk(); (!limited || c.event.Time >= o.From) && !yield(&c.event) {
			return
		}
		if c.next() {
			h[0].at = c.event.Time
		} else {
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		}
		h.down(0)
	}
}

// eventCursor reads a chain of events in order.
type eventCursor struct {
	run *Run
	records
	bodies bool // do not read the values
	event  Event
	chain  *EventChain
	start  bool // the next event is the first one, and the loss of older ones comes before it
	ended  bool
	lost   uint64 // so far
}

// begin prepares for the events of a chain; first: from its first one on. The first chain of a rank stands for what is known of the rank
// alone.
func (c *eventCursor) begin(chain *EventChain, first bool) {
	c.event = Event{Rank: chain.Rank, Time: math.MinInt64}
	c.chain, c.ended, c.lost = chain, false, 0
	c.start = first && chain.main && chain.Rank.Counters.OldEvents > 0
}

// setLost makes an event of events that are not there.
func (c *eventCursor) setLost(n uint64, from, to time.Duration, old bool) {
	e := &c.event
	e.Type, e.Values, e.Body = nil, e.Values[:0], nil
	e.Lost, e.Old, e.From, e.To = n, old, from, max(from, to)
	c.lost += n
}

// tail is the loss after the last event. A process that was killed has not said which of its threads has lost how many; when its share of
// --max-size was used up, all have.
func (c *eventCursor) tail() bool {
	r := c.event.Rank
	if c.ended || c.event.Time == math.MinInt64 {
		return false
	}
	c.ended = true
	if l := r.losses[c.chain.ID.Number]; l.events > 0 {
		c.setLost(l.events, c.event.Time, c.run.time(r, l.ticks), false)
		return true
	}
	full := !r.KeepLast && slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Code == NoteBudget })
	if r.End != EndNone || !full || !c.chain.main || r.Counters.LostEvents <= c.lost {
		return false
	}
	_, to := c.run.Span(r)
	c.setLost(r.Counters.LostEvents-c.lost, c.event.Time, to, false)
	return true
}

func (c *eventCursor) next() bool {
	e := &c.event
	for {
		t, ok := c.records.next()
		if !ok {
			return c.tail()
		}
		now := max(e.Time, c.run.time(e.Rank, t.ticks))
		if c.start {
			c.start = false
			from, _ := c.run.Span(e.Rank)
			e.Time, e.Ticks = min(now, c.run.time(e.Rank, e.Rank.Counters.oldTicks)), t.ticks
			c.setLost(e.Rank.Counters.OldEvents, from, e.Time, true)
			return true
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
			from := e.Time
			if from == math.MinInt64 {
				from = c.run.time(e.Rank, c.base)
			}
			c.setLost(le.Uint64(t.body), from, now, false)
		case typ == nil:
			if c.undeclared(c.run, e.Rank, store.KindEvents, t.tag, "events of type %d of rank %d is lost: they cannot be read") {
				continue
			}
		case typ.bytes != len(t.body):
			c.skipChunk(fmt.Errorf("an event of type %s has %d bytes, not %d", typ.Name, len(t.body), typ.bytes))
			continue
		case c.bodies:
			e.Type, e.Body, e.Lost = typ, t.body, 0
		default:
			e.Type, e.Values, e.Lost = typ, typ.read(c.run, t.body, e.Values[:0]), 0
		}
		c.skip(t)
		if typ != nil || t.tag == tagLost {
			e.Time, e.Ticks = now, t.ticks
			return true
		}
	}
}

// Replaced counts the events of all ranks that newer ones have replaced (keep the last), and says until when the events of some rank are
// not complete for that.
func (run *Run) Replaced() (events uint64, until time.Duration) {
	for _, r := range run.Ranks {
		if n := r.Counters.OldEvents; n > 0 {
			events, until = events+n, max(until, run.time(r, r.Counters.oldTicks))
		}
	}
	return events, until
}

// eventHeap orders cursors by time; at equal times by rank. It is searched for each event, so it has what it compares.
type eventHeap []due

type due struct {
	at     time.Duration
	rank   int
	cursor *eventCursor
}

func (h eventHeap) before(i, k int) bool {
	a, b := &h[i], &h[k]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.rank != b.rank:
		return a.rank < b.rank
	}
	return a.cursor.event.Chain < b.cursor.event.Chain
}

// down moves an element to its place among those below it.
func (h eventHeap) down(i int) {
	for 2*i+1 < len(h) {
		next := 2*i + 1
		if next+1 < len(h) && h.before(next+1, next) {
			next++
		}
		if !h.before(next, i) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}
