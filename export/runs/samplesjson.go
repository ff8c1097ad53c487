package runs

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"mpitx/export"
	"mpitx/recording"
)

func jsonSamples(out *export.LineWriter, run *recording.Run, f export.Format, o SampleOptions) error {
	document := f == export.FormatJSON
	if o.Wide {
		return wideSamples(out, run, o, &jsonWide{document: document, start: startMember(run, o, document)})
	}
	start := startMember(run, o, document)
	if document {
		if err := jsonSampleHead(out, run, nil); err != nil {
			return err
		}
	}
	first := true
	err := SampleRows(run, o.Options, func(row *SampleRow) (err error) {
		c := row.column
		if c.prefix == nil {
			if c.prefix, err = jsonPrefix(row); err != nil {
				return err
			}
		}
		b := out.Buf
		if document {
			b = separate(b, &first)
		}
		b = appendSeconds(append(b, `{"time":`...), row.Time)
		b = append(b, c.prefix...)
		if row.HasElement {
			b = strconv.AppendInt(append(b, `,"element":`...), int64(row.Element), 10)
		}
		b = appendJSONValue(append(b, `,"value":`...), &row.Value)
		b = append(append(append(b, `,"status":"`...), row.Status.String()...), '"')
		b = append(append(b, start...), '}')
		if !document {
			b = append(b, '\n')
		}
		out.Buf = b
		return out.Flush(sampleBuffer)
	})
	if err == nil && document {
		out.Buf = append(out.Buf, "\n  ]\n}\n"...)
	}
	return err
}

// startMember is the member "start" of each row; "" if rows do not have it.
func startMember(run *recording.Run, o SampleOptions, document bool) string {
	start := startText(run, o.Start)
	if start == "" || document {
		return ""
	}
	return `,"start":"` + start + `"`
}

// separate starts an element of the document's list.
func separate(b []byte, first *bool) []byte {
	if !*first {
		b = append(b, ',')
	}
	*first = false
	return append(b, "\n    "...)
}

// jsonPrefix returns the members of a column's rows between the time and the element.
func jsonPrefix(row *SampleRow) ([]byte, error) {
	b := strconv.AppendInt([]byte(`,"rank":`), int64(row.Rank), 10)
	for _, m := range []struct{ name, text string }{{"host", row.Host}, {"variable", row.Variable}, {"object", row.Object}, {"unit", row.Unit}} {
		if (m.name == "object" || m.name == "unit") && m.text == "" {
			continue
		}
		var err error
		b = append(append(append(b, `,"`...), m.name...), `":`...)
		if b, err = export.AppendJSON(b, m.text); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendJSONValue appends a value: integers exactly; enumeration items, NaN and infinities as strings; None as null.
func appendJSONValue(b []byte, v *recording.Value) []byte {
	switch x := v.Float64(); {
	case v.Kind == recording.None:
		return append(b, "null"...)
	case foreignValue(v):
		b, _ = export.AppendJSON(b, v.String())
		return b
	case v.Kind == recording.Integer, v.Kind == recording.Bool:
		return v.AppendText(b)
	case math.IsNaN(x) || math.IsInf(x, 0):
		return append(v.AppendText(append(b, '"')), '"')
	}
	return v.AppendText(b)
}

// jsonSampleHead writes the document's members before the samples: the run, its ranks with their losses, and units unless they are in
// the samples.
func jsonSampleHead(out *export.LineWriter, run *recording.Run, units []byte) error {
	b := append(out.Buf, "{\n  \"schema\": \""+SamplesSchema+"\",\n  \"version\": "+strconv.Itoa(SamplesVersion)+",\n  \"run\": \""...)
	b = hex.AppendEncode(b, run.ID[:])
	b = append(b, "\",\n  \"start\": \""...)
	b = run.Start.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, "\",\n  \"clock_error\": "...)
	b = appendSeconds(b, run.ClockError)
	b = append(b, ",\n  \"ranks\": ["...)
	first := true
	var err error
	for _, r := range run.Ranks {
		names := []string{"rank", "host", "pid", "library", "state", "interval", "samples", "lost"}
		values := []any{r.Rank, r.Host, r.PID, r.Library, r.State.String(), r.Interval.Seconds(), r.Counters.Samples, r.Counters.Lost()}
		if why := r.Incomplete(); why != "" {
			names, values = append(names, "incomplete"), append(values, why)
		}
		if b, err = export.AppendObject(separate(b, &first), names, func(i int) any { return values[i] }); err != nil {
			return err
		}
	}
	b = append(b, "\n  ],"...)
	if units != nil {
		b = append(append(append(b, "\n  \"units\": {"...), units...), "},"...)
	}
	out.Buf = append(b, "\n  \"samples\": ["...)
	return nil
}

// jsonWide writes wide rows as objects with the columns' names as keys. Values are null if there is none and omitted if the rank has
// no such column. Statuses other than ok are listed.
type jsonWide struct {
	document bool
	start    string // a member
	first    bool
	keys     [][]byte
}

func (f *jsonWide) begin(out *export.LineWriter, run *recording.Run, columns []WideColumn) error {
	f.first = true
	units := []byte{}
	for _, c := range columns {
		k, err := export.AppendJSON(nil, c.Name)
		if err != nil {
			return err
		}
		if k[0] == '{' { // not UTF-8, but a key must be a string
			k = append(append([]byte{'"'}, hex.EncodeToString([]byte(c.Name))...), '"')
		}
		f.keys = append(f.keys, k)
		if c.Unit == "" {
			continue
		}
		if len(units) > 0 {
			units = append(units, ',')
		}
		if units, err = export.AppendJSON(append(append(units, k...), ':'), c.Unit); err != nil {
			return err
		}
	}
	if f.document {
		return jsonSampleHead(out, run, units)
	}
	return nil
}

func (f *jsonWide) value(b []byte, v *recording.Value) []byte { return appendJSONValue(b, v) }

func (f *jsonWide) row(out *export.LineWriter, r *wideRow) error {
	b := out.Buf
	if f.document {
		b = separate(b, &f.first)
	}
	b = appendSeconds(append(b, `{"time":`...), r.time)
	b = strconv.AppendInt(append(b, `,"rank":`...), int64(r.rank.Rank), 10)
	b, err := export.AppendJSON(append(b, `,"host":`...), r.rank.Host)
	if err != nil {
		return err
	}
	b = append(b, `,"values":{`...)
	b = f.members(b, r, func(b []byte, c *wideCell) []byte {
		if !c.here {
			return nil
		}
		return append(b, r.text[c.from:c.to]...)
	})
	b = append(b, `},"status":{`...)
	b = f.members(b, r, func(b []byte, c *wideCell) []byte {
		if c.status == recording.OK {
			return nil
		}
		return append(append(append(b, '"'), c.status.String()...), '"')
	})
	b = append(append(append(b, '}'), f.start...), '}')
	if !f.document {
		b = append(b, '\n')
	}
	out.Buf = b
	return nil
}

// members appends a member for each cell for which value does not return nil.
func (f *jsonWide) members(b []byte, r *wideRow, value func([]byte, *wideCell) []byte) []byte {
	any := false
	for i := range r.cells {
		from := len(b)
		if any {
			b = append(b, ',')
		}
		with := value(append(append(b, f.keys[i]...), ':'), &r.cells[i])
		if with == nil {
			b = b[:from]
			continue
		}
		b, any = with, true
	}
	return b
}

func (f *jsonWide) end(out *export.LineWriter) error {
	if f.document {
		out.Buf = append(out.Buf, "\n  ]\n}\n"...)
	}
	return nil
}
