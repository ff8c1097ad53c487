//go:build cgo && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/recording/recordingtest"
)

// referenceParser prints the samples of OpenMetrics as JSON. It refuses what the standard does.
const referenceParser = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
print(json.dumps([[s.name, s.labels, s.value, f.type, f.unit] for f in text_string_to_metric_families(sys.stdin.read()) for s in f.samples]))`

// promtool is Prometheus's, where setup.sh puts it.
func promtool(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("promtool"); err == nil {
		return path
	}
	path, err := filepath.Abs("../../fixtures/promtool/promtool")
	if _, bad := os.Stat(path); err != nil || bad != nil {
		need.Missing(t, "promtool is not in fixtures/promtool (make test fetches it)")
	}
	return path
}

// metricsOf exports a run, checks the file with promtool and the reference parser, and returns the values by name and labels.
func metricsOf(t *testing.T, environ []string, dir, run string) map[string]float64 {
	t.Helper()
	needPython(t, "prometheus_client")
	p := newProcess(environ, dir, "mpitx", "export", run, "--overwrite", "--out", "run.prom")
	if p.run(hung); p.code != 0 {
		t.Fatalf("%s: exit code %d: %s", run, p.code, p.output())
	}
	check := newProcess(environ, dir, "sh", "-c", `"$0" check metrics <run.prom`, promtool(t))
	if check.run(hung); check.code != 0 || check.stdout.String()+check.stderr.String() != "" {
		t.Errorf("%s: promtool: exit code %d: %s", run, check.code, check.output())
	}
	parse := newProcess(environ, dir, "sh", "-c", `exec "$0" -c "$1" <run.prom`, python, referenceParser)
	var samples [][5]any
	if parse.run(hung); parse.code != 0 {
		t.Fatalf("%s: %s", run, parse.output())
	}
	if err := json.Unmarshal(parse.stdout.Bytes(), &samples); err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, s := range samples {
		name, labels := s[0].(string), s[1].(map[string]any)
		if labels["run"] != filepath.Base(run) || s[3] != "gauge" || s[4] != "" && !strings.HasSuffix(name, "_"+s[4].(string)) {
			t.Errorf("%s: %v", run, s)
		}
		for _, label := range []string{"function", "variable", "state"} {
			if text, is := labels[label].(string); is {
				name += " " + text
			}
		}
		if _, twice := values[name]; twice {
			t.Errorf("%s: %s twice", run, name)
		}
		values[name] = s[2].(float64)
	}
	return values
}

// TestOpenMetrics compares the metrics of runs with reports of them.
func TestOpenMetrics(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		f.launch("run", "--trace", "--profile", "--sample", "mpitx:*", "--dir", "run", "--", buildSolver(f.T, f.family))
		values := metricsOf(f.T, f.environ, f.dir, "run")
		const from = 1e9
		for _, c := range []struct{ metric, list, key, field string }{
			{"mpitx_function_calls", "functions", "name", "calls"}, {"mpitx_function_time_seconds", "functions", "name", "time_ns"},
			{"mpitx_variable_growth", "samples", "variable", "total"}, {"mpitx_variable_growth_bytes", "samples", "variable", "total"},
			{"mpitx_variable_growth_seconds", "samples", "variable", "total"}, {"mpitx_variable_rank_max", "samples", "variable", "max"},
		} {
			list, found := "rows", 0
			if c.list == "functions" {
				list = c.list
			}
			for _, l := range reported(f.T, f.environ, f.dir, list, []string{c.key, c.field}, c.list) {
				name, number, _ := strings.Cut(l, "|")
				want, err := strconv.ParseFloat(number, 64)
				got, has := values[c.metric+" "+name]
				if has {
					found++
				} else if c.list == "functions" {
					f.Errorf("%s: no %s", c.metric, name)
				}
				if strings.HasSuffix(c.metric, "_seconds") {
					want /= from
				}
				if has && (err != nil || fmt.Sprintf("%.9g", got) != fmt.Sprintf("%.9g", want)) {
					f.Errorf("%s %s: %v, not %s", c.metric, name, got, number)
				}
			}
			if found < 3 {
				f.Errorf("%s: only %d were found", c.metric, found)
			}
		}
		if values["mpitx_run_size"] != 4 || values["mpitx_run_processes ended"] != 4 || values["mpitx_run_elapsed_seconds"] < 0.4 || values["mpitx_function_sent_bytes MPI_Isend"] != 200_000 {
			f.Errorf("%v", values)
		}
	})
}

// Any run has metrics. What does not go with them is refused before a file is made.
func TestOpenMetricsOfAnyRun(t *testing.T) {
	t.Parallel()
	environ, dir := testEnvironment(t), t.TempDir()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	for name, save := range map[string]func(string) error{
		"ring": recordingtest.Ring{Ranks: 100, Rounds: 3}.Save, "solver": recordingtest.SaveSolver, "queues": recordingtest.SaveQueues,
		"traced": func(dir string) error { return recordingtest.SaveTrace(dir, 10) }, "lacks": recordingtest.Solver{Lacks: []int32{1}}.Save,
	} {
		path := filepath.Join(dir, name)
		if err := save(path); err != nil {
			t.Fatal(err)
		}
		values := metricsOf(t, environ, dir, path)
		for metric, want := range map[string]map[string]float64{
			"mpitx_run_size":                         {"ring": 100, "solver": 4, "traced": 2},
			"mpitx_run_start_time_seconds":           {"ring": 1.7e9, "solver": 1.7e9},
			"mpitx_function_calls MPI_Wait":          {"solver": 4000},
			"mpitx_function_received_bytes MPI_Wait": {"solver": 4000 * 8192},
			"mpitx_run_incomplete_processes":         {"lacks": 1, "solver": 0},
			"mpitx_variable_growth rounds":           {"ring": 200}, // from the first sample on
		} {
			if want, is := want[name]; is && values[metric] != want {
				t.Errorf("%s: %s is %v, not %v", name, metric, values[metric], want)
			}
		}
	}
	for args, c := range map[string]struct {
		code int
		says string
	}{
		"ring -o openmetrics --rank 0":      {2, "--rank does not go with -o openmetrics, which has the whole run; leave it out"},
		"ring --out new.prom --wide":        {2, "--wide does not go with -o openmetrics"},
		"ring --out new.prom --with-start":  {2, "--with-start: openmetrics has the start of the run anyway"},
		"ring --out new.prom --as rate":     {2, "--as does not go with -o openmetrics"},
		"ring --out new.prom --partition":   {2, "--partition writes Parquet files"},
		"ring --out new.prom nothing":       {1, "nothing: the run has no such variable"},
		"solver --out new.prom 'mpitx:*'":   {1, "the run has no samples"},
		"solver --out new.prom --nonzero":   {1, "the run has no samples"},
		"no-such-run --out new.prom":        {1, "there is no such directory"},
		"solver -o openmetrics --from 0.5s": {2, "--from does not go with -o openmetrics"},
	} {
		p := newProcess(environ, dir, append([]string{"mpitx", "export"}, strings.Fields(args)...)...)
		p.run(hung)
		if _, err := os.Stat(filepath.Join(dir, "new.prom")); err == nil || p.code != c.code || !strings.Contains(unwrapped(p.stderr.String()), c.says) {
			t.Errorf("%s: exit code %d: %s", args, p.code, p.output())
		}
	}
}
