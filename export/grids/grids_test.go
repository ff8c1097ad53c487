package grids

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/tune/grid"
)

var update = flag.Bool("update", false, "update the golden files")

func result() *grid.Result {
	ring, tree := grid.Algorithm{Name: "ring", Value: 4}, grid.Algorithm{Name: "tree", Value: 2}
	cell := func(ranks int, bytes int64) grid.Finding {
		return grid.Finding{Cell: grid.Cell{Function: "allreduce", Ranks: ranks, Bytes: bytes}, Coarse: true, Variable: "coll_tuned_allreduce_algorithm",
			Own:   grid.Measured{Median: 1000 + float64(bytes), Runs: 9, N: 900, Outliers: 12, Missed: 3, Ran: "tuned: linear"},
			Tried: []grid.Measured{{Name: "ring", Median: 700, Runs: 9, N: 890, Ran: "tuned: ring"}, {Name: "tree", Median: 1200, Runs: 3, N: 300, Barrier: true}}}
	}
	win := func(f grid.Finding, change float64) grid.Finding {
		f.Candidate, f.Algorithm, f.Winner, f.Confirmed, f.Change, f.Low, f.High = "ring", ring, true, 9, change, change-0.04, change+0.03
		return f
	}
	unsure := cell(2, 65536)
	unsure.Candidate, unsure.Algorithm, unsure.Confirmed, unsure.Change, unsure.Low, unsure.High, unsure.Needed = "tree", tree, 9, -0.05, -0.2, 0.1, 31
	left := cell(4, 64)
	left.Candidate, left.Algorithm, left.Change, left.Left = "tree", tree, -0.1, "the budget is used up"
	return &grid.Result{
		Plan: grid.Plan{Library: "Open MPI v4.1.4", Host: "site\x1b1", Cores: 2, Ranks: 4, Seed: 7, Sizes: []int64{64, 4096, 65536}, CommSizes: []int{2, 4},
			Collectives: []grid.Collective{{Function: "allreduce", Variable: "coll_tuned_allreduce_algorithm", Algorithms: []grid.Algorithm{ring, tree}}}},
		Findings: []grid.Finding{cell(2, 64), win(cell(2, 4096), -0.312), unsure, left, win(cell(4, 4096), -0.05), win(cell(4, 65536), -0.711)},
		Choices: []grid.Choice{{Function: "allreduce", Variable: "coll_tuned_allreduce_algorithm", Ranks: 2, From: 300, To: 9000, Algorithm: ring, Change: -0.312},
			{Function: "allreduce", Variable: "coll_tuned_allreduce_algorithm", Ranks: 4, From: 512, To: 65536, Algorithm: ring, Change: -0.05}},
		Runs: 12, Seconds: 61.4, Crowded: true, Incomplete: "the budget is used up after 9 of 11 runs of confirming",
		Dropped: []grid.DroppedOnce{{Cell: grid.Cell{Function: "allreduce", Ranks: 4, Bytes: -1}, Algorithm: "chain", Why: "exit status 139\nsignal"}, {Cell: grid.Cell{Function: "allreduce", Ranks: 2, Bytes: 64}, Algorithm: "chain", Why: "a call failed"}},
	}
}

func TestGolden(t *testing.T) {
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"table": func(b *bytes.Buffer) error {
			return Write(b, result(), export.FormatTable, export.Terminal{UTF8: true})
		},
		"ascii_80_color": func(b *bytes.Buffer) error {
			return Write(b, result(), export.FormatTable, export.Terminal{Width: 80, Color: true})
		},
		"csv":  func(b *bytes.Buffer) error { return Write(b, result(), export.FormatCSV, export.Terminal{}) },
		"json": func(b *bytes.Buffer) error { return Write(b, result(), export.FormatJSON, export.Terminal{}) },
		"html": func(b *bytes.Buffer) error { return HTML(b, result()) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			if name == "html" {
				if strings.Contains(got, "\x1b") {
					t.Error("the page has control characters")
				}
				got = got[strings.Index(got, "<body>"):] // the style is that of all pages
			}
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || got != string(want) {
				t.Errorf("%v\n%s", err, got)
			}
		})
	}
}
