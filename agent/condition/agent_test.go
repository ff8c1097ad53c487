package condition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// subject is a call with the values that conditions compare.
type subject struct {
	kind                            int // 1 point to point, 3 collective, 4 one-sided
	sent, received, gave, got, read uint64
	peer, tag                       int
	comm                            uint64 // 0 none, 1 world, 2 self, 3 solver
	ticks                           uint64
	a, b                            float64 // variables
}

func (s *subject) line() string {
	comms, functions := 0, 0
	if s.comm == 3 {
		comms = 1
	}
	if s.kind == 1 {
		functions = 1
	}
	return fmt.Sprintf("%d %d %d %d %d %d %d %d %d %d %d %d", s.kind, s.sent, s.received, s.gave, s.got, s.read, s.peer, s.tag, s.comm, s.ticks, comms, functions)
}

const noArgument = -1000000

var nan = math.NaN()

func known(n int) float64 {
	if n == noArgument {
		return nan
	}
	return float64(n)
}

// argument is the specification of the arguments.
func (s *subject) argument(name string) float64 {
	collective := s.kind == 3
	switch name {
	case "bytes":
		return float64(s.sent + s.received + s.gave + s.got + s.read)
	case "sent":
		return float64(s.sent + s.gave)
	case "received":
		return float64(s.received + s.got + s.read)
	case "time":
		return float64(s.ticks)
	case "tag":
		return known(s.tag)
	case "peer":
		if !collective {
			return known(s.peer)
		}
	case "root":
		if collective {
			return known(s.peer)
		}
	case "a":
		return s.a
	case "b":
		return s.b
	}
	return nan
}

// truth is 1, 0, or NaN if it is neither.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// random returns a condition and how it is evaluated.
func random(r *rand.Rand, deep int) (string, func(*subject) float64) {
	if deep == 0 || r.IntN(4) == 0 {
		return randomComparison(r)
	}
	left, evalLeft := random(r, deep-1)
	right, evalRight := random(r, deep-1)
	switch r.IntN(3) {
	case 0:
		return "not (" + left + ")", func(s *subject) float64 { return 1 - evalLeft(s) }
	case 1:
		return "(" + left + ") and (" + right + ")", func(s *subject) float64 {
			a, b := evalLeft(s), evalRight(s)
			if a == 0 || b == 0 {
				return 0
			}
			return a * b
		}
	}
	return "(" + left + ") or (" + right + ")", func(s *subject) float64 {
		a, b := evalLeft(s), evalRight(s)
		if a == 1 || b == 1 {
			return 1
		}
		return a + b
	}
}

func randomComparison(r *rand.Rand) (string, func(*subject) float64) {
	equal := r.IntN(2) == 0
	sign := map[bool]string{true: " == ", false: " != "}[equal]
	switch r.IntN(6) {
	case 0:
		name := []string{"world", "self", "solver"}[r.IntN(3)]
		handle := map[string]uint64{"world": 1, "self": 2, "solver": 3}[name]
		return "comm" + sign + name, func(s *subject) float64 {
			if s.comm == 0 || s.kind >= 4 {
				return nan
			}
			return truth((s.comm == handle) == equal)
		}
	case 1:
		return "function" + sign + "MPI_Send", func(s *subject) float64 { return truth((s.kind == 1) == equal) }
	}
	name := []string{"bytes", "sent", "received", "peer", "tag", "root", "time", "a", "b"}[r.IntN(9)]
	n := r.IntN(4)
	ops := []string{"<", "<=", ">", ">=", "==", "!="}
	op := ops[r.IntN(len(ops))]
	return fmt.Sprintf("%s %s %d", name, op, n), func(s *subject) float64 {
		x, y := s.argument(name), float64(n)
		if math.IsNaN(x) {
			return nan
		}
		return truth(map[string]bool{"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[op])
	}
}

// evaluator builds agent/test/conditions.c, with sanitizers, and returns a function that runs its lines.
func evaluator(t *testing.T) func(input string) []string {
	need.Commands(t, "cc")
	program := filepath.Join(t.TempDir(), "conditions")
	build := exec.Command("cc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I..", "-I..",
		"-o", program, "../test/conditions.c", "../tools/trigger/program.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(input string) []string {
		cmd := exec.Command(program)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	}
}

func code(t *testing.T, c *Condition) string {
	_, words, ok := strings.Cut((&Trigger{Condition: c}).Configuration(), "\ncode ")
	if !ok {
		t.Fatal("no program")
	}
	return strings.TrimSuffix(words, "\n")
}

// The agent evaluates random conditions in random calls as this package's documentation says.
func TestAgentEvaluates(t *testing.T) {
	run := evaluator(t)
	r := rand.New(rand.NewPCG(1, 2))
	var input strings.Builder
	var want, texts []string
	for len(want) < 20000 {
		text, eval := random(r, r.IntN(4))
		c, err := Parse(text)
		if err != nil && strings.Contains(err.Error(), "use several --when") {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(c.functions) > 1 || len(c.names) > 1 { // the program knows one name of each kind
			continue
		}
		for range 5 {
			small := func() uint64 { return uint64(r.IntN(3)) }
			argument := func() int { return []int{noArgument, -1, 0, 1, 2, 3}[r.IntN(6)] }
			variable := func() float64 { return []float64{nan, 0, 1, 2.5}[r.IntN(4)] }
			s := &subject{[]int{0, 1, 2, 3, 4, 5}[r.IntN(6)], small(), small(), small(), small(), small(), argument(), argument(), uint64(r.IntN(4)), small(), variable(), variable()}
			loads := [maxLoads]string{}
			for i := range loads {
				loads[i] = "nan"
				if i < len(c.Values) {
					loads[i] = strconv.FormatFloat(s.argument(c.Values[i]), 'g', -1, 64)
				}
			}
			fmt.Fprintf(&input, "%s %s|%s\n", s.line(), strings.Join(loads[:], " "), code(t, c))
			texts = append(texts, fmt.Sprintf("%s with %+v", text, *s))
			want = append(want, strings.ToLower(fmt.Sprint(eval(s))))
		}
	}
	got := run(input.String())
	if len(got) != len(want) {
		t.Fatalf("%d results of %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: %s, want %s", texts[i], got[i], want[i])
		}
	}
}

// Programs from a damaged configuration are refused, or run within bounds.
func TestAgentRefuses(t *testing.T) {
	run := evaluator(t)
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"bytes", "peer", "comm:world", "comm:0", "comm:7", "comm:8", "function:3", "n4014000000000000", "n40", "v0:sum", "v7:1048575", "v8:max", "v1:delta:ns", "v0:",
		"eq", "lt", "and", "or", "not", "if:1", "if:2", "if:3", "unless:2", "unless:5", "if:63", "if:64", "if:0", "unless:-1", "", "x", strings.Repeat("y", 60)}
	var input strings.Builder
	const programs = 30000
	for range programs {
		var one []string
		for range 1 + r.IntN(70) {
			one = append(one, words[r.IntN(min(len(words), 4+r.IntN(len(words))))])
		}
		fmt.Fprintf(&input, "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1|%s\n", strings.Join(one, " "))
	}
	valid := 0
	got := run(input.String())
	for _, line := range got {
		if !strings.HasPrefix(line, "invalid: ") {
			valid++
		}
	}
	if len(got) != programs || valid == 0 || valid > programs/2 {
		t.Errorf("%d of %d results are of valid programs", valid, len(got))
	}
}
