package main

import (
	"io"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
)

// Flags with a fixed set of words accept them in any case, and no other word.
func TestChoices(t *testing.T) {
	for line, want := range map[string]string{
		"read -o JSON --stage Before --comm SELF x":       "",
		"report --sort MAX --as Rate -o ndjson r samples": "",
		"sample --policy LAST --probe Late -o PARQUET":    "",
		"list --color NEVER":                              "",
		"export --as sum r":                               "--as: \"sum\": must be raw, delta or rate; see mpitx help export",
		"write --stage both a=1":                          "--stage: \"both\": must be before or after; see mpitx help write",
		"sample --probe never":                            "--probe: \"never\": must be start, late or none; see mpitx help sample",
		"record --workload halos":                         "--workload: \"halos\": must be one of pingpong, alltoall, unexpected, halo, messages, bcast, reduce, allreduce, allgather, barrier, algorithms, idle; see mpitx help record",
		"list --color red":                                "--color: \"red\": must be auto, always or never; see mpitx help list",
		"show --comm comm x":                              "--comm: \"comm\": must be world or self; see mpitx help show",
		"snapshot -o TABLE":                               "-o: \"TABLE\": must be json; see mpitx help snapshot",
	} {
		root := newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}})
		cmd, rest, err := root.Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		if err := cmd.ParseFlags(rest); err != nil {
			text = cli.WrongFlag(cmd, err).Error()
		}
		if text != want {
			t.Errorf("%s: %q, want %q", line, text, want)
		}
	}
}
