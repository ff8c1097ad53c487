// Package pprof writes a profile in pprof's format, for go tool pprof and viewers of flame graphs.
package pprof

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"mpitx/recording/profile"
	"mpitx/text"
)

// The fields of the messages, by their numbers in pprof's profile.proto.
const (
	profileSampleType = 1 // Profile
	profileSample     = 2
	profileMapping    = 3
	profileLocation   = 4
	profileFunction   = 5
	profileText       = 6
	profileTime       = 9
	profileDuration   = 10
	profilePeriodType = 11
	profilePeriod     = 12
	profileComment    = 13
	profileDefault    = 14

	typeName = 1 // ValueType
	typeUnit = 2

	sampleLocation = 1 // Sample
	sampleValue    = 2
	sampleLabel    = 3

	labelKey    = 1 // Label
	labelText   = 2
	labelNumber = 3

	mappingID        = 1 // Mapping
	mappingLimit     = 3
	mappingFile      = 5
	mappingBuildID   = 6
	mappingFunctions = 7 // the first of four flags: functions, files, lines and inlined functions are known

	locationID      = 1 // Location
	locationMapping = 2
	locationAddress = 3
	locationLine    = 4

	lineFunction = 1 // Line
	lineNumber   = 2

	functionID     = 1 // Function
	functionName   = 2
	functionSystem = 3
	functionFile   = 4
)

// message is an encoded message. Fields that are 0 are left out, as protobuf does.
type message []byte

func (m *message) number(field protowire.Number, v uint64) {
	if v != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
	}
}

func (m *message) bytes(field protowire.Number, v []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

func (m *message) numbers(field protowire.Number, values ...uint64) {
	var list []byte
	for _, v := range values {
		list = protowire.AppendVarint(list, v)
	}
	m.bytes(field, list)
}

// builder makes a pprof profile, with each text, mapping, function and location once. Their numbers count from 1.
type builder struct {
	out       message
	list      []string // of texts
	texts     map[string]uint64
	mappings  []mapping
	mapped    map[[2]uint64]int    // an index of mappings, by file and build ID
	functions map[[2]uint64]uint64 // by name and file
	locations map[string]uint64    // by the text of what they are
}

type mapping struct{ file, buildID, limit uint64 }

// Write writes the calls of all sites, by rank: calls, time, bytes sent and received. The innermost function of a stack is the one of
// MPI. Each sample has the label rank, and incomplete if the rank is.
func Write(w io.Writer, p *profile.Profile) error {
	b := &builder{texts: map[string]uint64{}, mapped: map[[2]uint64]int{}, functions: map[[2]uint64]uint64{}, locations: map[string]uint64{}}
	b.text("") // has the number 0
	b.valueType(profileSampleType, "calls", "count")
	b.valueType(profileSampleType, "time", "nanoseconds")
	b.valueType(profileSampleType, "bytes_sent", "bytes")
	b.valueType(profileSampleType, "bytes_received", "bytes")
	b.out.number(profileDefault, b.text("time"))
	b.valueType(profilePeriodType, "calls", "count")
	b.out.number(profilePeriod, 1)
	b.out.number(profileTime, uint64(p.Run.Start.UnixNano()))
	duration := uint64(0)
	for _, r := range p.Ranks {
		duration = max(duration, uint64(r.Elapsed))
		if why := r.Incomplete(); why != "" {
			b.out.numbers(profileComment, b.text(fmt.Sprintf("rank %d is incomplete: %s", r.Number, why)))
		}
	}
	for _, f := range p.Functions {
		if f.Untimed > 0 {
			b.out.numbers(profileComment, b.text(fmt.Sprintf("the time of %s is estimated, ±%s", f.Name, text.ErrorPercent(float64(f.TimeError), float64(f.Time)))))
		}
	}
	b.out.number(profileDuration, duration)
	sites := p.Sites
	if len(sites) == 0 {
		sites = p.Functions
	}
	for _, s := range sites {
		if s.Within == "" { // the time of others is a part of theirs
			b.add(s)
		}
	}
	b.addMappings()
	for _, text := range b.list {
		b.out.bytes(profileText, []byte(text))
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(b.out); err != nil {
		return err
	}
	return z.Close()
}

// text is the number of a text, which becomes valid in the format.
func (b *builder) text(s string) uint64 {
	s = strings.ToValidUTF8(s, "\uFFFD")
	n, ok := b.texts[s]
	if !ok {
		n = uint64(len(b.list))
		b.texts[s] = n
		b.list = append(b.list, s)
	}
	return n
}

func (b *builder) valueType(field protowire.Number, name, unit string) {
	var m message
	m.number(typeName, b.text(name))
	m.number(typeUnit, b.text(unit))
	b.out.bytes(field, m)
}

func (b *builder) add(s *profile.Function) {
	var line message
	line.number(lineFunction, b.function(s.Name, ""))
	stack := []uint64{b.location(s.Name, nil, line)}
	frames := s.Places()
	for len(frames) > 0 { // a location has the functions that are inlined at one address
		n := 1
		for n < len(frames) && frames[n-1].Inlined {
			n++
		}
		var lines []message
		key := ""
		for _, f := range frames[:n] {
			name := f.Function
			if name == "" {
				name = f.Address.String()
			}
			var line message
			line.number(lineFunction, b.function(name, f.File))
			line.number(lineNumber, uint64(f.Line))
			lines = append(lines, line)
			key += name + "\x00" + f.Place() + "\x00"
		}
		stack = append(stack, b.location(key+frames[0].Address.String(), &frames[0].Address, lines...))
		frames = frames[n:]
	}
	for _, r := range s.Ranks {
		var m, label message
		m.numbers(sampleLocation, stack...)
		m.numbers(sampleValue, r.Calls, uint64(r.Time), r.Sent(), r.Received())
		label.number(labelKey, b.text("rank"))
		label.number(labelNumber, uint64(r.Rank.Number))
		m.bytes(sampleLabel, label)
		if r.Rank.Incomplete() != "" {
			label = nil
			label.number(labelKey, b.text("incomplete"))
			label.number(labelText, b.text("true"))
			m.bytes(sampleLabel, label)
		}
		b.out.bytes(profileSample, m)
	}
}

func (b *builder) location(key string, at *profile.Address, lines ...message) uint64 {
	id, ok := b.locations[key]
	if !ok {
		id = uint64(len(b.locations) + 1)
		b.locations[key] = id
		var m message
		m.number(locationID, id)
		if at != nil {
			m.number(locationMapping, b.mapping(at))
			m.number(locationAddress, at.Offset)
		}
		for _, line := range lines {
			m.bytes(locationLine, line)
		}
		b.out.bytes(profileLocation, m)
	}
	return id
}

func (b *builder) function(name, file string) uint64 {
	key := [2]uint64{b.text(name), b.text(file)}
	id, ok := b.functions[key]
	if !ok {
		id = uint64(len(b.functions) + 1)
		b.functions[key] = id
		var m message
		m.number(functionID, id)
		m.number(functionName, key[0])
		m.number(functionSystem, key[0])
		m.number(functionFile, key[1])
		b.out.bytes(profileFunction, m)
	}
	return id
}

// mapping is the number of an address's module; 0: it is in none.
func (b *builder) mapping(a *profile.Address) uint64 {
	if a.Path == "" {
		return 0
	}
	key := [2]uint64{b.text(a.Path), b.text(a.BuildID)}
	i, ok := b.mapped[key]
	if !ok {
		i = len(b.mappings)
		b.mapped[key] = i
		b.mappings = append(b.mappings, mapping{file: key[0], buildID: key[1]})
	}
	b.mappings[i].limit = max(b.mappings[i].limit, a.Offset+1)
	return uint64(i + 1)
}

func (b *builder) addMappings() {
	for i, x := range b.mappings {
		var m message
		m.number(mappingID, uint64(i+1))
		m.number(mappingLimit, x.limit)
		m.number(mappingFile, x.file)
		m.number(mappingBuildID, x.buildID)
		for flag := range protowire.Number(4) { // names are known: pprof need not look for the file
			m.number(mappingFunctions+flag, 1)
		}
		b.out.bytes(profileMapping, m)
	}
}
