package attach

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
)

// mostOutcomes of one setting are told; ranks agree, in general.
const mostOutcomes = 4

// settled is one --set or --set-after with what came of it.
type settled struct {
	flag, name string
	texts      []string
	ranks      [][]int // of each text
}

// outcomes tells what came of --set and --set-after: a line for each setting, with the ranks where they differ in it. cached are
// the names that the library had when it was last read, before or after MPI_Init; near are all that may have been meant.
func outcomes(run *recording.Run, cached, near []string) []string {
	var all []*settled
	for _, r := range run.Ranks {
		for _, o := range r.Settings {
			flag := "--set"
			if o.After {
				flag = "--set-after"
			}
			name := o.Cvar + "=" + o.Asked
			k := slices.IndexFunc(all, func(s *settled) bool { return s.flag == flag && s.name == name })
			if k < 0 {
				k = len(all)
				all = append(all, &settled{flag: flag, name: name})
			}
			text := outcomeText(&o, slices.Contains(cached, o.Cvar))
			if o.Result == noSuchVariable && !slices.Contains(cached, o.Cvar) {
				text += catalog.DidYouMean(near, o.Cvar)
			}
			all[k].add(r.Rank, text)
		}
	}
	var lines []string
	for _, s := range all {
		lines = append(lines, s.String())
	}
	return lines
}

// noSuchVariable is a result, in the agent's words.
const noSuchVariable = "no such variable"

// outcomeText is what came of a setting on one rank. known tells whether the library has a variable of that name at any time.
func outcomeText(o *recording.Setting, known bool) string {
	switch {
	case o.Result == noSuchVariable && !o.After && known:
		return "set; it cannot be read back, since the library has it before MPI_Init only"
	case o.Result == noSuchVariable && !o.After:
		return "the library has no such variable after MPI_Init: where it has one before (mpitx show " + o.Cvar + "), it was set"
	case o.Result == noSuchVariable && known:
		return "the library has it before MPI_Init only: --set sets it then"
	case o.Old != "" && o.Read == "" && !strings.HasPrefix(o.Result, "ok"): // nothing was written
		return o.Result + ": it is " + o.Old + " as before"
	case o.Old != "" && o.Old == o.Read:
		return o.Result + ": it is " + o.Read + " as before"
	case o.Old != "" && o.Read == o.Asked:
		return o.Result + ": it was " + o.Old
	case o.Old != "":
		return o.Result + ": it was " + o.Old + " and is " + o.Read
	case o.Read != "" && o.Read != o.Asked:
		return o.Result + ": it is " + o.Read
	}
	return o.Result
}

func (s *settled) add(rank int, text string) {
	k := slices.Index(s.texts, text)
	if k < 0 {
		k = len(s.texts)
		s.texts, s.ranks = append(s.texts, text), append(s.ranks, nil)
	}
	s.ranks[k] = append(s.ranks[k], rank)
}

// String is "--set x=1: ok; ranks 2-3: not now": what most ranks have comes first.
func (s *settled) String() string {
	order := make([]int, len(s.texts))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(s.ranks[b]) - len(s.ranks[a]) })
	var parts []string
	for n, k := range order {
		if n == mostOutcomes {
			others := 0
			for _, k := range order[n:] {
				others += len(s.ranks[k])
			}
			parts = append(parts, fmt.Sprintf("%d more ranks: something else", others))
			break
		}
		text := s.texts[k]
		switch {
		case n > 0, len(order) > 1 && len(s.ranks[k]) == 1:
			text = export.Ranks(s.ranks[k]) + ": " + text
		}
		parts = append(parts, text)
	}
	return s.flag + " " + s.name + ": " + strings.Join(parts, "; ")
}
