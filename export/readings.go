package export

import (
	"strconv"
	"strings"

	"mpitx/catalog"
)

// ReadingText is a reading for people: the value, its enumeration's items by name, or why there is none. A nil reading
// is "".
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

func withReason(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// readingJSON is a reading for programs: the value, or null.
func readingJSON(r *catalog.Reading) any {
	if r == nil || r.Status != catalog.StatusOK || r.Value.IsZero() {
		return nil
	}
	return r.Value
}

// readingData is a reading for CSV: the value alone, "" where there is none; another column tells why.
func readingData(c *catalog.Catalog, v *catalog.Variable, r *catalog.Reading) string {
	if r == nil || r.Status != catalog.StatusOK {
		return ""
	}
	return r.Value.Format(c.Enum(v.Enum))
}

// differsText tells on how many ranks, on which, and to what: "2 of 4: r1=3 r3=5"; of the stage before MPI_Init, which one
// rank of each node reads, "before: r2=7". "" where all agree.
func differsText(c *catalog.Catalog, v *catalog.Variable) string {
	var parts []string
	e := c.Enum(v.Enum)
	if len(v.Ranks) > 0 {
		total := 0
		var odd strings.Builder
		for _, g := range c.RankGroups(v) {
			total += len(g.Ranks)
			if g.Ranks[0] != 0 {
				odd.WriteString(" r" + RankList(g.Ranks) + "=" + ReadingText(&g.Reading, e))
			}
		}
		parts = append(parts, strconv.Itoa(len(v.Ranks))+" of "+strconv.Itoa(total)+":"+odd.String())
	}
	if len(v.Nodes) > 0 {
		parts = append(parts, "before: "+joinFunc(v.Nodes, " ", func(r catalog.RankReading) string {
			return "r" + strconv.Itoa(r.Rank) + "=" + ReadingText(&r.Reading, e)
		}))
	}
	return strings.Join(parts, "; ")
}

// originText is who set a variable, and to what: "environment OMPI_MCA_btl=tcp".
func originText(o *catalog.Origin) string {
	if o == nil {
		return ""
	}
	return string(o.Kind) + " " + o.Where
}

// conflictText is a breach of Table 14.1: "rank 2: type char, rank 0: int".
func conflictText(x catalog.Conflict) string {
	if x.Rank == catalog.BeforeRank {
		return "before MPI_Init: " + x.Field + " " + x.Here + ", after it: " + x.Root
	}
	return "rank " + strconv.Itoa(x.Rank) + ": " + x.Field + " " + x.Here + ", rank 0: " + x.Root
}

// stageText says at which stages something exists.
func stageText(before, after bool) string {
	switch {
	case before && after:
		return "both"
	case before:
		return "before"
	case after:
		return "after"
	}
	return ""
}

// existsAfter reports whether a variable exists after MPI_Init on some rank.
func existsAfter(v *catalog.Variable) bool { return v.After != nil || len(v.Ranks) > 0 }
