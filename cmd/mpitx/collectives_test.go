//go:build cgo && linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/machine"
	"mpitx/tune/grid"
)

// All algorithms of MPI_Bcast are slow but one. A campaign finds that one, also if it is killed in between, and writes a file with which the library
// uses the algorithm, as the profile proves.
func TestCollectives(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		winner, value, ran := "binomial", "6", "binomial"
		if f.family == machine.MPICH {
			winner, value, ran = "scatter_ring_allgather", "5", "scatter_ring_allgather"
		}
		f.environ = append(f.environ, "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"))
		plain := f.environ
		f.environ = append(plain[:len(plain):len(plain)], f.preload("winner.c"), "WINNER="+value)
		args := []string{"mpitx", "tune", "--collectives", "--mpi", f.family, "-n", "2", "--only", "bcast", "--sizes", "64..64", "--dir", "campaign", "--screening", "2", "--extra", "1"}
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
		if len(result.Choices) != 1 || result.Choices[0].Algorithm.Name != winner || result.Choices[0].From != 64 || result.Choices[0].To != 64 || result.Runs != len(after)-2 {
			f.Fatalf("%d runs, %d lines, %+v\n%s", result.Runs, len(after), result.Choices, p.output())
		}
		if p := f.run(append(args, "--seed", "2")...); p.code == 0 || !strings.Contains(p.stderr.String(), "name another directory") {
			f.Errorf("another seed: exit code %d: %s", p.code, p.output())
		}
		f.environ = plain
		f.serves(p.stderr.String(), ran)
	})
}

// serves checks that the library runs an algorithm of MPI_Bcast with the settings that a campaign recommends.
func (f *onFamily) serves(said, algorithm string) {
	f.Helper()
	_, words, found := strings.Cut(said, "to use it: mpitx run -n 2 ")
	words, _, cut := strings.Cut(strings.Join(strings.Fields(words), " "), " -- ./app")
	if !found || !cut {
		f.Fatal(said)
	}
	if f.family == machine.MPICH {
		if p := f.run("mpitx", "setup", "--algorithms"); p.code != 0 {
			f.Fatal(p.output())
		}
	}
	args := append([]string{"mpitx", "profile", "-n", "2", "--mpi", f.family, "--no-summary", "--dir", "used"}, strings.Fields(words)...)
	if p := f.run(append(args, "--workload", "bcast", "--workload-bytes", "64", "--duration", "50ms")...); p.code != 0 {
		f.Fatal(p.output())
	}
	p := f.run("mpitx", "report", "used", "algorithms", "--function", "MPI_Bcast", "-o", "json")
	var report struct {
		Algorithms []struct {
			From      int `json:"bytes_from"`
			Algorithm string
		}
	}
	if err := json.Unmarshal(p.stdout.Bytes(), &report); err != nil {
		f.Fatal(err, p.output())
	}
	seen := false
	for _, a := range report.Algorithms {
		if a.From == 64 {
			seen = true
			if a.Algorithm != algorithm {
				f.Errorf("%+v, want %s", a, algorithm)
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
