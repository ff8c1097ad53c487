package trace

import (
	"cmp"
	"container/heap"
	"math"
	"sync"
	"time"
)

// inTurns calls functions that read the events of a rank each, all in goroutines, and yields what they write, in batches. The next batch is that of
// a rank that has come least far in time, so the order depends on nothing but the events. It returns false if yield stopped.
func inTurns[T any](ranks []func(*writer[T]), yield func(batch []T, at time.Duration) bool) (whole bool) {
	size := max(min(turnEvents/max(len(ranks), 1), 512), 16)
	stop := make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer close(stop)
	waiting := turns[T]{}
	for number, read := range ranks {
		w := &writer[T]{full: make(chan batch[T], 1), empty: make(chan []T, 1), stop: stop}
		waiting = append(waiting, &turn[T]{math.MinInt64, number, w})
		running.Go(func() {
			if w.next() {
				read(w)
				w.last = true
				w.send()
			}
		})
	}
	var ahead []*turn[T] // that are reading the next batches
	var empty [][]T
	for range readAhead {
		empty = append(empty, make([]T, size))
	}
	for {
		for len(waiting) > 0 && len(empty) > 0 {
			next := heap.Pop(&waiting).(*turn[T])
			next.empty <- empty[len(empty)-1]
			empty, ahead = empty[:len(empty)-1], append(ahead, next)
		}
		if len(ahead) == 0 {
			return true
		}
		first := ahead[0]
		ahead = ahead[1:]
		b := <-first.full
		if !yield(b.items[:b.used], b.at) {
			return false
		}
		if empty = append(empty, b.items); !b.last {
			first.at = b.at
			heap.Push(&waiting, first)
		}
	}
}

const (
	turnEvents = 1 << 17 // of all ranks together, unless there are thousands
	readAhead  = 16      // batches: they fit into the processor's cache
)

type batch[T any] struct {
	items []T
	used  int
	at    time.Duration // of the last event
	last  bool
}

// writer takes what a function reads.
type writer[T any] struct {
	batch[T]
	read  int // events of the batch
	full  chan batch[T]
	empty chan []T
	stop  chan struct{}
	ended bool // no more is wanted
}

// event begins an event. It returns false if no more is wanted.
func (w *writer[T]) event(at time.Duration) bool {
	if w.read == len(w.items) {
		w.send()
	}
	w.read, w.at = w.read+1, max(w.at, at)
	return !w.ended
}

// add adds an item: one of an earlier batch, to be overwritten.
func (w *writer[T]) add() *T {
	if w.used == len(w.items) {
		w.send()
	}
	w.used++
	return &w.items[w.used-1]
}

// send gives the batch away, and begins another one.
func (w *writer[T]) send() {
	if !w.ended {
		if w.full <- w.batch; !w.last {
			w.next()
		}
	}
	w.used, w.read = 0, 0
}

// next waits for room for a batch. It returns false if no more is wanted.
func (w *writer[T]) next() bool {
	select {
	case w.items = <-w.empty:
	case <-w.stop:
		w.ended = true
	}
	return !w.ended
}

// turn is a rank with the time to which it has come.
type turn[T any] struct {
	at     time.Duration
	number int
	*writer[T]
}

// turns is a heap.
type turns[T any] []*turn[T]

func (x turns[T]) Len() int { return len(x) }
func (x turns[T]) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(x[i].at, x[k].at), cmp.Compare(x[i].number, x[k].number)) < 0
}
func (x turns[T]) Swap(i, k int) { x[i], x[k] = x[k], x[i] }
func (x *turns[T]) Push(one any) { *x = append(*x, one.(*turn[T])) }
func (x *turns[T]) Pop() any {
	n := len(*x) - 1
	last := (*x)[n]
	*x = (*x)[:n]
	return last
}
