package paths

import (
	"slices"

	"mpitx/recording"
)

// Table is the agent's table of what was seen, see docs/run-format.md.
const Table = "paths"

// seen is a row of the table: what was seen in a process, and its numbers.
type seen struct {
	Kind, Name                           string
	Rank                                 int // of the other process in MPI_COMM_WORLD; -1: unknown
	ID, Peer                             uint64
	Count, Bytes, Received, Failed, Code uint64
}

// process is what was seen in one process.
type process struct {
	*recording.Rank
	seen map[string][]seen // by kind
}

// Reader collects the rows of a run's tables.
type Reader struct{ processes []*process }

// Add adds a row of a [Table].
func (r *Reader) Add(row *recording.Row) {
	rank := row.Table.Rank
	if n := len(r.processes); n == 0 || r.processes[n-1].Rank != rank {
		r.processes = append(r.processes, &process{rank, map[string][]seen{}})
	}
	s := seen{Rank: -1}
	numbers := map[string]*uint64{"id": &s.ID, "peer": &s.Peer, "count": &s.Count, "bytes": &s.Bytes, "received": &s.Received, "failed": &s.Failed, "code": &s.Code}
	for i := range row.Table.Fields {
		f := &row.Table.Fields[i]
		v := row.FieldValues(f)
		if len(v) == 0 {
			continue
		}
		switch f.Name {
		case "kind":
			s.Kind = string(v[0].Bytes())
		case "name":
			s.Name = string(v[0].Bytes())
		case "rank":
			n, _ := v[0].Int64()
			s.Rank = int(n)
		default:
			if to := numbers[f.Name]; to != nil {
				*to, _ = v[0].Uint64()
			}
		}
	}
	p := r.processes[len(r.processes)-1]
	p.seen[s.Kind] = append(p.seen[s.Kind], s)
}

// Recorded reports whether any rank of a run has a [Table].
func Recorded(run *recording.Run) bool {
	for _, r := range run.Ranks {
		if slices.ContainsFunc(r.Tables, func(t *recording.Table) bool { return t != nil && t.Name == Table }) {
			return true
		}
	}
	return false
}
