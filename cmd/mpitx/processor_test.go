//go:build cgo && linux

package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestProcessor profiles programs whose ranks compute, sleep and share cores as it is known. What else the machine does may make ranks wait, but
// changes neither what they compute nor what is said of it.
func TestProcessor(t *testing.T) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")
			program := filepath.Join(dir, "shares")
			if text, err := exec.Command("mpicc."+family, "-g", "-O1", "-o", program, "testdata/processor/shares.c").CombinedOutput(); err != nil {
				t.Fatalf("shares.c: %v\n%s", err, text)
			}
			noSchedstat := filepath.Join(dir, "noschedstat.so")
			if text, err := exec.Command("gcc", "-shared", "-fPIC", "-o", noSchedstat, "testdata/processor/noschedstat.c").CombinedOutput(); err != nil {
				t.Fatalf("noschedstat.c: %v\n%s", err, text)
			}
			for _, c := range []struct {
				what, cores, ranks string
				short              bool
				first              string // finding, without other programs
			}{
				{"equal", "1", "4", true, `^4 ranks on 1 core: (rank \d|ranks) waited \d+(-\d+)? % of the run for a core(;|$)`},
				{"more", "1", "4", true, `^4 ranks on 1 core: (rank \d|ranks) waited \d+(-\d+)? % of the run for a core(;|$)`},
				{"sleep", "1", "4", true, `^4 ranks on 1 core: (rank \d|ranks) waited \d+(-\d+)? % of the run for a core(;|$)`},
				{"short", "1", "3", true, `^3 ranks on 1 core: (rank \d|ranks) (waited (at least )?\d+(-\d+)? % of the run for a core|(was|were) ready to run without a core for \d+(-\d+)? % of the run, in MPI)`},
				{"more", "1", "4", true, `^4 ranks on 1 core: (rank \d|ranks) waited (at least )?\d+(-\d+)? % of the run for a core, estimated from interruptions(;|$)`}, // without schedstat
				{"more", "2", "2", false, `^load balance (of computing )?is 6\d %: rank 1 computes for \d+ ms, the mean is \d+ ms`},
			} {
				name, environ := c.what+c.cores, append(slices.Clone(environ), "OMPI_MCA_hwloc_base_binding_policy=none")
				estimated := strings.Contains(c.first, "estimated")
				if estimated {
					name, environ = name+"estimated", append(environ, "LD_PRELOAD="+noSchedstat)
				}
				argv := append(slices.Clone(launchers[family]), "mpitx", "profile", "--dir", name, "--out", name+".txt", "--", program, c.what, c.cores)
				argv[slices.Index(argv, "4")] = c.ranks
				p := newProcess(environ, dir, argv...)
				if p.run(hung); p.code != 0 {
					t.Fatalf("%s: exit code %d: %s", name, p.code, p.output())
				}
				r := readReport(t, environ, filepath.Join(dir, name))
				checkShares(t, name, r)
				if p := r.Ranks[0].Processor; p != nil && p.Estimated != estimated {
					t.Errorf("%s: %+v", name, p)
				}
				if len(r.Findings) == 0 {
					t.Errorf("%s: no finding", name)
					continue
				}
				first := 0
				if !c.short && r.Findings[0].Kind == "processor" { // because of other programs
					first = 1
				}
				if (c.short || considerable(r)) && !regexp.MustCompile(c.first).MatchString(r.Findings[min(first, len(r.Findings)-1)].Text) {
					t.Errorf("%s: not %s: %+v", name, c.first, r.Findings)
				}
				checkBlame(t, c.what, r)
			}
		})
	}
}

// checkShares compares what the ranks did with what the kernel counted.
func checkShares(t *testing.T, name string, r *profiledRun) {
	t.Helper()
	const ms, slack = 1_000_000, 10_000_000
	for _, rank := range r.Ranks {
		p := rank.Processor
		if p == nil || p.Cores != 1 {
			t.Errorf("%s: rank %d: %+v", name, rank.Rank, p)
			continue
		}
		if p.Wait_ns > rank.Elapsed_ns+slack || p.Computed.Least_ns+p.Waited.Least_ns+p.Slept.Least_ns > rank.Elapsed_ns-rank.In_mpi_ns+slack || p.Cpu_time_ns < p.Computed.Least_ns {
			t.Errorf("%s: rank %d in %d ns, %d of them in MPI: %+v", name, rank.Rank, rank.Elapsed_ns, rank.In_mpi_ns, p)
		}
		computes, sleeps := int64(100*ms), int64(0)
		switch {
		case strings.HasPrefix(name, "short"):
			continue // too short to be told apart
		case rank.Rank == 1 && strings.HasPrefix(name, "more"):
			computes = 400 * ms
		case rank.Rank == 1 && strings.HasPrefix(name, "sleep"):
			sleeps = 300 * ms
		}
		if p.Computed.Least_ns < computes-slack || p.Computed.Most_ns < computes || p.Computed.Least_ns > computes+3*slack || p.Slept.Least_ns < sleeps-3*slack || p.Slept.Most_ns < sleeps {
			t.Errorf("%s: rank %d computes for %d ns and sleeps for %d: %+v", name, rank.Rank, computes, sleeps, p)
		}
	}
}

// checkBlame looks at who is said to compute or sleep, and that no line is blamed for what the scheduler did.
func checkBlame(t *testing.T, what string, r *profiledRun) {
	t.Helper()
	blame := map[string]string{"more": `rank 1 computes for \d+ ms`, "sleep": `rank 1 sleeps outside of MPI for \d+ ms`}
	found := false
	for _, f := range r.Findings {
		found = found || blame[what] != "" && regexp.MustCompile(blame[what]).MatchString(f.Text)
		if f.Kind == "load imbalance" && what != "more" && !ranUnequally(r) || f.Kind == "sleep" && what != "sleep" {
			t.Errorf("%s: %s", what, f.Text)
		}
		if what != "more" && strings.Contains(f.Text, "shares.c") && r.Findings[0].Kind == "processor" {
			t.Errorf("%s: %s; %s", what, r.Findings[0].Text, f.Text)
		}
	}
	if blame[what] != "" && !found && considerable(r) {
		t.Errorf("%s: not %s: %+v", what, blame[what], r.Findings)
	}
}

// considerable reports whether what rank 1 does for 300 ms more than the others is enough of the run to be a finding: beside other programs a run
// takes longer.
func considerable(r *profiledRun) bool {
	const more, significant = 300_000_000, 0.05
	excess := more * float64(len(r.Ranks)-1) / float64(len(r.Ranks))
	return 0.9*excess > significant*float64(r.Run.Elapsed_ns)
}

// ranUnequally reports whether the kernel counted unequal times: a virtual machine can lose its core while a rank computes.
func ranUnequally(r *profiledRun) bool {
	var most, sum int64
	for _, rank := range r.Ranks {
		if rank.Processor == nil {
			return false
		}
		most, sum = max(most, rank.Processor.Computed.Least_ns), sum+rank.Processor.Computed.Most_ns
	}
	return 10*sum/int64(len(r.Ranks)) <= 9*most
}
