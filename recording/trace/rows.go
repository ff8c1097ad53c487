package trace

import "mpitx/recording"

// rowOf reads the fields of a table's row by name. A field that the table lacks is 0 or "".
type rowOf struct{ *recording.Row }

func (r rowOf) value(name string) recording.Value {
	for i := range r.Table.Fields {
		if f := &r.Table.Fields[i]; f.Name == name && f.Count == 1 {
			return r.Value(f, 0)
		}
	}
	return recording.Value{}
}

func (r rowOf) number(name string) uint64 { n, _ := r.value(name).Uint64(); return n }
func (r rowOf) signed(name string) int64  { n, _ := r.value(name).Int64(); return n }

func (r rowOf) text(name string) string {
	if v := r.value(name); v.Kind != recording.None {
		return v.String()
	}
	return ""
}

// rows yields the rows of the tables with a name.
func rows(run *recording.Run, table string, rank func(*recording.Rank) bool) func(yield func(rowOf) bool) {
	return func(yield func(rowOf) bool) {
		o := recording.Options{Table: func(t *recording.Table) bool { return t.Name == table }, Rank: func(r *recording.Rank) bool {
			return (rank == nil || rank(r)) && hasTable(r, table)
		}}
		for row := range run.Rows(o) {
			if !yield(rowOf{row}) {
				return
			}
		}
	}
}

func hasTable(r *recording.Rank, name string) bool {
	for _, t := range r.Tables {
		if t != nil && t.Name == name {
			return true
		}
	}
	return false
}
