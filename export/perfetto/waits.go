package perfetto

import (
	"strconv"

	"mpitx/recording/waits"
)

// waits writes a track of waits for each thread that has some, and one with the critical path.
func (x *writer) waits(a *waits.Analysis) {
	threads := map[threadKey]uint64{} // tracks
	processes := map[int]*process{}   // by rank
	for r, p := range x.processes {
		processes[r.Rank] = p
	}
	for w := range a.Waits {
		p := processes[w.Rank]
		if p == nil {
			continue
		}
		key := threadKey{w.Rank, w.Thread}
		if threads[key] == 0 {
			threads[key] = x.named("waits of thread "+strconv.Itoa(w.Thread), p.track)
		}
		x.start(typeBegin, threads[key])
		x.name(w.Kind.String(), "wait")
		x.text(x.key("in"), w.Where())
		x.integer(x.key("for rank"), int64(w.For))
		x.text(x.key("which was before"), w.On.Where())
		x.finish(w.From)
		x.start(typeEnd, threads[key])
		x.finish(w.To)
	}
	track := uint64(0)
	for s := range a.Pieces {
		if track == 0 {
			track = x.named("critical path", 0)
		}
		name := "rank " + strconv.Itoa(s.Rank) + ": " + s.Function
		if s.What == waits.Computing {
			name = "rank " + strconv.Itoa(s.Rank) + ": computation"
		}
		x.start(typeBegin, track)
		x.name(name, "critical path")
		x.text(x.key(s.What), s.Where())
		x.finish(s.From)
		x.start(typeEnd, track)
		x.finish(s.To)
	}
}

// named makes a track of slices; parent 0: none.
func (x *writer) named(name string, parent uint64) uint64 {
	track := x.newTrack()
	x.body = varint(x.body[:0], trackID, track)
	if parent != 0 {
		x.body = varint(x.body, trackParent, parent)
	}
	x.body = field(x.body, trackName, name)
	x.descriptor()
	return track
}
