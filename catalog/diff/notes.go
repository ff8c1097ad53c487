package diff

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
)

// findStages chooses the stages that are compared: those that both sides have.
func (c *comparison) findStages() {
	a, b := c.sides[0], c.sides[1]
	c.before, c.after = a.Before.Read && b.Before.Read, a.After.Read && b.After.Read
}

// compared reports whether an entry exists in a stage that is compared. If no stage is in both catalogs, all entries are.
func (c *comparison) compared(e catalog.Entry) bool {
	before, after := true, true
	switch e := e.(type) {
	case *catalog.Variable:
		before, after = e.Before != nil, e.After != nil || len(e.Ranks) > 0
	case *catalog.Category:
		before, after = e.Before, e.After
	case *catalog.Event:
		before, after = e.Before, e.After
	case *catalog.Source:
		before, after = e.Before, e.After
	}
	return c.before && before || c.after && after || !before && !after || !c.before && !c.after
}

// notes says what limits the comparison.
func (c *comparison) notes() {
	note := func(format string, args ...any) { c.out.Notes = append(c.out.Notes, fmt.Sprintf(format, args...)) }
	a, b := &c.sides[0], &c.sides[1]
	if len(c.own) > 0 {
		note("Values that differ from process to process are not compared: %s", strings.Join(c.own, ", "))
	}
	if len(c.wild) > 0 {
		note("Values that the library never initialized are not compared: %s", strings.Join(c.wild, ", "))
	}
	if len(c.derived) > 0 {
		note("Defaults that follow from settings that differ are not listed: %s", strings.Join(slices.Compact(c.derived), ", "))
	}
	if len(c.placed) > 0 {
		note("Values that differ only in the home directory, user, host or temporary directory are not listed: %s", strings.Join(slices.Compact(c.placed), ", "))
	}
	if x, y := Implementation(&a.Library), Implementation(&b.Library); x != y {
		shared := "they share no names, so everything is listed as vanished or appeared"
		if c.out.Common > 0 {
			shared = fmt.Sprintf("they share %s; all others are listed as vanished or appeared", counted(c.out.Common, "name", "names"))
		}
		note("A is %s and B is %s: %s", x, y, shared)
	}
	for s, side := range []string{"A", "B"} {
		one, other := &c.sides[s], &c.sides[1-s]
		switch {
		case one.Before.Read && !one.After.Read && other.After.Read && other.Before.Read:
			note("%s has only the stage before MPI_Init. Not compared: %s found only after it in %s", side, counted(c.hidden[1-s], "entry", "entries"), otherSide(s))
		case one.After.Read && !one.Before.Read && other.After.Read && other.Before.Read:
			note("%s has only the stage after MPI_Init. Not compared: %s found only before it in %s", side, counted(c.hidden[1-s], "entry", "entries"), otherSide(s))
		case s == 0 && !c.before && !c.after && one.Before.Read != one.After.Read && other.Before.Read != other.After.Read:
			note("One side was read before MPI_Init only and the other after it only: MPI_Init alone explains many differences")
		}
		if one.Partial && !other.Partial {
			note("%s is the output of ompi_info, which leaves out internal variables, scopes, bindings, categories and what exists after MPI_Init: a variable that appears only in %s may exist in %s as well",
				side, otherSide(s), side)
		}
		if n := c.versions[1-s]; n > 0 {
			note("Not listed: %s that only %s has; ompi_info prints these only with --internal", counted(n, "version number of a component", "version numbers of components"), otherSide(s))
		}
		if one.Partial && one.Before.Error != "" {
			note("%s: %s", side, one.Before.Error)
		}
		lost := 0
		for _, r := range one.Job.Ranks {
			if r.Error != "" {
				lost++
			}
		}
		if lost > 0 {
			note("%s lacks the answer, or a part of it, of %s", side, counted(lost, "rank", "ranks"))
		}
		if n := c.alone[s]; n > 0 {
			note("Not compared: %s that only %s has", counted(n, "variable", "variables"), side)
		}
	}
}

func otherSide(s int) string { return []string{"B", "A"}[s] }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
