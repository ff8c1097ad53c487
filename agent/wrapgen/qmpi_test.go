package wrapgen

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Compiled tools contain the numbers of functions: released ones never change. Each release adds a line.
func TestNumbersAreFrozen(t *testing.T) {
	text, err := os.ReadFile("../qmpi/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for _, released := range []struct {
		count int
		hash  string
	}{
		{745, "59bfcb381b6ff4f163e77cde5ba49beb64b7e9eee74a80d4bb3a712300e2b93a"},
	} {
		if len(lines) <= released.count {
			t.Fatalf("%d functions, but %d were released", len(lines)-1, released.count)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines[:released.count], "")))); got != released.hash {
			t.Errorf("the first %d functions have changed (%s); add functions at the end of prototypes.txt", released.count, got)
		}
	}
}

// qmpi.h and functions.txt are those of `make generate`.
func TestGenerated(t *testing.T) {
	head, err := os.ReadFile("../qmpi/qmpi.h.in")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"../qmpi/functions.txt": table(t).Names(), "../include/qmpi.h": table(t).Header(string(head))} {
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%s is stale (%v); run make generate", file, err)
		}
	}
}
