//go:build cgo && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// stacks are the stacks by rank that mpitx where shows, with the frames' lines replaced by the functions that stand there in the source.
func (s *stuck) stacks(source []string) (stacks map[int][]string, doing map[int]string) {
	s.Helper()
	p := newProcess(s.environ, s.dir, "mpitx", "where", s.run, "--stack", "8", "-o", "json")
	p.run(hung)
	var answer struct {
		States []struct {
			Ranks []int
			State string
			Stack []string
		}
	}
	stacks, doing = map[int][]string{}, map[int]string{}
	if json.Unmarshal(p.stdout.Bytes(), &answer) != nil {
		return stacks, doing
	}
	at := regexp.MustCompile(`^(\w+) stack\.c:(\d+)$`)
	for _, state := range answer.States {
		for i, frame := range state.Stack {
			if m := at.FindStringSubmatch(frame); m != nil {
				var line int
				fmt.Sscan(m[2], &line)
				if strings.Contains(source[line-1], "/* "+m[1]+" */") {
					state.Stack[i] = m[1]
				}
			}
		}
		for _, rank := range state.Ranks {
			doing[rank] += state.State + "\n"
			if len(state.Stack) > 0 {
				stacks[rank] = state.Stack
			}
		}
	}
	return stacks, doing
}

// Ranks that wait show from where they call, frame by frame. One that goes on never shows a stack that it did not have, one that computes none.
func TestWhereStack(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/stack.c")
	if err != nil {
		t.Fatal(err)
	}
	source := strings.Split(string(text), "\n")
	want := map[int]string{0: "inner < middle < outer < main", 1: "inner < variable < aligned < main", 2: "inner < middle < outer < run"}
	eachStuck(t, "stack.c", func(s *stuck) {
		_, family, _ := strings.Cut(s.Name(), "/")
		for _, flags := range []string{"-O1", "-O2 -fomit-frame-pointer"} {
			name := "run" + strings.ReplaceAll(flags, " ", "")
			build := append(append([]string{"-g", "-pthread"}, strings.Fields(flags)...), "-o", s.program, "testdata/stack.c")
			if out, err := exec.Command("mpicc."+family, build...).CombinedOutput(); err != nil {
				s.Fatalf("%v\n%s", err, out)
			}
			still := filepath.Join(s.dir, name+".still")
			s.launch(name, 4, nil, still)
			seen := func(what string, done func(stacks map[int][]string, doing map[int]string) bool) {
				s.Helper()
				var stacks map[int][]string
				var doing map[int]string
				for deadline := time.Now().Add(hung); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
					stacks, doing = s.stacks(source)
					for rank, stack := range stacks {
						got := strings.Join(stack, " < ")
						if got != want[rank] && (rank != 3 || !slices.Contains([]string{"here < main", "here < there < main"}, got)) {
							s.Fatalf("%s: rank %d is in %q", flags, rank, got)
						}
					}
					if done(stacks, doing) {
						return
					}
				}
				s.Fatalf("%s: %s: not within the limit: %v, %v\n%s", flags, what, stacks, doing, s.job.describe())
			}
			looks := 0
			seen("three ranks wait, and rank 3 goes on", func(stacks map[int][]string, doing map[int]string) bool {
				looks++
				return looks >= 10 && len(stacks[0]) > 0 && len(stacks[1]) > 0 && len(stacks[2]) > 0 && strings.Contains(doing[3], "MPI_Sendrecv")
			})
			if err := os.WriteFile(still, nil, 0o600); err != nil {
				s.Fatal(err)
			}
			seen("rank 3 computes", func(stacks map[int][]string, doing map[int]string) bool {
				return doing[3] == "computes after MPI_Sendrecv\n" && len(stacks[3]) == 0
			})
			s.job.kill()
			<-s.job.ended
			seen("after the end", func(stacks map[int][]string, doing map[int]string) bool {
				return strings.HasPrefix(doing[0], "dead") && len(stacks) == len(want)
			})
		}
	})
}
