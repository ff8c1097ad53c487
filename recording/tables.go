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
	Threads []int // the operating system's IDs of the threads that wrote it, ascending
	Torn    bool  // read while it was being changed: some values may lack the last change

	run    *Run
	bytes  []byte
	values []Value // of all fields' elements; nil: they are read from bytes when needed, as they take ten times the space
}

// Value returns one element of a field.
func (r *Row) Value(f *Field, i int) Value {
	if r.values != nil {
		return r.values[f.First+i]
	}
	return r.Table.value(r.run, r.bytes, f, i)
}

// FieldValues returns the values of one field.
func (r *Row) FieldValues(f *Field) []Value { return r.Values()[f.First : f.First+f.Count] }

// Values returns the values of all fields' elements.
func (r *Row) Values() []Value {
	if r.values == nil {
		r.values = r.Table.read(r.run, r.bytes, make([]Value, 0, r.Table.elements()))
	}
	return r.values
}

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
	b = slices.Clone(b) // rows keep it
	again := make([]byte, t.bytes)
	var key []byte
	for at := tableHead; at+size <= len(b); at += size {
		bytes := b[at : at+t.bytes]
		if le.Uint32(bytes) == 0 {
			continue
		}
		torn := rereadRow(c, bytes, again, uint32(at))
		key = t.key(key[:0], bytes)
		if byThread {
			key = append(key, bytes[4:8]...)
		}
		rows.add(t, &Row{Table: t, Threads: []int{int(le.Uint32(bytes[4:]))}, Torn: torn, run: run, bytes: bytes}, key)
	}
	return nil
}

func (r *tableRows) add(t *Table, row *Row, key []byte) {
	if same := r.byKey[string(key)]; same != nil {
		t.merge(same, row)
		return
	}
	if r.byKey == nil {
		r.byKey = map[string]*Row{}
	}
	r.all, r.byKey[string(key)] = append(r.all, row), row
}

// rereadRow reads a row until it is consistent: its number changes with every change, and is odd during one.
func rereadRow(c *store.Cursor, row, again []byte, at uint32) (torn bool) {
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

// key appends the bytes of a row's key fields without padding.
func (t *Table) key(key, row []byte) []byte {
	for _, f := range t.Keys() {
		key = append(key, row[f.at:f.at+f.Count*f.element.size]...)
	}
	return key
}

// merge adds a row to another one with the same key.
func (t *Table) merge(to, from *Row) {
	into, values := to.Values(), from.Values()
	for _, f := range t.Fields[t.keys:] {
		for i := f.First; i < f.First+f.Count; i++ {
			switch v := values[i]; {
			case f.Merge == MergeSum && f.Meaning != MeansText:
				into[i] = into[i].plus(v)
			case f.Merge == MergeMin && v.Compare(into[i]) < 0, f.Merge == MergeMax && v.Compare(into[i]) > 0:
				into[i] = v
			}
		}
	}
	to.Torn = to.Torn || from.Torn
	if i, found := slices.BinarySearch(to.Threads, from.Threads[0]); !found {
		to.Threads = slices.Insert(to.Threads, i, from.Threads[0])
	}
}
