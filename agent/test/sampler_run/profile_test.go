package samplerrun

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/recording"
)

// tableRow is a row of a tool's table: values by field.
type tableRow map[string][]recording.Value

func (r tableRow) text(field string) string { return r[field][0].String() }

func (r tableRow) number(field string) int64 {
	n, _ := r[field][0].Int64()
	return n
}

// table returns the rows of a rank's table.
func (r *result) table(t *testing.T, rank int, name string) (rows []tableRow) {
	t.Helper()
	only := func(k *recording.Rank) bool { return k.Rank == rank }
	for row := range r.run.Rows(recording.Options{Rank: only}) {
		if row.Table.Name != name {
			continue
		}
		if row.Torn {
			t.Errorf("rank %d: torn: %+v", rank, row)
		}
		values := tableRow{}
		for i := range row.Table.Fields {
			f := &row.Table.Fields[i]
			values[f.Name] = row.FieldValues(f)
		}
		rows = append(rows, values)
	}
	return rows
}

// sums adds up fields of the rows of a table by the given keys, and formats them: "MPI_Send": "3 30".
func sums(rows []tableRow, keys, fields string) map[string]string {
	totals := map[string][]int64{}
	for _, row := range rows {
		var key []string
		for _, k := range strings.Fields(keys) {
			key = append(key, row.text(k))
		}
		name := strings.Join(key, " ")
		if totals[name] == nil {
			totals[name] = make([]int64, len(strings.Fields(fields)))
		}
		for i, f := range strings.Fields(fields) {
			totals[name][i] += row.number(f)
		}
	}
	texts := map[string]string{}
	for name, numbers := range totals {
		texts[name] = strings.Trim(fmt.Sprint(numbers), "[]")
	}
	return texts
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: %q: %q, want %q", what, key, got[key], want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: also %q: %q", what, key, got[key])
		}
	}
}

// knownCalls are the calls of profile_known.c on both ranks, with messages and bytes sent and received, bytes given and got.
func knownCalls(init string) map[string]string {
	return map[string]string{
		init: "1 0 0 0 0 0 0", "MPI_Comm_rank": "1 0 0 0 0 0 0", "MPI_Pcontrol": "7 0 0 0 0 0 0",
		"MPI_Sendrecv": "3 3 300 3 300 0 0", "MPI_Barrier": "8 0 0 0 0 0 0", "MPI_Comm_split": "2 0 0 0 0 0 0",
		"MPI_Comm_dup": "1 0 0 0 0 0 0", "MPI_Comm_set_name": "1 0 0 0 0 0 0", "MPI_Allreduce": "5 0 0 0 0 80 80",
		"MPI_Irecv": "7 0 0 0 0 0 0", "MPI_Isend": "7 7 56 0 0 0 0", "MPI_Waitall": "7 0 0 7 56 0 0",
		"MPI_Recv_init": "1 0 0 0 0 0 0", "MPI_Send_init": "1 0 0 0 0 0 0", "MPI_Startall": "6 6 198 0 0 0 0",
		"MPI_Wait": "12 0 0 6 198 0 0", "MPI_Request_free": "2 0 0 0 0 0 0", "MPI_Send": "2 0 0 0 0 0 0",
		"MPI_Win_allocate": "1 0 0 0 0 0 0", "MPI_Win_set_name": "1 0 0 0 0 0 0", "MPI_Win_fence": "3 0 0 0 0 0 0",
		"MPI_Win_free": "1 0 0 0 0 0 0", "MPI_File_open": "1 0 0 0 0 0 0", "MPI_File_write_at": "1 0 0 0 0 10 0",
		"MPI_File_sync": "1 0 0 0 0 0 0", "MPI_File_read_at": "1 0 0 0 0 0 20", "MPI_File_close": "1 0 0 0 0 0 0",
		"MPI_Comm_free": "1 0 0 0 0 0 0", "MPI_Finalize": "1 0 0 0 0 0 0",
	}
}

const transfers = "calls messages_sent bytes_sent messages_received bytes_received gave got"

// The profile of a program whose numbers are known. It is the same if the processes are killed.
func TestProfile(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, end := range []string{"finalize", "kill"} {
			t.Run(end, func(t *testing.T) {
				r := m.start(t, 2, []string{"profile=record"}, "profile_known", filepath.Join(t.TempDir(), "file"), end)
				var first, second uint64
				if _, err := fmt.Sscanf(r.stdout, "sites %d %d", &first, &second); err != nil {
					t.Fatalf("%v: %q\n%s", err, r.stdout, r.stderr)
				}
				for rank := range 2 {
					calls := r.table(t, rank, "profile calls")
					want := knownCalls("MPI_Init")
					if rank == 0 {
						want["MPI_Ssend"], want["MPI_Put"], want["MPI_Get"] = "4 4 4000 0 0 0 0", "3 0 0 0 0 48 0", "2 0 0 0 0 0 16"
					} else {
						want["MPI_Recv"] = "4 0 0 4 4000 0 0"
					}
					got := sums(calls, "function", transfers)
					if end == "kill" { // perhaps in its last barrier
						delete(want, "MPI_Finalize")
						if got["MPI_Barrier"] == "9 0 0 0 0 0 0" {
							want["MPI_Barrier"] = got["MPI_Barrier"]
						}
					}
					same(t, fmt.Sprintf("rank %d: calls", rank), got, want)
					knownTimes(t, calls)
					knownMessages(t, r, rank)
					knownPhases(t, r, rank)
					knownObjects(t, r, rank, end)
				}
				knownSites(t, r.table(t, 0, "profile calls"), first, second)
			})
		}
	})
}

// Every call that returned has a duration in the histogram.
func knownTimes(t *testing.T, calls []tableRow) {
	t.Helper()
	for _, row := range calls {
		var durations int64
		for _, v := range row["durations"] {
			n, _ := v.Int64()
			durations += n
		}
		name, ticks := row.text("function"), row.number("ticks")
		if name == "MPI_Finalize" {
			if durations != 0 || ticks != 0 {
				t.Errorf("%s: %d durations, %d ticks", name, durations, ticks)
			}
			continue
		}
		shortest, longest := row.number("shortest"), row.number("longest")
		if durations != row.number("calls") || ticks < shortest*durations || ticks > longest*durations || ticks == 0 {
			t.Errorf("%s: %d calls, %d durations, %d ticks, %d to %d", name, row.number("calls"), durations, ticks, shortest, longest)
		}
	}
}

func knownMessages(t *testing.T, r *result, rank int) {
	t.Helper()
	other := fmt.Sprint("0 ", 1-rank)
	peers := map[string]string{other + " warm 0": "3 300 3 300", other + "  0": "17 4254 13 254"}
	sizes := map[string]string{
		"MPI_Sendrecv warm 0": "300", "MPI_Sendrecv warm 1": "300", "MPI_Isend  0": "56", "MPI_Irecv  1": "56",
		"MPI_Send_init  0": "198", "MPI_Recv_init  1": "198",
	}
	if rank == 0 {
		peers[other+"  1"] = "3 48 2 16"
		sizes["MPI_Ssend  0"], sizes["MPI_Put  0"], sizes["MPI_Get  1"] = "4000", "48", "16"
	} else {
		peers[other+"  0"] = "13 254 17 4254"
		sizes["MPI_Recv  1"] = "4000"
	}
	same(t, "peers", sums(r.table(t, rank, "profile peers"), "job rank phase onesided", "messages_sent bytes_sent messages_received bytes_received"), peers)
	rows := r.table(t, rank, "profile sizes")
	same(t, "sizes", sums(rows, "function phase received", "bytes"), sizes)
	for _, row := range rows {
		if row.text("function") != "MPI_Send_init" {
			continue
		}
		for i, v := range row["messages"] {
			if n, _ := v.Int64(); (n == 6) != (i == 6) || n != 0 && n != 6 { // 33 bytes: 2^5 to 2^6 - 1
				t.Errorf("%d persistent messages in class %d", n, i)
			}
		}
	}
}

func knownPhases(t *testing.T, r *result, rank int) {
	t.Helper()
	same(t, "phases", sums(r.table(t, rank, "profile phases"), "phase", "entered"), map[string]string{"warm": "1", "inner": "1", "level 7": "1"})
	barriers := map[string]string{}
	for key, value := range sums(r.table(t, rank, "profile calls"), "function phase", "calls") {
		if name, phase, _ := strings.Cut(key, " "); name == "MPI_Barrier" && phase != "" {
			barriers[phase] = value
		}
	}
	same(t, "barriers in phases", barriers, map[string]string{"inner": "1", "level 7": "1"})
	var events []string
	for e := range r.run.Events(recording.Options{Rank: func(k *recording.Rank) bool { return k.Rank == rank }}) {
		if e.Type == nil || e.Type.Name != "phase" {
			t.Fatalf("event %+v", e)
		}
		events = append(events, e.Values[0].String()+" "+e.Values[1].String())
	}
	if got, want := strings.Join(events, ", "), "warm 1, inner 1, inner 0, warm 0, level 7 1, level 7 0"; got != want {
		t.Errorf("events: %s, want %s", got, want)
	}
	var warm, inner int64
	for _, row := range r.table(t, rank, "profile phases") {
		switch row.text("phase") {
		case "warm":
			warm = row.number("ticks")
		case "inner":
			inner = row.number("ticks")
		}
	}
	if inner <= 0 || warm <= inner {
		t.Errorf("%d ticks in phase warm, %d in phase inner within it", warm, inner)
	}
}

func knownObjects(t *testing.T, r *result, rank int, end string) {
	t.Helper()
	got, groups, ids := map[string]string{}, map[string]int64{}, map[string]string{}
	for i, row := range r.table(t, rank, "objects") {
		if row.number("id") != int64(i+1) {
			t.Errorf("object %d has number %d", i+1, row.number("id"))
		}
		name := row.text("name")
		switch {
		case row.text("made_by") == "MPI_Comm_split":
			name = "split of " + row.text("size")
		case row.number("kind") == 2:
			name = filepath.Base(name)
		}
		ids[name], groups[name] = row.text("id"), row.number("group")
		for _, f := range []string{"kind", "size", "made_by", "parent", "order", "freed", "collectives"} {
			got[name] += row.text(f) + " "
		}
	}
	mine := ids["mine"]
	want := map[string]string{
		"MPI_COMM_WORLD": "0 2  0 0 0 17 ", "MPI_COMM_SELF": "0 1  0 0 0 0 ", "mine": "0 2 MPI_Comm_dup 1 0 0 6 ",
		"split of 2": "0 2 MPI_Comm_split 1 0 1 0 ", "pane": "1 2 MPI_Win_allocate " + mine + " 0 1 0 ", "file": "2 0 MPI_File_open " + mine + " 0 1 0 ",
	}
	if rank == 1 {
		want["split of 1"] = "0 1 MPI_Comm_split 1 0 0 0 "
	}
	if end == "kill" {
		want["mine"] = "0 2 MPI_Comm_dup 1 0 0 7 "
	}
	same(t, "objects", got, want)
	if world := groups["MPI_COMM_WORLD"]; world == 0 || groups["mine"] != world || groups["pane"] != world || groups["split of 2"] == world || groups["file"] != 0 {
		t.Errorf("groups: %v", groups)
	}
}

// Each call belongs to the function that starts last before its address.
func knownSites(t *testing.T, calls []tableRow, first, second uint64) {
	t.Helper()
	got := map[string]string{}
	for _, row := range calls {
		if row.text("function") != "MPI_Barrier" {
			continue
		}
		address, _ := row["stack"][0].Uint64()
		site := "first "
		if address > second && (first > address || first < second) {
			site = "second "
		}
		if address > max(first, second)+200 || address < min(first, second) {
			site = "other " // in main
		}
		got[site+row.text("phase")] += row.text("calls")
	}
	delete(got, "other ")
	same(t, "call sites", got, map[string]string{"first inner": "1", "first ": "2", "second ": "3", "second level 7": "1"})
}
