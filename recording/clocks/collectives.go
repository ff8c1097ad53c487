package clocks

import (
	"cmp"
	"slices"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// tableArrivals is the table of collective calls that all ranks of a profile kept (docs/run-format.md).
const tableArrivals = "profile arrivals"

// CorrectByCollectives puts the clocks of a profile without a trace in step: no rank returns from a barrier or a reduction to all before
// all have come to it.
func CorrectByCollectives(run *recording.Run) {
	if run.Clocks != nil || len(run.Nodes) < 2 || run.Running() || trace.Has(run) {
		return
	}
	if all := meetings(run); len(all) > 0 {
		run.SetClocks(fitBy(run, func(again func() func(from, to *recording.Rank, sent, received int64)) {
			give := again()
			for _, m := range all {
				m.give(give)
			}
		}))
	}
}

// meets are the functions that prove something: all ranks wait for all.
var meets = []string{"MPI_Barrier", "MPI_Allreduce", "MPI_Allreduce_c"}

// meeting is a collective call.
type meeting struct {
	size     int
	arrivals []arrival
}

// arrival is a rank at a call.
type arrival struct {
	rank         *recording.Rank
	enter, leave int64
}

// meetings are the calls that all of their ranks kept, by time.
func meetings(run *recording.Run) (list []*meeting) {
	all := map[uint64]*meeting{}
	for row := range run.Rows(recording.Options{Table: func(t *recording.Table) bool { return t.Name == tableArrivals }, ByThread: true}) {
		fields := map[string]*recording.Field{}
		for i := range row.Table.Fields {
			fields[row.Table.Fields[i].Name] = &row.Table.Fields[i]
		}
		value := func(name string, i int) recording.Value {
			if f := fields[name]; f != nil && i < f.Count {
				return row.Value(f, i)
			}
			return recording.Value{}
		}
		if kept, _ := value("kept", 0).Uint64(); !row.Torn && slices.Contains(meets, string(value("function", 0).Bytes())) {
			for i := range min(int(kept), mostKept) {
				number, _ := value("instance", i).Uint64()
				size, _ := value("size", i).Uint64()
				a := arrival{rank: row.Table.Rank}
				a.enter, _ = value("enter", i).Int64()
				a.leave, _ = value("leave", i).Int64()
				if all[number] == nil {
					all[number] = &meeting{size: int(size)}
					list = append(list, all[number])
				}
				all[number].arrivals = append(all[number].arrivals, a)
			}
		}
	}
	list = slices.DeleteFunc(list, func(m *meeting) bool { return len(m.arrivals) != m.size })
	slices.SortStableFunc(list, func(x, y *meeting) int { return cmp.Compare(x.arrivals[0].enter, y.arrivals[0].enter) })
	return list
}

const mostKept = 1 << 10 // calls of a row

// give gives what a call proves of each two nodes, as a message from the last rank of one to the first rank that returned on the other.
func (m *meeting) give(give func(from, to *recording.Rank, sent, received int64)) {
	var nodes []*recording.Node
	last, first := map[*recording.Node]arrival{}, map[*recording.Node]arrival{}
	for _, a := range m.arrivals {
		n := a.rank.Node
		if _, ok := last[n]; !ok {
			nodes = append(nodes, n)
			last[n], first[n] = a, a
		}
		if a.enter > last[n].enter {
			last[n] = a
		}
		if a.leave < first[n].leave {
			first[n] = a
		}
	}
	for _, x := range nodes {
		for _, y := range nodes {
			if x != y {
				give(last[x].rank, first[y].rank, last[x].enter, first[y].leave)
			}
		}
	}
}
