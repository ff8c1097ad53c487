package recording

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"mpitx/catalog"
	"mpitx/recording/store"
)

var le = binary.LittleEndian

const (
	metaHeader    = 1
	metaClock     = 2
	metaColumn    = 3
	metaSet       = 4
	metaStatus    = 5
	metaObject    = 6
	metaNote      = 7
	metaOutcome   = 8
	metaCounters  = 9
	metaBaseline  = 10
	metaEnd       = 11
	metaFunctions = 14
	metaEvent     = 15
	metaTable     = 16
	metaText      = 17
	metaModule    = 18
	metaSpawned   = 19
	metaLoss      = 20

	// Limits of what is kept of one rank, whatever a run holds.
	maxColumns = 1 << 20
	maxSets    = 32000
	maxNotes   = 1000
	maxPairs   = 512
	maxFuncs   = 4096
	maxRow     = 1 << 20
)

// body decodes the body of a record. Reading past its end gives zeros and sets short.
type body struct {
	b     []byte
	short bool
}

func (r *body) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.short = nil, true
		return nil
	}
	t := r.b[:n]
	r.b = r.b[n:]
	return t
}

func (r *body) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *body) u32() uint32 {
	if b := r.take(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

func (r *body) u64() uint64 {
	if b := r.take(8); b != nil {
		return le.Uint64(b)
	}
	return 0
}

func (r *body) f64() float64 { return math.Float64frombits(r.u64()) }
func (r *body) text() []byte { return r.take(uint64(r.u32())) }

func (x *index) metaRecord(r *Rank, record *store.Record) error {
	var err error
	rec, ticks := &body{b: record.Body}, record.Ticks
	switch record.Type {
	case metaHeader:
		x.header(r, rec)
	case metaClock:
		pair := clockPair{ticks: ticks, mono: int64(rec.u64()), real: int64(rec.u64()), err: rec.f64()}
		r.addPair(pair, rec.short)
	case metaColumn:
		err = x.column(r, rec)
	case metaSet:
		err = x.set(r, rec)
	case metaStatus:
		if id, s := rec.u32(), rec.u32(); int(id) < len(r.Columns) && r.Columns[id] != nil {
			r.Columns[id].Status, r.Columns[id].Reason = Status(min(s, 255)), x.intern(rec.text())
		}
	case metaObject:
		r.nameObject(rec.u64(), x.intern(rec.text()), ticks)
	case metaNote:
		severity, code := Severity(rec.u32()), NoteCode(rec.u32())
		r.note(Note{Severity: severity, Code: code, Text: x.intern(rec.text()), ticks: ticks})
	case metaOutcome:
		after := rec.u32() != 0
		rec.u32()
		o := Assignment{After: after, Cvar: string(rec.text()), Asked: string(rec.text()), Old: string(rec.text()),
			Read: string(rec.text()), Result: string(rec.text())}
		if len(r.Assignments) < maxNotes {
			r.Assignments = append(r.Assignments, o)
		}
	case metaCounters:
		x.counters(r, record.Sequence, rec)
	case metaBaseline:
		err = r.baseline(ticks, rec)
	case metaEnd:
		r.End = End(rec.u32())
	case metaFunctions:
		r.functions(rec, x)
	case metaEvent:
		var l layout
		if l, err = x.fields(r, 0, rec); err == nil {
			err = declare(&r.EventTypes, l.ID, maxTypes, &EventType{l})
		}
	case metaTable:
		var l layout
		if l, err = x.fields(r, rowHead, rec); err == nil {
			err = declare(&r.Tables, l.ID, maxTables, &Table{l})
		}
	case metaText:
		if id := rec.u32(); len(r.texts) < maxTexts {
			r.texts[uint64(id)] = []byte(x.intern(rec.text()))
		}
	case metaModule:
		x.module(r, rec)
	case metaSpawned:
		r.Spawned = Spawned{First: int(int32(rec.u32())), Spawner: int(int32(rec.u32())), Job: int(int32(rec.u32()))}
	case metaLoss:
		chain := uint16(rec.u32())
		rec.u32() // the thread
		if r.losses == nil {
			r.losses = map[uint16]loss{}
		}
		r.losses[chain] = loss{rec.u64(), rec.u64()}
	case store.RecordLast:
		r.keepLast(ticks, record.Body)
	}
	if err == nil && rec.short {
		err = fmt.Errorf("a record of type %d is too short", record.Type)
	}
	return err
}

func (x *index) header(r *Rank, rec *body) {
	r.Rank, r.Size, r.PID = int(int32(rec.u32())), int(int32(rec.u32())), int(rec.u32())
	r.Thread, r.ToolThread = catalog.ThreadLevel(rec.u32()), catalog.ThreadLevel(rec.u32())
	r.TSC = rec.u32() == 2
	r.NsPerTick = rec.f64()
	if !r.TSC || !(r.NsPerTick > 1e-6 && r.NsPerTick < 1e6) {
		r.NsPerTick = 1
	}
	r.ClockError = duration(rec.f64())
	r.Interval = time.Duration(rec.u64() & math.MaxInt64)
	r.jobStart = int64(rec.u64())
	version, sub := int32(rec.u32()), int32(rec.u32())
	if version > 0 {
		r.MPIVersion = strconv.Itoa(int(version)) + "." + strconv.Itoa(int(sub))
	}
	r.Budget = int64(rec.u64() & math.MaxInt64)
	r.KeepLast = rec.u32() == 1
	rec.u32()
	r.Host, r.bootID = x.intern(rec.text()), x.intern(rec.text())
	r.Family, r.Library = x.intern(rec.text()), x.intern(rec.text())
	r.Program, r.Agent = x.intern(rec.text()), x.intern(rec.text())
}

// duration converts nanoseconds measured by the agent and bounds them.
func duration(ns float64) time.Duration {
	if !(ns > 0) {
		return 0
	}
	return time.Duration(min(ns, 1e18))
}

func (x *index) column(r *Rank, rec *body) error {
	id := rec.u32()
	c := &Column{Rank: r, ID: int(id), Class: catalog.Class(rec.u32()), Type: catalog.Datatype(rec.u32()),
		Count: int(rec.u32()), First: int(rec.u32()), Bind: catalog.Bind(rec.u32()), Object: rec.u64(),
		As: Transform(rec.u8()), Labels: Labels(rec.u8())}
	flags, size := rec.u8() != 0, rec.u8()
	labels, items := rec.u32(), rec.u32()
	rec.u32()
	c.Variable, c.ObjectName = x.intern(rec.text()), x.intern(rec.text())
	enum := x.intern(rec.text())
	c.Description = x.intern(rec.text())
	if c.size = int(size); c.size == 0 {
		c.size = c.Type.Size()
	}
	switch {
	case rec.short:
		return nil // the caller reports it
	case id >= maxColumns || c.Count < 1 || c.Count > maxRow || c.Type.Size() != 0 && c.Type.Size() != c.size,
		c.size != 1 && c.size != 2 && c.size != 4 && c.size != 8:
		return fmt.Errorf("column %d with %d elements of %d bytes", id, c.Count, c.size)
	}
	if c.As > Rate {
		c.As = Default
	}
	world := rec.take(uint64(labels) * 4)
	for i := 0; i+4 <= len(world); i += 4 {
		c.World = append(c.World, int32(r.Spawned.First)+int32(le.Uint32(world[i:])))
	}
	if enum != "" || items > 0 {
		c.Enum = x.enum(enum, flags, items, rec)
	}
	if len(rec.b) >= 4 { // older runs have only padding here
		c.unit = x.intern(rec.text())
	}
	if rec.short {
		return nil
	}
	if name, ok := r.names[c.Object]; ok && c.Object != 0 {
		c.ObjectName = name
	}
	return declare(&r.Columns, int(id), maxColumns, c)
}

// enum reads an enumeration. Equal ones share one value.
func (x *index) enum(name string, flags bool, items uint32, rec *body) *catalog.Enum {
	e := &catalog.Enum{Name: name, Flags: flags}
	var key strings.Builder
	key.WriteString(name)
	for range items {
		v := int64(rec.u64())
		t := x.intern(rec.text())
		if rec.short {
			return nil
		}
		e.Items = append(e.Items, catalog.Item{Value: int(v), Name: t})
		fmt.Fprintf(&key, "\x00%d %t %s", v, flags, t)
	}
	if same := x.enums[key.String()]; same != nil {
		return same
	}
	x.enums[key.String()] = e
	return e
}

func (x *index) set(r *Rank, rec *body) error {
	id, n, row := rec.u32(), rec.u32(), rec.u32()
	rec.u32()
	if id >= maxSets || n == 0 || row > maxRow || uint64(n)*4 > uint64(len(rec.b)) {
		return fmt.Errorf("set %d with %d columns and rows of %d bytes", id, n, row)
	}
	s := &Set{ID: int(id), row: int(row), ids: make([]uint32, n)}
	for i := range s.ids {
		s.ids[i] = rec.u32()
	}
	s.resolve(r)
	return declare(&r.Sets, int(id), maxSets, s)
}

// declare keeps the first declaration with an identifier.
func declare[T any](all *[]*T, id, most int, v *T) error {
	if id < 0 || id >= most {
		return fmt.Errorf("declaration number %d is out of range", id)
	}
	for len(*all) <= id {
		*all = append(*all, nil)
	}
	if (*all)[id] == nil {
		(*all)[id] = v
	}
	return nil
}

// resolve finds a set's columns. It returns false if a declaration is missing, or the rows do not fit the columns.
func (s *Set) resolve(r *Rank) bool {
	if s.Columns != nil {
		return true
	}
	columns, offsets, at := make([]*Column, len(s.ids)), make([]int, len(s.ids)), 0
	for i, id := range s.ids {
		if int(id) >= len(r.Columns) || r.Columns[id] == nil {
			return false
		}
		c := r.Columns[id]
		at = (at + c.size - 1) / c.size * c.size
		columns[i], offsets[i] = c, at
		if at += c.size * c.Count; at > maxRow {
			return false
		}
	}
	if (at+7)&^7 != s.row {
		return false
	}
	s.Columns, s.offsets = columns, offsets
	return true
}

func (r *Rank) note(n Note) {
	if len(r.Notes) < maxNotes {
		r.Notes = append(r.Notes, n)
	}
}

func (r *Rank) functions(rec *body, x *index) {
	n, figures := rec.u32(), rec.u32()
	if n > maxFuncs || figures < 2 || figures > maxFuncs {
		return // a later version's record
	}
	r.Functions = nil
	for range n {
		calls, ns := rec.u64(), rec.u64()
		rec.take(uint64(figures-2) * 8)
		name := x.intern(rec.text())
		if rec.short {
			return
		}
		r.Functions = append(r.Functions, FunctionTotal{name, calls, time.Duration(ns & math.MaxInt64)})
	}
}

func (r *Rank) nameObject(object uint64, name string, ticks uint64) {
	if object == 0 {
		return
	}
	if r.names == nil {
		r.names = map[uint64]string{}
	}
	if len(r.names) < maxColumns {
		r.names[object] = name
	}
	for _, c := range r.Columns {
		if c != nil && c.Object == object && ticks >= c.lastNamed {
			c.ObjectName, c.lastNamed = name, ticks
		}
	}
}

// counters keeps the newest counters.
func (x *index) counters(r *Rank, sequence uint64, rec *body) {
	n := rec.u64()
	if sequence < r.countersAt {
		return
	}
	r.countersAt = sequence
	var all []uint64
	for range min(n, store.NumCounters) {
		all = append(all, rec.u64())
	}
	r.Counters.set(all)
}

func (r *Rank) baseline(ticks uint64, rec *body) error {
	id, flags := rec.u32(), rec.u32()
	if int(id) >= len(r.Sets) || r.Sets[id] == nil {
		return nil // its declaration is lost
	}
	s := r.Sets[id]
	var statuses []byte
	if flags&1 != 0 {
		statuses = rec.take(uint64(len(s.ids)+7) &^ 7)
	}
	row := rec.take(uint64(s.row))
	if rec.short || s.baseline != nil {
		return nil
	}
	s.baseTime, s.baseline = ticks, append([]byte{}, row...)
	if statuses != nil {
		s.statuses = append([]byte{}, statuses...)
	}
	return nil
}
