package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each module that go.mod asks for itself has a line in docs/dependencies.md with its reason, and no other has one.
func TestDependencies(t *testing.T) {
	var want, got []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+|\S+\.\S+) v\S+$`).FindAllStringSubmatch(document(t, "go.mod"), -1) {
		want = append(want, m[1]) // what is indirect has a comment
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+\\.[^`]+/[^`]+)` \\|(.*)").FindAllStringSubmatch(document(t, "docs/dependencies.md"), -1) {
		got = append(got, m[1])
		if cells := strings.Split(m[2], "|"); len(cells) < 3 || strings.TrimSpace(cells[1]) == "" {
			t.Errorf("docs/dependencies.md: %s: no reason: %s", m[1], m[2])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 5 || !slices.Equal(want, got) {
		t.Errorf("go.mod has\n%s\ndocs/dependencies.md has\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// The README is read on terminals, too.
func TestReadmeWidth(t *testing.T) {
	for n, line := range strings.Split(document(t, "README.md"), "\n") {
		if utf8.RuneCountInString(line) > 120 {
			t.Errorf("README.md:%d: %d characters", n+1, utf8.RuneCountInString(line))
		}
	}
}
