package waits

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	blockBits = 10
	blockMask = 1<<blockBits - 1
)

// list is a slice that is not copied when it grows, as there may be 100 million calls.
type list[T any] struct{ blocks [][]T }

func (l *list[T]) len() int32 {
	n := len(l.blocks)
	if n == 0 {
		return 0
	}
	return int32((n-1)<<blockBits + len(l.blocks[n-1]))
}

func (l *list[T]) at(i int32) *T { return &l.blocks[i>>blockBits][i&blockMask] }

func (l *list[T]) last() *T { return l.at(l.len() - 1) }

func (l *list[T]) add(x T) {
	n := len(l.blocks)
	switch {
	case n == 0: // it may stay short
		l.blocks = append(l.blocks, nil)
		n++
	case len(l.blocks[n-1]) > blockMask:
		l.blocks = append(l.blocks, make([]T, 0, blockMask+1))
		n++
	}
	l.blocks[n-1] = append(l.blocks[n-1], x)
}

// search is the number of the first element that is not before what is searched for.
func (l *list[T]) search(before func(*T) bool) int32 { return l.between(0, l.len(), before) }

func (l *list[T]) between(from, to int32, before func(*T) bool) int32 {
	for from < to {
		if middle := from + (to-from)/2; before(l.at(middle)) {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}

// searchBack is search for a function that is true of some first elements, of which the last one is usually near the end.
func (l *list[T]) searchBack(before func(*T) bool) int32 {
	to, step := l.len(), int32(1)
	for to-step >= 0 && !before(l.at(to-step)) {
		to -= step
		step *= 2
	}
	return l.between(max(to-step+1, 0), to, before)
}

// parallel calls a function with the numbers below n, on all cores.
func parallel(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}
