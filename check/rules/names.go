//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mpitx/binding"
)

var names = section{subject: "names", rules: []rule{
	{Rule: promise("cvar-names-unique", "MPI-3.1, 14.3.6", "The name of a control variable is unique among control variables."), none: "no control variable is listed", run: func(m *mpi) { uniqueNames(m, cvars(m)) }},
	{Rule: promise("pvar-names-unique", "MPI-3.1, 14.3.7", "The combination of a performance variable's name and class is unique among performance variables."), none: "no performance variable is listed", run: func(m *mpi) { uniqueNames(m, pvars(m)) }},
	{Rule: promise("category-names-unique", "MPI-3.1, 14.3.8", "The name of a category is unique among categories."), none: "no category is listed", run: func(m *mpi) { uniqueNames(m, categories(m)) }},
	{Rule: promise("names-not-empty", "MPI-3.1, 14.3.6 to 14.3.8", "The names of variables and categories have at least one character."), run: eachEntry(namesNotEmpty, cvars, pvars, categories)},
	{Rule: promise("get-index", "MPI-3.1, 14.3.6 to 14.3.8", "MPI_T_*_get_index finds each variable and category by the name that MPI_T_*_get_info returns."), run: eachEntry(getIndex, cvars, pvars, categories)},
	{Rule: promise("get-index-unknown", "MPI-3.1, 14.3.6 to 14.3.8", "MPI_T_*_get_index returns MPI_T_ERR_INVALID_NAME for a name that nothing has."), run: getIndexUnknown},
	{Rule: promise("info-identical", "MPI-3.1, 14.3.6 to 14.3.8", "Repeated calls of MPI_T_*_get_info for the same variable return the same information."), run: eachEntry(infoIdentical, cvars, pvars, categories)},
	{Rule: promise("info-constants", "MPI-3.1, Tables 14.2, 14.3, 14.5 and section 14.3.7", "Verbosity, binding, scope and class are constants of the standard."), run: eachEntry(infoConstants, cvars, pvars)},
	{Rule: promise("datatypes", "MPI-3.1, Table 14.4", "The datatype of a variable is one of those that the standard lists for its version."), run: eachEntry(datatypes, cvars, pvars)},
	{Rule: promise("numbers-never-shrink", "MPI-3.1, 14.3.6 to 14.3.8", "The numbers of variables, categories, event types and sources are not negative and only grow, as nothing is deleted once it was added."), stage: before, run: neverShrink},
	{Rule: promise("indices-kept", "MPI-3.1, 14.3.6 to 14.3.8", "An index never changes: MPI_Init does not give it to another variable or category."), stage: before, run: indicesKept},
}}

// uniqueNames expects of each name that no other entry has it, and what else is expected of it.
func uniqueNames(m *mpi, l *list, also ...func(*buffer) cond) {
	seen := map[string]*entry{}
	m.entries(l, func(e *entry) {
		for _, f := range also {
			m.expect(f(e.name))
		}
		first := seen[e.item()]
		if first == nil {
			seen[e.item()] = e
			return
		}
		other := m.entry(l, first.index)
		unique := e.name.differs(other.name)
		if class := e.num("var_class"); class != nil {
			unique = either(unique, class.isnt(other.num("var_class")))
		}
		m.expect(unique.as("one %s of this name", l.what).but("the indices %d and %d have it", first.index, e.index))
	})
}

func namesNotEmpty(e *entry) {
	if e.label() == "" {
		e.rename(fmt.Sprintf("%s %d", e.what, e.index))
	}
	e.expect(e.name.notEmpty())
}

func getIndex(e *entry) {
	index := e.indexOf(e.list, e.label(), e)
	if index.rc == binding.ErrNotProvided {
		e.notApplicable("the library is older than MPI-3.1: it has no %s_get_index", e.prefix)
		return
	}
	e.expect(index.code.is(0), index.is(e.index))
}

func infoIdentical(e *entry) { e.expect(e.entry(e.list, e.index).like(e, "in the first call")) }

// like expects that a second call of get_info returns the same as the first.
func (e *entry) like(first *entry, call string) cond {
	same := []cond{e.code.is(0)}
	add := func(what string, c cond) { same = append(same, c.but("another %s", what)) }
	add("name", e.name.equals(first.name))
	add("description", e.desc.equals(first.desc))
	for k, n := range e.nums {
		add(label(n.c), n.is(first.nums[k]))
	}
	if e.enum != nil {
		add("enumeration", cond{ok: e.enum.v == first.enum.v, c: e.enum.c + " == " + first.enum.c})
	}
	if n := min(mostElements, max(0, int(e.value("num_elements")))); e.types != nil {
		add("datatype", e.types.same(first.types, n))
		add("displacement", e.offsets.same(first.offsets, n))
	}
	if e.ticks != nil {
		add("clock", e.ticks.same(first.ticks, len(e.ticks.b)))
	}
	return every(same...).as("the same information as %s", call)
}

// constants are the numbers of get_info that must be constants of the standard.
var constants = map[string][]string{
	"verbosity": {"MPI_T_VERBOSITY_USER_BASIC", "MPI_T_VERBOSITY_USER_DETAIL", "MPI_T_VERBOSITY_USER_ALL", "MPI_T_VERBOSITY_TUNER_BASIC",
		"MPI_T_VERBOSITY_TUNER_DETAIL", "MPI_T_VERBOSITY_TUNER_ALL", "MPI_T_VERBOSITY_MPIDEV_BASIC", "MPI_T_VERBOSITY_MPIDEV_DETAIL",
		"MPI_T_VERBOSITY_MPIDEV_ALL"},
	"bind": {"MPI_T_BIND_NO_OBJECT", "MPI_T_BIND_MPI_COMM", "MPI_T_BIND_MPI_DATATYPE", "MPI_T_BIND_MPI_ERRHANDLER", "MPI_T_BIND_MPI_FILE",
		"MPI_T_BIND_MPI_GROUP", "MPI_T_BIND_MPI_OP", "MPI_T_BIND_MPI_REQUEST", "MPI_T_BIND_MPI_WIN", "MPI_T_BIND_MPI_MESSAGE", "MPI_T_BIND_MPI_INFO"},
	"scope":     prefixed("MPI_T_SCOPE_", scopeNames[:]),
	"var_class": prefixed("MPI_T_PVAR_CLASS_", classNames[:]),
}

const bindSession = 12 // MPI-4's MPI_T_BIND_MPI_SESSION, which older libraries do not declare

func prefixed(prefix string, names []string) (out []string) {
	for _, n := range names {
		out = append(out, prefix+n)
	}
	return out
}

func infoConstants(e *entry) {
	for _, n := range e.nums {
		name := label(n.c)
		if known, ok := constants[name]; ok && (name != "bind" || n.v != bindSession) {
			e.expect(n.oneOf(known).as("%s is a constant of the standard", name))
		}
	}
}

// datatypes are those of Table 14.4; MPI-4.1 adds the sized ones.
func datatypes(e *entry) {
	known := []string{"MPI_INT", "MPI_UNSIGNED", "MPI_UNSIGNED_LONG", "MPI_UNSIGNED_LONG_LONG", "MPI_COUNT", "MPI_CHAR", "MPI_DOUBLE"}
	if e.standard >= "4.1" {
		known = append(known, "MPI_INT32_T", "MPI_INT64_T", "MPI_UINT32_T", "MPI_UINT64_T")
	}
	e.expect(e.num("datatype").oneOf(known).as("a datatype of Table 14.4").but("%s", typeName(e.value("datatype"))))
}

func neverShrink(m *mpi) {
	var was []*num
	all := append(lists(m), eventLists(m)...)
	for _, l := range all {
		was = append(was, m.number(l))
	}
	m.initMPI()
	for k, l := range all {
		if !m.item("%s_get_num", l.prefix) {
			continue
		}
		for range 3 {
			now := m.number(l)
			m.succeeds(now.code)
			if !m.expect(now.ge(0), now.ge(was[k])) {
				break
			}
			was[k] = now
		}
	}
}

func indicesKept(m *mpi) {
	var old []*entry
	for _, l := range lists(m) {
		m.count(l)
		old = slices.AppendSeq(old, m.listed(l))
	}
	m.initMPI()
	for _, was := range old {
		if !m.item("%s", was.item()) {
			continue
		}
		now := m.entry(was.list, was.index)
		if !now.ok() {
			m.absent() // it is inactive
			continue
		}
		m.expect(now.name.reads(was.label()).as("index %d still is %s", was.index, was.label()))
	}
}

// getIndexUnknown asks for a name that nothing has, for the empty name, and for names that are almost those of a list.
func getIndexUnknown(m *mpi) {
	for _, l := range lists(m) {
		for _, name := range []string{"mpitx_no_such_name", ""} {
			if !m.item("%s_get_index (name %q)", l.prefix, name) {
				continue
			}
			c := m.indexOf(l, name, unnamed()).code
			if c.rc == binding.ErrNotProvided {
				m.notApplicable("the library is older than MPI-3.1: it has no %s_get_index", l.prefix)
				return
			}
			m.expect(c.is(binding.ErrInvalidName))
		}
		m.almostNames(l)
	}
}

// almostNames asks for each name without its last character, with one more, and in the other case, unless that is a name, too.
func (m *mpi) almostNames(l *list) {
	known := map[string]bool{}
	key := func(name string, e *entry) string { return fmt.Sprint(name, e.class()) }
	all := slices.DeleteFunc(slices.Collect(m.listed(l)), func(e *entry) bool { return e.label() == "" })
	for _, e := range all {
		known[key(e.label(), e)] = true
	}
	for _, e := range all {
		if !m.item("%s", e.label()) {
			continue
		}
		name := e.label()
		for _, almost := range []string{name[:len(name)-1], name + "x", strings.Map(otherCase, name)} {
			if !known[key(almost, e)] {
				m.expect(m.indexOf(l, almost, e).code.is(binding.ErrInvalidName))
			}
		}
	}
}

func otherCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
