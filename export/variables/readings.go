package variables

import (
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/text"
)

// ReadingText formats a reading for people: the value, with enumeration items by name, or why there is none. It is "" for nil.
func ReadingText(r *catalog.Reading, e *catalog.Enum) string {
	if r == nil {
		return ""
	}
	switch r.Status {
	case catalog.StatusOK:
		switch s := r.Value.Format(e); {
		case r.Value.IsZero():
			return "(no value)"
		case s != "":
			return s
		case r.Value.Type().Form() == catalog.FormText:
			return `""`
		default:
			return "(no elements)"
		}
	case catalog.StatusMissing:
		return "does not exist"
	case catalog.StatusUnbound:
		return withReason("not bindable", r.Reason)
	}
	return withReason(string(r.Status), r.Reason)
}

// VariableText is ReadingText for a reading of a variable, also with items that the library only describes: "binomial (1)".
func VariableText(c *catalog.Catalog, v *catalog.Variable, r *catalog.Reading) string {
	if r != nil && r.Status == catalog.StatusOK && c.Enum(v.Enum) == nil && c.EnumOf(v) != nil {
		return c.ValueText(v, r.Value)
	}
	return ReadingText(r, c.Enum(v.Enum))
}

func withReason(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// readingJSON returns a reading's value for programs, or nil.
func readingJSON(r *catalog.Reading) any {
	if r == nil || r.Status != catalog.StatusOK || r.Value.IsZero() {
		return nil
	}
	return r.Value
}

// readingData formats a reading for CSV: the value, or "". Other columns say why there is none.
func readingData(c *catalog.Catalog, v *catalog.Variable, r *catalog.Reading) string {
	if r == nil || r.Status != catalog.StatusOK {
		return ""
	}
	return r.Value.Format(c.Enum(v.Enum))
}

// differsText says how many ranks differ, which, and their values: "2 of 4: r1=3 r3=5". For the stage before MPI_Init, which one
// rank of each node reads, it is "before: r2=7". It is "" if all agree.
func differsText(c *catalog.Catalog, v *catalog.Variable) string {
	var parts []string
	if len(v.Ranks) > 0 {
		total := 0
		var odd strings.Builder
		for _, g := range c.RankGroups(v) {
			total += len(g.Ranks)
			if g.Ranks[0] != 0 {
				odd.WriteString(" r" + text.RankList(g.Ranks) + "=" + VariableText(c, v, &g.Reading))
			}
		}
		parts = append(parts, strconv.Itoa(len(v.Ranks))+" of "+strconv.Itoa(total)+":"+odd.String())
	}
	if len(v.Nodes) > 0 {
		parts = append(parts, "before: "+joinFunc(v.Nodes, " ", func(r catalog.RankReading) string {
			return "r" + strconv.Itoa(r.Rank) + "=" + VariableText(c, v, &r.Reading)
		}))
	}
	return strings.Join(parts, "; ")
}

// OriginText says how a variable was set, "environment OMPI_MCA_btl", and on which ranks if not on all.
func OriginText(c *catalog.Catalog, v *catalog.Variable) string {
	var texts []string
	ranks, unset := map[string][]int{}, false
	for _, s := range c.Settings(v) {
		if s.Origin == nil {
			unset = true
			continue
		}
		words := string(s.Origin.Kind) + " " + s.Origin.Where
		if ranks[words] == nil {
			texts = append(texts, words)
		}
		ranks[words] = append(ranks[words], s.Ranks...)
	}
	if len(texts) == 1 && !unset {
		return texts[0]
	}
	return joinFunc(texts, "; ", func(words string) string {
		slices.Sort(ranks[words])
		return words + " (" + text.Ranks(ranks[words]) + ")"
	})
}

// conflictText describes a conflict: "rank 2: type char, rank 0: int".
func conflictText(x catalog.Conflict) string {
	if x.Rank == catalog.BeforeRank {
		return "before MPI_Init: " + x.Field + " " + x.Here + ", after it: " + x.Root
	}
	return "rank " + strconv.Itoa(x.Rank) + ": " + x.Field + " " + x.Here + ", rank 0: " + x.Root
}
