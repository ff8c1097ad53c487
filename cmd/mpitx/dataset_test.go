//go:build cgo && linux

package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/fixtures/need"
	"mpitx/recording/recordingtest"
)

// result is what DuckDB answers.
type result struct {
	Columns []string
	Rows    [][]any
	Error   string
}

// duckdb runs statements in DuckDB in a directory.
func duckdb(t *testing.T, dir string, statements ...string) []result {
	t.Helper()
	need.Commands(t, "node")
	query, err := filepath.Abs("../../fixtures/duckdb/query.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(query), "node_modules")); err != nil {
		need.Missing(t, "DuckDB is not installed (cd fixtures/duckdb && npm ci)")
	}
	input, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", query)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(string(input))
	out, err := cmd.Output()
	var results []result
	if err == nil {
		err = json.Unmarshal(out, &results)
	}
	if err != nil || len(results) != len(statements) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, r := range results {
		if r.Error != "" {
			t.Fatalf("%s\n%s", statements[i], r.Error)
		}
	}
	return results
}

var documentedQueries = regexp.MustCompile("(?ms)^### ([^\n]*)$(?:.*?)^```sql\n(.*?)^```\n\n    ([^\n]*)\n")

// queries are those of docs/datasets.md in DuckDB, by their headings. Their columns are those that the page shows.
func queries(t *testing.T, dir string) map[string]result {
	t.Helper()
	page := document(t, "docs/datasets.md")
	all := documentedQueries.FindAllStringSubmatch(page, -1)
	if len(all) != strings.Count(page, "```sql") || len(all) < 5 {
		t.Fatalf("docs/datasets.md has %d queries under headings and with output", len(all))
	}
	var statements []string
	for _, m := range all {
		statements = append(statements, m[2])
	}
	found := map[string]result{}
	for i, r := range duckdb(t, dir, statements...) {
		if got, want := strings.Join(r.Columns, " "), strings.Join(strings.Fields(all[i][3]), " "); got != want {
			t.Errorf("%s: columns %s, not %s", all[i][1], got, want)
		}
		found[all[i][1]] = r
	}
	return found
}

// lines are the rows of a result as texts, in some order. Numbers are rounded to twelve digits.
func (r result) lines() (all []string) {
	for _, row := range r.Rows {
		var words []string
		for _, cell := range row {
			words = append(words, cellText(cell))
		}
		all = append(all, strings.Join(words, "|"))
	}
	slices.Sort(all)
	return all
}

func cellText(cell any) string {
	switch x := cell.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'g', 12, 64)
	case string:
		if f, err := strconv.ParseFloat(x, 64); err == nil && math.Abs(f) < 1<<53 {
			return strconv.FormatFloat(f, 'g', 12, 64)
		}
		return x
	}
	return fmt.Sprint(cell)
}

// reported are the rows of a report as JSON, in the columns.
func reported(t *testing.T, environ []string, dir, list string, columns []string, args ...string) (all []string) {
	t.Helper()
	p := newProcess(environ, dir, append([]string{"mpitx", "report", "run"}, append(args, "-o", "json")...)...)
	p.run(hung)
	var r map[string]json.RawMessage
	var rows []map[string]any
	err := json.Unmarshal(p.stdout.Bytes(), &r)
	if err == nil {
		err = json.Unmarshal(r[list], &rows)
	}
	if err != nil || p.code != 0 || len(rows) == 0 {
		t.Fatalf("%v: exit code %d: %s", err, p.code, p.output())
	}
	for _, row := range rows {
		var words []string
		for _, c := range columns {
			words = append(words, cellText(row[c]))
		}
		all = append(all, strings.Join(words, "|"))
	}
	slices.Sort(all)
	return all
}

// summed adds up columns of rows by their other columns, which come first.
func summed(lines []string, keys int) []string {
	sums := map[string][]float64{}
	for _, l := range lines {
		words := strings.Split(l, "|")
		key := strings.Join(words[:keys], "|")
		if sums[key] == nil {
			sums[key] = make([]float64, len(words)-keys)
		}
		for i, w := range words[keys:] {
			f, _ := strconv.ParseFloat(w, 64)
			sums[key][i] += f
		}
	}
	var all []string
	for key, numbers := range sums {
		for _, n := range numbers {
			key += "|" + strconv.FormatFloat(n, 'g', 12, 64)
		}
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

func sameLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("%s: DuckDB has\n%s\nnot\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDataset runs each query of docs/datasets.md on data sets of both MPIs, and compares with the reports of the same run.
func TestDataset(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		solver := buildSolver(f.T, f.family)
		f.launch("run", "--trace", "--profile", "--sample", "mpitx:*", "--dir", "run", "--", solver)
		p := f.run("mpitx", "export", "run", "-o", "parquet", "--partition", "--out", "dataset")
		if p.code != 0 || p.stdout.String() != "" {
			f.Fatalf("exit code %d: %s", p.code, p.output())
		}
		found := queries(f.T, f.dir)
		check := func(heading string, want []string) {
			f.Helper()
			r := found[heading]
			sameLines(f.T, heading, r.lines(), want)
		}
		calls := found["Calls and time by function and rank"]
		sameCalls(f.T, calls.lines(), reported(f.T, f.environ, f.dir, "rows", []string{"name", "rank", "calls", "time_ns"}, "functions", "--by-rank"))
		check("Messages and bytes between ranks", reported(f.T, f.environ, f.dir, "rows", []string{"source", "destination", "messages", "bytes"}, "matrix"))
		check("Waits by kind", summed(reported(f.T, f.environ, f.dir, "states", []string{"kind", "calls", "waiting_ns"}, "waits"), 1))

		stats := reported(f.T, f.environ, f.dir, "rows", []string{"as", "variable", "object", "count", "min", "max", "total"}, "samples")
		check("Counters at the end", cutPrefix(stats, "delta|"))
		var levels, sums []string
		for _, l := range found["Samples"].lines() {
			words := strings.Split(l, "|") // variable, object, samples, min, max, sum
			levels = append(levels, strings.Join(words[:5], "|"))
			sums = append(sums, strings.Join([]string{words[0], words[1], words[2], words[5]}, "|"))
		}
		for _, l := range cutPrefix(stats, "raw|") {
			if l = strings.TrimSuffix(l, "|"); !slices.Contains(levels, l) {
				f.Errorf("samples: DuckDB lacks %s: it has\n%s", l, strings.Join(levels, "\n"))
			}
		}
		sameLines(f.T, "sums of samples", sums, sampleSums(f.T, f.run("mpitx", "export", "run", "-o", "csv")))

		if top := found["Who waits for whom"]; !slices.ContainsFunc(top.lines(), func(l string) bool { return strings.HasPrefix(l, "3|2|main solver.c:66|1|") }) { // rank 2 computes for 400 ms
			f.Errorf("who waits for whom: %v", top.Rows)
		}
	})
}

// sameCalls compares calls and times. The time of each call is rounded, the rate of the clock is known better at the end of a run, and the
// trace ends in MPI_Finalize.
func sameCalls(t *testing.T, got, want []string) {
	t.Helper()
	parse := func(lines []string) (calls []string, times []float64) {
		for _, l := range lines {
			i := strings.LastIndexByte(l, '|')
			ns, err := strconv.ParseFloat(l[i+1:], 64)
			if err != nil {
				t.Fatal(l)
			}
			calls, times = append(calls, l[:i]), append(times, ns)
		}
		return calls, times
	}
	calls, times := parse(got)
	wanted, wantedTimes := parse(want)
	sameLines(t, "calls", calls, wanted)
	for i := range min(len(calls), len(wanted)) {
		words := strings.Split(calls[i], "|")
		if n, err := strconv.ParseFloat(words[2], 64); err != nil || math.Abs(times[i]-wantedTimes[i]) > n+1+times[i]/100_000 && words[0] != "MPI_Finalize" {
			t.Errorf("%s takes %g ns, not %g", calls[i], times[i], wantedTimes[i])
		}
	}
}

func cutPrefix(lines []string, prefix string) (all []string) {
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, prefix); ok {
			all = append(all, rest)
		}
	}
	return all
}

// sampleSums are the sums of samples as CSV, by variable and object, with their number.
func sampleSums(t *testing.T, p *process) []string {
	t.Helper()
	rows, err := csv.NewReader(&p.stdout).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatal(err, p.output())
	}
	var lines []string
	for _, r := range rows[1:] { // time, rank, host, variable, object, element, value
		if r[6] != "" {
			lines = append(lines, r[3]+"|"+r[4]+"|1|"+r[6])
		}
	}
	return summed(lines, 2)
}

// TestDatasetWritten queries the data set of a written run, whose figures are known, exported by a process that may have few files open.
// Conditions on ranks and times skip files and parts of files.
func TestDatasetWritten(t *testing.T) {
	t.Parallel()
	environ, dir := testEnvironment(t), t.TempDir()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	const ranks, rounds = 1000, 20
	if err := (recordingtest.Ring{Ranks: ranks, Rounds: rounds}).Save(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	p := newProcess(environ, dir, "sh", "-c", "ulimit -n 32 && exec mpitx export run -o parquet --partition --out dataset")
	if p.run(hung); p.code != 0 {
		t.Fatalf("exit code %d: %s", p.code, p.output())
	}
	if memory := p.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10; memory > 400 {
		t.Errorf("%d MB", memory)
	}
	found := queries(t, dir)
	var calls, messages []string
	for rank := range ranks {
		for function, n := range map[string]int{"MPI_Send": rounds, "MPI_Recv": rounds, "MPI_Allreduce": rounds, "MPI_Init": 1, "MPI_Finalize": 1} {
			calls = append(calls, fmt.Sprintf("%s|%d|%d", function, rank, n))
		}
		messages = append(messages, fmt.Sprintf("%d|%d|%d|%d", rank, (rank+1)%ranks, rounds, 8*rounds))
	}
	slices.Sort(calls)
	slices.Sort(messages)
	got := found["Calls and time by function and rank"].lines()
	for i, l := range got {
		got[i] = l[:strings.LastIndexByte(l, '|')]
	}
	sameLines(t, "calls", got, calls)
	check := func(heading string, want []string) {
		t.Helper()
		r := found[heading]
		sameLines(t, heading, r.lines(), want)
	}
	check("Messages and bytes between ranks", messages)
	all, late := (ranks-2)*recordingtest.RingAll+recordingtest.RingLast, recordingtest.RingLate
	check("Waits by kind", []string{fmt.Sprintf("late sender|%d|%d", rounds, rounds*late), fmt.Sprintf("wait at N x N|%d|%d", rounds*(ranks-1), rounds*all)})
	check("Samples", []string{fmt.Sprintf("rounds||%d|0|%d|%d", ranks*rounds, rounds-1, ranks*rounds*(rounds-1)/2)})
	for query, want := range map[string]string{
		"FROM read_parquet('dataset/calls/*/*.parquet') WHERE rank = 7":                                                                                               fmt.Sprint(3*rounds + 2),
		"FROM read_parquet('dataset/calls/*/*.parquet') WHERE time_ns >= 10000000000":                                                                                 "0",
		"FROM parquet_metadata('dataset/*/*/*.parquet') WHERE path_in_schema = 'time_ns' AND num_values > 0 AND (stats_min_value IS NULL OR stats_max_value IS NULL)": "0",
		"FROM read_parquet('dataset/waits/*/*.parquet') w JOIN read_parquet('dataset/calls/*/*.parquet') c USING (rank, thread, time_ns) WHERE w.name = c.name":       fmt.Sprint(rounds * ranks),
	} {
		r := duckdb(t, dir, "SELECT count(*) "+query)[0]
		if got := cellText(r.Rows[0][0]); got != want {
			t.Errorf("%s: %s, not %s", query, got, want)
		}
	}
	plan := fmt.Sprint(duckdb(t, dir, "EXPLAIN SELECT count(*) FROM read_parquet('dataset/calls/*/*.parquet') WHERE rank = 7")[0].Rows)
	if !regexp.MustCompile(fmt.Sprintf(`\D1/%d\D`, ranks)).MatchString(plan) {
		t.Errorf("a condition on the rank reads other files: %s", plan)
	}
}

// What a data set cannot be is said before anything is written, and a directory is whole or not there.
func TestDatasetRefused(t *testing.T) {
	t.Parallel()
	environ, dir := testEnvironment(t), t.TempDir()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	ring := recordingtest.Ring{Ranks: 2, Rounds: 10}
	for name, save := range map[string]func(string) error{"run": ring.Save, "traced": func(dir string) error { return recordingtest.SaveTrace(dir, 10) }, "profiled": recordingtest.SaveSolver} {
		if err := save(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	sampled, _ := counted(t, 100)
	if err := os.MkdirAll(filepath.Join(dir, "full", "of"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"run --partition --out d", 2, "--partition writes Parquet files; add -o parquet"},
		{"run --partition -o csv --out d", 2, "--partition writes Parquet files; add -o parquet"},
		{"run --partition -o parquet", 2, "--partition writes a directory; name it with --out DIR"},
		{"run --partition -o parquet --out full", 2, "--out full: the directory is not empty; name one that is empty or does not exist"},
		{"run --partition -o parquet --out run/node-node1.mpxr", 2, "--out run/node-node1.mpxr: this is a file; name a directory that is empty or does not exist"},
		{"run --partition -o parquet --out no/d", 1, "--out no/d: no such file or directory; name a directory that can be made"},
		{"run --partition -o parquet --out d --overwrite", 2, "--overwrite replaces a file, not a directory"},
		{"run --partition -o parquet --out d --wide", 2, "--wide does not go with --partition"},
		{"run --partition -o parquet --out d --trace", 2, "--trace does not go with --partition"},
		{"run --partition -o parquet --out d --phase x", 2, "--phase does not go with --partition"},
		{"traced --partition -o parquet --out d --derive PERUSE_*", 2, "--derive does not go with --partition"},
		{"profiled --partition -o parquet --out d", 1, "profiled: the run has no samples; see its profile with mpitx report profiled"},
	} {
		p := newProcess(environ, dir, append([]string{"mpitx", "export"}, strings.Fields(c.args)...)...)
		if p.run(hung); p.code != c.code || !strings.Contains(unwrapped(p.stderr.String()), c.says) {
			t.Errorf("%s: exit code %d: %s", c.args, p.code, p.output())
		}
		if _, err := os.Stat(filepath.Join(dir, "d")); err == nil {
			t.Fatalf("%s: the directory exists", c.args)
		}
	}
	for i, c := range []struct{ run, says, tables string }{
		{"run", "20 waits and 20 samples", "calls events messages samples waits"},
		{"traced", "traced: 3 events were lost: waits may be missing", "calls events messages waits"},
		{"traced", "the run has no samples", "calls events messages waits"},
		{sampled, "100 samples; the run has no trace", "samples"},
	} {
		out := filepath.Join(dir, fmt.Sprint("ok", i))
		if err := os.Mkdir(out, 0o700); err != nil { // an empty one is used, and keeps its mode
			t.Fatal(err)
		}
		p := newProcess(environ, dir, "mpitx", "export", c.run, "-o", "parquet", "--partition", "--out", out+"/")
		p.run(hung)
		names, _ := filepath.Glob(out + "/*")
		for i := range names {
			names[i] = filepath.Base(names[i])
		}
		if st, err := os.Stat(out); p.code != 0 || !strings.Contains(unwrapped(p.stderr.String()), c.says) || strings.Join(names, " ") != c.tables || err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: exit code %d: %v %s", c.run, p.code, names, p.output())
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// If the disk is full, the message says so, and nothing is left.
func TestDatasetFull(t *testing.T) {
	environ, dir := testEnvironment(t), t.TempDir()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	if err := (recordingtest.Ring{Ranks: 20, Rounds: 100}).Save(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(dir, "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, size := range []string{"4k", "100k", "300k", "400k"} {
		if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size="+size); err != nil {
			need.Missing(t, "a file system cannot be mounted (%v)", err)
		}
		p := newProcess(environ, dir, "mpitx", "export", "run", "-o", "parquet", "--partition", "--out", "small/dataset")
		p.run(hung)
		left, _ := os.ReadDir(small)
		if err := syscall.Unmount(small, 0); err != nil {
			t.Fatal(err)
		}
		if p.code != 1 || !strings.HasSuffix(unwrapped(p.stderr.String()), "mpitx: write: small/dataset: no space left on device; free space there, or name a file elsewhere with --out") || len(left) > 0 {
			t.Errorf("%s: exit code %d, left %v: %s", size, p.code, left, p.output())
		}
	}
}

// unwrapped is a message on one line.
func unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }

// An export that is interrupted leaves nothing, and one that is killed nothing that looks like a data set.
func TestDatasetInterrupted(t *testing.T) {
	t.Parallel()
	environ, dir := testEnvironment(t), t.TempDir()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	if err := (recordingtest.Ring{Ranks: 4, Rounds: 100_000}).Save(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	for s, left := range map[syscall.Signal]int{syscall.SIGINT: 0, syscall.SIGTERM: 0, syscall.SIGKILL: 1} {
		p := newProcess(environ, dir, "mpitx", "export", "run", "-o", "parquet", "--partition", "--out", "dataset")
		p.start()
		for {
			if names, _ := filepath.Glob(filepath.Join(dir, ".dataset.*", "calls", "rank=0", "*")); len(names) > 0 {
				break
			}
			select {
			case <-p.ended:
				t.Fatalf("%v: it has ended: %s", s, p.output())
			case <-time.After(time.Millisecond):
			}
		}
		p.cmd.Process.Signal(s)
		<-p.ended
		if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != s {
			t.Errorf("%v: ended with %v: %s", s, p.cmd.ProcessState, p.output())
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "dataset*")); len(names) > 0 {
			t.Errorf("%v: left %v", s, names)
		}
		names, _ := filepath.Glob(filepath.Join(dir, ".dataset.*"))
		if len(names) != left {
			t.Errorf("%v: left %v", s, names)
		}
		for _, name := range names {
			os.RemoveAll(name)
		}
	}
}
