// Package pprof writes a profile in pprof's format, for go tool pprof and viewers of flame graphs. It is separate from package export
// because the library that it uses takes time when a program starts.
package pprof

import (
	"fmt"
	"io"
	"strings"

	pprof "github.com/google/pprof/profile"

	"mpitx/recording/profile"
)

// builder makes the tables of a pprof profile: each mapping, function and location once.
type builder struct {
	out       *pprof.Profile
	mappings  map[[2]string]*pprof.Mapping
	functions map[[2]string]*pprof.Function
	locations map[string]*pprof.Location // by the text of what they are
}

// Write writes the calls of all sites, by rank: calls, time, bytes sent and received. The innermost function of a stack is the one of
// MPI. Each sample has the label rank, and incomplete if the rank is.
func Write(w io.Writer, p *profile.Profile) error {
	b := &builder{mappings: map[[2]string]*pprof.Mapping{}, functions: map[[2]string]*pprof.Function{}, locations: map[string]*pprof.Location{}}
	b.out = &pprof.Profile{
		SampleType:        []*pprof.ValueType{{Type: "calls", Unit: "count"}, {Type: "time", Unit: "nanoseconds"}, {Type: "bytes_sent", Unit: "bytes"}, {Type: "bytes_received", Unit: "bytes"}},
		DefaultSampleType: "time",
		TimeNanos:         p.Run.Start.UnixNano(),
		PeriodType:        &pprof.ValueType{Type: "calls", Unit: "count"},
		Period:            1,
	}
	for _, r := range p.Ranks {
		b.out.DurationNanos = max(b.out.DurationNanos, int64(r.Elapsed))
	}
	for _, r := range p.Ranks {
		if why := r.Incomplete(); why != "" {
			b.out.Comments = append(b.out.Comments, text(fmt.Sprintf("rank %d is incomplete: %s", r.Number, why)))
		}
	}
	sites := p.Sites
	if len(sites) == 0 {
		sites = p.Functions
	}
	for _, s := range sites {
		if s.Within == "" { // the time of others is a part of theirs
			b.add(s)
		}
	}
	if err := b.out.CheckValid(); err != nil {
		return err
	}
	return b.out.Write(w)
}

func (b *builder) add(s *profile.Function) {
	stack := []*pprof.Location{b.location(s.Name, nil, pprof.Line{Function: b.function(s.Name, "")})}
	frames := s.Places()
	for len(frames) > 0 { // a location has the functions that are inlined at one address
		n := 1
		for n < len(frames) && frames[n-1].Inlined {
			n++
		}
		var lines []pprof.Line
		key := ""
		for _, f := range frames[:n] {
			name := f.Function
			if name == "" {
				name = f.Address.String()
			}
			lines = append(lines, pprof.Line{Function: b.function(name, f.File), Line: int64(f.Line)})
			key += name + "\x00" + f.Place() + "\x00"
		}
		stack = append(stack, b.location(key+frames[0].Address.String(), &frames[0].Address, lines...))
		frames = frames[n:]
	}
	for _, r := range s.Ranks {
		sample := &pprof.Sample{
			Location: stack,
			Value:    []int64{int64(r.Calls), int64(r.Time), int64(r.Sent()), int64(r.Received())},
			NumLabel: map[string][]int64{"rank": {int64(r.Rank.Number)}},
		}
		if r.Rank.Incomplete() != "" {
			sample.Label = map[string][]string{"incomplete": {"true"}}
		}
		b.out.Sample = append(b.out.Sample, sample)
	}
}

func (b *builder) location(key string, at *profile.Address, lines ...pprof.Line) *pprof.Location {
	l := b.locations[key]
	if l == nil {
		l = &pprof.Location{ID: uint64(len(b.out.Location) + 1), Line: lines}
		if at != nil {
			l.Address = at.Offset
			l.Mapping = b.mapping(at)
		}
		b.locations[key] = l
		b.out.Location = append(b.out.Location, l)
	}
	return l
}

func (b *builder) function(name, file string) *pprof.Function {
	name, file = text(name), text(file)
	key := [2]string{name, file}
	f := b.functions[key]
	if f == nil {
		f = &pprof.Function{ID: uint64(len(b.out.Function) + 1), Name: name, SystemName: name, Filename: file}
		b.functions[key] = f
		b.out.Function = append(b.out.Function, f)
	}
	return f
}

func (b *builder) mapping(a *profile.Address) *pprof.Mapping {
	if a.Path == "" {
		return nil
	}
	key := [2]string{a.Path, a.BuildID}
	m := b.mappings[key]
	if m == nil { // names are known: pprof need not look for the file
		m = &pprof.Mapping{ID: uint64(len(b.out.Mapping) + 1), File: text(a.Path), BuildID: a.BuildID, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		b.mappings[key] = m
		b.out.Mapping = append(b.out.Mapping, m)
	}
	m.Limit = max(m.Limit, a.Offset+1)
	return m
}

// text is valid in the format.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
