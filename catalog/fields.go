package catalog

import (
	"cmp"
	"math"
	"time"
)

// maxCount bounds the numbers of things: a C int.
const maxCount = math.MaxInt32

var catalogSchema = schema[Catalog]{
	required(schemaName()),
	required(schemaVersion()),
	instant("created", func(c *Catalog) *time.Time { return &c.Created }),
	text("creator", func(c *Catalog) *string { return &c.Creator }),
	object("library", func(c *Catalog) *Library { return &c.Library }, librarySchema),
	object("job", func(c *Catalog) *Job { return &c.Job }, jobSchema),
	object("before", func(c *Catalog) *Stage { return &c.Before }, stageSchema),
	object("after", func(c *Catalog) *Stage { return &c.After }, stageSchema),
	unique(list("cvars", func(c *Catalog) *[]Variable { return &c.Cvars }, variables(Cvar)),
		func(c *Catalog) *[]Variable { return &c.Cvars }, func(v *Variable) string { return v.Name }),
	unique(list("pvars", func(c *Catalog) *[]Variable { return &c.Pvars }, variables(Pvar)),
		func(c *Catalog) *[]Variable { return &c.Pvars }, (*Variable).ID),
	unique(list("categories", func(c *Catalog) *[]Category { return &c.Categories }, objects(categorySchema)),
		func(c *Catalog) *[]Category { return &c.Categories }, func(k *Category) string { return k.Name }),
	unique(list("enums", func(c *Catalog) *[]Enum { return &c.Enums }, objects(enumSchema)),
		func(c *Catalog) *[]Enum { return &c.Enums }, func(e *Enum) string { return e.Name }),
	optional(unique(list("virtual", func(c *Catalog) *[]Variable { return &c.Virtual }, variables(Virtual)),
		func(c *Catalog) *[]Variable { return &c.Virtual }, func(v *Variable) string { return v.Name })),
}

// schemaName fails at once for another document, before what is in it is misread.
func schemaName() field[Catalog] {
	f := text("schema", func(c *Catalog) *string { return &c.Schema })
	get := f.get
	f.get = func(r *reader, c *Catalog) {
		r.peek()
		start := r.pos
		if get(r, c); c.Schema != SchemaName {
			r.failf(start, "this is a %q, not a catalog (%q)", clip(c.Schema), SchemaName)
		}
	}
	return f
}

func schemaVersion() field[Catalog] {
	f := integer("version", 1, maxCount, func(c *Catalog) *int { return &c.Version })
	get := f.get
	f.get = func(r *reader, c *Catalog) {
		r.peek()
		start := r.pos
		if get(r, c); c.Version > SchemaVersion {
			r.failf(start, "version %d was written by a newer mpitx; this one reads up to version %d", c.Version, SchemaVersion)
		}
	}
	return f
}

var librarySchema = schema[Library]{
	text("family", func(l *Library) *string { return &l.Family }),
	text("text", func(l *Library) *string { return &l.Text }),
	text("standard", func(l *Library) *string { return &l.Standard }),
	optional(text("path", func(l *Library) *string { return &l.Path })),
	optional(text("build_id", func(l *Library) *string { return &l.BuildID })),
	boolean("events", func(l *Library) *bool { return &l.Events }),
	boolean("peruse", func(l *Library) *bool { return &l.PERUSE }),
	boolean("qmpi", func(l *Library) *bool { return &l.QMPI }),
}

var jobSchema = schema[Job]{
	optional(text("launcher", func(j *Job) *string { return &j.Launcher })),
	integer("size", 0, maxCount, func(j *Job) *int { return &j.Size }),
	unique(list("ranks", func(j *Job) *[]Rank { return &j.Ranks }, inlines(rankSchema)),
		func(j *Job) *[]Rank { return &j.Ranks }, func(k *Rank) int { return k.Rank }),
}

var rankSchema = schema[Rank]{
	required(integer("rank", 0, maxCount, func(k *Rank) *int { return &k.Rank })),
	optional(text("host", func(k *Rank) *string { return &k.Host })),
	optional(text("error", func(k *Rank) *string { return &k.Error })),
	pointer("library", func(k *Rank) **Library { return &k.Library }, librarySchema),
}

var stageSchema = schema[Stage]{
	boolean("read", func(s *Stage) *bool { return &s.Read }),
	optional(text("error", func(s *Stage) *string { return &s.Error })),
	optional(enumerated("thread", func(s *Stage) *ThreadLevel { return &s.Thread }, threadNames, ParseThreadLevel)),
	integer("cvars", 0, maxCount, func(s *Stage) *int { return &s.Cvars }),
	integer("pvars", 0, maxCount, func(s *Stage) *int { return &s.Pvars }),
	integer("categories", 0, maxCount, func(s *Stage) *int { return &s.Categories }),
	integer("dead_cvars", 0, maxCount, func(s *Stage) *int { return &s.DeadCvars }),
	integer("dead_pvars", 0, maxCount, func(s *Stage) *int { return &s.DeadPvars }),
	integer("dead_categories", 0, maxCount, func(s *Stage) *int { return &s.DeadCats }),
	integer("events", 0, maxCount, func(s *Stage) *int { return &s.Events }),
	integer("sources", 0, maxCount, func(s *Stage) *int { return &s.Sources }),
	number("seconds", func(s *Stage) *float64 { return &s.Seconds }),
}

var variableSchema = schema[Variable]{
	required(text("name", func(v *Variable) *string { return &v.Name })),
	optional(enumerated("class", func(v *Variable) *Class { return &v.Class }, classNames, ParseClass)),
	optional(enumerated("scope", func(v *Variable) *Scope { return &v.Scope }, scopeNames, ParseScope)),
	enumerated("verbosity", func(v *Variable) *Verbosity { return &v.Verbosity }, verbosityNames, ParseVerbosity),
	required(variableType()),
	enumerated("bind", func(v *Variable) *Bind { return &v.Bind }, bindNames, ParseBind),
	optional(text("enum", func(v *Variable) *string { return &v.Enum })),
	optional(text("unit", func(v *Variable) *string { return &v.Unit })),
	optional(boolean("readonly", func(v *Variable) *bool { return &v.Readonly })),
	optional(boolean("continuous", func(v *Variable) *bool { return &v.Continuous })),
	optional(boolean("atomic", func(v *Variable) *bool { return &v.Atomic })),
	optional(text("description", func(v *Variable) *string { return &v.Description })),
	optional(list("categories", func(v *Variable) *[]string { return &v.Categories }, texts)),
	afterType(pointer("before", func(v *Variable) **Reading { return &v.Before }, readingSchema)),
	afterType(pointer("after", func(v *Variable) **Reading { return &v.After }, readingSchema)),
	rankReadings("ranks", func(v *Variable) *[]RankReading { return &v.Ranks }),
	rankReadings("nodes", func(v *Variable) *[]RankReading { return &v.Nodes }),
	optional(list("conflicts", func(v *Variable) *[]Conflict { return &v.Conflicts }, inlines(conflictSchema))),
	pointer("origin", func(v *Variable) **Origin { return &v.Origin }, originSchema),
}

// variables are the elements of a list of variables of one kind.
func variables(kind Kind) items[Variable] {
	return items[Variable]{
		put: func(w *writer, v *Variable) {
			w.typ = v.Type
			variableSchema.write(w, v)
		},
		get: func(r *reader, v *Variable) {
			r.typ = 0
			variableSchema.read(r, v)
			v.Kind = kind
			byRank := func(a, b *RankReading) int { return cmp.Compare(a.Rank, b.Rank) }
			sortBy(&v.Ranks, byRank)
			sortBy(&v.Nodes, byRank)
		},
	}
}

// variableType tells the reader the type of the values that follow.
func variableType() field[Variable] {
	f := enumerated("type", func(v *Variable) *Datatype { return &v.Type }, datatypeNames, ParseDatatype)
	get := f.get
	f.get = func(r *reader, v *Variable) {
		get(r, v)
		r.typ = v.Type
	}
	return f
}

// afterType makes a field with values wait for the variable's type, which another writer may put behind it.
func afterType(f field[Variable]) field[Variable] {
	f.late = func(r *reader) bool { return r.typ == 0 }
	return f
}

func rankReadings(name string, at func(*Variable) *[]RankReading) field[Variable] {
	f := list(name, at, inlines(rankReadingSchema))
	return afterType(optional(unique(f, at, func(k *RankReading) int { return k.Rank })))
}

var readingSchema = schema[Reading]{
	required(word("status", func(g *Reading) *Status { return &g.Status },
		StatusOK, StatusFaulty, StatusError, StatusUnbound, StatusMissing)),
	optional(text("reason", func(g *Reading) *string { return &g.Reason })),
	readingType(),
	readingValue(),
	optional(integer("count", 0, maxCount, func(g *Reading) *int { return &g.Count })),
	optional(word("writable", func(g *Reading) *Writable { return &g.Writable },
		WritableYes, WritableNotNow, WritableNever, WritableUnknown)),
}

// readingType is the type of the value where it is not the variable's: on a rank that has another one, against Table 14.1.
func readingType() field[Reading] {
	return field[Reading]{
		name:     "type",
		optional: true,
		empty:    func(w *writer, g *Reading) bool { return g.Value.IsZero() || g.Value.typ == w.typ },
		put:      func(w *writer, g *Reading) { w.buf = appendText(w.buf, g.Value.typ.String()) },
		get: func(r *reader, g *Reading) {
			r.peek()
			start := r.pos
			t, err := ParseDatatype(clip(r.quoted()))
			if err != nil {
				r.fail(start, err)
			}
			r.valueType, r.valueOf = t, g
		},
	}
}

// readingValue waits for all the rest, as the type and the status say how to read it.
func readingValue() field[Reading] {
	return field[Reading]{
		name:     "value",
		optional: true,
		empty:    func(_ *writer, g *Reading) bool { return g.Value.IsZero() },
		put:      func(w *writer, g *Reading) { w.buf = g.Value.appendJSON(w.buf) },
		late:     func(*reader) bool { return true },
		get: func(r *reader, g *Reading) {
			t := r.typ
			if r.valueOf == g {
				t = r.valueType
			}
			if g.Status != StatusOK {
				r.failf(r.pos, "a value with status %q", g.Status)
			}
			g.Value = r.readValue(t)
		},
	}
}

var rankReadingSchema = append(schema[RankReading]{
	required(integer("rank", 0, maxCount, func(k *RankReading) *int { return &k.Rank })),
}, promote(readingSchema, func(k *RankReading) *Reading { return &k.Reading })...)

// promote are the fields of an embedded struct.
func promote[T, E any](s schema[E], at func(*T) *E) schema[T] {
	var all schema[T]
	for _, f := range s {
		g := field[T]{name: f.name, optional: f.optional, required: f.required, late: f.late}
		g.empty = func(w *writer, v *T) bool { return f.empty(w, at(v)) }
		g.put = func(w *writer, v *T) { f.put(w, at(v)) }
		g.get = func(r *reader, v *T) { f.get(r, at(v)) }
		all = append(all, g)
	}
	return all
}

var conflictSchema = schema[Conflict]{
	required(integer("rank", BeforeRank, maxCount, func(k *Conflict) *int { return &k.Rank })),
	text("field", func(k *Conflict) *string { return &k.Field }),
	text("here", func(k *Conflict) *string { return &k.Here }),
	text("root", func(k *Conflict) *string { return &k.Root }),
}

var originSchema = schema[Origin]{
	word("kind", func(o *Origin) *OriginKind { return &o.Kind }, OriginEnvironment, OriginLauncher, OriginFile, ""),
	text("where", func(o *Origin) *string { return &o.Where }),
	optional(text("value", func(o *Origin) *string { return &o.Value })),
}

var categorySchema = schema[Category]{
	required(text("name", func(k *Category) *string { return &k.Name })),
	optional(text("description", func(k *Category) *string { return &k.Description })),
	optional(list("cvars", func(k *Category) *[]string { return &k.Cvars }, texts)),
	optional(list("pvars", func(k *Category) *[]string { return &k.Pvars }, texts)),
	optional(list("categories", func(k *Category) *[]string { return &k.Categories }, texts)),
	optional(integer("events", 0, maxCount, func(k *Category) *int { return &k.Events })),
	optional(boolean("before", func(k *Category) *bool { return &k.Before })),
	optional(boolean("after", func(k *Category) *bool { return &k.After })),
	optional(list("conflicts", func(k *Category) *[]Conflict { return &k.Conflicts }, inlines(conflictSchema))),
}

var enumSchema = schema[Enum]{
	required(text("name", func(e *Enum) *string { return &e.Name })),
	optional(boolean("flags", func(e *Enum) *bool { return &e.Flags })),
	list("items", func(e *Enum) *[]Item { return &e.Items }, inlines(itemSchema)),
	optional(list("conflicts", func(e *Enum) *[]Conflict { return &e.Conflicts }, inlines(conflictSchema))),
}

var itemSchema = schema[Item]{
	required(integer("value", math.MinInt32, math.MaxInt32, func(i *Item) *int { return &i.Value })),
	text("name", func(i *Item) *string { return &i.Name }),
}
