package catalog

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"
)

var nan = math.Float64frombits(quietNaN(8))

func doubles(elements ...float64) Value {
	var raw []byte
	for _, f := range elements {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(f))
	}
	return NewValue(TypeDouble, raw)
}

// foreign draws text as C libraries may return it: any bytes.
var foreign = rapid.OneOf(
	rapid.StringMatching(`[a-z_]{0,12}`),
	rapid.String(),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
)

func drawEnum[E ~int32](t *rapid.T, names []string) E {
	if rapid.IntRange(0, 9).Draw(t, "foreign") == 0 {
		return E(unknownBase + rapid.Int32Range(-100, 100000).Draw(t, "number"))
	}
	return E(rapid.IntRange(1, len(names)-1).Draw(t, "constant"))
}

func drawValue(t *rapid.T, typ Datatype) Value {
	raw := rapid.SliceOfN(rapid.Byte(), 0, 24).Draw(t, "raw")
	return NewValue(typ, raw)
}

func drawReading(t *rapid.T, typ Datatype) Reading {
	g := Reading{Status: rapid.SampledFrom([]Status{StatusOK, StatusFaulty, StatusError, StatusUnbound, StatusMissing}).Draw(t, "status")}
	if g.Status == StatusOK {
		if rapid.IntRange(0, 9).Draw(t, "other type") == 0 {
			typ = drawEnum[Datatype](t, datatypeNames)
		}
		g.Value = drawValue(t, typ)
	} else {
		g.Reason = foreign.Draw(t, "reason")
	}
	g.Count = rapid.IntRange(0, 5000).Draw(t, "count")
	g.Writable = rapid.SampledFrom([]Writable{"", WritableYes, WritableNotNow, WritableNever}).Draw(t, "writable")
	return g
}

func drawRanks(t *rapid.T, typ Datatype) []RankReading {
	var all []RankReading
	for _, n := range drawNumbers(t) {
		all = append(all, RankReading{n, drawReading(t, typ)})
	}
	return all
}

func drawNumbers(t *rapid.T) []int {
	n := rapid.SliceOfNDistinct(rapid.IntRange(0, 50), 0, 3, rapid.ID).Draw(t, "ranks")
	slices.Sort(n)
	return n
}

func some[E any](t *rapid.T, draw func() E) []E {
	var all []E
	for range rapid.IntRange(0, 3).Draw(t, "n") {
		all = append(all, draw())
	}
	return all
}

func drawConflicts(t *rapid.T) []Conflict {
	return some(t, func() Conflict {
		return Conflict{rapid.IntRange(-1, 9).Draw(t, "rank"), foreign.Draw(t, "field"), foreign.Draw(t, "here"), foreign.Draw(t, "root")}
	})
}

func drawMeta(t *rapid.T, kind Kind) Variable {
	v := Variable{
		Kind: kind, Name: foreign.Draw(t, "name"),
		Verbosity:   drawEnum[Verbosity](t, verbosityNames),
		Type:        drawEnum[Datatype](t, datatypeNames),
		Bind:        drawEnum[Bind](t, bindNames),
		Enum:        foreign.Draw(t, "enum"),
		Description: foreign.Draw(t, "description"),
	}
	if kind == Pvars {
		v.Class = drawEnum[Class](t, classNames)
		v.Readonly, v.Continuous, v.Atomic = rapid.Bool().Draw(t, "r"), rapid.Bool().Draw(t, "c"), rapid.Bool().Draw(t, "a")
	} else {
		v.Scope = drawEnum[Scope](t, scopeNames)
	}
	return v
}

func drawVariables(t *rapid.T, kind Kind) []Variable {
	all := some(t, func() Variable {
		v := drawMeta(t, kind)
		v.Categories = some(t, func() string { return foreign.Draw(t, "category") })
		if rapid.Bool().Draw(t, "before") {
			g := drawReading(t, v.Type)
			v.Before = &g
		}
		if rapid.Bool().Draw(t, "after") {
			g := drawReading(t, v.Type)
			v.After = &g
		}
		v.Ranks, v.Nodes = drawRanks(t, v.Type), drawRanks(t, v.Type)
		v.Conflicts = drawConflicts(t)
		if rapid.Bool().Draw(t, "origin") {
			v.Origin = &Origin{Kind: OriginFile, Where: foreign.Draw(t, "where"), Value: foreign.Draw(t, "value")}
			v.Origins = some(t, func() RankOrigin {
				return RankOrigin{Rank: int(rapid.Int32Min(1).Draw(t, "rank")), Origin: rapid.SampledFrom([]*Origin{nil, {Kind: OriginLauncher, Where: "option"}}).Draw(t, "origin")}
			})
		}
		return v
	})
	return distinct(all, (*Variable).compare)
}

// distinct sorts a list and drops duplicates.
func distinct[E any](s []E, compare func(a, b *E) int) []E {
	sortBy(&s, compare)
	return slices.CompactFunc(s, func(a, b E) bool { return compare(&a, &b) == 0 })
}

func drawLibrary(t *rapid.T) Library {
	return Library{Family: foreign.Draw(t, "family"), Text: foreign.Draw(t, "text"), Standard: foreign.Draw(t, "standard"),
		Path: foreign.Draw(t, "path"), BuildID: foreign.Draw(t, "id"), Events: rapid.Bool().Draw(t, "events")}
}

func drawStage(t *rapid.T) Stage {
	return Stage{Read: rapid.Bool().Draw(t, "read"), Error: foreign.Draw(t, "error"), Thread: drawEnum[ThreadLevel](t, threadNames),
		Cvars: rapid.IntRange(0, 9).Draw(t, "cvars"), Stamp: int(rapid.Int32().Draw(t, "stamp")), DeadCats: rapid.IntRange(0, 9).Draw(t, "dead"),
		Seconds: rapid.Float64Range(-1e300, 1e300).Draw(t, "seconds")}
}

func drawCatalog(t *rapid.T) *Catalog {
	c := &Catalog{Schema: SchemaName, Version: SchemaVersion, Creator: foreign.Draw(t, "creator"),
		Created: time.Unix(rapid.Int64Range(0, 1e10).Draw(t, "created"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC(),
		Library: drawLibrary(t), Before: drawStage(t), After: drawStage(t)}
	c.Job = Job{Launcher: foreign.Draw(t, "launcher"), Size: rapid.IntRange(0, 9).Draw(t, "size")}
	for _, n := range drawNumbers(t) {
		r := Rank{Rank: n, Host: foreign.Draw(t, "host"), Error: foreign.Draw(t, "error")}
		if rapid.Bool().Draw(t, "other library") {
			l := drawLibrary(t)
			r.Library = &l
		}
		c.Job.Ranks = append(c.Job.Ranks, r)
	}
	c.Cvars, c.Pvars = drawVariables(t, Cvars), drawVariables(t, Pvars)
	c.Categories, c.Enums = drawCategories(t), drawEnums(t)
	c.Events, c.Sources = drawEvents(t), drawSources(t)
	return c
}

func drawCategories(t *rapid.T) []Category {
	name := func() string { return foreign.Draw(t, "name") }
	all := some(t, func() Category {
		return Category{Name: name(), Description: name(), Cvars: some(t, name), Pvars: some(t, name), Categories: some(t, name), EventTypes: some(t, name),
			Events: rapid.IntRange(0, 3).Draw(t, "events"), Before: rapid.Bool().Draw(t, "before"), Added: some(t, name), Removed: some(t, name), Conflicts: drawConflicts(t)}
	})
	return distinct(all, func(a, b *Category) int { return compareStrings(a.Name, b.Name) })
}

func drawEnums(t *rapid.T) []Enum {
	all := some(t, func() Enum {
		return Enum{Name: foreign.Draw(t, "name"), Flags: rapid.Bool().Draw(t, "flags"), Conflicts: drawConflicts(t),
			Items: some(t, func() Item { return Item{int(rapid.Int32().Draw(t, "value")), foreign.Draw(t, "item")} })}
	})
	return distinct(all, func(a, b *Enum) int { return compareStrings(a.Name, b.Name) })
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func drawEvents(t *rapid.T) []Event {
	name := func() string { return foreign.Draw(t, "name") }
	all := some(t, func() Event {
		e := Event{Name: name(), Verbosity: drawEnum[Verbosity](t, verbosityNames), Bind: drawEnum[Bind](t, bindNames), Enum: name(),
			Hints: drawHints(t), HandleHints: drawHints(t), Description: name(), Categories: some(t, name), Conflicts: drawConflicts(t),
			Before: rapid.Bool().Draw(t, "before"), After: rapid.Bool().Draw(t, "after")}
		e.Status, e.Reason = drawStatus(t)
		e.Elements = some(t, func() Element {
			return Element{name(), drawEnum[Datatype](t, datatypeNames), rapid.Int64().Draw(t, "displacement")}
		})
		return e
	})
	return distinct(all, (*Event).compare)
}

func drawSources(t *rapid.T) []Source {
	all := some(t, func() Source {
		s := Source{Name: foreign.Draw(t, "name"), Description: foreign.Draw(t, "description"), Order: drawEnum[SourceOrder](t, orderNames),
			TicksPerSecond: rapid.Int64().Draw(t, "ticks"), MaxTicks: rapid.Int64().Draw(t, "max"), Readable: rapid.Bool().Draw(t, "readable"),
			Hints: drawHints(t), Before: rapid.Bool().Draw(t, "before"), After: rapid.Bool().Draw(t, "after"), Conflicts: drawConflicts(t)}
		s.Status, s.Reason = drawStatus(t)
		return s
	})
	return distinct(all, (*Source).compare)
}

func drawHints(t *rapid.T) []Hint {
	return some(t, func() Hint { return Hint{foreign.Draw(t, "key"), foreign.Draw(t, "value")} })
}

func drawStatus(t *rapid.T) (Status, string) {
	return rapid.SampledFrom([]Status{StatusOK, StatusFaulty, StatusError, StatusUnbound}).Draw(t, "status"), foreign.Draw(t, "reason")
}
