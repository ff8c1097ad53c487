package samplerrun

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/recording"
)

// countedItself reads what a process of profile_random.c counted: calls, peers, and bytes moved.
func countedItself(t *testing.T, file string) (counted [3]map[string]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]struct{ list, words int }{"calls": {0, 1}, "peer": {1, 2}, "moved": {2, 0}}
	var sums [3]map[string][]int64
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		k := keys[words[0]]
		if sums[k.list] == nil {
			sums[k.list] = map[string][]int64{}
		}
		key, numbers := strings.Join(words[1:1+k.words], " "), words[1+k.words:]
		if sums[k.list][key] == nil {
			sums[k.list][key] = make([]int64, len(numbers))
		}
		for i, word := range numbers {
			var n int64
			if _, err := fmt.Sscan(word, &n); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			sums[k.list][key][i] += n
		}
	}
	for i := range sums {
		counted[i] = map[string]string{}
		for key, numbers := range sums[i] {
			counted[i][key] = strings.Trim(fmt.Sprint(numbers), "[]")
		}
	}
	return counted
}

// sampledTotals compares the function totals of a sampled run with the program's own counts, and their times with the profile.
func sampledTotals(t *testing.T, rank *recording.Rank, calls []tableRow, want map[string]string) {
	t.Helper()
	totals, times := map[string]string{}, map[string]float64{}
	for _, row := range calls {
		times[row.text("function")] += float64(row.number("ticks")) * rank.NsPerTick
	}
	for _, f := range rank.Functions {
		totals[f.Name] = fmt.Sprint(f.Calls)
		if d := math.Abs(float64(f.Time) - times[f.Name]); d > 10+times[f.Name]/1e3 && f.Name != "MPI_Init_thread" { // has no time there
			t.Errorf("rank %d: %v in %s, and %.0f ns in the profile", rank.Rank, f.Time, f.Name, times[f.Name])
		}
	}
	delete(want, "MPI_Finalize") // is still running
	same(t, fmt.Sprintf("rank %d: totals of functions", rank.Rank), totals, want)
}

// The profile and the function totals of samples equal the counts of random programs, with one thread and with several.
func TestProfileRandom(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		program := m.compile(t, "profile_random.c", "-pthread")
		for seed := range 6 {
			ranks, threads := 4-seed%2*2, 1+seed%2
			t.Run(fmt.Sprintf("seed %d, %d threads", seed, threads), func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "counts")
				r := m.run(t, job{n: ranks, config: []string{"profile=record", "pvar=mpitx:*"}, program: []string{program, file, fmt.Sprint(seed), fmt.Sprint(threads)}})
				for rank := range ranks {
					want := countedItself(t, fmt.Sprint(file, ".", rank))
					calls, peers := r.table(t, rank, "profile calls"), r.table(t, rank, "profile peers")
					same(t, fmt.Sprintf("rank %d: calls", rank), sums(calls, "function", "calls"), want[0])
					same(t, fmt.Sprintf("rank %d: peers", rank), sums(peers, "rank onesided", "messages_sent bytes_sent messages_received bytes_received"), want[1])
					same(t, fmt.Sprintf("rank %d: bytes moved", rank), sums(calls, "", "gave got"), want[2])
					sampledTotals(t, r.rank(t, rank), calls, want[0])
				}
			})
		}
	})
}
