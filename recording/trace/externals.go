package trace

import "time"

// maxExternals bounds the events of other sources that are counted for a time.
const maxExternals = 100_000

// ExternalCount counts the events of one name in a time.
type ExternalCount struct {
	Source, Name string
	Events       int
}

// Externals counts the events of MPI_T and PERUSE of a thread in a time, in the order of their first one. whole is false if there
// are more than are counted.
func (x *Index) Externals(t *Track, thread int, from, to time.Duration) (all []ExternalCount, whole bool) {
	at, read := map[string]int{}, 0
	whole = true
	for _, c := range append([]*Track{t}, x.side...) {
		if c.Rank != t.Rank {
			continue
		}
		x.decode(c, c.find(from), func(_ uint64, e *Event) bool {
			switch {
			case e.External == nil:
				return e.Call == nil || e.Call.Begin <= to
			case e.External.Time > to:
				return false
			case e.External.Time < from || e.Thread != thread:
				return true
			}
			if read++; read > maxExternals {
				whole = false
				return false
			}
			key := e.External.Source + " " + e.External.Name
			i, ok := at[key]
			if !ok {
				i = len(all)
				at[key] = i
				all = append(all, ExternalCount{Source: e.External.Source, Name: e.External.Name})
			}
			all[i].Events++
			return true
		})
	}
	return all, whole
}
