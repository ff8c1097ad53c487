package recording

// Follower gives a running job's samples as they come.
type Follower struct {
	run   *Run
	merge *merge
	known map[*Rank]bool
}

// Follow begins to follow a run, from its first sample on; Options.From and To do not apply.
func (run *Run) Follow(o Options) *Follower {
	o.From, o.To = 0, 0
	f := &Follower{run: run, merge: newMerge(run, o), known: map[*Rank]bool{}}
	for _, r := range run.Ranks {
		f.known[r] = true
	}
	return f
}

// FollowLast is Follow from each rank's last chunks on (of 64 KiB, if the run was made with the default): for those who want to see
// what happens now, however much there is already. Ranks that join later are followed from their first sample on.
func (run *Run) FollowLast(o Options, chunks int) *Follower {
	f := run.Follow(o)
	for _, c := range f.merge.cursors {
		c.chunks.SkipTo(max(chunks, 1))
	}
	return f
}

// First is the set's first sample, from which differences are taken: cells as [Raw]. Nil where it is not known (yet).
func (s *Set) First(r *Rank) []Cell {
	if s.baseline == nil || !s.resolve(r) {
		return nil
	}
	shown := newShown(s, r, &Options{As: Raw})
	return shown.cells
}

// Poll gives what was written since the last call, in order of time within each call: what a slow rank had not written
// yet comes with a later one; where yield returned false, so does the rest. Ranks that joined are in Run.Ranks then. Nothing waits: callers decide how often to look.
func (f *Follower) Poll(yield func(*Instant) bool) error {
	if err := f.run.store.Refresh(); err != nil {
		return err
	}
	start := f.run.index.start
	f.run.arrange()
	if start != 0 {
		f.run.setStart(start) // time 0 stays what it was
	}
	for _, r := range f.run.Ranks {
		if !f.known[r] {
			f.known[r] = true
			f.merge.add(r)
		}
	}
	f.merge.start()
	f.merge.each(yield)
	return nil
}

// Running reports whether some process of the run may still write.
func (run *Run) Running() bool {
	for _, r := range run.Ranks {
		if r.State == StateRunning {
			return true
		}
	}
	return false
}
