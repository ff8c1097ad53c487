package trace

import (
	"cmp"
	"slices"
	"time"

	"mpitx/recording"
)

// maker is what makes objects: a function that a rank calls with one communicator.
type maker struct {
	rank     *recording.Rank
	function string
	parent   *Object
}

// made is an object, and when the agent met it: right after the call that made it.
type made struct {
	at     time.Duration
	object *Object
}

// Made is the communicator that a call of a rank has made of its object; nil: none, or it is not in the trace.
func (t *Trace) Made(rank *recording.Rank, c *Call) *Object {
	if t.making == nil {
		t.making = map[maker][]made{}
		for r := range rows(t.run, "objects", nil) {
			rank := r.Table.Rank
			if parent := t.objects[rank][uint32(r.number("parent"))]; parent != nil && r.signed("made_at") > 0 {
				key := maker{rank, r.text("made_by"), parent}
				t.making[key] = append(t.making[key], made{time.Duration(r.signed("made_at")), t.objects[rank][uint32(r.number("id"))]})
			}
		}
		for _, all := range t.making {
			slices.SortFunc(all, func(a, b made) int { return cmp.Compare(a.at, b.at) })
		}
	}
	all := t.making[maker{rank, c.Function, c.Object}]
	i, _ := slices.BinarySearchFunc(all, c.End, func(m made, end time.Duration) int { return cmp.Compare(m.at, end) })
	if i == len(all) {
		return nil
	}
	return all[i].object
}
