package launch

import (
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/recording"
)

// A setting is reported in one line, for any number of ranks and results.
func TestOutcomes(t *testing.T) {
	type o = recording.Assignment
	run := func(each ...[]o) *recording.Run {
		r := &recording.Run{}
		for rank, outcomes := range each {
			r.Ranks = append(r.Ranks, &recording.Rank{Rank: rank, Assignments: outcomes})
		}
		return r
	}
	ok := o{After: true, Cvar: "a", Asked: "2", Old: "1", Read: "2", Result: "ok"}
	never := o{After: true, Cvar: "a", Asked: "2", Old: "1", Read: "1", Result: "never"}
	other := func(old string) o { return o{After: true, Cvar: "a", Asked: "2", Old: old, Read: "2", Result: "ok"} }
	gone := o{Cvar: "gone", Asked: "1", Result: "no such variable"}
	typo := o{Cvar: "tpyo", Asked: "1", Result: "no such variable"}
	late := o{After: true, Cvar: "gone", Asked: "1", Result: "no such variable"}
	wrong := o{After: true, Cvar: "c", Asked: "x", Old: "8", Result: "no value of it: not a number"}
	another := o{Cvar: "b", Asked: "1", Read: "0", Result: "another value"}
	text := o{Cvar: "b", Asked: "multiple", Read: "single", Result: "another value"}
	written := o{Cvar: "d", Asked: "multiple", Old: "single", Read: "multiple", Result: "ok", After: true}
	mpich := run([]o{text, another, written, ok})
	mpich.Ranks[0].Family = machine.MPICH
	byName := o{Cvar: "e", Asked: "ring", Read: "1", Result: "ok"}
	byNumber := o{After: true, Cvar: "e", Asked: "1", Old: "0", Read: "1", Result: "ok"}
	refused := o{After: true, Cvar: "e", Asked: "tree", Old: "0", Result: "invalid value"}
	item := func(cvar, value string) string { return map[string]string{"e0": "auto", "e1": "ring"}[cvar+value] }
	for _, test := range []struct {
		run  *recording.Run
		want string
	}{
		{run(nil, nil), ""},
		{run([]o{ok}, []o{ok}), "--set-after a=2: ok: it was 1"},
		{run([]o{never}, []o{ok}, []o{ok}, []o{never}, []o{ok}), "--set-after a=2: ok: it was 1; ranks 0,3: never: it is 1 as before"},
		{run([]o{ok}, []o{ok}, []o{never}), "--set-after a=2: ok: it was 1; rank 2: never: it is 1 as before"},
		{run([]o{ok}, []o{never}), "--set-after a=2: rank 0: ok: it was 1; rank 1: never: it is 1 as before"},
		{run([]o{other("5")}, []o{other("6")}, []o{other("7")}, []o{other("8")}, []o{other("9")}, []o{other("10")}),
			"--set-after a=2: rank 0: ok: it was 5; rank 1: ok: it was 6; rank 2: ok: it was 7; rank 3: ok: it was 8; 2 more ranks: something else"},
		{run([]o{late, wrong}), "--set-after gone=1: the library has it before MPI_Init only; use --set\n" +
			"--set-after c=x: no value of it: not a number: it is 8 as before"},
		{run([]o{gone, typo, another}, []o{gone, typo, another}), "--set gone=1: set, but not read back, because the library has it before MPI_Init only\n" +
			"--set tpyo=1: the library has no such variable after MPI_Init; if it has one before (mpitx show tpyo), that one was set; did you mean typo?\n" +
			"--set b=1: another value: it is 0"},
		{run([]o{text}), "--set b=multiple: another value: it is single"},
		{mpich, "--set b=multiple: set; whether it arrived is not known: " + catalog.WhyUnreported + "\n--set b=1: another value: it is 0\n" +
			"--set-after d=multiple: ok: it was single; but it has no effect: " + catalog.WhyUnused + "\n--set-after a=2: ok: it was 1"},
		{run([]o{byName, byNumber, refused}), "--set e=ring: ok\n--set-after e=1: ok: it was auto (0)\n--set-after e=tree: invalid value: it is auto (0) as before"},
		{run([]o{written}), "--set-after d=multiple: ok: it was single"},
	} {
		if got := strings.Join(outcomes(test.run, []string{"gone", "a"}, []string{"gone", "a", "typo"}, item), "\n"); got != test.want {
			t.Errorf("%s\nwant\n%s", got, test.want)
		}
	}
}
