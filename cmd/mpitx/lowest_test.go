//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
)

// The lowest rank with mpitx finishes the run: a wrapper starts some ranks with it, or one of the programs of a job has it. The job ends
// as without mpitx.
func TestLowestRankFinishes(t *testing.T) {
	t.Parallel()
	const absent = ": nothing was recorded: not started with mpitx\n"
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		launcher := slices.Clone(launchers[f.family])
		launcher[len(launcher)-1] = "3"
		only, err := filepath.Abs("testdata/mpmd/only.sh")
		if err != nil {
			f.Fatal(err)
		}
		ring := f.build("mpicc", "testdata/mpmd/ring.c")
		ends := f.build("mpicc", "testdata/ends.c")
		for _, c := range []struct {
			ranks, command string
			app            []string
			file           string
			says           []string
		}{
			{"1", "profile --dir one", []string{ring}, "one/job.json", []string{"ranks 0,2" + absent, "\nring_c: 1 of 3 ranks on 1 node"}},
			{"1 2", "sample --pvar mpitx:calls --out both.csv", []string{ring}, "both.csv", []string{"rank 0" + absent}},
			{"2 0", "trace --out two.pftrace", []string{ring}, "two.pftrace", []string{"rank 1" + absent, " on 2 of 3 ranks", "mpitx: the trace is in two.pftrace"}},
			{"2", "record --pvar mpitx:calls --dir last", []string{ring}, "last/job.json", []string{"ranks 0-1" + absent, "mpitx: recorded in last"}},
			{"1", "run --dir state", []string{ring}, "state/job.json", []string{"mpitx: the states of all ranks are in state"}},
			{"1 2", "sample --pvar mpitx:calls --out died.csv", []string{ends, "exit", "1"}, "died.csv", []string{"mpitx: died.csv is written"}},
			{"1 2", "profile --dir aborted", []string{ends, "MPI_Abort", "0"}, "aborted/job.json", []string{"\nends_c MPI_Abort 0: 2 of 3 ranks", "mpitx: profiled in aborted"}},
		} {
			plain := f.run(append(slices.Clone(launcher), c.app...)...)
			p := f.run(slices.Concat(launcher, []string{only, c.ranks}, strings.Fields(c.command), []string{"--"}, c.app)...)
			code := p.code == plain.code || f.family == "mpich" && p.code*plain.code != 0 // of a rank, or of those that Hydra kills
			if p.failure != "" || !code || p.code == 0 && p.stdout.Len() > 0 {
				f.Errorf("ranks %s, %s: exit code %d, without mpitx %d: %s %s", c.ranks, c.command, p.code, plain.code, p.failure, p.output())
			}
			for _, text := range c.says {
				if strings.Count(p.stderr.String(), text) != 1 {
					f.Errorf("ranks %s, %s: %q is not said once: %s", c.ranks, c.command, text, p.output())
				}
			}
			if _, err := os.Stat(filepath.Join(f.dir, c.file)); err != nil {
				f.Errorf("ranks %s, %s: %v: %s", c.ranks, c.command, err, p.output())
			}
		}
		for _, c := range []struct { // mpitx on these ranks refuses to start the program
			ranks, command string
			code           int
			says           string
		}{
			{"2", "sample --bogus", cli.ExitUsage, "mpitx: there is no flag --bogus"},
			{"1 2", "record --pvar no_such_variable", cli.ExitFailed, "mpitx: --pvar no_such_variable: "},
			{"0 1 2", "profile --dir no/such/place", cli.ExitFailed, "mpitx: run directory no/such/place: "},
			{"1 2", "list --mpi nonsense", cli.ExitUsage, "mpitx: --mpi nonsense: "},
		} {
			p := f.run(slices.Concat(launcher, []string{only, c.ranks}, strings.Fields(c.command), []string{"--", ring})...)
			if p.failure != "" || p.code != c.code || strings.Count(p.stderr.String(), c.says) != 1 {
				f.Errorf("ranks %s, %s: exit code %d, not %d, and %q once: %s", c.ranks, c.command, p.code, c.code, c.says, p.output())
			}
		}
		text, _ := os.ReadFile(filepath.Join(f.dir, "both.csv"))
		if head, rows, _ := strings.Cut(string(text), "\n"); !strings.Contains(head, "rank") || !regexp.MustCompile(`(?m)^[^,]*,1,`).MatchString(rows) || !regexp.MustCompile(`(?m)^[^,]*,2,`).MatchString(rows) {
			f.Errorf("both.csv:\n%.500s", text)
		}
		if extra, _ := filepath.Glob(filepath.Join(f.dir, "*-2.*")); len(extra) > 0 {
			f.Errorf("written twice: %v", extra)
		}
		atmosphere, ocean := f.build("mpicc", "testdata/mpmd/model.c", "-DCOLOR=0"), filepath.Join(f.dir, "ocean")
		if err := os.Rename(f.build("mpicc", "testdata/mpmd/model.c", "-DCOLOR=1"), ocean); err != nil {
			f.Fatal(err)
		}
		f.build("mpicc", "testdata/mpmd/model.c", "-DCOLOR=0")
		profile := []string{"mpitx", "profile", "--dir", "coupled", "--"}
		launcher[len(launcher)-1] = "2"
		p := f.run(slices.Concat(launcher, profile, []string{atmosphere, ":", "-n", "1"}, profile, []string{ocean})...)
		if p.failure != "" || p.code != 0 || !strings.Contains(p.stderr.String(), "\nmodel_c and ocean: 3 ranks on 1 node") {
			f.Errorf("two programs: exit code %d: %s", p.code, p.output())
		}
	})
}
