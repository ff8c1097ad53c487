//go:build cgo && linux

package rules

import (
	"bytes"
	"fmt"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/check"
)

// The arguments of calls, each a Go value and a C variable.
type (
	num struct {
		v int32
		c string
	}
	text struct {
		b []byte
		c string
	}
	handle struct {
		v binding.RawHandle
		c string
	}
	value struct {
		b []byte
		c string
		t int32
	}
)

const untouched = -42 // the value of an int before a call

func (m *mpi) num(name string, v int) *num {
	n := &num{int32(v), m.fresh(name)}
	m.line("int %s = %d;", n.c, v)
	return n
}

func (n *num) p() *int32 {
	if n == nil {
		return nil
	}
	return &n.v
}

func (n *num) out() arg {
	if n == nil {
		return lit("NULL")
	}
	return arg{c: "&" + n.c, show: func() string { return shown(n.c, n.String()) }, print: "SHOW(" + n.c + ");"}
}

const notSet = "not set"

// String is the value, unless the call has left what was there before. The shim's own start value of a count is -1.
func (n *num) String() string {
	switch {
	case n.v == untouched:
		return notSet
	case n.v == -1 && strings.HasPrefix(n.c, "count"):
		return notSet + ", or to -1"
	}
	return fmt.Sprint(n.v)
}

// shown says what a C variable has after a call.
func shown(name, value string) string {
	if strings.HasPrefix(value, notSet) {
		return name + " was " + value
	}
	return name + " = " + value
}

// guard is room after buffers, for libraries that write too much.
const guard = 256

// text is a buffer for a string, filled with '#' to show what is written.
func (m *mpi) text(name string, size int) *text {
	t := &text{bytes.Repeat([]byte{'#'}, size+guard)[:size], m.fresh(name)}
	m.line("char %s[%d];", t.c, size)
	m.line("memset(%s, '#', sizeof %s);", t.c, t.c)
	return t
}

func (t *text) p() []byte {
	if t == nil {
		return nil
	}
	return t.b
}

// String is the string up to its null character.
func (t *text) String() string {
	s, _, _ := bytes.Cut(t.b, []byte{0})
	return string(s)
}

func (t *text) ended() bool { return bytes.IndexByte(t.b, 0) >= 0 }

func (t *text) out() arg {
	if t == nil {
		return lit("NULL")
	}
	return arg{c: t.c, show: func() string {
		if bytes.Count(t.b, []byte{'#'}) == len(t.b) {
			return shown(t.c, notSet)
		}
		return shown(t.c, excerpt(t.String(), 60))
	}, print: "SHOW_TEXT(" + t.c + ");"}
}

func (m *mpi) handle(name, ctype, null string) *handle {
	h := &handle{0, m.fresh(name)}
	m.line("%s %s = %s;", ctype, h.c, null)
	return h
}

func (m *mpi) cvarHandle() *handle {
	return m.handle("handle", "MPI_T_cvar_handle", "MPI_T_CVAR_HANDLE_NULL")
}
func (m *mpi) pvarHandle() *handle {
	return m.handle("handle", "MPI_T_pvar_handle", "MPI_T_PVAR_HANDLE_NULL")
}
func (m *mpi) session() *handle {
	return m.handle("session", "MPI_T_pvar_session", "MPI_T_PVAR_SESSION_NULL")
}

func (h *handle) in() arg  { return lit("%s", h.c) }
func (h *handle) out() arg { return lit("&%s", h.c) }

// value is a buffer for a variable's value, with room for libraries that write too much.
func (m *mpi) value(datatype int32, count int) *value {
	size := max(1, count) * max(8, catalog.Datatype(datatype).Size())
	v := &value{make([]byte, size+4096), m.fresh("buf"), datatype}
	m.line("_Alignas(16) static char %s[%d];", v.c, len(v.b))
	return v
}

func (v *value) out() arg { return lit("%s", v.c) }

// at is element k as text.
func (v *value) at(k int) string {
	return catalog.NewValue(catalog.Datatype(v.t), v.b[k*catalog.Datatype(v.t).Size():][:catalog.Datatype(v.t).Size()]).String()
}

func cString(s string) []byte { return append([]byte(s), 0) }

// object is the C text for the address of a bound object's handle.
func (m *mpi) object(o binding.Object) arg {
	switch o {
	case binding.NoObject:
		return lit("NULL")
	case binding.Nowhere:
		return lit("(void *)8")
	}
	return lit("&(MPI_Comm){%s}", map[binding.Object]string{binding.CommWorld: "MPI_COMM_WORLD", binding.CommSelf: "MPI_COMM_SELF"}[o])
}

// ---- initialization ----

func (m *mpi) initMPI() code {
	provided := m.num("provided", untouched)
	c := m.call("MPI_Init_thread", func() binding.Error { return m.raw.InitMPI(catalog.ThreadSingle, &provided.v) },
		lit("NULL"), lit("NULL"), lit("MPI_THREAD_SINGLE"), provided.level())
	m.lib.AdoptMPI()
	m.line("MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);")
	return c
}

func (m *mpi) finalizeMPI() code { return m.call("MPI_Finalize", m.raw.FinalizeMPI) }

// level is out for a thread level, which is shown by its name: the library's number for it is another than mpitx's.
func (n *num) level() arg {
	a := n.out()
	a.show, a.print = func() string { return shown(n.c, threadName(n.v)) }, "SHOW_LEVEL("+n.c+");"
	return a
}

func (m *mpi) initTool(level catalog.ThreadLevel) (code, *num) {
	provided := m.num("provided", untouched)
	c := m.call("MPI_T_init_thread", func() binding.Error { return m.raw.InitThread(level, &provided.v) }, lit("%s", threadName(int32(level))), provided.level())
	return c, provided
}

func (m *mpi) finalizeTool() code { return m.call("MPI_T_finalize", m.raw.Finalize) }

func (m *mpi) queryThread() (code, *num) {
	n := m.num("level", untouched)
	return m.call("MPI_Query_thread", func() binding.Error { return m.raw.QueryThread(&n.v) }, n.level()), n
}

// ---- lists ----

// list is a kind of thing that the library numbers and names: control variables, categories …
type list struct {
	what     string // "control variable"
	prefix   string // "MPI_T_cvar"
	num      func(*int32) binding.Error
	index    func(m *mpi, name []byte, like *entry, index *int32) binding.Error // nil: none
	describe func(m *mpi, index int, s *nameAndDescription, e *entry) code
}

// nameAndDescription are the four arguments of the two strings of get_info.
type nameAndDescription struct {
	name, desc       *text
	nameLen, descLen *num
}

// entry is what get_info returns, with the numbers as C variables.
type entry struct {
	code
	index int
	nameAndDescription
	ints   []int32  // in the order of get_info
	names  []string // their C variables
	labels []string // verbosity, …
	enum   binding.RawHandle
	cEnum  string
	cvar   binding.RawCvar
	pvar   binding.RawPvar
}

// number calls get_num.
func (m *mpi) number(l *list) (code, *num) {
	n := m.num("num", untouched)
	return m.call(l.prefix+"_get_num", func() binding.Error { return l.num(n.p()) }, n.out()), n
}

// count is number for a rule that goes on to look at each.
func (m *mpi) count(l *list) (code, *num) {
	c, n := m.number(l)
	if c.ok() {
		few(n.v, l.plural())
	}
	return c, n
}

// quietCount is count without a trace in programs.
func (m *mpi) quietCount(l *list) (n int) {
	m.quietly(func() *entry {
		if c, num := m.count(l); c.ok() {
			n = int(num.v)
		}
		return nil
	})
	return n
}

func (l *list) plural() string {
	if l.what == "category" {
		return "categories"
	}
	return l.what + "s"
}

// item names an entry in reports. Performance variables of one name have different classes.
func (l *list) item(e *entry) string {
	if l.prefix == "MPI_T_pvar" {
		return fmt.Sprintf("%s:%s", e.label(), catalog.Class(e.pvar.Class))
	}
	return e.label()
}

// strings makes buffers that hold any string.
func (m *mpi) strings(name, desc int) *nameAndDescription {
	return &nameAndDescription{m.text("name", name), m.text("desc", desc), m.num("name_len", name), m.num("desc_len", desc)}
}

const wholeName, wholeDesc = 1024, 8192

// entry calls get_info with buffers that hold any string.
func (m *mpi) entry(l *list, index int) *entry {
	return m.entryWith(l, index, m.strings(wholeName, wholeDesc))
}

func (m *mpi) entryWith(l *list, index int, s *nameAndDescription) *entry {
	e := &entry{index: index, nameAndDescription: *s}
	e.code = l.describe(m, index, s, e)
	return e
}

// outs declares int variables and returns them as arguments.
func (m *mpi) outs(e *entry, labels ...string) map[string]arg {
	args := map[string]arg{}
	for _, label := range labels {
		c := m.fresh(label)
		ctype := "int"
		if label == "datatype" {
			ctype = "MPI_Datatype"
		}
		null := map[string]string{"int": fmt.Sprint(untouched), "MPI_Datatype": "MPI_DATATYPE_NULL"}[ctype]
		m.line("%s %s = %s;", ctype, c, null)
		e.labels, e.names = append(e.labels, label), append(e.names, c)
		args[label] = lit("&%s", c)
	}
	return args
}

func (m *mpi) enumOut(e *entry) arg {
	e.cEnum = m.fresh("enumtype")
	m.line("MPI_T_enum %s = MPI_T_ENUM_NULL;", e.cEnum)
	return lit("&%s", e.cEnum)
}

func cvars(m *mpi) *list {
	return &list{"control variable", "MPI_T_cvar", m.raw.NumCvars,
		func(m *mpi, name []byte, _ *entry, index *int32) binding.Error { return m.raw.CvarIndex(name, index) },
		func(m *mpi, index int, s *nameAndDescription, e *entry) code {
			a := m.outs(e, "verbosity", "datatype", "bind", "scope")
			enum := m.enumOut(e)
			c := m.call("MPI_T_cvar_get_info", func() binding.Error {
				return m.raw.CvarInfo(int32(index), s.name.p(), s.nameLen.p(), s.desc.p(), s.descLen.p(), &e.cvar)
			}, lit("%d", index), s.name.out(), s.nameLen.out(), a["verbosity"], a["datatype"], enum, s.desc.out(), s.descLen.out(), a["bind"], a["scope"])
			e.ints, e.enum = []int32{e.cvar.Verbosity, e.cvar.Datatype, e.cvar.Bind, e.cvar.Scope}, e.cvar.Enum
			return c
		}}
}

func pvars(m *mpi) *list {
	return &list{"performance variable", "MPI_T_pvar", m.raw.NumPvars,
		func(m *mpi, name []byte, like *entry, index *int32) binding.Error {
			return m.raw.PvarIndex(name, like.pvar.Class, index)
		},
		func(m *mpi, index int, s *nameAndDescription, e *entry) code {
			a := m.outs(e, "verbosity", "var_class", "datatype", "bind", "readonly", "continuous", "atomic")
			enum := m.enumOut(e)
			c := m.call("MPI_T_pvar_get_info", func() binding.Error {
				return m.raw.PvarInfo(int32(index), s.name.p(), s.nameLen.p(), s.desc.p(), s.descLen.p(), &e.pvar)
			}, lit("%d", index), s.name.out(), s.nameLen.out(), a["verbosity"], a["var_class"], a["datatype"], enum, s.desc.out(), s.descLen.out(),
				a["bind"], a["readonly"], a["continuous"], a["atomic"])
			p := &e.pvar
			e.ints, e.enum = []int32{p.Verbosity, p.Class, p.Datatype, p.Bind, p.Readonly, p.Continuous, p.Atomic}, p.Enum
			return c
		}}
}

func categories(m *mpi) *list {
	return &list{"category", "MPI_T_category", m.raw.NumCategories,
		func(m *mpi, name []byte, _ *entry, index *int32) binding.Error {
			return m.raw.CategoryIndex(name, index)
		},
		func(m *mpi, index int, s *nameAndDescription, e *entry) code {
			a := m.outs(e, "num_cvars", "num_pvars", "num_categories")
			var n [3]int32
			c := m.call("MPI_T_category_get_info", func() binding.Error {
				return m.raw.CategoryInfo(int32(index), s.name.p(), s.nameLen.p(), s.desc.p(), s.descLen.p(), &n)
			}, lit("%d", index), s.name.out(), s.nameLen.out(), s.desc.out(), s.descLen.out(), a["num_cvars"], a["num_pvars"], a["num_categories"])
			e.ints = n[:]
			return c
		}}
}

// lists are the kinds that every library has.
func lists(m *mpi) []*list { return []*list{cvars(m), pvars(m), categories(m)} }

// indexOf calls get_index.
func (m *mpi) indexOf(l *list, name string, like *entry) (code, *num) {
	index := m.num("index", untouched)
	args := []arg{lit("%s", check.Quote(name))}
	if l.prefix == "MPI_T_pvar" {
		args = append(args, lit("%s", className(like.pvar.Class)))
	}
	return m.call(l.prefix+"_get_index", func() binding.Error { return l.index(m, cString(name), like, &index.v) }, append(args, index.out())...), index
}

// entries calls get_info of all, each in an item of its own, and calls f for those that exist.
func (m *mpi) entries(l *list, f func(*entry)) {
	c, n := m.count(l)
	if !c.ok() {
		return
	}
	for k := range int(n.v) {
		if !m.item("%s %d", l.what, k) {
			continue
		}
		e := m.entry(l, k)
		if !e.ok() {
			m.absent()
			continue
		}
		m.rename(l.item(e))
		f(e)
	}
}

// label names an entry in items.
func (e *entry) label() string { return e.name.String() }

// differences compares the numbers of two calls.
func differences(a, b *entry) (labels, kept []string) {
	for k := range a.ints {
		if a.ints[k] != b.ints[k] {
			labels = append(labels, a.labels[k])
		}
		kept = append(kept, a.names[k]+" == "+b.names[k])
	}
	return labels, kept
}

func joinAnd(s []string) string { return strings.Join(s, " && ") }
