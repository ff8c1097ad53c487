//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mpitx/catalog"
	"mpitx/fixtures/algorithms"
	"mpitx/settings/decision"
)

// What the library then ran is what the interpreter of its decision files says, for random files.
func TestDecisionFile(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", filepath.Join("..", "..", "fixtures", "algorithms", "served", "served.c"), "-std=gnu11", "-O1")
		l, form := f.library(), decision.Classic
		rules := filepath.Join(f.dir, "rules")
		set := []string{"--set", "coll_tuned_use_dynamic_rules=1", "--set", "coll_tuned_dynamic_rules_filename=" + rules}
		if f.family == "mpich" {
			form, set = decision.Selection, []string{"--set", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + rules}
			f.environ = append(f.environ, "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"))
			if p := f.run("mpitx", "setup", "--algorithms"); p.code != 0 {
				f.Fatal(p.output())
			}
		}
		for seed := range uint64(2) {
			s := algorithms.Random(seed, l, form, 5)
			table, err := decision.Read([]byte(s.File), l)
			if err != nil || table.Rejected() {
				f.Fatal(err, table.Problems)
			}
			if err := os.WriteFile(rules, []byte(s.File), 0o600); err != nil {
				f.Fatal(err)
			}
			run := filepath.Join(f.dir, fmt.Sprint("run", seed))
			argv := slices.Concat([]string{"mpitx", "profile", "-n", "5", "--mpi", f.family, "--no-summary", "--dir", run}, set, []string{"--", program}, s.Arguments())
			p := f.run(argv...)
			if p.failure != "" || p.code != 0 {
				f.Fatalf("%s: exit code %d: %s\n%s", p.failure, p.code, p.output(), s.File)
			}
			report := f.run("mpitx", "report", run, "algorithms", "-o", "json").stdout.Bytes()
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
	l := decision.LibraryOf(c)
	if f.family == "mpich" {
		file, err := os.ReadFile(c.Library.Path)
		if err != nil {
			f.Fatal(err)
		}
		l.Learn(file)
	}
	return l
}
