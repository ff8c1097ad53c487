// Package parquet writes samples, traces and tables of reports as Apache Parquet. It is separate from package export because it adds 12 MB
// to a program.
package parquet

import (
	"cmp"
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export/runs"
	"mpitx/recording"
)

// row is the schema. Columns have the names of CSV. Values need three more columns, as no column type holds every value exactly.
type row struct {
	Time     float64  `parquet:"time"`          // seconds since the job's start
	TimeNs   int64    `parquet:"time_ns,delta"` // the same, exact
	Rank     int32    `parquet:"rank,dict"`
	Host     string   `parquet:"host,dict"`
	Variable string   `parquet:"variable,dict"`
	Object   *string  `parquet:"object,optional,dict"`     // null: none
	Element  *int32   `parquet:"element,optional,dict"`    // null: not an array
	Value    *float64 `parquet:"value,optional"`           // null: not a number
	Integer  *int64   `parquet:"value_int,optional"`       // exact, for integers that fit
	Unsigned *uint64  `parquet:"value_uint,optional"`      // exact, for integers that fit only here
	Text     *string  `parquet:"value_text,optional,dict"` // for text and enumeration items
	Status   string   `parquet:"status,dict"`
	Unit     string   `parquet:"unit,dict"` // "": a plain number, or unknown
}

const (
	batch     = 1024
	groupRows = 32 * batch // rows in memory at once
)

// rows is a batch of rows and the values they point to.
type rows struct {
	rows      [batch]row
	objects   [batch]string
	elements  [batch]int32
	values    [batch]float64
	integers  [batch]int64
	unsigneds [batch]uint64
	texts     [batch]string
	n         int
}

// Samples writes the samples of a run in time order, in bounded memory. The file's metadata have the schema's name and version,
// the run, and its start.
func Samples(w io.Writer, run *recording.Run, o recording.Options) error {
	to := &output{Writer: w}
	out := parquetgo.NewGenericWriter[row](to, settings(run)...)
	b := new(rows)
	flush := func() error {
		_, err := out.Write(b.rows[:b.n])
		b.n = 0
		return err
	}
	err := runs.SampleRows(run, o, func(r *runs.SampleRow) error {
		if b.add(r); b.n < batch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = out.Close()
	}
	return cmp.Or(to.err, err)
}

// output remembers why writing failed: the library adds words to the error.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (n int, err error) {
	n, err = o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

func settings(run *recording.Run) []parquetgo.WriterOption {
	return []parquetgo.WriterOption{
		parquetgo.Compression(&parquetgo.Zstd),
		parquetgo.PageBufferSize(64 << 10),
		parquetgo.MaxRowsPerRowGroup(groupRows),
		parquetgo.KeyValueMetadata("mpitx.schema", runs.SamplesSchema),
		parquetgo.KeyValueMetadata("mpitx.version", strconv.Itoa(runs.SamplesVersion)),
		parquetgo.KeyValueMetadata("mpitx.run", hex.EncodeToString(run.ID[:])),
		parquetgo.KeyValueMetadata("mpitx.start", run.Start.UTC().Format(time.RFC3339Nano)),
	}
}

func (b *rows) add(r *runs.SampleRow) {
	i := b.n
	b.n++
	x := &b.rows[i]
	*x = row{Time: r.Time.Seconds(), TimeNs: int64(r.Time), Rank: int32(r.Rank), Host: r.Host, Variable: r.Variable, Status: r.Status.String(), Unit: r.Unit}
	if r.Object != "" {
		b.objects[i] = r.Object
		x.Object = &b.objects[i]
	}
	if r.HasElement {
		b.elements[i] = int32(r.Element)
		x.Element = &b.elements[i]
	}
	if v := r.Value.Float64(); r.Value.Kind != recording.None && r.Value.Kind != recording.Text {
		b.values[i] = v
		x.Value = &b.values[i]
	}
	item, named := r.Value.Item()
	switch {
	case r.Value.Kind == recording.Text:
		b.text(i, r.Value.String())
	case named:
		b.text(i, item)
	}
	if n, ok := r.Value.Int64(); ok {
		b.integers[i] = n
		x.Integer = &b.integers[i]
	} else if u, ok := r.Value.Uint64(); ok && u > math.MaxInt64 {
		b.unsigneds[i] = u
		x.Unsigned = &b.unsigneds[i]
	}
}

func (b *rows) text(i int, s string) {
	b.texts[i] = s
	b.rows[i].Text = &b.texts[i]
}
