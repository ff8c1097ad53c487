//go:build cgo && linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/machine"
	"mpitx/tune/grid"
)

// All algorithms of MPI_Bcast are slow but one, which is fast only with segments of 1 kB in Open MPI. A campaign finds that one, also if it is
// killed in between, and writes a file with which the library uses the algorithm, as the profile proves, and the segments.
func TestCollectives(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		winner, value := grid.Algorithm{Name: "pipeline", Value: 3, Segment: 1024}, "3"
		if f.family == machine.MPICH {
			winner, value = grid.Algorithm{Name: "scatter_ring_allgather", Value: 5}, "5"
		}
		f.environ = append(f.environ, "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"))
		plain := f.environ
		f.environ = append(plain[:len(plain):len(plain)], f.preload("winner.c"), "WINNER="+value, "SEGMENT=1024")
		args := []string{"mpitx", "tune", "--collectives", "--mpi", f.family, "-n", "2", "--only", "bcast", "--sizes", "4k..4k", "--dir", "campaign", "--screening", "3", "--extra", "1"}
		first := newProcess(f.environ, f.dir, args...)
		if err := first.start(); err != nil {
			f.Fatal(err)
		}
		journal := filepath.Join(f.dir, "campaign", "journal")
		lines := func() [][]byte {
			content, _ := os.ReadFile(journal)
			return bytes.SplitAfter(content, []byte("\n"))
		}
		for begin := time.Now(); len(lines()) < 4 && time.Since(begin) < hung; { // the plan, two runs, and what follows
			time.Sleep(10 * time.Millisecond)
		}
		first.cmd.Process.Signal(syscall.SIGTERM)
		<-first.ended
		before := lines()
		if code := first.cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
			f.Errorf("exit code %d: %s", code, first.output())
		}
		p := f.run(args...)
		if p.failure != "" || p.code != 0 || !strings.Contains(p.stderr.String(), "of an earlier campaign") {
			f.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
		}
		after := lines()
		for k, line := range before[:len(before)-1] {
			if !bytes.Equal(line, after[k]) {
				f.Errorf("line %d of the journal differs", k+1)
			}
		}
		var result grid.Result
		content, err := os.ReadFile(filepath.Join(f.dir, "campaign", "result.json"))
		if err != nil || json.Unmarshal(content, &result) != nil {
			f.Fatal(err)
		}
		if len(result.Choices) != 1 || result.Choices[0].Algorithm != winner || result.Choices[0].From != 4096 || result.Choices[0].To != 4096 || result.Runs != len(after)-2 {
			f.Fatalf("%d runs, %d lines, %+v\n%s", result.Runs, len(after), result.Choices, p.output())
		}
		if p := f.run(append(args, "--seed", "2")...); p.code == 0 || !strings.Contains(p.stderr.String(), "name another directory") {
			f.Errorf("another seed: exit code %d: %s", p.code, p.output())
		}
		f.environ = plain
		f.serves(p.stderr.String(), winner)
	})
}

// serves checks that the library runs an algorithm of MPI_Bcast with the settings that a campaign recommends, and sends the segments.
func (f *onFamily) serves(said string, want grid.Algorithm) {
	f.Helper()
	_, words, found := strings.Cut(said, "to use it: mpitx run -n 2 ")
	words, _, cut := strings.Cut(strings.Join(strings.Fields(words), " "), " -- ./app")
	if !found || !cut {
		f.Fatal(said)
	}
	if f.family == machine.MPICH {
		f.learn()
	}
	program := f.build("mpicc", filepath.Join("..", "..", "fixtures", "algorithms", "served", "served.c"), "-std=gnu11", "-O1")
	called := []string{program, "bcast", "4096", "2", "1"}
	args := slices.Concat([]string{"mpitx", "profile", "-n", "2", "--mpi", f.family, "--no-summary", "--dir", "used"}, strings.Fields(words), []string{"--"}, called)
	if p := f.run(args...); p.code != 0 {
		f.Fatal(p.output())
	}
	if want.Segment > 0 {
		args := strings.Fields("mpirun.openmpi --oversubscribe -n 2 --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 2 " + strings.NewReplacer("--set", "--mca", "=", " ").Replace(words))
		p := f.run(append(args, called...)...)
		// Messages of rank 0 to rank 1 by size: none, 1 byte, 2, 4, …
		if found := regexp.MustCompile(`I\t0\t1\t.*\t([0-9,]+)`).FindStringSubmatch(p.output()); found == nil {
			f.Error(p.output())
		} else if n := strings.Split(found[1], ","); n[11] != "4" || n[13] != "0" {
			f.Errorf("messages: %s", found[1])
		}
	}
	p := f.run("mpitx", "report", "used", "algorithms", "--function", "MPI_Bcast", "-o", "json")
	var report struct {
		Algorithms []struct{ Communicator, Algorithm string }
	}
	if err := json.Unmarshal(p.stdout.Bytes(), &report); err != nil {
		f.Fatal(err, p.output())
	}
	seen := false
	for _, a := range report.Algorithms {
		if a.Communicator == "bcast 4096 2 1" {
			if seen = true; a.Algorithm != want.Name {
				f.Errorf("%+v, want %s", a, want.Name)
			}
		}
	}
	if !seen {
		f.Error(p.output())
	}
}

// What cannot be measured is refused before anything runs.
func TestCollectivesUsage(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		for words, want := range map[string]string{
			"--sizes 64..8": "two sizes", "--sizes x..8": "two sizes", "--comm-sizes 1,2": "from 2 to the ranks", "--comm-sizes 3": "from 2 to the ranks", "--factor 1": "at least 2",
			"--only allredcue": "Did you mean", "--only pingpong": "not a collective", "--budget -1s": "must be positive",
		} {
			args := append([]string{"mpitx", "tune", "--collectives", "--mpi", f.family, "-n", "2"}, strings.Fields(words)...)
			if p := f.run(args...); p.code != 2 || !strings.Contains(strings.ToLower(p.stderr.String()), strings.ToLower(want)) {
				f.Errorf("%s: exit code %d: %s", words, p.code, p.output())
			}
		}
		if left, _ := os.ReadDir(filepath.Join(f.dir, "mpitx-collectives")); len(left) > 0 {
			f.Error("a campaign was begun")
		}
	})
}
