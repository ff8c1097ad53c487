package runs

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording"
)

const csvSampleHead = "time,rank,host,variable,object,element,value,status,unit"

func csvSamples(out *export.LineWriter, run *recording.Run, o SampleOptions) error {
	out.Buf = append(out.Buf, csvSampleHead...)
	end := "\n"
	if start := startText(run, o.Start); start != "" {
		out.Buf = append(out.Buf, ",start"...)
		end = "," + start + end
	}
	out.Buf = append(out.Buf, '\n')
	t := o.Terminal
	at := time.Duration(-1 << 63)
	var clock []byte
	err := SampleRows(run, o.Options, func(row *SampleRow) error {
		c := row.column
		if c.prefix == nil {
			c.prefix = csvPrefix(row, t)
		}
		if row.Time != at {
			clock, at = appendSeconds(clock[:0], row.Time), row.Time
		}
		b := append(append(out.Buf, clock...), c.prefix...)
		if row.HasElement {
			b = strconv.AppendInt(b, int64(row.Element), 10)
		}
		b = appendCSVValue(append(b, ','), &row.Value, t)
		if row.Status == recording.OK {
			b = append(b, ",ok,"...)
		} else {
			b = append(append(append(b, ','), row.Status.String()...), ',')
		}
		b = append(appendCSV(b, row.Unit, t), end...)
		if out.Buf = b; len(b) > sampleBuffer {
			return out.Flush(sampleBuffer)
		}
		return nil
	})
	return err
}

// csvPrefix returns the fields of a column's rows between the time and the element.
func csvPrefix(row *SampleRow, t export.Terminal) []byte {
	b := append([]byte{','}, strconv.Itoa(row.Rank)...)
	for _, s := range []string{row.Host, row.Variable, row.Object} {
		b = appendCSV(append(b, ','), s, t)
	}
	return append(b, ',')
}

func appendCSVValue(b []byte, v *recording.Value, t export.Terminal) []byte {
	if !foreignValue(v) {
		return v.AppendText(b)
	}
	return appendCSV(b, v.String(), t)
}

// appendCSV appends a field with the quoting of encoding/csv.
func appendCSV(b []byte, s string, t export.Terminal) []byte {
	s = t.CSV(s)
	if s == "" || !strings.ContainsAny(s, "\",\r\n") && s[0] != ' ' && s[0] != '\t' && s != `\.` {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

// csvWide writes wide rows as CSV. Cells without a value are empty, and the last column lists statuses other than ok.
type csvWide struct {
	terminal export.Terminal
	start    string
	columns  []WideColumn
	cell     []byte
}

func (f *csvWide) begin(out *export.LineWriter, _ *recording.Run, columns []WideColumn) error {
	f.columns = columns
	b := append(out.Buf, "time,rank,host"...)
	for _, c := range columns {
		name := c.Name
		if c.Unit != "" {
			name += " (" + c.Unit + ")"
		}
		b = appendCSV(append(b, ','), name, f.terminal)
	}
	b = append(b, ",status"...)
	if f.start != "" {
		b = append(b, ",start"...)
	}
	out.Buf = append(b, '\n')
	return nil
}

func (f *csvWide) value(b []byte, v *recording.Value) []byte { return appendCSVValue(b, v, f.terminal) }

func (f *csvWide) row(out *export.LineWriter, r *wideRow) error {
	b := appendSeconds(out.Buf, r.time)
	b = strconv.AppendInt(append(b, ','), int64(r.rank.Rank), 10)
	b = appendCSV(append(b, ','), r.rank.Host, f.terminal)
	f.cell = f.cell[:0]
	for i := range r.cells {
		c := &r.cells[i]
		b = append(append(b, ','), r.text[c.from:c.to]...)
		if c.status != recording.OK {
			f.cell = append(append(append(append(f.cell, f.columns[i].Name...), '='), c.status.String()...), ' ')
		}
	}
	b = append(b, ',')
	if len(f.cell) == 0 {
		b = append(b, "ok"...)
	} else {
		b = appendCSV(b, string(bytes.TrimSuffix(f.cell, []byte{' '})), f.terminal)
	}
	if f.start != "" {
		b = append(append(b, ','), f.start...)
	}
	out.Buf = append(b, '\n')
	return nil
}

func (f *csvWide) end(*export.LineWriter) error { return nil }
