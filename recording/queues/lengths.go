package queues

import "time"

// change changes the length of a queue.
func (a *Adder) change(e *Event, name string, by int) {
	a.book.length(e, name, by)
	key := queueKey{e.Rank, e.Comm, name}
	q := a.queues[key]
	if q == nil {
		q = &queue{Queue: Queue{Rank: e.Rank, Comm: e.Comm, Name: name}, since: a.out.From, parts: make([]float64, Parts)}
		a.queues[key] = q
	}
	a.lasted(q, e.Time)
	switch {
	case by > 0:
		q.Inserted++
		q.length++
		q.Longest = max(q.Longest, q.length)
	case q.length > 0:
		q.Removed++
		q.length--
	default: // inserted before recording began
		q.Removed++
	}
}

// lasted adds the length that a queue had until now to the parts of the series.
func (a *Adder) lasted(q *queue, now time.Duration) {
	all := a.out.To - a.out.From
	end := func(part int) time.Duration { return a.out.From + all*time.Duration(part+1)/Parts }
	part := 0
	if all > 0 {
		part = int(Parts * (q.since - a.out.From) / all)
	}
	for q.length > 0 && all > 0 && q.since < now {
		for part < Parts-1 && end(part) <= q.since {
			part++
		}
		until := now
		if part < Parts-1 {
			until = min(now, end(part))
		}
		q.parts[min(part, Parts-1)] += float64(q.length) * (until - q.since).Seconds()
		q.since = until
	}
	q.since = now
}
