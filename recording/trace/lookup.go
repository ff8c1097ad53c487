package trace

import (
	"slices"
	"time"
)

const (
	maxBack  = 128 // blocks that are read for the messages before a call
	maxPosts = 64  // blocks that are searched for the call that posted a receive
	maxNamed = 64  // objects; with more, summaries do not help a search
)

// Found is a call with where it is.
type Found struct {
	ID     CallID
	Thread int
	Call
	Completed []Completed // the sends of Ended, as far as they are found
}

// decode decodes the events of a track from a block on, until yield returns false.
func (x *Index) decode(t *Track, index int, yield func(block uint64, e *Event) bool) {
	x.reader.Seek(t.chain, t.blocks[index].Sequence)
	d := newDecoder(x.trace)
	x.trace.matched = nil
	c := &chain{}
	chainNumber := 0
	if x.flows != nil {
		if number, counted, ok := x.flows.before(t.chain.ID, t.blocks[index].Sequence); ok {
			x.trace.matched, chainNumber, c.counted = x.flows.matched, number, counted
		}
	}
	d.only = c
	for {
		e := x.reader.Next()
		if e == nil {
			return
		}
		e.Chain = chainNumber
		block := e.Block
		if !d.event(e, func(e *Event) bool { return yield(block, e) }) {
			return
		}
	}
}

// Call reads a call with its messages. ok is false if it is not there any more.
func (x *Index) Call(id CallID) (f Found, ok bool) {
	if id.Track == nil {
		return f, false
	}
	i := id.Track.at(id.Block)
	if i < 0 {
		return f, false
	}
	ordinal := uint32(0)
	x.decode(id.Track, x.back(id.Track, i), func(block uint64, e *Event) bool {
		if block > id.Block {
			return false
		}
		if block < id.Block || e.Call == nil || e.Call.Lost {
			return true
		}
		if ok = ordinal == id.Ordinal; ok {
			f = Found{ID: id, Thread: e.Thread, Call: *e.Call}
			f.Messages, f.Ended = slices.Clone(e.Call.Messages), slices.Clone(e.Call.Ended)
		}
		ordinal++
		return !ok
	})
	if ok {
		x.posted(id.Track, i, &f)
		x.completed(&f, i)
	}
	return f, ok
}

// precedes says whether an event of this kind belongs to the call that follows.
func (k kind) precedes() bool { return k == kindMessage || k == kindDone }

// back is the block at which reading must begin for all messages of a block's first call, and for the sends that it completed.
func (x *Index) back(t *Track, index int) int {
	for i := index; i > max(index-maxBack, 0); i-- {
		first := kindOther
		x.scan(t, i, func(e *item) bool { first = e.kind; return false })
		if first != kindCall && !first.precedes() {
			return i
		}
		if i > 0 {
			last := kindOther
			x.scan(t, i-1, func(e *item) bool { last = e.kind; return true })
			if !last.precedes() {
				return i
			}
		}
	}
	return max(index-maxBack, 0)
}

// posted finds when the receives of a call were posted, if that was not too long ago.
func (x *Index) posted(t *Track, index int, f *Found) {
	wanted := map[uint32][]*Message{}
	for i := range f.Messages {
		if m := &f.Messages[i]; m.Received && m.Posted == 0 && m.Request != 0 {
			wanted[m.Request] = append(wanted[m.Request], m)
		}
	}
	p := x.processes.of(t.Rank)
	for i := index; i >= 0 && i > index-maxPosts && len(wanted) > 0; i-- {
		b := t.blocks[i]
		x.reader.Seek(t.chain, b.Sequence)
		for {
			e := x.reader.Next()
			if e == nil || e.Block != b.Sequence || e.Time > f.End {
				break
			}
			if e.Type == nil {
				continue
			}
			l := x.repeats.restore(e, p.layout(e.Type))
			if l == nil || l.kind != kindCall && l.kind != kindPost && l.kind != kindStart || l.u32(e.Body, fieldFlags)&flagPosts == 0 {
				continue
			}
			for _, m := range wanted[l.u32(e.Body, fieldRequest)] {
				m.Posted = x.run.TimeAt(e.Rank, l.u64(e.Body, fieldBegin)) // the last one in the block counts
				if l.kind == kindCall {
					m.Function = p.text(l.u32(e.Body, fieldFunction))
				}
			}
		}
		for request, all := range wanted {
			if all[0].Posted != 0 {
				delete(wanted, request)
			}
		}
	}
}

// Wanted says which calls a search is for.
type Wanted func(function string, object *Object) bool

// Next finds the next call of a track that is wanted (nil: any), in the order in which calls end, or with step -1 the one before. Without
// a block, the search begins at a time. ok is false if there is none.
func (x *Index) Next(from CallID, at time.Duration, step int, wanted Wanted) (id CallID, begin, end time.Duration, ok bool) {
	t := from.Track
	i := t.find(at)
	if from.Block != 0 {
		if i = t.at(from.Block); i < 0 {
			return id, 0, 0, false
		}
	}
	for ; i >= 0 && i < len(t.blocks); i += step {
		b := t.blocks[i]
		if wanted == nil || x.mayHave(b, wanted) {
			x.scanCalls(t, i, wanted, func(e *item) bool {
				switch {
				case step > 0 && (from.Block == b.Sequence && e.ordinal <= from.Ordinal || from.Block == 0 && e.time < at):
					return true
				case step < 0 && (from.Block == b.Sequence && e.ordinal >= from.Ordinal || from.Block == 0 && e.begin > at):
					return false
				}
				id, begin, end, ok = CallID{t, b.Sequence, e.ordinal}, e.begin, e.time, true
				return step < 0
			})
		}
		if ok {
			return id, begin, end, true
		}
	}
	return id, 0, 0, false
}

// mayHave says whether a block may have a wanted call, by its summary.
func (x *Index) mayHave(b *block, wanted Wanted) bool {
	if b.summary == nil || len(x.named) > maxNamed {
		return true
	}
	return slices.ContainsFunc(b.summary.shares, func(s Share) bool {
		return slices.ContainsFunc(x.named, func(o *Object) bool { return wanted(x.functions[s.Function], o) })
	})
}

// scanCalls is scan for wanted calls.
func (x *Index) scanCalls(t *Track, index int, wanted Wanted, yield func(*item) bool) {
	p := x.processes.of(t.Rank)
	x.scan(t, index, func(e *item) bool {
		if e.kind != kindCall || wanted != nil && !wanted(x.functions[e.function], p.objects[e.object]) {
			return true
		}
		return yield(e)
	})
}

// Other finds the other side of a message: the call that received or sent it, and the message there.
func (x *Index) Other(f *Found, m *Message) (other Found, message Message, ok bool) {
	if m.Flow == 0 {
		return other, message, false
	}
	step, at := 1, f.Begin
	if m.Received {
		step, at = -1, f.End
	}
	var tracks []*Track
	next := map[*Track]int{}
	for _, t := range slices.Concat(x.Tracks, x.hidden) {
		if t.Rank.Rank == m.Peer {
			tracks = append(tracks, t)
			next[t] = t.find(at)
		}
	}
	for {
		var t *Track // the one whose next block is the nearest in time
		for _, c := range tracks {
			if i := next[c]; i < 0 || i >= len(c.blocks) {
				continue
			}
			if t == nil || step > 0 && c.blocks[next[c]].First < t.blocks[next[t]].First || step < 0 && c.blocks[next[c]].First > t.blocks[next[t]].First {
				t = c
			}
		}
		if t == nil {
			return other, message, false
		}
		if id, k, found := x.withFlow(t, next[t], m); found {
			if other, ok = x.Call(id); ok && k < len(other.Messages) {
				return other, other.Messages[k], true
			}
			return other, message, false
		}
		next[t] += step
	}
}

// withFlow finds the call of a block that has the other side of a message, and which of the call's messages it is.
func (x *Index) withFlow(t *Track, index int, m *Message) (id CallID, message int, ok bool) {
	b := t.blocks[index]
	ordinal := uint32(0)
	x.decode(t, x.back(t, index), func(block uint64, e *Event) bool {
		if block > b.Sequence {
			return false
		}
		if block < b.Sequence || e.Call == nil || e.Call.Lost {
			return true
		}
		for k := range e.Call.Messages {
			if o := &e.Call.Messages[k]; o.Flow == m.Flow && o.Received != m.Received {
				id, message, ok = CallID{t, block, ordinal}, k, true
				return false
			}
		}
		ordinal++
		return true
	})
	return id, message, ok
}
