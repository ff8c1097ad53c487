package parquet

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export/runs"
	"mpitx/recording"
)

// fixed are the columns before the variables. The status column follows them and lists statuses other than ok, as in CSV.
var fixed = []string{"time", "time_ns", "rank", "host"}

const status = "status"

// WideSamples writes one row for each rank and instant, in time order, in bounded memory. Its columns are time, time_ns, rank and
// host as in Samples; one column for each element of each variable, null without a value; and status: "ok", or variable=status for
// each variable with another status. Columns are int64, uint64, double or text: integers are exact, enumeration items are text. The
// file's metadata have the units of columns as a JSON object under mpitx.units, as the Parquet library writes no metadata of columns.
func WideSamples(w io.Writer, run *recording.Run, o recording.Options) error {
	to := &output{Writer: w}
	t := &table{run: run, w: to}
	err := runs.WideRows(run, o, t.begin, t.add)
	if err == nil {
		err = t.flush()
	}
	if err == nil {
		err = t.out.Close()
	}
	return cmp.Or(to.err, err)
}

// table is a wide table that is being written.
type table struct {
	run     *recording.Run
	w       io.Writer
	out     *parquetgo.GenericWriter[any]
	columns []runs.WideColumn
	rows    []parquetgo.Row
}

// ordered is a group whose columns keep their order.
type ordered struct {
	parquetgo.Group
	names []string
}

func (o ordered) Fields() []parquetgo.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquetgo.Field) int {
		return slices.Index(o.names, a.Name()) - slices.Index(o.names, b.Name())
	})
	return fields
}

func (t *table) begin(columns []runs.WideColumn) error {
	dictionary := func(n parquetgo.Node) parquetgo.Node { return parquetgo.Encoded(n, &parquetgo.RLEDictionary) }
	g := ordered{parquetgo.Group{
		"time": parquetgo.Leaf(parquetgo.DoubleType), "time_ns": parquetgo.Encoded(parquetgo.Int(64), &parquetgo.DeltaBinaryPacked),
		"rank": dictionary(parquetgo.Int(32)), "host": dictionary(parquetgo.String()), status: dictionary(parquetgo.String()),
	}, slices.Clone(fixed)}
	units := map[string]string{}
	for _, c := range columns {
		var n parquetgo.Node
		switch {
		case c.Kind == recording.Text:
			n = dictionary(parquetgo.String())
		case c.Kind == recording.Float:
			n = parquetgo.Leaf(parquetgo.DoubleType)
		case c.Unsigned:
			n = parquetgo.Uint(64)
		default:
			n = parquetgo.Int(64)
		}
		name := strings.ToValidUTF8(c.Name, "\uFFFD")
		for g.Group[name] != nil { // a variable with the name of a fixed column
			name += "_"
		}
		g.Group[name] = parquetgo.Optional(n)
		g.names = append(g.names, name)
		if c.Unit != "" {
			units[name] = c.Unit
		}
	}
	text, err := json.Marshal(units)
	if err != nil {
		return err
	}
	g.names = append(g.names, status)
	t.columns = columns
	t.out = parquetgo.NewGenericWriter[any](t.w, append(settings(t.run), parquetgo.KeyValueMetadata("mpitx.units", string(text)),
		parquetgo.NewSchema("samples", g), parquetgo.MaxRowsPerRowGroup(int64(1+8*groupRows/(1+len(columns)))))...)
	return nil
}

func (t *table) add(r *runs.WideRow) error {
	row := make(parquetgo.Row, 0, len(fixed)+len(t.columns)+1)
	put := func(v parquetgo.Value, level int) { row = append(row, v.Level(0, level, len(row))) }
	put(parquetgo.DoubleValue(r.Time.Seconds()), 0)
	put(parquetgo.Int64Value(int64(r.Time)), 0)
	put(parquetgo.Int32Value(int32(r.Rank.Rank)), 0)
	put(parquetgo.ByteArrayValue([]byte(r.Rank.Host)), 0)
	var notOK []string
	for i := range r.Cells {
		c, column := &r.Cells[i], &t.columns[i]
		says := c.Status.String()
		v, ok := parquetgo.NullValue(), false
		if c.Here && c.Value.Kind != recording.None {
			if v, ok = value(c.Value, column); !ok {
				says = "too-large"
			}
		}
		if ok {
			put(v, 1)
		} else {
			put(parquetgo.NullValue(), 0)
		}
		if c.Here && says != recording.OK.String() {
			notOK = append(notOK, column.Name+"="+says)
		}
	}
	if notOK == nil {
		notOK = []string{recording.OK.String()}
	}
	put(parquetgo.ByteArrayValue([]byte(strings.Join(notOK, " "))), 0)
	t.rows = append(t.rows, row)
	if len(t.rows) < batch {
		return nil
	}
	return t.flush()
}

// value converts a value to its column's type, and reports whether it fits.
func value(v recording.Value, c *runs.WideColumn) (parquetgo.Value, bool) {
	switch {
	case c.Kind == recording.Text:
		return parquetgo.ByteArrayValue([]byte(v.String())), true
	case c.Kind == recording.Float:
		return parquetgo.DoubleValue(v.Float64()), true
	case c.Unsigned:
		u, ok := v.Uint64()
		return parquetgo.Int64Value(int64(u)), ok // of which Parquet's unsigned ones are a reading
	}
	n, ok := v.Int64()
	return parquetgo.Int64Value(n), ok
}

func (t *table) flush() error {
	_, err := t.out.WriteRows(t.rows)
	t.rows = t.rows[:0]
	return err
}
