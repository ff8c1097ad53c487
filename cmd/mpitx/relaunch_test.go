package main

import (
	"slices"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
)

func TestInnerCommand(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"list -n 4 cvars", "list -- cvars"},
		{"list -n4 cvars", "list -- cvars"},
		{"list --ranks=4", "list"},
		{"list --regex -n -n 4", "list --regex=-n"},
		{"list -n 2 --regex --ranks=3 --regex a", "list --regex=--ranks=3 --regex=a"},
		{"list --category -n4 -n 4 x", "list --category=-n4 -- x"},
		{"list -ocsv -n 2", "list --output=csv"},
		{"list --changed -n 2 cvars", "list --changed=true -- cvars"},
		{"list --changed=false -n 2", "list --changed=false"},
		{"read --comm self -n 2 x", "read --comm=self -- x"},
		{"snapshot -o json -n 2 --out s.json", "snapshot --out=s.json --output=json"},
		{"list --scope all,local -n 2 --timeout 90s", "list --scope=all --scope=local --timeout=1m30s"},
		{"list -n 2 -- -n 3", "list -- -n 3"},
		{"backend serve --exclude a -n 3", "backend serve --exclude=a"},
	} {
		cmd, flags, err := newRoot(&cli.App{Env: &machine.Env{}}).Find(strings.Fields(c.given))
		if err == nil {
			err = cmd.ParseFlags(flags)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := cli.InnerCommand(cmd)
		if want := strings.Fields(c.want); err != nil || !slices.Equal(got[1:], want) {
			t.Errorf("%s: %q %v, want %q", c.given, got[1:], err, want)
		}
	}
}
