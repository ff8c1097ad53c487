package trace

import "mpitx/recording"

// repeats restores calls that were written in short, because they repeat an earlier call of their chain.
type repeats struct {
	chains [][]template
}

// template is a call in a slot.
type template struct {
	typ    *recording.EventType
	layout *layout
	body   []byte
}

// restore makes a call of an event that repeats one. It returns the event's layout, and nil if the call is not known.
func (x *repeats) restore(e *recording.Event, l *layout) *layout {
	switch l.kind {
	case kindCall:
		if slot := l.u32(e.Body, fieldFlags) >> slotShift; slot != 0 {
			t := x.slot(e.Chain, slot)
			t.typ, t.layout, t.body = e.Type, l, append(t.body[:0], e.Body...)
		}
	case kindRepeat:
		slot := l.u32(e.Body, fieldSlot)
		if slot == 0 || slot > maxSlot {
			return nil
		}
		t := x.slot(e.Chain, slot)
		if t.layout == nil {
			return nil
		}
		t.layout.put64(t.body, fieldBegin, e.Ticks-uint64(l.u32(e.Body, fieldLasted)))
		t.layout.put32(t.body, fieldRequest, l.u32(e.Body, fieldRequest))
		t.layout.put32(t.body, fieldSequence, l.u32(e.Body, fieldSequence))
		e.Type, e.Body = t.typ, t.body
		return t.layout
	}
	return l
}

const maxSlot = 1<<(32-slotShift) - 1

func (x *repeats) slot(chain int, slot uint32) *template {
	for len(x.chains) <= chain {
		x.chains = append(x.chains, nil)
	}
	for uint32(len(x.chains[chain])) <= slot {
		x.chains[chain] = append(x.chains[chain], template{})
	}
	return &x.chains[chain][slot]
}

func (l *layout) put64(body []byte, field int, v uint64) {
	if at := l.at[field]; at >= 0 {
		le.PutUint64(body[at:], v)
	}
}

func (l *layout) put32(body []byte, field int, v uint32) {
	if at := l.at[field]; at >= 0 {
		le.PutUint32(body[at:], v)
	}
}
