// Package recordingtest writes run directories for tests. It is an independent Go implementation of the format in
// docs/run-format.md, which agent/run implements in C, and shares no code with package recording.
package recordingtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
)

var le = binary.LittleEndian

// Magic is the first bytes of a chunk.
const Magic = "\x01PXCHNK1"

// Column is a column to declare.
type Column struct {
	Variable     string
	Class, Type  int32 // catalog's numbers
	Count, First uint32
	Bind         int32
	Object       uint64
	ObjectName   string
	As, Labels   uint8
	EnumFlags    uint8
	Size         uint8
	World        []int32
	EnumName     string
	Items        []Item
	Description  string
	Unit         string // "": no unit, as in runs of older agents
}

// Item is an item of an enumeration.
type Item struct {
	Value int64
	Name  string
}

// Header is the header record.
type Header struct {
	Rank, Size                  int32
	Clock                       int32 // 1: monotonic, 2: TSC
	NsPerTick                   float64
	Host, Boot, Family, Library string
	Program, Agent              string
	JobStart                    int64
	Interval                    uint64
	Thread                      int32 // provided to the program; 0 stands for 4, MPI_THREAD_MULTIPLE
}

// Stream writes one process's chunks. Every Go value given to it is copied.
type Stream struct {
	Run      [16]byte
	ID       uint64
	Rank     int32
	Capacity int // bytes of records in a chunk
	Out      []byte

	Chain uint16 // number of the chain of the events that follow

	sequence      uint64
	meta, samples []byte
	origin        uint64 // the chunk's first time base
	base, last    uint64
	records       uint32
}

// NewStream begins a stream.
func NewStream(id uint64, rank int32) *Stream {
	return &Stream{ID: id, Rank: rank, Capacity: 65536 - 88}
}

func pad(b []byte) []byte {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

func text(b []byte, s string) []byte { return append(le.AppendUint32(b, uint32(len(s))), s...) }

// Meta appends a record to the chunk of declarations.
func (s *Stream) Meta(typ uint16, ticks uint64, body []byte) {
	body = pad(body)
	if len(s.meta)+16+len(body) > s.Capacity {
		s.sealMeta()
	}
	s.meta = le.AppendUint32(s.meta, uint32(16+len(body)))
	s.meta = le.AppendUint32(s.meta, uint32(typ))
	s.meta = le.AppendUint64(s.meta, ticks)
	s.meta = append(s.meta, body...)
}

// Header appends the header.
func (s *Stream) Header(h Header) {
	var b []byte
	if h.Thread == 0 {
		h.Thread = 4
	}
	for _, v := range []int32{h.Rank, h.Size, 4711, h.Thread, 4, h.Clock} {
		b = le.AppendUint32(b, uint32(v))
	}
	b = le.AppendUint64(b, math.Float64bits(h.NsPerTick))
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, h.Interval)
	b = le.AppendUint64(b, uint64(h.JobStart))
	b = le.AppendUint32(b, 3)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, 0)
	for _, t := range []string{h.Host, h.Boot, h.Family, h.Library, h.Program, h.Agent} {
		b = text(b, t)
	}
	s.Meta(1, 0, b)
}

// Clock appends a clock pair.
func (s *Stream) Clock(ticks uint64, mono, real int64, err float64) {
	b := le.AppendUint64(nil, uint64(mono))
	b = le.AppendUint64(b, uint64(real))
	s.Meta(2, ticks, le.AppendUint64(b, math.Float64bits(err)))
}

// Column declares a column.
func (s *Stream) Column(id uint32, c Column) {
	var b []byte
	for _, v := range []uint32{id, uint32(c.Class), uint32(c.Type), c.Count, c.First, uint32(c.Bind)} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint64(b, c.Object)
	b = append(b, c.As, c.Labels, c.EnumFlags, c.Size)
	b = le.AppendUint32(b, uint32(len(c.World)))
	b = le.AppendUint32(b, uint32(len(c.Items)))
	b = le.AppendUint32(b, 0)
	for _, t := range []string{c.Variable, c.ObjectName, c.EnumName, c.Description} {
		b = text(b, t)
	}
	for _, w := range c.World {
		b = le.AppendUint32(b, uint32(w))
	}
	for _, it := range c.Items {
		b = text(le.AppendUint64(b, uint64(it.Value)), it.Name)
	}
	if c.Unit != "" {
		b = text(b, c.Unit)
	}
	s.Meta(3, 0, b)
}

// Set declares a set.
func (s *Stream) Set(id uint32, rowBytes int, columns ...uint32) {
	b := le.AppendUint32(nil, id)
	b = le.AppendUint32(b, uint32(len(columns)))
	b = le.AppendUint32(b, uint32(rowBytes))
	b = le.AppendUint32(b, 0)
	for _, c := range columns {
		b = le.AppendUint32(b, c)
	}
	s.Meta(4, 0, b)
}

// Note appends a note.
func (s *Stream) Note(ticks uint64, severity, code uint32, t string) {
	s.Meta(7, ticks, text(le.AppendUint32(le.AppendUint32(nil, severity), code), t))
}

// Function is the total of one function.
type Function struct {
	Name      string
	Calls, Ns uint64
}

// Functions appends the totals of functions.
func (s *Stream) Functions(all ...Function) {
	b := le.AppendUint32(le.AppendUint32(nil, uint32(len(all))), 2)
	for _, f := range all {
		b = text(le.AppendUint64(le.AppendUint64(b, f.Calls), f.Ns), f.Name)
	}
	s.Meta(14, s.last, b)
}

// Counters appends the counters, in the format's order.
func (s *Stream) Counters(n ...uint64) {
	b := le.AppendUint64(nil, uint64(len(n)))
	for _, v := range n {
		b = le.AppendUint64(b, v)
	}
	s.Meta(9, 0, b)
}

// Loss says that events of a chain were lost after its last one.
func (s *Stream) Loss(chain uint32, thread uint32, n, until uint64) {
	b := le.AppendUint32(le.AppendUint32(nil, chain), thread)
	s.Meta(20, s.last, le.AppendUint64(le.AppendUint64(b, n), until))
}

// End appends the end record.
func (s *Stream) End(how uint32) { s.Meta(11, s.last, le.AppendUint64(nil, uint64(how))) }

// Sample appends a sample; statuses may be nil.
func (s *Stream) Sample(set uint32, ticks uint64, row, statuses []byte) {
	body := pad(append(pad(append([]byte{}, statuses...)), row...))
	if len(s.samples) > 0 && len(s.samples)+8+len(body)+16 > s.Capacity {
		s.sealSamples()
	}
	if len(s.samples) == 0 {
		s.base, s.origin = ticks, ticks
	}
	if ticks-s.base > math.MaxUint32 {
		s.samples = le.AppendUint64(s.samples, 2|1<<16)
		s.samples = le.AppendUint64(s.samples, ticks)
		s.base = ticks
		s.records++
	}
	tag := uint16(16 + set)
	if statuses != nil {
		tag |= 0x8000
	}
	s.samples = le.AppendUint16(s.samples, uint16((8+len(body))/8))
	s.samples = le.AppendUint16(s.samples, tag)
	s.samples = le.AppendUint32(s.samples, uint32(ticks-s.base))
	s.samples = append(s.samples, body...)
	s.records++
	s.last = ticks
}

// Field is a field of events or of a table.
type Field struct {
	Name                 string
	Type, Meaning, Merge uint8
	Count                uint32
	Unit                 string
}

func (s *Stream) fields(typ uint16, id uint32, name string, keys uint32, bytes int, fields []Field) {
	b := le.AppendUint32(le.AppendUint32(nil, id), uint32(len(fields)))
	b = text(le.AppendUint32(le.AppendUint32(b, keys), uint32(bytes)), name)
	for _, f := range fields {
		b = le.AppendUint32(append(b, f.Type, f.Meaning, f.Merge, 0), max(f.Count, 1))
		b = text(text(b, f.Name), f.Unit)
	}
	s.Meta(typ, 0, b)
}

// EventType declares an event type. Its fields have the given number of bytes.
func (s *Stream) EventType(id uint32, name string, bytes int, fields ...Field) {
	s.fields(15, id, name, 0, bytes, fields)
}

// Table declares a table. Its rows have the given number of bytes.
func (s *Stream) Table(id uint32, name string, keys uint32, bytes int, fields ...Field) {
	s.fields(16, id, name, keys, bytes, fields)
}

// Text declares a text.
func (s *Stream) Text(id uint32, t string) { s.Meta(17, 0, text(le.AppendUint32(nil, id), t)) }

// Module declares a mapped object.
func (s *Stream) Module(start, end, bias uint64, path, buildID string) {
	b := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, start), end), bias)
	s.Meta(18, 0, text(text(b, path), buildID))
}

// Spawned says that processes have started this one: the number of the first process of its job, that of the root, and which of its jobs it is.
func (s *Stream) Spawned(first, spawner, job int32) {
	b := le.AppendUint32(le.AppendUint32(nil, uint32(first)), uint32(spawner))
	s.Meta(19, 0, le.AppendUint32(b, uint32(job)))
}

// Event is an argument of [Stream.Events]: an event, a thread's ID (tag 2), or a number of lost events (tag 3).
type Event struct {
	Tag   uint16
	Ticks uint64
	Body  []byte
}

// Events appends a chunk of events to the stream's chain.
func (s *Stream) Events(events ...Event) {
	var b []byte
	for _, e := range events {
		b = le.AppendUint16(b, uint16((8+len(e.Body))/8))
		b = le.AppendUint16(b, e.Tag)
		b = append(le.AppendUint32(b, uint32(e.Ticks-events[0].Ticks)), e.Body...)
		s.last = e.Ticks
	}
	at := len(s.Out)
	s.chunk(4, events[0].Ticks, b)
	le.PutUint16(s.Out[at+14:], s.Chain)
	seal(s.Out[at:])
}

// Rows appends a chunk of table rows. Each row begins with its number and its thread.
func (s *Stream) Rows(table uint32, bytes int, rows ...[]byte) {
	b := le.AppendUint32(le.AppendUint32(nil, table), uint32(bytes))
	b = append(b, make([]byte, 32)...)
	for _, r := range rows {
		b = append(append(b, r...), make([]byte, bytes-len(r))...)
	}
	s.chunk(5, s.last, b)
}

// Last appends a chunk of last values with the record of one set.
func (s *Stream) Last(set uint32, ticks uint64, row, statuses []byte, columns int) {
	flags := uint32(0)
	if statuses != nil {
		flags = 1
	}
	body := le.AppendUint32(le.AppendUint32(nil, set), flags)
	body = pad(append(append(body, statuses...), make([]byte, columns-len(statuses))...))
	body = pad(append(body, row...))
	b := le.AppendUint32(nil, uint32(16+len(body)))
	b = le.AppendUint32(b, 13)
	s.chunk(3, 0, append(le.AppendUint64(b, ticks), body...))
}

func (s *Stream) sealSamples() {
	if len(s.samples) > 0 {
		s.chunk(2, s.origin, s.samples)
	}
	s.samples, s.records = s.samples[:0], 0
}

func (s *Stream) sealMeta() {
	if len(s.meta) > 0 {
		s.chunk(1, 0, s.meta)
	}
	s.meta = s.meta[:0]
}

// Seal completes the open chunks.
func (s *Stream) Seal() {
	s.sealMeta()
	s.sealSamples()
}

func (s *Stream) chunk(kind byte, first uint64, records []byte) {
	s.sequence++
	at := len(s.Out)
	h := make([]byte, 88)
	copy(h, Magic)
	le.PutUint16(h[8:], 1)
	le.PutUint16(h[10:], 88)
	h[12] = kind
	copy(h[16:], s.Run[:])
	le.PutUint64(h[32:], s.ID)
	le.PutUint64(h[40:], s.sequence)
	le.PutUint32(h[48:], uint32(s.Rank))
	le.PutUint32(h[52:], uint32(max(s.Capacity, len(records))))
	le.PutUint32(h[56:], uint32(len(records)))
	le.PutUint32(h[60:], 2)
	le.PutUint64(h[64:], first)
	le.PutUint64(h[72:], s.last)
	le.PutUint32(h[80:], s.records)
	s.Out = append(append(s.Out, h...), records...)
	seal(s.Out[at:])
}

// seal sets a chunk's checksum.
func seal(b []byte) {
	le.PutUint32(b[84:], 0)
	le.PutUint32(b[84:], crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// Fix seals all chunks in some bytes with valid checksums, so that readers get past them to other damage.
func Fix(b []byte) {
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(Magic))
		if i < 0 {
			return
		}
		at += i
		if head := b[at:]; len(head) >= 88 {
			if n := int64(le.Uint16(head[10:])) + int64(le.Uint32(head[56:])); n >= 88 && n <= int64(len(head)) {
				le.PutUint32(head[60:], 2)
				seal(head[:n])
			}
		}
	}
}

// Manifest returns the manifest that the stream's process has while it runs.
func (s *Stream) Manifest(host, boot, live string) []byte {
	b := make([]byte, 120)
	copy(b, "\x01PXMANI1")
	le.PutUint16(b[8:], 1)
	le.PutUint16(b[10:], 120)
	copy(b[16:], s.Run[:])
	le.PutUint64(b[32:], s.ID)
	le.PutUint32(b[40:], uint32(s.Rank))
	le.PutUint32(b[44:], 4711)
	le.PutUint32(b[64:], uint32(len(host)))
	le.PutUint32(b[68:], uint32(len(live)))
	copy(b[80:], boot)
	b = append(append(b, host...), live...)
	le.PutUint32(b[12:], uint32(len(b)))
	le.PutUint32(b[72:], crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// SaveLive makes the stream's process one that runs, as long as a process of this machine does.
func (s *Stream) SaveLive(dir, host string, pid int, lost uint64) error {
	head := make([]byte, 4096)
	copy(head, "\x01MPXIVE1")
	le.PutUint16(head[8:], 1)
	le.PutUint16(head[10:], 4096)
	le.PutUint32(head[12:], 8192)
	le.PutUint64(head[32:], s.ID)
	le.PutUint32(head[40:], uint32(s.Rank))
	le.PutUint32(head[44:], uint32(pid))
	le.PutUint64(head[56+8:], lost)
	name := fmt.Sprintf("%d.live", s.Rank)
	m := make([]byte, 80)
	copy(m, "\x01PXMANI1")
	le.PutUint16(m[8:], 1)
	le.PutUint16(m[10:], 80)
	le.PutUint32(m[12:], uint32(80+len(host)+len(name)))
	le.PutUint64(m[32:], s.ID)
	le.PutUint32(m[40:], uint32(s.Rank))
	le.PutUint32(m[44:], uint32(pid))
	le.PutUint32(m[64:], uint32(len(host)))
	le.PutUint32(m[68:], uint32(len(name)))
	m = append(append(m, host...), name...)
	le.PutUint32(m[72:], crc32.Checksum(m, crc32.MakeTable(crc32.Castagnoli)))
	if err := os.WriteFile(filepath.Join(dir, name), head, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("live-%s-%d-0000000%d.mpxm", host, s.Rank, s.Rank)), m, 0o600)
}

// Save writes a run directory with one node file.
func Save(dir, host string, chunks []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "node-"+host+".mpxr"), chunks, 0o600)
}
