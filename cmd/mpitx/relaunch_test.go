package main

import (
	"slices"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
)

// Flags for the processes of a job come after the command's name, whatever stands before and after it.
func TestCommandLine(t *testing.T) {
	for _, c := range []struct{ given, command, arguments string }{
		{"list -n 4 cvars", "list", "-n 4 cvars"},
		{"list", "list", ""},
		{"--color never list --regex list", "--color never list", "--regex list"},
		{"run -n2 --when a>1 -- run list", "run", "-n2 --when a>1 -- run list"},
	} {
		a := &cli.App{Env: &machine.Env{}, Args: strings.Fields(c.given)}
		cmd, _, err := newRoot(a).Find(a.Args)
		if err != nil {
			t.Fatal(err)
		}
		command, arguments, err := a.CommandLine(cmd)
		if err != nil || !slices.Equal(command[1:], strings.Fields(c.command)) || !slices.Equal(arguments, strings.Fields(c.arguments)) {
			t.Errorf("%s: %q, %q, %v", c.given, command[1:], arguments, err)
		}
	}
}
