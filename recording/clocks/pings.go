package clocks

import (
	"mpitx/recording"
)

// tablePings is the table of the messages of --sync (docs/run-format.md).
const tablePings = "clock pings"

// pings gives the messages that the agents have exchanged, each two of a row.
func pings(run *recording.Run, give func(from, to *recording.Rank, sent, received int64)) {
	ranks := map[int64]*recording.Rank{}
	for _, r := range run.Ranks {
		ranks[int64(r.Rank)] = r
	}
	for row := range run.Rows(recording.Options{Table: func(t *recording.Table) bool { return t.Name == tablePings }}) {
		field := map[string]int64{}
		for i := range row.Table.Fields {
			if f := &row.Table.Fields[i]; f.Count == 1 {
				field[f.Name], _ = row.Value(f, 0).Int64()
			}
		}
		peer := ranks[field["peer"]]
		if peer == nil || field["sent"] == 0 || field["back"] == 0 {
			continue
		}
		give(row.Table.Rank, peer, field["sent"], int64(run.TimeAt(peer, uint64(field["received"]))))
		give(peer, row.Table.Rank, int64(run.TimeAt(peer, uint64(field["answered"]))), field["back"])
	}
}
