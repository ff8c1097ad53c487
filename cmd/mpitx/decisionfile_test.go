//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"mpitx/catalog"
	"mpitx/fixtures/algorithms"
	"mpitx/settings/decision"
)

// What Open MPI then ran is what the interpreter of its rules says, for random files.
func TestDecisionFile(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		if f.family != "openmpi" {
			return
		}
		program := f.build("mpicc", filepath.Join("..", "..", "fixtures", "algorithms", "served", "served.c"), "-std=gnu11", "-O1")
		l := f.library()
		for seed := range uint64(4) {
			s := algorithms.Random(seed, l, decision.Classic, 5)
			table, err := decision.Read([]byte(s.File), l)
			if err != nil || table.Rejected() {
				f.Fatal(err, table.Problems)
			}
			dir := f.T.TempDir()
			rules := filepath.Join(dir, "rules")
			if err := os.WriteFile(rules, []byte(s.File), 0o600); err != nil {
				f.Fatal(err)
			}
			argv := append([]string{"mpitx", "profile", "-n", "5", "--set", "coll_tuned_use_dynamic_rules=1", "--set", "coll_tuned_dynamic_rules_filename=" + rules,
				"--no-summary", "--dir", filepath.Join(dir, "run"), "--", program}, s.Arguments()...)
			p := f.run(argv...)
			if p.failure != "" || p.code != 0 {
				f.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
			}
			report := f.run("mpitx", "report", filepath.Join(dir, "run"), "algorithms", "-o", "json").stdout.Bytes()
			if err := s.CheckServed(report, p.stdout.Bytes(), table); err != nil {
				f.Errorf("seed %d: %v", seed, err)
			}
		}
	})
}

// library is what the family's library knows.
func (f *onFamily) library() *decision.Library {
	snapshot := filepath.Join(f.dir, "library.json")
	if p := f.run("mpitx", "snapshot", "--mpi", f.family, "--out", snapshot); p.code != 0 {
		f.Fatal(p.output())
	}
	c, err := catalog.Load(snapshot)
	if err != nil {
		f.Fatal(err)
	}
	return decision.LibraryOf(c)
}
