package perfetto

import (
	"io"
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

// The numbers of the arguments that the first packet interns, and their names.
const (
	argComm = 1 + iota
	argPeer
	argTag
	argBytes
	argSite
	argRequest
	argMessages
	argRoot
	argTarget
	argStatus
	argAlgorithm
)

var argumentKeys = []string{"comm", "peer", "tag", "bytes", "call site", "request", "messages", "root", "target", "status", "algorithm"}

// bufferBytes is how much is written at once.
const bufferBytes = 1 << 16

// packets encodes packets of one sequence. Their buffers are used again.
type packets struct {
	out    io.Writer
	err    error
	buffer []byte // complete packets
	packet []byte // a packet without an event
	body   []byte // the packet's event or descriptor
	part   []byte // a message within it
	intern []byte // what the packet interns

	categories, names, keys, texts map[string]uint64
	category                       string // the last one, and its number
	categoryID                     uint64
}

func newPackets(out io.Writer) packets {
	return packets{out: out, categories: map[string]uint64{}, names: map[string]uint64{}, keys: map[string]uint64{}, texts: map[string]uint64{}}
}

func uvarint(b []byte, v uint64) []byte {
	if v < 1<<7 {
		return append(b, byte(v))
	}
	return protowire.AppendVarint(b, v)
}

func tag(b []byte, field protowire.Number, typ protowire.Type) []byte {
	return uvarint(b, uint64(field)<<3|uint64(typ))
}

func varint(b []byte, field protowire.Number, v uint64) []byte {
	return uvarint(tag(b, field, protowire.VarintType), v)
}

func double(b []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(tag(b, field, protowire.Fixed64Type), math.Float64bits(v))
}

func field[T string | []byte](b []byte, number protowire.Number, v T) []byte {
	b = protowire.AppendVarint(tag(b, number, protowire.BytesType), uint64(len(v)))
	return append(b, v...)
}

func fieldSize(n int) int { return protowire.SizeVarint(uint64(n)) + n }

// valid makes a text UTF-8, as protobuf demands.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func stamp(t time.Duration) uint64 { return uint64(max(origin+int64(t), 1)) }

// flush writes the complete packets.
func (p *packets) flush() {
	if p.err == nil && len(p.buffer) > 0 {
		_, p.err = p.out.Write(p.buffer)
	}
	p.buffer = p.buffer[:0]
}

// head begins a packet of n bytes.
func (p *packets) head(n int) {
	if len(p.buffer) >= bufferBytes {
		p.flush()
	}
	p.buffer = uvarint(tag(p.buffer, tracePacket, protowire.BytesType), uint64(n))
}

// write writes the packet.
func (p *packets) write() {
	p.head(len(p.packet))
	p.buffer = append(p.buffer, p.packet...)
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

// eventHead are the fields of each event's packet: the sequence 1, and that it uses interned strings.
var eventHead = varint(varint(nil, packetSequence, 1), packetFlags, stateNeeded)

// finish writes the event.
func (p *packets) finish(at time.Duration) {
	time := stamp(at)
	n := 1 + protowire.SizeVarint(time) + len(eventHead) + 1 + fieldSize(len(p.body))
	if len(p.intern) > 0 {
		n += 1 + fieldSize(len(p.intern))
	}
	p.head(n)
	b := append(varint(p.buffer, packetTimestamp, time), eventHead...)
	if len(p.intern) > 0 {
		b = field(b, packetInterned, p.intern)
		p.intern = p.intern[:0]
	}
	p.buffer = field(b, packetEvent, p.body)
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
	if p.categoryID == 0 || category != p.category {
		p.category, p.categoryID = category, p.id(p.categories, internedCategories, category)
	}
	p.body = varint(p.body, eventName, p.id(p.names, internedNames, name))
	p.body = varint(p.body, eventCategory, p.categoryID)
}

func (p *packets) flow(field protowire.Number, id uint64) {
	p.body = protowire.AppendFixed64(tag(p.body, field, protowire.Fixed64Type), id)
}

// key is the number of an argument.
func (p *packets) key(name string) uint64 { return p.id(p.keys, internedKeys, name) }

// argument writes an argument whose value is a number.
func (p *packets) argument(key uint64, field protowire.Number, v uint64) {
	name := uint64(field) << 3
	n := 1 + protowire.SizeVarint(key) + protowire.SizeVarint(name) + protowire.SizeVarint(v)
	b := uvarint(tag(p.body, eventAnnotation, protowire.BytesType), uint64(n))
	p.body = uvarint(uvarint(varint(b, annotationName, key), name), v)
}

func (p *packets) integer(key uint64, v int64) { p.argument(key, annotationInt, uint64(v)) }

func (p *packets) unsigned(key, v uint64) { p.argument(key, annotationUint, v) }

func (p *packets) double(key uint64, v float64) {
	p.part = double(varint(p.part[:0], annotationName, key), annotationDouble, v)
	p.body = field(p.body, eventAnnotation, p.part)
}

func (p *packets) text(key uint64, v string) {
	if id := p.known(v); id != 0 {
		p.interned(key, id)
		return
	}
	p.part = field(varint(p.part[:0], annotationName, key), annotationString, valid(v))
	p.body = field(p.body, eventAnnotation, p.part)
}

// known is the number of a text of arguments; 0: there are too many.
func (p *packets) known(v string) uint64 {
	if _, ok := p.texts[v]; !ok && len(p.texts) >= maxTexts {
		return 0
	}
	return p.id(p.texts, internedTexts, v)
}

func (p *packets) interned(key, id uint64) { p.argument(key, annotationText, id) }
