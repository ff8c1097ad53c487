package parquet

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export"
	"mpitx/recording"
)

// Report writes a table of a report. Its columns are those of CSV: int64, uint64, double or text, null if empty.
func Report(w io.Writer, run *recording.Run, table *export.Rows) error {
	g := ordered{parquetgo.Group{}, nil}
	for i, c := range table.Columns {
		g.Group[c.Name] = parquetgo.Optional(columnType(table.Rows, i))
		g.names = append(g.names, c.Name)
	}
	to := &output{Writer: w}
	out := parquetgo.NewGenericWriter[any](to, append(settings(run), parquetgo.KeyValueMetadata("mpitx.schema", table.Schema), parquetgo.KeyValueMetadata("mpitx.version", "1"),
		parquetgo.NewSchema(strings.TrimPrefix(table.Schema, "mpitx."), g))...)
	for _, cells := range table.Rows {
		row := make(parquetgo.Row, len(cells))
		for i, cell := range cells {
			v, err := cellValue(cell)
			if err != nil {
				return err
			}
			level := 1
			if v.IsNull() {
				level = 0
			}
			row[i] = v.Level(0, level, i)
		}
		if _, err := out.WriteRows([]parquetgo.Row{row}); err != nil {
			return cmp.Or(to.err, err)
		}
	}
	err := out.Close()
	return cmp.Or(to.err, err)
}

// columnType is the type of a column's first cell that has a value.
func columnType(rows [][]any, i int) parquetgo.Node {
	for _, row := range rows {
		switch row[i].(type) {
		case nil:
			continue
		case string:
			return parquetgo.Encoded(parquetgo.String(), &parquetgo.RLEDictionary)
		case uint64:
			return parquetgo.Uint(64)
		case float64:
			return parquetgo.Leaf(parquetgo.DoubleType)
		}
		return parquetgo.Int(64)
	}
	return parquetgo.String()
}

func cellValue(cell any) (parquetgo.Value, error) {
	switch x := cell.(type) {
	case nil:
		return parquetgo.NullValue(), nil
	case string:
		return parquetgo.ByteArrayValue([]byte(strings.ToValidUTF8(x, "\uFFFD"))), nil
	case uint64:
		return parquetgo.Int64Value(int64(x)), nil
	case int64:
		return parquetgo.Int64Value(x), nil
	case int:
		return parquetgo.Int64Value(int64(x)), nil
	case float64:
		return parquetgo.DoubleValue(x), nil
	}
	return parquetgo.Value{}, fmt.Errorf("a cell is a %T", cell)
}
