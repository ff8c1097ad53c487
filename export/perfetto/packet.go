package perfetto

import (
	"bufio"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of the messages, by their numbers in Perfetto's .proto files.
const (
	tracePacket = 1 // Trace

	packetClocks     = 6 // TracePacket
	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	clocksClock = 1 // ClockSnapshot
	clockID     = 1 // ClockSnapshot.Clock
	clockTime   = 2

	eventCategory    = 3 // TrackEvent
	eventAnnotation  = 4
	eventType        = 9
	eventName        = 10
	eventTrack       = 11
	eventValue       = 30
	eventDouble      = 44
	eventFlow        = 47
	eventEndsFlow    = 48
	annotationName   = 1 // DebugAnnotation
	annotationUint   = 3
	annotationInt    = 4
	annotationDouble = 5
	annotationString = 6
	annotationText   = 17 // interned

	internedCategories = 1 // InternedData
	internedNames      = 2
	internedKeys       = 3
	internedTexts      = 29
	internedID         = 1 // EventCategory, EventName, DebugAnnotationName, InternedString
	internedString     = 2

	trackID        = 1 // TrackDescriptor
	trackName      = 2
	trackProcess   = 3
	trackThread    = 4
	trackParent    = 5
	trackCounter   = 8
	processPID     = 1 // ProcessDescriptor
	processName    = 6
	threadPID      = 1 // ThreadDescriptor
	threadTID      = 2
	threadName     = 5
	counterUnit    = 3 // CounterDescriptor
	counterUnitTxt = 6
)

// The values of enumerations.
const (
	typeBegin   = 1 // TrackEvent.Type
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4

	stateCleared = 1 // TracePacket.SequenceFlags
	stateNeeded  = 2

	clockRealtime = 1 // BuiltinClock
	clockBoottime = 6

	unitNs    = 1 // CounterDescriptor.Unit
	unitBytes = 3
)

// origin is the timestamp of the job's start: MPI_Init may begin before it, and timestamps are not negative.
const origin = 1 << 42

// maxTexts bounds the interned texts of arguments. Later ones are written where they are used.
const maxTexts = 1 << 16

// argumentKeys are the names of arguments that the first packet interns.
var argumentKeys = []string{"comm", "peer", "tag", "bytes", "call site", "request", "messages", "root", "target", "status"}

// packets encodes packets of one sequence. Their buffers are used again.
type packets struct {
	out    *bufio.Writer
	err    error
	packet []byte // the packet
	body   []byte // its event or descriptor
	part   []byte // a message within it
	intern []byte // what the packet interns

	categories, names, keys, texts map[string]uint64
	length                         [10]byte
}

func newPackets(out *bufio.Writer) packets {
	return packets{out: out, categories: map[string]uint64{}, names: map[string]uint64{}, keys: map[string]uint64{}, texts: map[string]uint64{}}
}

func varint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func double(b []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(v))
}

func field[T string | []byte](b []byte, number protowire.Number, v T) []byte {
	b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.BytesType), uint64(len(v)))
	return append(b, v...)
}

// valid makes a text UTF-8, as protobuf demands.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func stamp(t time.Duration) uint64 { return uint64(max(origin+int64(t), 1)) }

// write writes the packet.
func (p *packets) write() {
	if p.err != nil {
		return
	}
	head := protowire.AppendVarint(protowire.AppendTag(p.length[:0], tracePacket, protowire.BytesType), uint64(len(p.packet)))
	if _, p.err = p.out.Write(head); p.err == nil {
		_, p.err = p.out.Write(p.packet)
	}
	p.packet = p.packet[:0]
}

// begin writes the first packets.
func (p *packets) begin(start time.Time) {
	clock := func(b []byte, id, at uint64) []byte {
		return field(b, clocksClock, varint(varint(nil, clockID, id), clockTime, at))
	}
	p.packet = varint(varint(p.packet[:0], packetSequence, 1), packetFlags, stateCleared)
	p.packet = field(p.packet, packetClocks, clock(clock(nil, clockBoottime, origin), clockRealtime, uint64(max(start.UnixNano(), 0))))
	p.write()
	for _, key := range argumentKeys {
		p.id(p.keys, internedKeys, key)
	}
}

// descriptor writes p.body, the descriptor of a track.
func (p *packets) descriptor() {
	p.packet = field(varint(p.packet[:0], packetSequence, 1), packetDescriptor, p.body)
	p.write()
}

// start begins an event.
func (p *packets) start(typ, track uint64) {
	p.body = varint(varint(p.body[:0], eventType, typ), eventTrack, track)
}

// finish writes the event.
func (p *packets) finish(at time.Duration) {
	b := varint(varint(varint(p.packet[:0], packetTimestamp, stamp(at)), packetSequence, 1), packetFlags, stateNeeded)
	if len(p.intern) > 0 {
		b = field(b, packetInterned, p.intern)
		p.intern = p.intern[:0]
	}
	p.packet = field(b, packetEvent, p.body)
	p.write()
}

// id returns the number of an interned string.
func (p *packets) id(of map[string]uint64, list protowire.Number, s string) uint64 {
	id, ok := of[s]
	if !ok {
		id = uint64(len(of) + 1)
		of[s] = id
		p.part = field(varint(p.part[:0], internedID, id), internedString, valid(s))
		p.intern = field(p.intern, list, p.part)
	}
	return id
}

func (p *packets) name(name, category string) {
	p.body = varint(p.body, eventName, p.id(p.names, internedNames, name))
	p.body = varint(p.body, eventCategory, p.id(p.categories, internedCategories, category))
}

func (p *packets) flow(field protowire.Number, id uint64) {
	p.body = protowire.AppendFixed64(protowire.AppendTag(p.body, field, protowire.Fixed64Type), id)
}

// key begins an argument in p.part.
func (p *packets) key(key string) {
	var id uint64
	for i, k := range argumentKeys { // the frequent ones
		if k == key {
			id = uint64(i + 1)
			break
		}
	}
	if id == 0 {
		id = p.id(p.keys, internedKeys, key)
	}
	p.part = varint(p.part[:0], annotationName, id)
}

func (p *packets) argument() { p.body = field(p.body, eventAnnotation, p.part) }

func (p *packets) integer(key string, v int64) {
	p.key(key)
	p.part = varint(p.part, annotationInt, uint64(v))
	p.argument()
}

func (p *packets) unsigned(key string, v uint64) {
	p.key(key)
	p.part = varint(p.part, annotationUint, v)
	p.argument()
}

func (p *packets) double(key string, v float64) {
	p.key(key)
	p.part = double(p.part, annotationDouble, v)
	p.argument()
}

func (p *packets) text(key, v string) {
	if id := p.known(v); id != 0 {
		p.interned(key, id)
		return
	}
	p.key(key)
	p.part = field(p.part, annotationString, valid(v))
	p.argument()
}

// known is the number of a text of arguments; 0: there are too many.
func (p *packets) known(v string) uint64 {
	if _, ok := p.texts[v]; !ok && len(p.texts) >= maxTexts {
		return 0
	}
	return p.id(p.texts, internedTexts, v)
}

func (p *packets) interned(key string, id uint64) {
	p.key(key)
	p.part = varint(p.part, annotationText, id)
	p.argument()
}
