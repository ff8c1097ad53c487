package perfetto

import (
	"cmp"
	"slices"
	"strconv"

	"mpitx/recording/trace"
)

// calls writes an outermost call and the calls nested in it.
func (x *writer) calls(t *thread, call *trace.Call) {
	if len(t.nested) == 0 {
		x.slice(t, call)
		x.end(t, call)
		return
	}
	slices.SortStableFunc(t.nested, func(a, b trace.Call) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Depth, b.Depth))
	})
	open := []*trace.Call{call}
	x.slice(t, call)
	for i := range t.nested {
		c := &t.nested[i]
		for len(open) > 0 && (open[len(open)-1].Depth >= c.Depth || open[len(open)-1].End < c.Begin) {
			x.end(t, open[len(open)-1])
			open = open[:len(open)-1]
		}
		x.slice(t, c)
		open = append(open, c)
	}
	for _, c := range slices.Backward(open) {
		x.end(t, c)
	}
	t.nested = t.nested[:0]
}

// slice writes the beginning of a call. Flows start here.
func (x *writer) slice(t *thread, c *trace.Call) {
	x.start(typeBegin, t.track)
	x.name(c.Function, "mpi")
	if c.Object != nil {
		if t.object != c.Object {
			t.object, t.named = c.Object, x.known(c.Object.String())
		}
		if key := x.keyOf(c.Object.Kind); t.named != 0 {
			x.interned(key, t.named)
		} else {
			x.text(key, c.Object.String())
		}
	}
	if c.Peer != trace.None {
		key := uint64(argPeer)
		if c.Root {
			key = argRoot
		} else if c.OneSided {
			key = argTarget
		}
		x.rank(key, c.Peer)
	}
	switch c.Tag {
	case trace.None:
	case trace.Any:
		x.text(argTag, "any")
	default:
		x.integer(argTag, int64(c.Tag))
	}
	if c.Bytes > 0 || len(c.Messages) > 0 {
		x.unsigned(argBytes, c.Bytes)
	}
	if len(c.Messages) > 1 {
		x.integer(argMessages, int64(len(c.Messages)))
	}
	if c.Request != 0 {
		x.unsigned(argRequest, uint64(c.Request))
	}
	if c.Site != 0 {
		x.siteOf(t.process, c.Site)
	}
	if c.Algorithm != "" {
		x.text(argAlgorithm, c.Algorithm)
	}
	if c.Failed || c.Abandoned || c.Open || c.Lost {
		x.status(c)
	}
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Flow != 0 && !m.Received {
			x.flow(eventFlow, m.Flow)
		}
	}
	x.finish(t.at(c.Begin))
}

func (x *writer) status(c *trace.Call) {
	for _, s := range [...]struct {
		on   bool
		text string
	}{{c.Failed, "failed"}, {c.Abandoned, "abandoned"}, {c.Open, "not returned"}, {c.Lost, "call lost"}} {
		if s.on {
			x.text(argStatus, s.text)
		}
	}
}

// end writes the end of a call. Flows end here, as the call may have begun before the send.
func (x *writer) end(t *thread, c *trace.Call) {
	x.start(typeEnd, t.track)
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Flow != 0 && m.Received {
			x.flow(eventEndsFlow, m.Flow)
		}
	}
	x.finish(t.at(c.End))
}

// keyOf is the argument that names an object of a kind.
func (x *writer) keyOf(kind string) uint64 {
	if kind == "communicator" {
		return argComm
	}
	return x.key(kind)
}

func (x *writer) rank(key uint64, rank int) {
	switch rank {
	case trace.Any:
		x.text(key, "any")
	case trace.Nobody:
		x.text(key, "MPI_PROC_NULL")
	default:
		x.integer(key, int64(rank))
	}
}

// siteOf writes a call site as an argument.
func (x *writer) siteOf(p *process, address uint64) {
	id, seen := p.sites[address]
	if !seen {
		text := ""
		if x.site != nil {
			text = x.site(p.rank, address)
		}
		if text == "" {
			text = "0x" + strconv.FormatUint(address, 16)
		}
		if id = x.known(text); id == 0 {
			x.text(argSite, text)
			return
		}
		p.sites[address] = id
	}
	x.interned(argSite, id)
}
