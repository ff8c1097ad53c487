package recording

import "slices"

// Follower yields a running job's samples as they arrive.
type Follower struct {
	run      *Run
	merge    *merge
	followed map[*Rank]bool
}

// Follow begins to follow a run from its first sample. Options.From and To do not apply.
func (run *Run) Follow(o Options) *Follower {
	o.From, o.To = 0, 0
	f := &Follower{run: run, merge: newMerge(run, o), followed: map[*Rank]bool{}}
	for _, r := range run.Ranks {
		f.followed[r] = true
	}
	return f
}

// FollowLast is like Follow but begins with each rank's last chunks (64 KiB each by default), for callers that show the present.
// Ranks that join later are followed from their first sample.
func (run *Run) FollowLast(o Options, chunks int) *Follower {
	f := run.Follow(o)
	for _, c := range f.merge.cursors {
		c.chunks.SkipTo(max(chunks, 1))
	}
	return f
}

// First returns the set's first sample, the base of differences, as [Raw] cells. It is nil if unknown so far.
func (s *Set) First(r *Rank) []Cell {
	if s.baseline == nil || !s.resolve(r) {
		return nil
	}
	shown := newShown(s, r, &Options{As: Raw})
	return shown.cells
}

// Poll yields the samples written since the last call. They are in time order within one call: samples that a slow rank
// wrote late come with a later call, and so does the rest after yield returned false. Ranks that joined are in
// Run.Ranks afterwards. Poll does not wait. An error means that the run directory cannot be read; damage in it is in
// Run.Damage.
func (f *Follower) Poll(yield func(*Instant) bool) error {
	if err := f.run.Refresh(); err != nil {
		return err
	}
	for _, r := range f.run.Ranks {
		if !f.followed[r] {
			f.followed[r] = true
			f.merge.add(r)
		}
	}
	f.merge.start()
	f.merge.each(yield)
	return nil
}

// Refresh reads what has come since the run was opened: new ranks, states, rows of tables. An error means that the run
// directory cannot be read; damage in it is in Run.Damage.
func (run *Run) Refresh() error {
	if err := run.store.Refresh(); err != nil {
		return err
	}
	start := run.index.start
	run.arrange()
	if start != 0 {
		run.setStart(start) // time 0 stays what it was
	}
	return nil
}

// Sampled reports whether a rank has variables that were sampled.
func (run *Run) Sampled() bool {
	return slices.ContainsFunc(run.Ranks, func(r *Rank) bool { return len(r.Columns) > 0 })
}

// Running reports whether a process of the run may still write.
func (run *Run) Running() bool {
	for _, r := range run.Ranks {
		if r.State == StateRunning {
			return true
		}
	}
	return false
}
