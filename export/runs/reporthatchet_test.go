package runs

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"mpitx/recording/profile"
)

// Hatchet reads what this test reads: a graph of nodes by number, and rows of a data frame by node and rank.
func TestHatchet(t *testing.T) {
	p := solver(t, profile.Cut{})
	text := report(t, p, FormatHatchet, ReportOptions{})
	golden(t, "report_hatchet", []byte(text))
	var doc struct {
		Graph []map[string]struct {
			Data struct {
				Name, Type, File string
				Line             int
			}
			Children []int
		}
		Dataframe        []map[string]any
		DataframeIndices []string `json:"dataframe_indices"`
		ExclusiveMetrics []string `json:"exclusive_metrics"`
		InclusiveMetrics []string `json:"inclusive_metrics"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	parents := map[string]int{}
	for _, graph := range doc.Graph {
		for id, n := range graph {
			parents[id] += 0
			for _, c := range n.Children {
				if _, known := graph[strconv.Itoa(c)]; !known {
					t.Errorf("node %s: no child %d", id, c)
				}
				parents[strconv.Itoa(c)]++
			}
		}
	}
	roots := 0
	for id, n := range parents {
		if n == 0 {
			roots++
		} else if n > 1 {
			t.Errorf("node %s has %d parents", id, n)
		}
	}
	seconds, whole, calls := 0.0, 0.0, 0.0
	for _, row := range doc.Dataframe {
		id := strconv.Itoa(int(row["node"].(float64)))
		if n := doc.Graph[0][id]; n.Data.Name != row["name"] || n.Data.Name == "" {
			t.Errorf("%v is not %+v", row, n)
		}
		seconds += row["time"].(float64)
		calls += row["calls"].(float64)
		if parents[id] == 0 {
			whole += row["time (inc)"].(float64)
		}
	}
	if want := p.Total.Time.Seconds(); roots != 1 || math.Abs(seconds-want) > 1e-9 || math.Abs(whole-want) > 1e-9 || uint64(calls) != p.Total.Calls {
		t.Errorf("%d roots; %v and %v s, not %v; %v calls, not %d", roots, seconds, whole, want, calls, p.Total.Calls)
	}
	if len(doc.Dataframe) != len(parents)*len(p.Ranks) {
		t.Errorf("%d rows for %d nodes and %d ranks: hatchet's tree fails", len(doc.Dataframe), len(parents), len(p.Ranks))
	}
	if len(doc.DataframeIndices) != 2 || len(doc.ExclusiveMetrics) != 4 || len(doc.InclusiveMetrics) != 4 {
		t.Errorf("%+v", doc)
	}
}

// The arguments of the program may be paths, too.
func TestHatchetProgram(t *testing.T) {
	p := solver(t, profile.Cut{})
	for _, r := range p.Ranks {
		r.Process.Program = "/opt/bin/lmp -in data/in.melt"
	}
	if text := report(t, p, FormatHatchet, ReportOptions{}); !strings.Contains(text, `"name":"lmp -in in.melt"`) {
		t.Error(text[:min(len(text), 200)])
	}
}
