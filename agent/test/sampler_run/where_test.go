package samplerrun

import (
	"testing"
)

// The row of a thread shows its last call, counts calls and those that did something, and survives what programs do: nested calls, calls left
// by longjmp, forked children, many threads one after another.
func TestStates(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		program := m.compile(t, "states.c", "-lpthread")
		for _, how := range []string{"", "threads", "die"} {
			j := job{n: 2, config: []string{"where=on"}, program: []string{program}}
			last, calls, died := "MPI_Finalize", int64(21), how == "die"
			if how != "" {
				j.program = append(j.program, how)
			}
			if died {
				last, calls, j.n = "MPI_Send", 20, 1 // the launcher would kill the other rank wherever it is
			}
			r := m.run(t, j)
			for rank := range j.n {
				rows := r.table(t, rank, "where")
				if len(rows) == 0 || len(rows) > 3 {
					t.Fatalf("%s: rank %d: %d rows:\n%s", how, rank, len(rows), r.stderr)
				}
				main := rows[0]
				if main.text("function") != last || main.number("calls") != calls || main.number("progress") != calls-6 {
					t.Errorf("%s: rank %d: %s after %d calls, %d with progress; want %s after %d and %d", how, rank, main.text("function"), main.number("calls"),
						main.number("progress"), last, calls, calls-6)
				}
				if died && (main.number("inside") != 0 || main.number("tag") != 7) {
					t.Errorf("%s: rank %d: inside %d, tag %d", how, rank, main.number("inside"), main.number("tag"))
				}
				collectives := map[string]int64{}
				for _, o := range r.table(t, rank, "objects") {
					collectives[o.text("made_by")+o.text("name")] = o.number("collectives")
				}
				if self, world := collectives["MPI_COMM_SELF"], collectives["MPI_COMM_WORLD"]; self != 1 || world != 1 {
					t.Errorf("%s: rank %d: collectives %v", how, rank, collectives)
				}
				found := false
				for name, n := range collectives {
					found = found || n == 4 && len(name) >= 12 && name[:12] == "MPI_Comm_dup"
				}
				if !found {
					t.Errorf("%s: rank %d: the copy has no 4 collectives: %v", how, rank, collectives)
				}
			}
		}
	})
}
