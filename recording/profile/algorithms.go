package profile

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"mpitx/recording"
	"mpitx/recording/algorithm"
)

// Algorithm is how collective calls of one function, communicator, range of sizes and call site were served.
type Algorithm struct {
	Function string    `json:"function"`
	Object   *Object   `json:"-"`
	Bucket   int       `json:"-"` // see [SizesOf]: of the bytes that a call gives or gets on a rank; of the smaller number, if it does both
	Stack    []Address `json:"-"`
	Frames   []Frame   `json:"-"` // of Stack, see [Profile.Resolve]
	algorithm.Served
	Calls uint64        `json:"calls"`
	Time  time.Duration `json:"time_ns"`
	Bytes uint64        `json:"bytes"` // of the calls, counted likewise
}

// AlgorithmsUnknown says why no algorithm is known; "" if they were recorded.
func (p *Profile) AlgorithmsUnknown() string {
	if p.Unlearned != "" {
		return "MPICH hides the functions that serve collective calls; mpitx setup --algorithms finds them, which takes some seconds"
	}
	return algorithmsUnrecorded(p.Run)
}

func algorithmsUnrecorded(run *recording.Run) string {
	why := "record them with mpitx profile, without --no-algorithms"
	for _, r := range run.Ranks {
		if slices.ContainsFunc(r.Tables, func(t *recording.Table) bool { return t != nil && t.Name == tableAlgorithms }) {
			return ""
		}
		for _, n := range r.Notes {
			if n.Code == recording.NoteAlgorithms {
				why = n.Text
			}
		}
	}
	return why
}

// algorithm adds a row of algorithms.
func (b *builder) algorithm(r *Rank, row *row, objects map[uint64]*Object, addresses map[uint64]Address) {
	name, object := cmp.Or(row.text("function"), "unknown"), objects[row.count("object")]
	if object == nil {
		object = objects[0]
	}
	if !b.p.Cut.phase(row.text("phase")) || !b.p.Cut.object(object.Text()) || !b.p.Cut.Function(name) {
		return
	}
	stack, place := b.stack(r, row, addresses)
	served := algorithm.Parse(row.text("algorithm"), name)
	if served.Build != "" && algorithm.HiddenOf(served.Build) == nil {
		b.p.Unlearned = served.Build
	}
	a := &Algorithm{Function: name, Object: object, Bucket: min(row.number("bucket"), SizeBuckets-1), Stack: stack, Served: served,
		Calls: row.count("calls"), Time: row.duration("ticks"), Bytes: row.count("bytes")}
	b.algorithms.add(a, place)
}

// algorithms are merged by what they say.
type algorithms map[algorithmKey]*Algorithm

type algorithmKey struct {
	function, served, place string
	object                  *Object
	bucket                  int
}

func (all algorithms) add(a *Algorithm, place string) {
	key := algorithmKey{a.Function, a.Text() + "\x00" + a.Decision, place, a.Object, a.Bucket}
	if sum := all[key]; sum != nil {
		sum.Calls += a.Calls
		sum.Time += a.Time
		sum.Bytes += a.Bytes
		if a.Build != "" {
			sum.Functions = append(slices.Clone(sum.Functions), a.Functions...)
			slices.Sort(sum.Functions)
			sum.Functions = slices.Compact(sum.Functions)
		}
		return
	}
	all[key] = a
}

// sorted are the algorithms, the function with the most time first, then by time.
func (all algorithms) sorted() []*Algorithm {
	times := map[string]time.Duration{}
	for _, a := range all {
		times[a.Function] += a.Time
	}
	return slices.SortedFunc(maps.Values(all), func(x, y *Algorithm) int {
		return cmp.Or(cmp.Compare(times[y.Function], times[x.Function]), cmp.Compare(x.Function, y.Function), cmp.Compare(y.Time, x.Time), cmp.Compare(y.Calls, x.Calls),
			cmp.Compare(x.Bucket, y.Bucket), cmp.Compare(x.Text(), y.Text()), cmp.Compare(x.Object.number, y.Object.number), slices.CompareFunc(x.Stack, y.Stack, compareAddresses))
	})
}

func compareAddresses(x, y Address) int {
	return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.BuildID, y.BuildID), cmp.Compare(x.Offset, y.Offset))
}

// AlgorithmsOfSizes are the profile's algorithms without their call sites.
func (p *Profile) AlgorithmsOfSizes() []*Algorithm {
	merged := algorithms{}
	for _, a := range p.Algorithms {
		one := *a
		one.Stack, one.Frames = nil, nil
		merged.add(&one, "")
	}
	return merged.sorted()
}

// finishAlgorithms adds the unknown calls: the agent had no room, or they did not return.
func (b *builder) finishAlgorithms() {
	known := map[string]uint64{}
	for _, a := range b.algorithms {
		known[a.Function] += a.Calls
	}
	if algorithmsUnrecorded(b.p.Run) != "" {
		return
	}
	for _, f := range b.p.Functions {
		if n := known[f.Name]; f.Within == "" && algorithm.Operation(f.Name) != "" && f.Calls > n {
			b.algorithms.add(&Algorithm{Function: f.Name, Object: &Object{Kind: Unknown}, Calls: f.Calls - n}, "")
		}
	}
	b.p.Algorithms = b.algorithms.sorted()
}

// resolveAlgorithms finds the sources of call sites, and merges those of one line.
func (p *Profile) resolveAlgorithms(frames func(Address) []Frame) {
	merged := algorithms{}
	for _, a := range p.Algorithms {
		key := ""
		a.Frames = nil
		for _, at := range a.Stack {
			a.Frames = append(a.Frames, frames(at)...)
		}
		for _, f := range a.Frames {
			key += "\x00" + f.key()
		}
		merged.add(a, key)
	}
	p.Algorithms = merged.sorted()
}

// Place is the call site, as [Function.Place] says it.
func (a *Algorithm) Place() string { return (&Function{Stack: a.Stack, Frames: a.Frames}).Place() }

// SizesOf is the range of bytes of a bucket of sizes; to is nil without a limit.
func SizesOf(bucket int) (from uint64, to *uint64) {
	if bucket > 0 {
		from = 1 << (bucket - 1)
	}
	if last := from*2 - min(from, 1); bucket < SizeBuckets-1 {
		to = &last
	}
	return from, to
}
