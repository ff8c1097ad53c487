package trace

import "time"

// parts are the parts of the chosen ranks, which goroutines may read: see [Trace.ByRank].
func (t *Trace) parts() (all []*Trace) {
	for _, part := range t.ByRank {
		part.Totals, part.clocks = Totals{}, nil
		part.options.Loose, part.options.Progress = false, nil
		all = append(all, part)
	}
	for _, part := range all {
		part.readers = len(all)
	}
	return all
}

// decoded is an event that a part has yielded.
type decoded struct {
	Event
	call  Call
	phase Phase
}

// decodeInTurns is decode for parts. Events of other sources, which need more memory, are left out.
func (t *Trace) decodeInTurns(yield func(*Event) bool) bool {
	parts := t.parts()
	readers := make([]func(*writer[decoded]), len(parts))
	for i, part := range parts {
		readers[i] = func(w *writer[decoded]) {
			part.decode(func(e *Event) bool {
				return w.event(e.at()) && (e.External != nil || w.add().copy(e, part.chains))
			})
		}
	}
	whole := inTurns(readers, func(batch []decoded, _ time.Duration) bool {
		for i := range batch {
			if !yield(&batch[i].Event) {
				return false
			}
		}
		return true
	})
	for _, part := range parts {
		t.Totals.add(&part.Totals)
	}
	return whole
}

// copy takes over an event of a part.
func (d *decoded) copy(e *Event, chains int) bool {
	d.Event = *e
	d.Track += chains
	if e.Call != nil {
		messages, ended, started := d.call.Messages[:0], d.call.Ended[:0], d.call.Started[:0]
		d.call = *e.Call
		d.call.Messages, d.call.Ended, d.call.Started = append(messages, e.Call.Messages...), append(ended, e.Call.Ended...), append(started, e.Call.Started...)
		d.Event.Call = &d.call
	}
	if e.Phase != nil {
		d.phase = *e.Phase
		d.Event.Phase = &d.phase
	}
	return true
}

// at is when an event was.
func (e *Event) at() time.Duration {
	switch {
	case e.Call != nil:
		return e.Call.End
	case e.Phase != nil:
		return e.Phase.Time
	case e.External != nil:
		return e.External.Time
	}
	return e.To
}
