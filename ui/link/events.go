package link

import "sync"

const maxLog = 4096 // events that wait

// events is a queue that never blocks its writers.
type events struct {
	mu     sync.Mutex
	queue  []Event
	wake   chan struct{} // of one
	closed bool
	out    chan Event
}

func newEvents() *events {
	e := &events{wake: make(chan struct{}, 1), out: make(chan Event)}
	go e.run()
	return e
}

// put adds an event. After the end it drops all events.
func (e *events) put(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if len(e.queue) >= maxLog {
		e.dropLog()
	}
	e.queue = append(e.queue, ev)
	e.closed = ev.Kind == EventEnded
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// dropLog drops the oldest line of the log. Other events are few.
func (e *events) dropLog() {
	for k := range e.queue {
		if e.queue[k].Kind == EventLog {
			e.queue = append(e.queue[:k], e.queue[k+1:]...)
			return
		}
	}
}

// run delivers the events. Without a reader it waits until the program ends.
func (e *events) run() {
	defer close(e.out)
	for range e.wake {
		for {
			e.mu.Lock()
			if len(e.queue) == 0 {
				e.mu.Unlock()
				break
			}
			ev := e.queue[0]
			e.queue = e.queue[1:]
			e.mu.Unlock()
			e.out <- ev
			if ev.Kind == EventEnded {
				return
			}
		}
	}
}
