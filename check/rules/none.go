//go:build !(cgo && linux)

package rules

import (
	"context"
	"fmt"
	"os"

	"mpitx/check"
)

// Command is the first argument of mpitx backend for a worker.
const Command = "check"

// Library is what would be tested; this binary cannot load one.
type Library struct{ Start }

// All is empty here.
func All() []check.Rule { return nil }

// Worker fails.
func Worker([]string, int) int {
	fmt.Fprintln(os.Stderr, "mpitx: backend: this binary was built without cgo and cannot load an MPI library")
	return 2
}

// Run does nothing here.
func (l *Library) Run(context.Context, []check.Rule, int, func(*check.Result)) []*check.Result {
	return nil
}

// Identify does nothing here.
func (l *Library) Identify(context.Context) {}

// Version and Standard are empty here.
func (l *Library) Version() string  { return "" }
func (l *Library) Standard() string { return "" }
