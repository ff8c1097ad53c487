package runs

import (
	"io"
	"strconv"
	"time"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
)

// SamplesSchema and SamplesVersion identify the samples that are written as JSON or Parquet.
const (
	SamplesSchema  = "mpitx.samples"
	SamplesVersion = 1
)

// SampleFormats are the formats of Samples. For Parquet, see package export/parquet.
var SampleFormats = []export.Format{export.FormatCSV, export.FormatJSON, export.FormatNDJSON}

// SampleOptions choose the part of a run to write, and its form.
type SampleOptions struct {
	recording.Options
	Wide     bool            // one row for each instant, one column for each element
	Start    bool            // CSV, NDJSON: each row has the wall clock of time 0, which JSON and Parquet have once
	Terminal export.Terminal // CSV: escapes foreign text for a terminal
}

// Samples writes the samples of a run in time order, in bounded memory. Damaged parts are skipped; run.Damage lists them afterwards.
func Samples(w io.Writer, run *recording.Run, f export.Format, o SampleOptions) error {
	out := &export.LineWriter{W: w}
	var err error
	switch {
	case f == export.FormatCSV && o.Wide:
		err = wideSamples(out, run, o, &csvWide{terminal: o.Terminal, start: startText(run, o.Start)})
	case f == export.FormatCSV:
		err = csvSamples(out, run, o)
	case f == export.FormatJSON || f == export.FormatNDJSON:
		err = jsonSamples(out, run, f, o)
	default:
		_, err = export.ParseFormat(string(f) + " for samples")
	}
	if err != nil {
		return err
	}
	return out.Flush(0)
}

// SampleRow is one element of one variable of one rank at one time. It is valid until the next one is yielded.
type SampleRow struct {
	Time       time.Duration // since the job's start
	Rank       int
	Host       string
	Variable   string // with ":class" if two classes share the name
	Object     string // "" for none
	Element    int    // the rank that the element stands for, or else its index
	HasElement bool
	Value      recording.Value
	Status     recording.Status
	Unit       string // of the value: see recording.Column.UnitAs

	column *sampleColumn
}

// SampleRows yields the rows of a run in time order until yield fails.
func SampleRows(run *recording.Run, o recording.Options, yield func(*SampleRow) error) error {
	return SampleRowsOf(run, o.As)(o, yield)
}

// SampleRowsOf is [SampleRows] for parts of a run: names are those of the whole run.
func SampleRowsOf(run *recording.Run, as recording.Transform) func(o recording.Options, yield func(*SampleRow) error) error {
	names := newSampleNames(run, as)
	return func(o recording.Options, yield func(*SampleRow) error) error { return names.rows(run, o, yield) }
}

func (names *sampleNames) rows(run *recording.Run, o recording.Options, yield func(*SampleRow) error) error {
	var row SampleRow
	var err error
	for in := range run.Instants(o) {
		columns := names.of(in.Rank)
		row.Time, row.Rank, row.Host = in.Time, in.Rank.Rank, in.Rank.Host
		for i := range in.Cells {
			cell := &in.Cells[i]
			c := columns.get(names, cell.Column)
			row.column, row.Variable, row.Object, row.Unit = c, c.variable, c.object, c.unit
			row.Element, row.HasElement = 0, c.elements
			if c.elements {
				row.Element = elementLabel(cell)
			}
			row.Value, row.Status = cell.Value, cell.Status
			if err = yield(&row); err != nil {
				return err
			}
		}
	}
	return err
}

func elementLabel(cell *recording.Cell) int {
	if peer, ok := cell.Column.Peer(cell.Element); ok {
		return peer
	}
	return cell.Column.First + cell.Element
}

// sampleColumn is a column's name in the output.
type sampleColumn struct {
	column           *recording.Column
	variable, object string
	unit             string
	elements         bool   // it is an array
	prefix           []byte // the bytes common to all its rows, in the output format
	wide             []int  // wide: the columns of its elements
}

// sampleNames makes names unique: variables within the run, objects within their rank.
type sampleNames struct {
	classes map[string]catalog.Class // 0: several
	ranks   map[*recording.Rank]*rankNames
	last    *rankNames
	as      recording.Transform
}

type rankNames struct {
	rank    *recording.Rank
	columns []*sampleColumn
	objects map[objectName]uint64 // 0: several
}

type objectName struct {
	bind catalog.Bind
	name string
}

func newSampleNames(run *recording.Run, as recording.Transform) *sampleNames {
	n := &sampleNames{as: as, classes: map[string]catalog.Class{}, ranks: map[*recording.Rank]*rankNames{}}
	for _, r := range run.Ranks {
		for _, c := range r.Columns {
			if c == nil {
				continue
			}
			if class, ok := n.classes[c.Variable]; ok && class != c.Class {
				n.classes[c.Variable] = 0
			} else {
				n.classes[c.Variable] = c.Class
			}
		}
	}
	return n
}

func (n *sampleNames) of(r *recording.Rank) *rankNames {
	if n.last != nil && n.last.rank == r {
		return n.last
	}
	k := n.ranks[r]
	if k == nil {
		k = &rankNames{rank: r, objects: map[objectName]uint64{}}
		for _, c := range r.Columns {
			if c == nil || c.Object == 0 {
				continue
			}
			key := objectName{c.Bind, c.ObjectName}
			if id, ok := k.objects[key]; ok && id != c.Object {
				k.objects[key] = 0
			} else {
				k.objects[key] = c.Object
			}
		}
		n.ranks[r] = k
	}
	n.last = k
	return k
}

func (k *rankNames) get(n *sampleNames, c *recording.Column) *sampleColumn {
	if c.ID < len(k.columns) && k.columns[c.ID] != nil {
		return k.columns[c.ID]
	}
	s := &sampleColumn{column: c, variable: c.Variable, object: c.ObjectName, unit: c.UnitAs(n.as)}
	s.elements = (c.Count > 1 || c.First > 0 || c.Labels == recording.LabelWorldList) && c.Type.Form() != catalog.FormText
	if n.classes[c.Variable] == 0 {
		s.variable += ":" + c.Class.String()
	}
	if c.Object != 0 && (c.ObjectName == "" || k.objects[objectName{c.Bind, c.ObjectName}] == 0) {
		if s.object == "" {
			s.object = c.Bind.String()
		}
		s.object += "#" + strconv.FormatUint(c.Object, 10)
	}
	if more := c.ID + 1 - len(k.columns); more > 0 {
		k.columns = append(k.columns, make([]*sampleColumn, more)...)
	}
	k.columns[c.ID] = s
	return s
}

// startText is the wall clock of time 0, in UTC; "" if rows do not have it.
func startText(run *recording.Run, wanted bool) string {
	if !wanted {
		return ""
	}
	return run.Start.UTC().Format(time.RFC3339Nano)
}

// appendSeconds appends a time in seconds, exactly.
func appendSeconds(b []byte, d time.Duration) []byte {
	if d < 0 {
		b, d = append(b, '-'), -d
	}
	b = strconv.AppendInt(b, int64(d/time.Second), 10)
	ns := uint32(d % time.Second)
	var digits [10]byte
	digits[0] = '.'
	for i := 9; i > 0; i-- {
		digits[i] = byte('0' + ns%10)
		ns /= 10
	}
	return append(b, digits[:]...)
}

// foreignValue reports whether a value's text comes from the library and may need escaping.
func foreignValue(v *recording.Value) bool {
	if v.Kind == recording.Text {
		return true
	}
	_, ok := v.Item()
	return ok
}

// sampleBuffer is the number of bytes per write.
const sampleBuffer = 1 << 18
