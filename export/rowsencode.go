package export

import (
	"encoding/gob"
	"io"
)

// encoded are the parts of Rows that another program needs.
type encoded struct {
	Schema string
	Names  []string
	Rows   [][]any
}

// Encode writes rows for programs so that DecodeRows reads them, with the types of all cells.
func (r *Rows) Encode(w io.Writer) error {
	e := encoded{Schema: r.Schema, Rows: r.Rows}
	for _, c := range r.Columns {
		e.Names = append(e.Names, c.Name)
	}
	return gob.NewEncoder(w).Encode(e)
}

// DecodeRows reads what Encode has written.
func DecodeRows(from io.Reader) (*Rows, error) {
	var e encoded
	if err := gob.NewDecoder(from).Decode(&e); err != nil {
		return nil, err
	}
	r := &Rows{Schema: e.Schema, Rows: e.Rows}
	for _, name := range e.Names {
		r.Columns = append(r.Columns, RowColumn{Name: name})
	}
	return r, nil
}
