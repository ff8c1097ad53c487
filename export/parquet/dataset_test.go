package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/recording/trace"
	"mpitx/recording/waits"
)

func saved(t testing.TB, save func(dir string) error) *recording.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := save(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

// readTable reads the rows of a rank, and checks that files follow one another and have at most some rows.
func readTable[T any](t *testing.T, dir, table string, rank, most int) (rows []T) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, table, fmt.Sprintf("rank=%d", rank), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if want := fmt.Sprintf("part-%04d.parquet", i); filepath.Base(name) != want {
			t.Errorf("%s, not %s", name, want)
		}
		part, err := parquetgo.ReadFile[T](name)
		if err != nil || len(part) > most || i+1 < len(names) && len(part) != most {
			t.Fatal(name, len(part), err)
		}
		rows = append(rows, part...)
	}
	return rows
}

// The tables of a trace have its rows, each rank's in the order of a trace in one file, with the same flows, and the waits of the report.
func TestDataset(t *testing.T) {
	defer func(n int) { maxPart = n }(maxPart)
	maxPart = batch
	second := func(r *recording.Rank) bool { return r.Rank == 1 }
	for name, run := range map[string]*recording.Run{
		"ring":  saved(t, recordingtest.Ring{Ranks: 3, Rounds: 1500}.Save),
		"trace": saved(t, func(dir string) error { return recordingtest.SaveTrace(dir, 1200) }),
	} {
		for _, o := range []DatasetOptions{
			{},
			{Trace: runs.TraceOptions{Options: trace.Options{From: 1_000_000, To: 1_200_000}}, Samples: recording.Options{From: 1_000_000, To: 1_200_000}},
			{Trace: runs.TraceOptions{Options: trace.Options{Rank: second}}, Samples: recording.Options{Rank: second}},
		} {
			dir := t.TempDir()
			n, err := Dataset(dir, run, o)
			if err != nil {
				t.Fatal(name, err)
			}
			want := map[string]map[int][]string{"calls": {}, "messages": {}, "events": {}}
			if _, err := runs.TraceRows(run, o.Trace, func(r *runs.TraceRow) error {
				table := map[string]string{"call": "calls", "send": "messages", "receive": "messages"}[r.Kind]
				if table == "" {
					table = "events"
				}
				row := traceRowOf(r)
				want[table][r.Rank] = append(want[table][r.Rank], lineOf(&row))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			files, total := 0, map[string]uint64{}
			filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
				if strings.HasSuffix(path, ".parquet") {
					files++
				}
				return nil
			})
			if files != n.Files {
				t.Errorf("%s: %d files, not %d", name, n.Files, files)
			}
			a := waits.Read(run, func(*recording.Rank, uint64) string { return "" }).Analyse()
			for _, rank := range ranksOf(run) {
				for table, all := range want {
					rows := readTable[traceRow](t, dir, table, rank, maxPart)
					if len(rows) != len(all[rank]) {
						t.Fatalf("%s: %s: rank %d has %d rows, not %d", name, table, rank, len(rows), len(all[rank]))
					}
					for i, r := range rows {
						if got := lineOf(&r); got != all[rank][i] {
							t.Fatalf("%s: %s: rank %d: row %d is\n%s, not\n%s", name, table, rank, i, got, all[rank][i])
						}
					}
					total[table] += uint64(len(rows))
				}
				var sum, wanted int64
				rows := readTable[waitRow](t, dir, "waits", rank, maxPart)
				for _, w := range rows {
					sum += w.DurationNs
				}
				total["waits"] += uint64(len(rows))
				for w := range func(yield func(*waits.Wait) bool) { a.OfRank(rank, yield) } {
					if (o.Trace.To == 0 || w.From < o.Trace.To && w.To >= o.Trace.From) && (o.Trace.Rank == nil || rank == 1) {
						wanted += int64(w.To - w.From)
					}
				}
				if sum != wanted || o.Trace.To == 0 && o.Trace.Rank == nil && name == "ring" && sum != []int64{0, 1500 * (recordingtest.RingLate + recordingtest.RingLast), 1500 * recordingtest.RingAll}[rank] {
					t.Errorf("%s: rank %d waits %d ns, not %d", name, rank, sum, wanted)
				}
			}
			if got := (Written{total["calls"], total["messages"], total["events"], total["waits"], n.Samples, files, n.Missing}); n != got || n.Calls == 0 || n.Messages == 0 || n.Waits == 0 {
				t.Errorf("%s: %+v, not %+v", name, n, got)
			}
		}
	}
}

func lineOf(r *traceRow) string {
	text := fmt.Sprint(r.Time, r.TimeNs, r.DurationNs, r.Thread, r.Kind, r.Name, r.Object, r.Depth, r.Site, r.Status, r.Operation, r.Algorithm)
	for _, n := range []*uint64{r.Bytes, r.Request, r.Sequence, r.Flow} {
		if text += ","; n != nil {
			text += fmt.Sprint(*n)
		}
	}
	for _, n := range []*int32{r.Peer, r.Tag} {
		if text += ","; n != nil {
			text += fmt.Sprint(*n)
		}
	}
	return text
}

// The table of samples has the rows of samples in one file. Names do not depend on the rank.
func TestDatasetSamples(t *testing.T) {
	run := open(t)
	for _, as := range []recording.Transform{recording.Default, recording.Rate} {
		dir, o := t.TempDir(), recording.Options{As: as}
		n, err := Dataset(dir, run, DatasetOptions{Samples: o})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := Samples(&file, run, o); err != nil {
			t.Fatal(err)
		}
		all, err := parquetgo.Read[row](bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "samples" || n.Samples != uint64(len(all)) {
			t.Errorf("%v %v: %d rows, not %d", entries, err, n.Samples, len(all))
		}
		for _, rank := range ranksOf(run) {
			var got, want []string
			for _, r := range readTable[row](t, dir, "samples", rank, maxPart) {
				r.Rank = int32(rank)
				got = append(got, line(&r))
			}
			for i := range all {
				if int(all[i].Rank) == rank {
					want = append(want, line(&all[i]))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("rank %d:\n%s\nnot\n%s", rank, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// A table without rows has a file without rows, so that queries find its columns.
func TestDatasetWithoutRows(t *testing.T) {
	run := saved(t, recordingtest.Ring{Ranks: 2, Rounds: 1}.Save)
	dir := t.TempDir()
	if _, err := Dataset(dir, run, DatasetOptions{}); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "events", "rank=*", "*.parquet"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	f, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquetgo.OpenFile(bytes.NewReader(f), int64(len(f)))
	if err != nil || file.NumRows() != 0 || len(file.Schema().Fields()) < 15 {
		t.Error(err, file)
	}
	if _, ok := file.Schema().Lookup("rank"); ok {
		t.Error("the rank is a column, too, which pandas does not read")
	}
}

// A directory that cannot be written is an error of the system.
func TestDatasetUnwritable(t *testing.T) {
	run := saved(t, recordingtest.Ring{Ranks: 2, Rounds: 10}.Save)
	for _, table := range []string{"calls", "messages", "events", "waits", "samples"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, table), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var path *os.PathError
		if _, err := Dataset(dir, run, DatasetOptions{}); !errors.As(err, &path) {
			t.Errorf("%s: %v", table, err)
		}
	}
}
