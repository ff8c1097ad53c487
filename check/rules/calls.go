//go:build cgo && linux

package rules

import (
	"fmt"
	"iter"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/check"
)

// ask calls a routine that returns a number in its last argument.
func (m *mpi) ask(routine, name string, f func(*int32) binding.Error, in ...arg) *num {
	n := m.num(name, untouched)
	n.code = m.call(routine, func() binding.Error { return f(n.p()) }, append(in, n.out())...)
	return n
}

// ---- initialization ----

func (m *mpi) initMPI() code {
	provided := m.num("provided", untouched)
	c := m.call("MPI_Init_thread", func() binding.Error { return m.raw.InitMPI(catalog.ThreadSingle, &provided.v) },
		lit("NULL"), lit("NULL"), lit("MPI_THREAD_SINGLE"), level(provided))
	m.lib.AdoptMPI()
	m.line("MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);")
	return c
}

func (m *mpi) finalizeMPI() code { return m.call("MPI_Finalize", m.raw.FinalizeMPI) }

// level is out for a thread level, which is shown by its name: the library's number for it is another than mpitx's.
func level(n *num) arg {
	a := n.out()
	a.show, a.print = func() string { return shown(n.c, threadName(n.v)) }, "SHOW_LEVEL("+n.c+");"
	return a
}

// initTool returns the level that is provided.
func (m *mpi) initTool(required catalog.ThreadLevel) *num {
	n := m.num("provided", untouched)
	n.code = m.call("MPI_T_init_thread", func() binding.Error { return m.raw.InitThread(required, &n.v) },
		lit("%s", threadName(int32(required))), level(n))
	return n
}

// startTool is initTool with MPI_THREAD_SINGLE.
func (m *mpi) startTool() code { return m.initTool(catalog.ThreadSingle).code }

func (m *mpi) finalizeTool() code { return m.call("MPI_T_finalize", m.raw.Finalize) }

func (m *mpi) queryThread() *num {
	n := m.num("level", untouched)
	n.code = m.call("MPI_Query_thread", func() binding.Error { return m.raw.QueryThread(&n.v) }, level(n))
	return n
}

// ---- lists ----

// list is a kind of thing that the library numbers and names: control variables, categories …
type list struct {
	*mpi
	what      string // "control variable"
	prefix    string // "MPI_T_cvar"
	num       func(*int32) binding.Error
	index     func(name []byte, like *entry, index *int32) binding.Error // nil: none
	arguments string                                                     // of get_info, after the index
	info      func(index int32, e *entry) binding.Error                  // calls get_info
}

// nameAndDescription are the four arguments of the two strings of get_info.
type nameAndDescription struct {
	name, desc       *buffer
	nameLen, descLen *num
}

// entry is what get_info returns.
type entry struct {
	code
	*list
	index int
	nameAndDescription
	nums    []*num // in the order of get_info
	enum    *handle
	types   *array[int32] // of an event type's elements
	offsets *array[int64]
	ticks   *array[int64] // of a source: per second, and at most
}

func cvars(m *mpi) *list {
	return &list{m, "control variable", "MPI_T_cvar", m.raw.NumCvars,
		func(name []byte, _ *entry, index *int32) binding.Error { return m.raw.CvarIndex(name, index) },
		"name name_len verbosity datatype enumtype desc desc_len bind scope",
		func(index int32, e *entry) binding.Error {
			var v binding.RawCvar
			rc := m.raw.CvarInfo(index, e.name.p(), e.nameLen.p(), e.desc.p(), e.descLen.p(), &v)
			e.set(v.Enum, v.Verbosity, v.Datatype, v.Bind, v.Scope)
			return rc
		}}
}

func pvars(m *mpi) *list {
	return &list{m, "performance variable", "MPI_T_pvar", m.raw.NumPvars,
		func(name []byte, like *entry, index *int32) binding.Error {
			return m.raw.PvarIndex(name, like.value("var_class"), index)
		},
		"name name_len verbosity var_class datatype enumtype desc desc_len bind readonly continuous atomic",
		func(index int32, e *entry) binding.Error {
			var v binding.RawPvar
			rc := m.raw.PvarInfo(index, e.name.p(), e.nameLen.p(), e.desc.p(), e.descLen.p(), &v)
			e.set(v.Enum, v.Verbosity, v.Class, v.Datatype, v.Bind, v.Readonly, v.Continuous, v.Atomic)
			return rc
		}}
}

func categories(m *mpi) *list {
	return &list{m, "category", "MPI_T_category", m.raw.NumCategories,
		func(name []byte, _ *entry, index *int32) binding.Error { return m.raw.CategoryIndex(name, index) },
		"name name_len desc desc_len num_cvars num_pvars num_categories",
		func(index int32, e *entry) binding.Error {
			var n [3]int32
			rc := m.raw.CategoryInfo(index, e.name.p(), e.nameLen.p(), e.desc.p(), e.descLen.p(), &n)
			e.set(0, n[:]...)
			return rc
		}}
}

// lists are the kinds that every library has.
func lists(m *mpi) []*list { return []*list{cvars(m), pvars(m), categories(m)} }

func variableLists(m *mpi) []*list { return lists(m)[:2] }

// number calls get_num.
func (m *mpi) number(l *list) *num { return m.ask(l.prefix+"_get_num", "num", l.num) }

// count is number for a rule that goes on to look at each.
func (m *mpi) count(l *list) *num {
	n := m.number(l)
	if n.ok() {
		few(n.v, l.plural())
	}
	return n
}

// quietCount is count without a trace in programs.
func (m *mpi) quietCount(l *list) (n int) {
	m.quietly(func() {
		if count := m.count(l); count.ok() {
			n = int(count.v)
		}
	})
	return n
}

func (l *list) plural() string {
	if l.what == "category" {
		return "categories"
	}
	return l.what + "s"
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
	e := &entry{list: l, index: index, nameAndDescription: *s}
	args := []arg{lit("%d", index)}
	for _, word := range strings.Fields(l.arguments) {
		args = append(args, m.infoArgument(e, word))
	}
	e.code = m.call(l.prefix+"_get_info", func() binding.Error { return l.info(int32(index), e) }, args...)
	return e
}

// infoArgument declares a variable for an argument of get_info. The strings have theirs.
func (m *mpi) infoArgument(e *entry, word string) arg {
	switch word {
	case "name":
		return e.name.out()
	case "name_len":
		return e.nameLen.out()
	case "desc":
		return e.desc.out()
	case "desc_len":
		return e.descLen.out()
	case "enumtype":
		e.enum = m.handle(word, "MPI_T_enum")
		return e.enum.out()
	case "info":
		return m.hints().out()
	case "types":
		e.types = &array[int32]{b: make([]int32, mostElements), c: m.fresh(word)}
		m.line("MPI_Datatype %s[%d];", e.types.c, mostElements)
		return lit("%s", e.types.c)
	case "displacements":
		e.offsets = &array[int64]{b: make([]int64, mostElements), c: m.fresh(word)}
		m.line("MPI_Aint %s[%d];", e.offsets.c, mostElements)
		return lit("%s", e.offsets.c)
	case "ticks_per_second":
		e.ticks = &array[int64]{b: make([]int64, 2), c: m.fresh("ticks")}
		m.line("MPI_Count %s[2] = {-42, -42};", e.ticks.c)
		return lit("&%s[0]", e.ticks.c)
	case "max_ticks":
		return lit("&%s[1]", e.ticks.c)
	case "datatype":
		n := named(m.fresh(word), int32(untouched))
		m.line("MPI_Datatype %s = MPI_DATATYPE_NULL;", n.c)
		e.nums = append(e.nums, n)
		return lit("&%s", n.c)
	}
	n := m.num(word, map[bool]int{true: mostElements, false: untouched}[word == "num_elements"])
	e.nums = append(e.nums, n)
	switch word {
	case "num_elements":
		return n.out()
	case "ordering": // an enumeration of C
		return lit("(void *)&%s", n.c)
	}
	return lit("&%s", n.c)
}

// set takes what get_info returned.
func (e *entry) set(enum binding.RawHandle, nums ...int32) {
	if e.enum != nil {
		e.enum.v = enum
	}
	for k, v := range nums {
		e.nums[k].v = v
	}
}

// num is one of the numbers of get_info, by the name of its argument.
func (e *entry) num(name string) *num {
	for _, n := range e.nums {
		if label(n.c) == name {
			return n
		}
	}
	return nil
}

// value is such a number; 0 if there is none.
func (e *entry) value(name string) int32 {
	if n := e.num(name); n != nil {
		return n.v
	}
	return 0
}

func (e *entry) hasEnum() bool { return e.enum != nil && e.enum.v != 0 }

// bound reports what object an entry is bound to.
func (e *entry) bound() catalog.Bind { return catalog.Bind(e.value("bind")) }

func (e *entry) unbound() bool { return e.bound() == catalog.BindNoObject }

func (e *entry) datatype() catalog.Datatype { return catalog.Datatype(e.value("datatype")) }

func (e *entry) class() catalog.Class { return catalog.Class(e.value("var_class")) }

// label is the entry's name.
func (e *entry) label() string { return e.name.String() }

// item names an entry in reports. Performance variables of one name have different classes.
func (e *entry) item() string {
	if e.prefix == "MPI_T_pvar" {
		return fmt.Sprintf("%s:%s", e.label(), e.class())
	}
	return e.label()
}

// unnamed is an entry of no name, for a call of get_index.
func unnamed() *entry { return &entry{nums: []*num{named("var_class1", int32(catalog.ClassCounter))}} }

// indexOf calls get_index.
func (m *mpi) indexOf(l *list, name string, like *entry) *num {
	args := []arg{lit("%s", check.Quote(name))}
	if l.prefix == "MPI_T_pvar" {
		args = append(args, lit("%s", className(like.value("var_class"))))
	}
	return m.ask(l.prefix+"_get_index", "index", func(index *int32) binding.Error { return l.index(cString(name), like, index) }, args...)
}

// noSuchName calls get_index with a name that nothing has.
func (m *mpi) noSuchName(l *list) code { return m.indexOf(l, "mpitx_no_such_name", unnamed()).code }

// entries calls get_info of all, each in an item of its own, and calls f for those that exist.
func (m *mpi) entries(l *list, f func(*entry)) {
	n := m.count(l)
	if !n.ok() {
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
		m.rename(e.item())
		f(e)
	}
}

// eachEntry is a rule about the entries of lists.
func eachEntry(f func(*entry), lists ...func(*mpi) *list) func(*mpi) {
	return func(m *mpi) {
		for _, l := range lists {
			m.entries(l(m), f)
		}
	}
}

// peek is entry without a trace in programs.
func (m *mpi) peek(l *list, index int) (e *entry) {
	m.quietly(func() { e = m.entry(l, index) })
	return e
}

// listed are the entries that exist, without a trace in programs.
func (m *mpi) listed(l *list) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for k := range m.quietCount(l) {
			if e := m.peek(l, k); e.ok() && !yield(e) {
				return
			}
		}
	}
}

// firstUnbound is the first entry that is not bound to an object; nil if there is none.
func (m *mpi) firstUnbound(l *list) *entry {
	for e := range m.listed(l) {
		if e.unbound() {
			return e
		}
	}
	return nil
}
