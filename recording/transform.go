package recording

import (
	"bytes"
	"math"
	"time"

	"mpitx/catalog"
)

// Transform is the form in which values are shown.
type Transform uint8

// The transforms.
const (
	Default Transform = iota // the column's own, else its class's: see [Column.Shown]
	Raw                      // as the library returned it
	Delta                    // the difference since the first sample
	Rate                     // per second, since the previous sample
)

var transformNames = []string{"default", "raw", "delta", "rate"}

func (t Transform) String() string { return wordOf(transformNames, int(t)) }

// ParseTransform parses "raw", "delta" or "rate"; "" is Default.
func ParseTransform(s string) (Transform, bool) {
	for i, n := range transformNames {
		if s == n || s == "" {
			return Transform(i), true
		}
	}
	return Default, false
}

// monotone reports whether variables of a class only grow between resets.
func monotone(c catalog.Class) bool {
	return c == catalog.ClassCounter || c == catalog.ClassAggregate || c == catalog.ClassTimer
}

// Shown returns the transform that applies to a column when t is asked for. Default is the column's own, else Delta for
// counters, aggregates and timers, and Raw for all others. Text, truth values and enumeration items are always Raw.
func (c *Column) Shown(t Transform) Transform {
	form := c.Type.Form()
	if form == catalog.FormText || form == catalog.FormBool || c.Enum != nil || c.Class == catalog.ClassState {
		return Raw
	}
	switch {
	case t != Default:
		return t
	case c.As != Default:
		return c.As
	case monotone(c.Class):
		return Delta
	}
	return Raw
}

// ValueKind returns the kind of a column's values with the transform t: Text (also for enumeration items), Float or Integer,
// and whether integers are unsigned. Signed ones fit an int64, except differences of unsigned values that are further apart.
func (c *Column) ValueKind(t Transform) (kind Kind, unsigned bool) {
	form, as := c.Type.Form(), c.Shown(t)
	switch {
	case form == catalog.FormText || c.Enum != nil:
		return Text, false
	case form == catalog.FormFloat || as == Rate:
		return Float, false
	case as == Delta:
		return Integer, monotone(c.Class)
	}
	return Integer, form != catalog.FormSigned && form != catalog.FormBool && c.size == 8
}

// shown converts the records of a set to cells.
type shown struct {
	rank    *Rank
	set     *Set
	columns []shownColumn
	cells   []Cell
	without bool // the record is not shown: its steps do not count
}

type shownColumn struct {
	column   *Column
	at       int // offset in the row
	index    int // position in the set
	element  element
	as       Transform
	monotone bool
	history  []history // with Delta and Rate, by element
}

// history is the state of one element's difference or rate.
type history struct {
	last  uint64
	sum   uint64 // Delta, monotone: the sum of all steps (a float's bits); other Delta: the first value
	ticks uint64 // of last, plus one; 0: none
}

func newShown(set *Set, rank *Rank, o *Options) *shown {
	s := &shown{rank: rank, set: set}
	for i, c := range set.Columns {
		if o.Column != nil && !o.Column(c) {
			continue
		}
		k := shownColumn{column: c, at: set.offsets[i], index: i, element: elementOf(c), as: c.Shown(o.As), monotone: monotone(c.Class)}
		if k.as != Raw {
			k.history = make([]history, c.Count)
		}
		s.columns = append(s.columns, k)
	}
	if set.baseline != nil && len(s.columns) > 0 {
		s.show(&record{set: set, ticks: set.baseTime, row: set.baseline, statuses: set.statuses})
		for i := range s.columns { // the baseline is the base of differences, but rates need a sample
			if s.columns[i].as == Rate {
				clear(s.columns[i].history)
			}
		}
	}
	return s
}

// show returns a record's cells, valid until the next call.
func (s *shown) show(rec *record) []Cell {
	s.cells = s.cells[:0]
	for i := range s.columns {
		k := &s.columns[i]
		status := OK
		if rec.statuses != nil {
			status = Status(rec.statuses[k.index])
		}
		if k.element.form == catalog.FormText {
			s.cells = append(s.cells, k.textCell(rec, status))
			continue
		}
		b := rec.row[k.at:]
		for e := range k.column.Count {
			cell := Cell{Column: k.column, Element: e, Status: status}
			if status.HasValue() {
				x := k.element.raw(b[e*k.element.size:])
				if k.as == Raw {
					cell.Value = k.element.value(x)
				} else {
					s.difference(k, &k.history[e], x, rec.ticks, &cell)
				}
			}
			s.cells = append(s.cells, cell)
		}
	}
	if s.rank.Incomplete() != "" {
		for i := range s.cells {
			if s.cells[i].Status == OK {
				s.cells[i].Status = Incomplete
			}
		}
	}
	return s.cells
}

func (k *shownColumn) textCell(rec *record, status Status) Cell {
	cell := Cell{Column: k.column, Status: status}
	if status.HasValue() {
		text := rec.row[k.at : k.at+k.column.Count]
		if i := bytes.IndexByte(text, 0); i >= 0 {
			text = text[:i]
		}
		cell.Value = Value{Kind: Text, text: text}
	}
	return cell
}

// difference sets a cell's value to a difference or a rate.
func (s *shown) difference(k *shownColumn, h *history, x, ticks uint64, cell *Cell) {
	if h.ticks == 0 { // the first
		h.last, h.ticks = x, ticks+1
		if !k.monotone {
			h.sum = x
		}
		if cell.Status = Pending; k.as == Delta {
			cell.Status, cell.Value = OK, k.zero()
		}
		return
	}
	step, reset := k.step(h.last, x)
	if reset || cell.Status == Reset && k.monotone {
		cell.Status, step = Reset, k.zero()
	}
	if k.as == Rate {
		cell.covers = time.Duration(s.rank.mono(ticks) - s.rank.mono(h.ticks-1))
	}
	switch {
	case k.as == Rate && cell.Status == Reset:
	case k.as == Rate && cell.covers <= 0: // the next rate includes this step
		cell.Status = Pending
		return
	case k.as == Rate:
		cell.Value = FloatValue(step.Float64() / cell.covers.Seconds())
	case k.monotone && s.without:
	case k.monotone:
		cell.Value = k.add(h, step)
	default:
		cell.Value, _ = k.step(h.sum, x)
	}
	h.last, h.ticks = x, ticks+1
}

func (k *shownColumn) zero() Value {
	if k.element.form == catalog.FormFloat {
		return FloatValue(0)
	}
	return Value{Kind: Integer}
}

// step is the difference between two values. Monotone integers wrap modulo the type's width: a drop is a wrap if the step
// modulo the width is less than half the range, and a reset otherwise.
func (k *shownColumn) step(from, to uint64) (v Value, reset bool) {
	fell := to < from
	if k.element.form == catalog.FormSigned {
		fell = int64(to) < int64(from)
	}
	switch {
	case k.element.form == catalog.FormFloat:
		d := k.element.float(to) - k.element.float(from)
		return FloatValue(d), k.monotone && !(d >= 0)
	case k.monotone:
		d := (to - from) & k.element.mask()
		return Value{Kind: Integer, bits: d}, fell && d > k.element.mask()/2
	case fell:
		return Value{Kind: Integer, negative: true, bits: from - to}, false
	}
	return Value{Kind: Integer, bits: to - from}, false
}

// add adds a step to the sum and returns it.
func (k *shownColumn) add(h *history, step Value) Value {
	if step.Kind == Float {
		h.sum = math.Float64bits(math.Float64frombits(h.sum) + step.Float64())
		return Value{Kind: Float, bits: h.sum}
	}
	sum := Value{Kind: Integer, bits: h.sum}
	addMagnitude(&sum, step.bits)
	h.sum = sum.bits
	return sum
}
