package recordingtest

// Source is a row of the table of event sources of MPI_T.
type Source struct {
	Index                uint32
	Name                 string
	PerSecond, MostTicks int64
	First, Last          int64 // its time; negative: unknown
	FirstTime, LastTime  uint64
	Backwards, Dropped   uint64
}

// EventType is a row of the table of event types of MPI_T.
type EventType struct {
	Name                                       string
	Received, Recorded, Refused, Dropped, Late uint64
	Reason                                     string // why it is only counted
}

// The numbers of the tables, after those of a profile and of Asked.
const (
	tableSources = 21 + iota
	tableEvents
	tablePeruse
)

func u64Fields(names ...string) (list []Field) {
	for _, name := range names {
		list = append(list, Field{Name: name, Type: 4})
	}
	return list
}

// Sources writes the table of event sources.
func (t *Trace) Sources(sources ...Source) {
	const bytes = 128
	fields := []Field{{Name: "source", Type: 3}, {Name: "name", Type: 3, Meaning: 1}, {Name: "order", Type: 3}}
	for _, name := range []string{"ticks_per_second", "max_ticks", "first", "last"} {
		fields = append(fields, Field{Name: name, Type: 8})
	}
	fields = append(fields, Field{Name: "first_time", Type: 4, Meaning: 3}, Field{Name: "last_time", Type: 4, Meaning: 3})
	t.Stream.Table(tableSources, "mpi_t sources", 2, 8+16+8*8, append(fields, u64Fields("backwards", "dropped")...)...)
	var rows [][]byte
	for _, s := range sources {
		b := rowHead(0)
		for _, v := range []uint32{s.Index, t.Text(s.Name), 1, 0} {
			b = le.AppendUint32(b, v)
		}
		for _, v := range []uint64{uint64(s.PerSecond), uint64(s.MostTicks), uint64(s.First), uint64(s.Last), s.FirstTime, s.LastTime, s.Backwards, s.Dropped} {
			b = le.AppendUint64(b, v)
		}
		rows = append(rows, b)
	}
	t.Stream.Rows(tableSources, bytes, rows...)
}

// EventTypes writes the table of event types of MPI_T.
func (t *Trace) EventTypes(types ...EventType) {
	const bytes = 128
	fields := []Field{{Name: "name", Type: 3, Meaning: 1}, {Name: "description", Type: 3, Meaning: 1}, {Name: "bind", Type: 3}, {Name: "safety", Type: 3}}
	fields = append(fields, u64Fields("received", "recorded", "refused", "dropped", "late")...)
	t.Stream.Table(tableEvents, "mpi_t events", 2, 8+16+5*8+8, append(fields, Field{Name: "reason", Type: 3, Meaning: 1})...)
	var rows [][]byte
	for _, e := range types {
		b := rowHead(0)
		for _, v := range []uint32{t.Text(e.Name), t.Text(""), 1, 1} {
			b = le.AppendUint32(b, v)
		}
		for _, v := range []uint64{e.Received, e.Recorded, e.Refused, e.Dropped, e.Late} {
			b = le.AppendUint64(b, v)
		}
		rows = append(rows, le.AppendUint32(b, t.Text(e.Reason)))
	}
	t.Stream.Rows(tableEvents, bytes, rows...)
}

// PeruseType writes the table of events of PERUSE with one row.
func (t *Trace) PeruseType(name string, received, recorded, refused uint64) {
	const bytes = 64
	t.Stream.Table(tablePeruse, "peruse events", 1, 8+8+3*8, append([]Field{{Name: "name", Type: 3, Meaning: 1}}, u64Fields("received", "recorded", "refused")...)...)
	b := le.AppendUint32(le.AppendUint32(rowHead(0), t.Text(name)), 0)
	for _, v := range []uint64{received, recorded, refused} {
		b = le.AppendUint64(b, v)
	}
	t.Stream.Rows(tablePeruse, bytes, b)
}
