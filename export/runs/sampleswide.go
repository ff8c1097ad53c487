package runs

import (
	"io"
	"slices"
	"strconv"
	"time"

	"mpitx/export"
	"mpitx/recording"
)

// WideColumn is one element of one variable in a table with a row for each instant.
type WideColumn struct {
	Name     string         // variable@object[element]
	Kind     recording.Kind // Integer, Float or Text; Text if ranks differ in it
	Unsigned bool           // of integers: see [recording.Column.ValueKind]
	Unit     string         // see [recording.Column.UnitAs]; "" if ranks differ in it
}

// wideColumns returns the columns of a wide table, in the order of their declaration.
func wideColumns(run *recording.Run, names *sampleNames, o *SampleOptions) []WideColumn {
	var all []WideColumn
	at := map[string]int{}
	for _, r := range run.Ranks {
		k := names.of(r)
		for _, c := range r.Columns {
			if c == nil || o.Column != nil && !o.Column(c) || o.Rank != nil && !o.Rank(r) {
				continue
			}
			s := k.get(names, c)
			count := c.Count
			if !s.elements {
				count = 1
			}
			kind, unsigned := c.ValueKind(o.As)
			for e := range count {
				name := s.variable
				if s.object != "" {
					name += "@" + s.object
				}
				if s.elements {
					name += "[" + strconv.Itoa(elementLabel(&recording.Cell{Column: c, Element: e})) + "]"
				}
				i, ok := at[name]
				if !ok {
					i = len(all)
					at[name] = i
					all = append(all, WideColumn{name, kind, unsigned, s.unit})
				} else {
					all[i].join(kind, unsigned, s.unit)
				}
				s.wide = append(s.wide, i)
			}
		}
	}
	return slices.Clip(all)
}

// join merges another rank's column with the same name.
func (c *WideColumn) join(kind recording.Kind, unsigned bool, unit string) {
	if c.Kind != kind || c.Unsigned != unsigned {
		c.Kind, c.Unsigned = recording.Text, false
	}
	if c.Unit != unit {
		c.Unit = ""
	}
}

// wideRow is one instant of one rank, for all column sets sampled then.
type wideRow struct {
	time   time.Duration
	rank   *recording.Rank
	cells  []wideCell
	text   []byte
	filled bool
}

type wideCell struct {
	from, to int // in text; equal: no value
	status   recording.Status
	here     bool
}

// wideFormat is a format of wide rows.
type wideFormat interface {
	begin(out *export.LineWriter, run *recording.Run, columns []WideColumn) error
	value(b []byte, v *recording.Value) []byte
	row(out *export.LineWriter, r *wideRow) error
	end(out *export.LineWriter) error
}

// WideRow is one row of a table with a row for each instant. It is valid until the next one is yielded.
type WideRow struct {
	Time  time.Duration // since the job's start
	Rank  *recording.Rank
	Cells []WideCell // one for each column
}

// WideCell is one value of a WideRow.
type WideCell struct {
	Value  recording.Value
	Status recording.Status
	Here   bool // whether it was sampled
}

// WideRows passes the columns to begin and then yields one row for each rank and instant, in time order.
func WideRows(run *recording.Run, o recording.Options, begin func([]WideColumn) error, yield func(*WideRow) error) error {
	return wideSamples(&export.LineWriter{W: io.Discard}, run, SampleOptions{Options: o}, &wideYield{begun: begin, yield: yield})
}

// wideYield keeps the values of a row, whose texts are valid for one instant only.
type wideYield struct {
	begun func([]WideColumn) error
	yield func(*WideRow) error
	kept  []recording.Value
	out   WideRow
}

func (f *wideYield) begin(_ *export.LineWriter, _ *recording.Run, columns []WideColumn) error {
	f.out.Cells = make([]WideCell, len(columns))
	return f.begun(columns)
}

// value appends one byte for each value in kept.
func (f *wideYield) value(b []byte, v *recording.Value) []byte {
	f.kept = append(f.kept, v.Clone())
	return append(b, 0)
}

func (f *wideYield) row(_ *export.LineWriter, r *wideRow) error {
	f.out.Time, f.out.Rank = r.time, r.rank
	for i := range r.cells {
		c := &r.cells[i]
		f.out.Cells[i] = WideCell{Status: c.status, Here: c.here}
		if c.here {
			f.out.Cells[i].Value = f.kept[c.from]
		}
	}
	err := f.yield(&f.out)
	clear(f.kept)
	f.kept = f.kept[:0]
	return err
}

func (f *wideYield) end(*export.LineWriter) error { return nil }

func wideSamples(out *export.LineWriter, run *recording.Run, o SampleOptions, f wideFormat) error {
	names := newSampleNames(run, o.As)
	columns := wideColumns(run, names, &o)
	if err := f.begin(out, run, columns); err != nil {
		return err
	}
	r := wideRow{cells: make([]wideCell, len(columns))}
	var err error
	for in := range run.Instants(o.Options) {
		if r.filled && (in.Time != r.time || in.Rank != r.rank) {
			if err = r.write(out, f); err != nil {
				return err
			}
		}
		r.time, r.rank, r.filled = in.Time, in.Rank, true
		k := names.of(in.Rank)
		for i := range in.Cells {
			cell := &in.Cells[i]
			c := k.get(names, cell.Column)
			if cell.Element >= len(c.wide) {
				continue
			}
			from := len(r.text)
			r.text = f.value(r.text, &cell.Value)
			r.cells[c.wide[cell.Element]] = wideCell{from, len(r.text), cell.Status, true}
		}
	}
	if r.filled {
		if err = r.write(out, f); err != nil {
			return err
		}
	}
	return f.end(out)
}

func (r *wideRow) write(out *export.LineWriter, f wideFormat) error {
	err := f.row(out, r)
	clear(r.cells)
	r.text, r.filled = r.text[:0], false
	if err != nil {
		return err
	}
	return out.Flush(sampleBuffer)
}
