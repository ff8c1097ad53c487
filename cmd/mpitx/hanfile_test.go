//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/fixtures/algorithms"
	"mpitx/settings/decision"
)

// On two nodes, the library reads a random file of coll han as the interpreter does, and then uses the components that it says.
func TestHanFile(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		if h.family != "openmpi" { // MPICH has no such component
			return
		}
		program := filepath.Join(h.dir, "served")
		(&onFamily{T: t, family: h.family, dir: h.dir}).build("mpicc", "../../fixtures/algorithms/served/served.c", "-std=gnu11", "-O1")
		os.Rename(program+"_c", program)
		l := &decision.Library{Family: "openmpi", Version: "4.1.4"}
		s := algorithms.Random(1, l, decision.Han, 4)
		for k := range s.Calls {
			s.Calls[k].Ranks, s.Calls[k].Nodes = 4, 2
			if k%6 == 0 {
				s.Calls[k].Ranks, s.Calls[k].Nodes = 2, 1
			}
		}
		s.Distinct()
		table, err := decision.Read([]byte(s.File), l)
		rules := filepath.Join(h.dir, "rules")
		if err != nil || table.Rejected() || os.WriteFile(rules, []byte(s.File), 0o600) != nil {
			t.Fatal(err, table.Problems)
		}
		var mca []string
		for _, set := range []string{"priority 90", "use_dynamic_file_rules 1", "dynamic_rules_filename " + rules, "dump_dynamic_rules 1", "verbose 5"} {
			mca = append(mca, strings.Fields("--mca coll_han_"+set)...)
		}
		printed, said := h.run(0, 1, slices.Concat(h.mpirun(mca...), []string{"--mca", "coll_base_verbose", "5", "mpitx", "profile", "--no-summary", "--dir", "run", "--", program}, s.Arguments())...)
		if err := algorithms.CheckDump(printed+said, table); err != nil {
			t.Error(err)
		}
		report, _ := h.run(0, loginNode, "mpitx", "report", "run", "algorithms", "-o", "json")
		if err := s.CheckServed([]byte(report), []byte(printed), table); err != nil {
			t.Error(err)
		}
	})
}
