package recording

import "mpitx/recording/store"

// The store's types for whole runs.
type (
	DamageError = store.DamageError // see [store.DamageError]
	Recovered   = store.Recovered   // see [Recover]
	Leftover    = store.Leftover    // see [Leftovers]
	LeftOut     = store.LeftOut     // see [Run.LeftOut]
)

// ErrNotARun says that a directory holds no run.
var ErrNotARun = store.ErrNotARun

// Recover is [store.Recover].
func Recover(dir string, force bool) ([]Recovered, error) { return store.Recover(dir, force) }

// Discard is [store.Discard].
func Discard(dir string) error { return store.Discard(dir) }

// Alive is [store.Alive].
func Alive(pid int, start uint64) bool { return store.Alive(pid, start) }

// DiscardMemory is [store.DiscardMemory].
func DiscardMemory(dir string) (running bool) { return store.DiscardMemory(dir) }

// Leftovers is [store.Leftovers].
func Leftovers(folders ...string) []Leftover { return store.Leftovers(folders...) }

// LeftOut returns the processes that were not recorded because another process of the same rank was.
func (run *Run) LeftOut() []LeftOut { return run.store.LeftOut() }
