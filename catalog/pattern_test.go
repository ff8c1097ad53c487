package catalog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// question is whether a pattern matches a variable.
type question struct {
	pattern, name string
	class         Class
}

func (q question) String() string { return fmt.Sprintf("%q of %q %v", q.pattern, q.name, q.class) }

func (q question) answer() string {
	p, err := ParsePattern(q.pattern)
	if err != nil {
		return "refused"
	}
	if p.Match(q.name, q.class) {
		return p.Objects + " yes"
	}
	return p.Objects + " no"
}

// agentAnswers returns the answers of the agent's C code.
func agentAnswers(t *testing.T, questions []question) []string {
	need.Commands(t, "cc")
	program := filepath.Join(t.TempDir(), "patterns")
	cc := exec.Command("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Iagent", "-I.", "-o", program, "agent/test/patterns.c", "agent/pvar/pattern.c")
	cc.Dir = ".."
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var lines bytes.Buffer
	for _, q := range questions {
		fmt.Fprintf(&lines, "%s\t%s\t%d\n", q.pattern, q.name, q.class)
	}
	c := exec.Command(program)
	c.Stdin = &lines
	out, err := c.Output()
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions: %v", len(answers), len(questions), err)
	}
	return answers
}

func TestPatternVectors(t *testing.T) {
	text, err := os.ReadFile("../fixtures/patterns.txt")
	if err != nil {
		t.Fatal(err)
	}
	var questions []question
	var want []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 1 && strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) != 4 {
			t.Fatalf("%q has not four fields", line)
		}
		class, err := ParseClass(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		questions, want = append(questions, question{fields[0], fields[1], class}), append(want, fields[3])
	}
	if got := (question{pattern: "a\nb"}).answer(); got != "refused" { // the agent's configuration is line by line
		t.Errorf("a line feed: %s", got)
	}
	for k, q := range questions {
		if got := q.answer(); got != want[k] {
			t.Errorf("catalog: %s: %s, want %s", q, got, want[k])
		}
	}
	for k, got := range agentAnswers(t, questions) {
		if got != want[k] {
			t.Errorf("agent: %s: %s, want %s", questions[k], got, want[k])
		}
	}
}

// randomQuestion combines pieces that are special to one of the parsers.
func randomQuestion(r *rand.Rand) question {
	pieces := []string{"a", "B", "b", "c", "z", "-", "_", "/", "é", "日", "😀", "\xc3", "\xa9", "\xed\xa0\x80", "\xff", ":", "@"}
	special := append([]string{"*", "*", "?", "[", "]", "[a-c]", "[!b]", "[^é-日]", "!", "^", `\`}, pieces...)
	some := func(of []string, most int) string {
		var b strings.Builder
		for range r.IntN(most + 1) {
			b.WriteString(of[r.IntN(len(of))])
		}
		return b.String()
	}
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	q := question{name: some(pieces, 5), class: Class(r.IntN(int(ClassGeneric) + 1))}
	q.pattern = some(special, 6)
	if r.IntN(3) == 0 { // a pattern similar to the name
		cut := r.IntN(len(q.name) + 1)
		q.pattern = q.name[:cut] + one("", "*", "?", `\`, "[") + q.name[cut:]
	}
	q.pattern += one("", "", ":"+q.class.String(), ":MPI_T_PVAR_CLASS_"+strings.ToUpper(q.class.String()), ":mpi-size", ":unknown(3)", ":unknown(-x)", ":unknown(", ":unknown(+1)")
	q.pattern += one("", "", "", "@world", "@self", "@all", "@World", "@")
	if r.IntN(20) == 0 {
		q.class = unknownBase + 3
	}
	return q
}

func TestPatternsAgree(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	questions := make([]question, 100_000)
	counts := map[string]int{}
	for k := range questions {
		questions[k] = randomQuestion(r)
	}
	failures := 0
	for k, got := range agentAnswers(t, questions) {
		want := questions[k].answer()
		counts[want]++
		if got != want && failures < 10 {
			t.Errorf("seed %d: %s: the agent says %s, the catalog %s", seed, questions[k], got, want)
			failures++
		}
	}
	for _, answer := range []string{"refused", "world yes", "world no", "self yes", "all no"} {
		if counts[answer] < 500 {
			t.Errorf("only %d of %d random patterns have the answer %q", counts[answer], len(questions), answer)
		}
	}
}
