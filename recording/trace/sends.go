package trace

import "slices"

// Completed is a send that a later call completed.
type Completed struct {
	Send    Found // the call that began it
	Message Message
}

// completed finds the sends that a call completed, unless they began too long ago. Of several with one request, which were all complete
// at once, the newest are taken.
func (x *Index) completed(f *Found, index int) {
	wanted := map[uint32]int{}
	for _, request := range f.Ended {
		wanted[request]++
	}
	t := f.ID.Track
	for i := index; i >= 0 && i > index-maxPosts && len(wanted) > 0; i-- {
		sends := x.sendsOf(t, i, f, wanted)
		for k := len(sends) - 1; k >= 0; k-- {
			request := sends[k].Message.Request
			if wanted[request] == 0 {
				continue
			}
			f.Completed = append(f.Completed, sends[k])
			if wanted[request]--; wanted[request] == 0 {
				delete(wanted, request)
			}
		}
	}
	slices.Reverse(f.Completed)
}

// sendsOf are the sends of a block with wanted requests that began before a call, in order.
func (x *Index) sendsOf(t *Track, index int, before *Found, wanted map[uint32]int) (all []Completed) {
	b := t.blocks[index]
	ordinal := uint32(0)
	x.decode(t, x.back(t, index), func(block uint64, e *Event) bool {
		id := CallID{t, block, ordinal}
		if block > b.Sequence || id == before.ID {
			return false
		}
		if block < b.Sequence || e.Call == nil || e.Call.Lost {
			return true
		}
		ordinal++
		for i := range e.Call.Messages {
			if m := &e.Call.Messages[i]; !m.Received && m.Request != 0 && wanted[m.Request] > 0 {
				send := Found{ID: id, Thread: e.Thread, Call: *e.Call}
				send.Messages, send.Ended = slices.Clone(e.Call.Messages), nil
				all = append(all, Completed{send, *m})
			}
		}
		return true
	})
	return all
}
