//go:build cgo && linux

package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/algorithms"
)

// Each algorithm that Open MPI's component tuned or MPICH can be forced to use is reported, with the right number of calls. MPICH hides them
// until mpitx has found out which functions of this build they are.
func TestAlgorithms(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		f.environ = append(f.environ, "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"))
		for _, ranks := range []int{2, 4, 5} {
			name := fmt.Sprint("run", ranks)
			p := f.run("mpitx", "profile", "-n", fmt.Sprint(ranks), "--mpi", f.family, "--no-summary", "--dir", name, "--workload", "algorithms", "-o", "csv")
			if p.failure != "" || p.code != 0 {
				f.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
			}
			p = f.run("mpitx", "report", name, "algorithms", "-o", "json")
			if f.family == "mpich" && ranks == 2 {
				if p.code != 1 || !strings.Contains(p.stderr.String(), "mpitx setup --algorithms") {
					f.Errorf("exit code %d: %s", p.code, p.output())
				}
				p = f.run("mpitx", "setup", "--algorithms")
				if out := p.stdout.String(); p.code != 0 || !strings.Contains(out, ": 58 algorithms of MPICH 4.0.2\n") || strings.Contains(out, "not found") {
					f.Errorf("exit code %d: %s", p.code, p.output())
				}
				p = f.run("mpitx", "report", name, "algorithms", "-o", "json")
			}
			if err := algorithms.Check(p.stdout.Bytes(), ranks); err != nil {
				f.Error(err)
			}
		}
	})
}

// What Open MPI chooses itself is reported: one case for each branch of its decision functions.
func TestDecisions(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		if f.family != "openmpi" {
			return
		}
		program := f.build("mpicc", filepath.Join("..", "..", "fixtures", "algorithms", "unforced", "unforced.c"), "-std=gnu11", "-O1", "-g")
		for _, ranks := range []int{2, 4, 5} {
			name, all := fmt.Sprint("chosen", ranks), algorithms.Decisions(ranks)
			argv := append([]string{"mpitx", "profile", "-n", fmt.Sprint(ranks), "--no-summary", "--dir", name, "--", program}, algorithms.Arguments(all)...)
			if p := f.run(argv...); p.failure != "" || p.code != 0 {
				f.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
			}
			report := f.run("mpitx", "report", name, "-o", "json").stdout.Bytes()
			if !strings.Contains(string(report), "Open MPI v4.1.4") && !strings.Contains(string(report), "Open MPI v5.0.7") {
				f.Skip("the decisions of other releases are not known here") // make lab-test has both
			}
			if err := algorithms.CheckDecisions(report, all, ranks, "fixed"); err != nil {
				f.Error(err)
			}
		}
	})
}

// Rules for sizes in a file, and what mpitx verify finds out about a variable with and without the one that it needs.
func TestAlgorithmRules(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		if f.family != "openmpi" {
			return
		}
		rules := filepath.Join(f.dir, "rules")
		if err := os.WriteFile(rules, []byte("1\n2 # allreduce\n1\n4 # ranks\n2 # sizes\n0 4 0 0 # ring\n1024 3 0 0 # recursive doubling\n"), 0o600); err != nil {
			f.Fatal(err)
		}
		p := f.run("mpitx", "profile", "-n", "4", "--set", "coll_tuned_use_dynamic_rules=1", "--set", "coll_tuned_dynamic_rules_filename="+rules,
			"--no-summary", "--dir", "ruled", "--workload", "allreduce", "--duration", "100ms")
		if p.failure != "" || p.code != 0 {
			f.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
		}
		p = f.run("mpitx", "report", "ruled", "algorithms", "--function", "MPI_Allreduce", "-o", "csv")
		rows, err := csv.NewReader(&p.stdout).ReadAll()
		if err != nil || len(rows) < 3 || p.code != 0 {
			f.Fatalf("%d rows, %v, exit code %d", len(rows), err, p.code)
		}
		for _, row := range rows[1:] {
			from, err := strconv.Atoi(row[2])
			want := "ring"
			if from >= 1024 {
				want = "recursive_doubling"
			}
			if err != nil || row[5] != "dynamic" || row[6] != want {
				f.Errorf("%q, want dynamic, %s", row, want)
			}
		}
		for needed, want := range map[string]string{"coll_tuned_use_dynamic_rules=1": "true", "mpi_show_handle_leaks=0": "false"} {
			p := f.run("mpitx", "verify", "-n", "4", "--rounds", "5", "--duration", "50ms", "coll_tuned_allreduce_algorithm=ring", needed, "-o", "json")
			if !strings.Contains(p.stdout.String(), `"algorithms_changed": `+want) {
				f.Errorf("with %s, algorithms_changed is not %s: %s", needed, want, p.output())
			}
		}
	})
}

// A collective that the program calls in a callback is not a part of the outer call. What runs on another communicator is a part, not the
// algorithm. A broadcast between groups has parts only in the group that receives.
func TestAlgorithmParts(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		if f.family != "openmpi" {
			return
		}
		program := f.build("mpicc", filepath.Join("testdata", "algorithms", "parts.c"), "-O1", "-g")
		f.launch("profile", "--no-summary", "--dir", "run", "--", program)
		p := f.run("mpitx", "report", "run", "algorithms", "-o", "csv")
		rows, err := csv.NewReader(&p.stdout).ReadAll()
		if err != nil || p.code != 0 {
			f.Fatalf("%v, exit code %d", err, p.code)
		}
		calls := map[string]int{}
		for _, row := range rows[1:] {
			n, _ := strconv.Atoi(row[9])
			parts, _, _ := strings.Cut(row[7], " ")
			calls[strings.Join([]string{row[0], row[1], row[4], parts}, "|")] += n
		}
		if calls["MPI_Allreduce|MPI_COMM_WORLD|tuned|"]+calls["MPI_Allreduce|MPI_COMM_WORLD|tuned|recursive_doubling"] != 40 ||
			calls["MPI_Bcast|both|inter|"]+calls["MPI_Bcast|both|inter|bcast"] != 40 || calls["MPI_Bcast|both|inter|bcast"] == 0 {
			f.Errorf("%v", calls)
		}
	})
}

// On two hosts, Open MPI's component han makes collectives of those of the hosts and those between them.
func TestHostsAlgorithms(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		if h.family != "openmpi" {
			return
		}
		h.environ = append(h.environ, "OMPI_MCA_coll_han_priority=100")
		h.run(0, 1, "mpitx", "profile", "-n", "4", "--mpi", h.family, "--no-summary", "--dir", "run", "--workload", "allreduce", "--duration", "100ms")
		out, _ := h.run(0, loginNode, "mpitx", "report", "run", "algorithms", "-o", "csv", "--function", "MPI_Allreduce", "--comm", "MPI_COMM_WORLD")
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, row := range rows[1:] {
			if row[4] != "han" || row[7] == "" {
				t.Errorf("component %q, parts %q: %v", row[4], row[7], row)
			}
		}
	})
}
