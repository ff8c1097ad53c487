//go:build cgo && linux

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/trace"
	"mpitx/text"
)

// TestRefused fails what the agent asks the system for, one thing on each rank but the first, which is the measure: all ranks of the
// program do the same. Whatever fails, the program must not notice, and a rank with other numbers must be named. Each place of the agent
// fails once, half of them on each MPI; with MPITX_FAIL=all everything that it asks for fails once, on both.
func TestRefused(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	library := filepath.Join(dir, "fail.so")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, "../../fixtures/fail/fail.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("fail.c: %v\n%s", err, out)
	}
	for half, family := range []string{machine.OpenMPI, machine.MPICH} {
		t.Run(family, func(t *testing.T) {
			if !slices.Contains(families, family) {
				need.Missing(t, "an agent for %s is missing", family)
			}
			program := filepath.Join(dir, "known."+family)
			if out, err := exec.Command("mpicc."+family, "-g", "-O1", "-pthread", "-o", program, "../../fixtures/fail/known.c").CombinedOutput(); err != nil {
				t.Fatalf("known.c: %v\n%s", err, out)
			}
			for command, numbers := range map[string]func(*recording.Run) (map[int]string, error){
				"record --pvar mpitx:*": sampledNumbers, "profile -o json": profiledNumbers, "trace": tracedNumbers} {
				j := &refusals{t: t, library: library, program: program, family: family, command: command, numbers: numbers}
				j.each(half)
			}
		})
	}
}

const (
	refusedRanks = 12 // of one job, besides rank 0
	refusedCode  = 5
)

type refusals struct {
	t                                 *testing.T
	library, program, family, command string
	numbers                           func(*recording.Run) (map[int]string, error)
}

// each finds out what the agent asks for, and fails it.
func (j *refusals) each(half int) {
	asked, _ := j.job(nil)
	var list []int
	seen := map[string]bool{}
	for _, a := range asked {
		place := strings.Join(strings.Split(a.what+" "+a.places, "/")[:min(2, strings.Count(a.places, "/")+1)], "/")
		all := os.Getenv("MPITX_FAIL") == "all"
		if a.rank != 1 || seen[place] && !all {
			continue
		}
		if seen[place] = true; all || len(seen)%2 == half {
			list = append(list, a.number)
		}
	}
	if len(list) < 10 {
		j.t.Errorf("%s: the agent asked for %d things", j.command, len(list))
	}
	for part := range slices.Chunk(list, refusedRanks) {
		asked, run := j.job(part)
		j.check(asked, run)
	}
}

type ask struct {
	rank, number int
	what, places string
	failed       bool
}

type refusedRun struct {
	dir, errors string
}

// job runs the program. Its output and exit code must be those of the program.
func (j *refusals) job(nth []int) ([]ask, refusedRun) {
	t, dir := j.t, j.t.TempDir()
	log, ranks := filepath.Join(dir, "log"), 2
	var words []string
	for _, n := range nth {
		words = append(words, strconv.Itoa(n))
	}
	if len(nth) > 0 {
		ranks = len(nth) + 1
	}
	argv := append(append([]string{"mpitx"}, strings.Fields(j.command)...), "--mpi", j.family, "-n", strconv.Itoa(ranks), "--dir", "run", "--", j.program, strconv.Itoa(refusedCode))
	p := newProcess(append(testEnvironment(t), "LD_PRELOAD="+j.library, "FAIL_LOG="+log, "FAIL_NTH="+strings.Join(words, ",")), dir, argv...)
	p.run(hung)
	if p.failure != "" || p.code != refusedCode {
		t.Fatalf("%s, failing %v: %s\nexit code %d\n%s", j.command, nth, p.failure, p.code, p.output())
	}
	for r := range ranks {
		if line := fmt.Sprintf("rank %d: %d\n", r, ranks*(ranks-1)/2); strings.Count(p.stdout.String(), line) != 1 {
			t.Errorf("%s, failing %v: rank %d did not print its line once:\n%s", j.command, nth, r, p.output())
		}
	}
	var asked []ask
	text, _ := os.ReadFile(log)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 4 {
			rank, _ := strconv.Atoi(f[0])
			number, _ := strconv.Atoi(f[1])
			asked = append(asked, ask{rank, number, f[2], f[3], len(f) > 4})
		}
	}
	return asked, refusedRun{filepath.Join(dir, "run"), p.stderr.String()}
}

// check compares the ranks with rank 0.
func (j *refusals) check(asked []ask, at refusedRun) {
	t := j.t
	run, err := recording.Open(at.dir)
	if err != nil {
		t.Fatalf("%s: %v\n%s", j.command, err, at.errors)
	}
	defer run.Close()
	numbers, err := j.numbers(run)
	if err != nil || numbers[0] == "" {
		t.Fatalf("%s: rank 0 has no numbers: %v\n%s", j.command, err, at.errors)
	}
	incomplete, named, room := run.IncompleteRanks(), namedRanks(at.errors), false
	failed := map[int]ask{}
	for _, a := range asked {
		if a.failed {
			failed[a.rank] = a
			room = room || a.what == "fallocate" || a.what == "write"
		}
	}
	for _, r := range slices.Sorted(maps.Keys(failed)) {
		if a := failed[r]; numbers[r] != numbers[0] && !named[r] {
			t.Errorf("%s: rank %d has %q, not %q, and is not named; failed: %s at %s\n%s", j.command, r, numbers[r], numbers[0], a.what, a.places, at.errors)
		}
	}
	for r, n := range numbers {
		if _, is := failed[r]; !is && (n != numbers[0] || slices.Contains(incomplete, r)) {
			t.Errorf("%s: nothing failed on rank %d, which has %q, not %q", j.command, r, n, numbers[0])
		}
	}
	for _, wrong := range []string{"no such", "free space in /dev/shm"} {
		if strings.Contains(at.errors, wrong) && !room {
			t.Errorf("%s: a wrong reason:\n%s", j.command, at.errors)
		}
	}
	files, _ := filepath.Glob(filepath.Join(at.dir, "*"))
	for _, file := range files {
		if st, err := os.Stat(file); err == nil && st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %s has mode %v", j.command, file, st.Mode())
		}
	}
}

// namedRanks are the ranks that messages are about.
func namedRanks(words string) map[int]bool {
	named := map[int]bool{}
	for _, m := range regexp.MustCompile(`(?m)^mpitx: ranks? ([0-9,-]+): `).FindAllStringSubmatch(words, -1) {
		ranks, _ := text.ParseRanks(m[1])
		for _, r := range ranks {
			named[r] = true
		}
	}
	return named
}

func sampledNumbers(run *recording.Run) (map[int]string, error) {
	last := map[int]map[string]string{}
	for in := range run.Instants(recording.Options{}) {
		for _, c := range in.Cells {
			switch name := c.Column.Variable; name {
			case "mpitx:calls", "mpitx:messages_sent", "mpitx:messages_received", "mpitx:bytes_sent", "mpitx:collectives":
				if last[in.Rank.Rank] == nil {
					last[in.Rank.Rank] = map[string]string{}
				}
				last[in.Rank.Rank][name] = c.Value.String()
			}
		}
	}
	numbers := map[int]string{}
	for r, values := range last {
		numbers[r] = fmt.Sprint(values)
	}
	return numbers, nil
}

func profiledNumbers(run *recording.Run) (map[int]string, error) {
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		return nil, err
	}
	numbers, sent, received := map[int]string{}, map[int]uint64{}, map[int]uint64{}
	for _, pair := range p.Pairs {
		sent[pair.Source] += pair.MessagesSent
		received[pair.Destination] += pair.MessagesReceived
	}
	for _, r := range p.Ranks {
		numbers[r.Number] = fmt.Sprint(r.Calls, r.MessagesSent, r.MessagesReceived, r.BytesSent, r.BytesIn, sent[r.Number], received[r.Number])
	}
	return numbers, nil
}

func tracedNumbers(run *recording.Run) (map[int]string, error) {
	calls, messages := map[int]int{}, map[int]int{}
	for e := range trace.Read(run, trace.Options{}).Events {
		if e.Call != nil {
			calls[e.Rank.Rank]++
			messages[e.Rank.Rank] += len(e.Call.Messages)
		}
	}
	numbers := map[int]string{}
	for r, n := range calls {
		numbers[r] = fmt.Sprint(n, messages[r])
	}
	return numbers, nil
}
