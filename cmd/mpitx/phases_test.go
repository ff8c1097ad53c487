package main

import (
	"encoding/csv"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSamplesOfPhases: each step of a counter belongs to exactly one phase or to none, and the samples of a phase are those taken in it.
func TestSamplesOfPhases(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			program, environ, dir := buildSolver(t, family), append(testEnvironment(t), "MPITX_MPI=", "STEP_US=2000"), t.TempDir()
			mpitx := func(args ...string) *process {
				p := newProcess(environ, dir, append([]string{"mpitx"}, args...)...)
				p.run(hung)
				return p
			}
			p := newProcess(environ, dir, append(slices.Clone(launchers[family]), "mpitx", "profile", "--dir", "run", "--pvar", "mpitx:calls", "--interval", "1ms", "--", program)...)
			if p.run(hung); p.code != 0 {
				t.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
			}
			total := func(options ...string) (sum int) {
				p := mpitx(append([]string{"report", "run", "samples", "mpitx:calls", "-o", "csv"}, options...)...)
				rows, err := csv.NewReader(&p.stdout).ReadAll()
				if err != nil || p.code != 0 {
					t.Fatalf("%v, exit code %d: %s", err, p.code, p.output())
				}
				for _, row := range rows[1:] {
					n, err := strconv.Atoi(row[slices.Index(rows[0], "total")])
					if err != nil {
						t.Fatalf("%q: %v", row, err)
					}
					sum += n
				}
				return sum
			}
			exchange, parts := total("--phase", "exchange"), 0
			for _, phase := range []string{"exchange", "gather", "wait", "-"} {
				parts += total("--phase", phase)
			}
			if all := total(); parts != all || total("--phase", "exchange", "--phase", "gather", "--phase", "wait", "--phase", "-") != all {
				t.Errorf("%d calls in the phases, %d in the run", parts, all)
			}
			// 4 calls in each of 50 steps on 4 ranks; the steps of the counter at the ends may belong to the neighbours. As a step of
			// the program takes two sampling intervals, that is a few of 50.
			if exchange < 4*45*4 || exchange > 4*50*4+62 {
				t.Errorf("%d calls in the phase exchange", exchange)
			}
			checkPhaseWait(t, mpitx)
			if p := mpitx("report", "run", "samples", "--phase", "solve"); p.code == 0 || !strings.Contains(p.stderr.String(), "run: solve: the run has no such phase; it has exchange, gather, wait\n") {
				t.Errorf("exit code %d: %s", p.code, p.output())
			}
			if p := mpitx("export", "run", "--phase", "wait", "--out", "wait.parquet"); p.code != 0 {
				t.Errorf("exit code %d: %s", p.code, p.output())
			} else if found, _ := filepath.Glob(filepath.Join(dir, "wait.parquet")); len(found) != 1 {
				t.Error("no Parquet file")
			}
		})
	}
}

// checkPhaseWait: rank 3 stays in this phase for 0.4 s, ranks 0 and 1 leave it at once.
func checkPhaseWait(t *testing.T, mpitx func(args ...string) *process) {
	t.Helper()
	p := mpitx("export", "run", "--phase", "wait", "-o", "csv")
	n := map[string]int{}
	for _, l := range regexp.MustCompile(`(?m)^[0-9.]+,([0-3]),`).FindAllStringSubmatch(p.stdout.String(), -1) {
		n[l[1]]++
	}
	if p.code != 0 || n["3"] < 10 || n["0"] > n["3"]/2 || n["1"] > n["3"]/2 {
		t.Fatalf("exit code %d, samples of each rank: %v", p.code, n)
	}
}
