package recording

import (
	"fmt"
	"slices"

	"mpitx/recording/store"
)

// Table is a table that a process declared. The first fields are the key of a row.
type Table struct{ layout }

// Keys returns the fields that identify a row.
func (t *Table) Keys() []Field { return t.Fields[:t.keys] }

// Row is a row of a table. Rows of several threads with the same key are merged.
type Row struct {
	Table   *Table
	Values  []Value // of all fields' elements
	Threads []int   // the operating system's IDs of the threads that wrote it, ascending
	Torn    bool    // read while it was being changed: some values may lack the last change
}

// FieldValues returns the values of one field.
func (r *Row) FieldValues(f *Field) []Value { return r.Values[f.First : f.First+f.Count] }

const (
	tableHead = 40
	rowHead   = 8
	maxReads  = 100 // of a row that is being changed
)

// Rows yields the current rows of all tables: by rank, by table, and then in the order in which their keys appeared. It keeps
// the rows of one rank in memory. Only the options Rank, Table and ByThread apply.
func (run *Run) Rows(o Options) func(yield func(*Row) bool) {
	return func(yield func(*Row) bool) {
		for _, r := range run.Ranks {
			if o.Rank != nil && !o.Rank(r) {
				continue
			}
			for _, rows := range run.tables(r, o) {
				for _, row := range rows.all {
					if !yield(row) {
						return
					}
				}
			}
		}
	}
}

// tableRows are the rows of a table so far.
type tableRows struct {
	all   []*Row
	byKey map[string]*Row
}

// tables reads the tables of a rank.
func (run *Run) tables(r *Rank, o Options) []tableRows {
	tables := make([]tableRows, len(r.Tables))
	c := run.store.Cursor(r.process, store.Chain{Kind: store.KindTable})
	for c.Next() {
		n := c.Remaining()
		b, err := c.Bytes(n)
		switch {
		case err != nil:
		case n < tableHead:
			err = fmt.Errorf("a table's chunk of %d bytes", n)
		case int64(le.Uint32(b)) >= int64(len(r.Tables)) || r.Tables[le.Uint32(b)] == nil:
			if !r.process.Unfinished() { // else it may still come
				err = fmt.Errorf("the declaration of table %d of rank %d is lost: its rows cannot be read", le.Uint32(b), r.Rank)
			}
		case o.Table == nil || o.Table(r.Tables[le.Uint32(b)]):
			id := le.Uint32(b)
			err = r.Tables[id].rows(run, c, b, &tables[id], o.ByThread)
		}
		if err != nil {
			c.Damaged("%v", err)
		}
		c.Skip(n)
	}
	return tables
}

// rows adds the rows of a chunk.
func (t *Table) rows(run *Run, c *store.Cursor, b []byte, rows *tableRows, byThread bool) error {
	size := int(le.Uint32(b[4:]))
	if size < t.bytes {
		return fmt.Errorf("a row of table %s has %d bytes, not %d", t.Name, size, t.bytes)
	}
	for at := tableHead; at+size <= len(b); at += size {
		bytes := b[at : at+t.bytes]
		if le.Uint32(bytes) == 0 {
			continue
		}
		torn := rereadRow(c, bytes, uint32(at))
		key := t.key(bytes)
		if byThread {
			key += string(bytes[4:8])
		}
		values := make([]Value, 0, t.elements())
		rows.add(t, &Row{t, t.read(run, bytes, values), []int{int(le.Uint32(bytes[4:]))}, torn}, key)
	}
	return nil
}

func (r *tableRows) add(t *Table, row *Row, key string) {
	if same := r.byKey[key]; same != nil {
		t.merge(same, row)
		return
	}
	if r.byKey == nil {
		r.byKey = map[string]*Row{}
	}
	r.all, r.byKey[key] = append(r.all, row), row
}

// rereadRow reads a row until it is consistent: its number changes with every change, and is odd during one.
func rereadRow(c *store.Cursor, row []byte, at uint32) (torn bool) {
	again := make([]byte, len(row))
	for range maxReads {
		if !c.Reread(again, at) { // rows in a file are final
			return le.Uint32(row)&1 != 0
		}
		if string(again[:4]) == string(row[:4]) && le.Uint32(row)&1 == 0 {
			return false
		}
		copy(row, again)
	}
	return true
}

// key returns the bytes of a row's key fields without padding.
func (t *Table) key(row []byte) string {
	var key []byte
	for _, f := range t.Keys() {
		key = append(key, row[f.at:f.at+f.Count*f.element.size]...)
	}
	return string(key)
}

// merge adds a row to another one with the same key.
func (t *Table) merge(to, from *Row) {
	for _, f := range t.Fields[t.keys:] {
		for i := f.First; i < f.First+f.Count; i++ {
			switch v := from.Values[i]; {
			case f.Merge == MergeSum && f.Meaning != MeansText:
				to.Values[i] = to.Values[i].plus(v)
			case f.Merge == MergeMin && v.Compare(to.Values[i]) < 0, f.Merge == MergeMax && v.Compare(to.Values[i]) > 0:
				to.Values[i] = v
			}
		}
	}
	to.Torn = to.Torn || from.Torn
	if i, found := slices.BinarySearch(to.Threads, from.Threads[0]); !found {
		to.Threads = slices.Insert(to.Threads, i, from.Threads[0])
	}
}
