package profile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Resolve finds the source of all call stacks, and merges sites that have the same function, file and line, or the same offset in copies
// of one module. resolve returns the frames
// of an address, innermost first: several if calls were inlined, none if nothing is known.
func (p *Profile) Resolve(resolve func(Address) []Frame) {
	known := map[Address][]Frame{}
	same := map[string]*Function{}
	frames := func(a Address) []Frame {
		if known[a] == nil {
			known[a] = resolve(a)
			if len(known[a]) == 0 {
				known[a] = []Frame{{}}
			}
			for i := range known[a] {
				known[a][i].Address = a
			}
		}
		return known[a]
	}
	sites := p.Sites[:0]
	for _, s := range p.Sites {
		s.Frames = nil
		for _, a := range s.Stack {
			s.Frames = append(s.Frames, frames(a)...)
		}
		key := s.Name + "\x00" + s.Within
		for _, f := range s.Frames {
			key += "\x00" + f.key()
		}
		if same[key] != nil {
			same[key].merge(s)
			continue
		}
		same[key] = s
		sites = append(sites, s)
	}
	p.Sites = sites
	p.resolveUnfreed(frames)
	p.resolveAlgorithms(frames)
	p.resolveArrivals(frames)
	sortByTime(p.Sites)
}

// key is equal for frames of the same place.
func (f *Frame) key() string {
	if f.Line == 0 {
		c := f.Address.Code()
		return fmt.Sprintf("%s\x00%s\x00%s\x00%x", f.Function, c.Path, c.BuildID, c.Offset)
	}
	return fmt.Sprint(f.Function, "\x00", f.File, "\x00", f.Line, f.Inlined)
}

// merge adds the calls of another site.
func (f *Function) merge(o *Function) {
	if o.Durations.tick != 0 {
		if f.Durations.tick == 0 || o.Shortest < f.Shortest {
			f.Shortest = o.Shortest
		}
		f.Longest = max(f.Longest, o.Longest)
	}
	f.Totals.add(&o.Totals)
	f.Durations.add(&o.Durations)
	for i := range o.Waits {
		f.addWait(&o.Waits[i])
	}
	for i := range o.Ranks {
		add := &o.Ranks[i]
		at, found := slices.BinarySearchFunc(f.Ranks, add.Rank.Number, func(r RankTotals, n int) int { return cmp.Compare(r.Rank.Number, n) })
		if !found {
			f.Ranks = slices.Insert(f.Ranks, at, RankTotals{Rank: add.Rank})
		}
		f.Ranks[at].Totals.add(&add.Totals)
	}
}

// Mean is the mean time of a call.
func (t *Totals) Mean() time.Duration {
	if t.Calls == 0 {
		return 0
	}
	return t.Time / time.Duration(t.Calls)
}

// Places are the frames, also those that were not resolved.
func (f *Function) Places() []Frame {
	if len(f.Frames) > 0 {
		return f.Frames
	}
	frames := make([]Frame, len(f.Stack))
	for i, a := range f.Stack {
		frames[i].Address = a
	}
	return frames
}

// Place is the innermost frame as a short text: "solve.c:118", or "libx.so+0x1a2b" if the source is not known; "" without a stack.
func (f *Function) Place() string {
	if frames := f.Places(); len(frames) > 0 {
		return frames[0].Place()
	}
	return ""
}

// Place is a frame as a short text.
func (f *Frame) Place() string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
	case f.Function != "":
		return f.Function + " in " + filepath.Base(f.Address.Path)
	}
	return f.Address.String()
}

// Lines are the frames as one line each: "solve at /src/solve.c:118", innermost first.
func (f *Function) Lines() (lines []string) {
	for _, frame := range f.Places() {
		place := frame.Address.String()
		if frame.File != "" {
			place = fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if frame.Function != "" {
			place = frame.Function + " at " + place
		}
		if frame.Inlined {
			place += " (inlined)"
		}
		lines = append(lines, place)
	}
	return lines
}

// Code is equal for the same code in copies of a module, such as those on the disks of nodes. Without a build ID, copies have the same
// file name.
func (a Address) Code() Address {
	a.Path = a.Path[strings.LastIndexByte(a.Path, '/')+1:]
	if a.BuildID != "" {
		a.Path = ""
	}
	return a
}

// String is the module's name and the offset: "app+0x1234".
func (a Address) String() string {
	if a.Path == "" {
		return fmt.Sprintf("0x%x", a.Offset)
	}
	return fmt.Sprintf("%s+0x%x", a.Path[strings.LastIndexByte(a.Path, '/')+1:], a.Offset)
}
