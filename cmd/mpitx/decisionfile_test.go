//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
			f.learn()
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

// The calls that a tree of compositions makes abort are those that the interpreter says.
func TestCompositions(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		if f.family != "mpich" {
			f.Skip("only MPICH has compositions")
		}
		program := f.build("mpicc", filepath.Join("..", "..", "fixtures", "algorithms", "served", "served.c"), "-std=gnu11", "-O1")
		l, rules := f.library(), filepath.Join(f.dir, "rules")
		f.environ = append(f.environ, "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE="+rules)
		for seed := range uint64(3) {
			s := algorithms.Random(seed, l, decision.Composed, 4)
			table, err := decision.Read([]byte(s.File), l)
			if err != nil || table.Form != decision.Composed || table.Rejected() || os.WriteFile(rules, []byte(s.File), 0o600) != nil {
				f.Fatal(err, table.Problems)
			}
			fine := s.AbortLast(table)
			p := f.run(append([]string{"mpirun.mpich", "-n", "4", program}, s.Arguments()...)...)
			if got := strings.Count(p.stdout.String(), ": 0\n"); got != fine || fine < 4 || p.code == 0 {
				f.Errorf("seed %d: %d of %d calls, want %d\n%s\n%s", seed, got, len(s.Calls), fine, s.File, p.output())
			}
		}
	})
}

// learn makes mpitx know the algorithms of MPICH, once for all tests.
func (f *onFamily) learn() {
	f.environ = append(f.environ, "XDG_CACHE_HOME="+filepath.Join(work, "learned"))
	learnOnce.Do(func() {
		if p := f.run("mpitx", "setup", "--algorithms"); p.code != 0 {
			f.Fatal(p.output())
		}
	})
}

var learnOnce sync.Once

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
