//go:build cgo && linux

package rules

import (
	"fmt"
	"strings"

	"mpitx/binding"
	"mpitx/check"
)

var names = section{"names", []rule{
	{Rule: promise("cvar-names-unique", "MPI-3.1, 14.3.6", "The name of a control variable is unique among control variables."), stage: after, run: func(m *mpi) { uniqueNames(m, cvars(m)) }},
	{Rule: promise("pvar-names-unique", "MPI-3.1, 14.3.7", "The combination of a performance variable's name and class is unique among performance variables."), stage: after, run: func(m *mpi) { uniqueNames(m, pvars(m)) }},
	{Rule: promise("category-names-unique", "MPI-3.1, 14.3.8", "The name of a category is unique among categories."), stage: after, run: func(m *mpi) { uniqueNames(m, categories(m)) }},
	{Rule: promise("names-not-empty", "MPI-3.1, 14.3.6 to 14.3.8", "The names of variables and categories have at least one character."), stage: after, run: namesNotEmpty},
	{Rule: promise("get-index", "MPI-3.1, 14.3.6 to 14.3.8", "MPI_T_*_get_index finds each variable and category by the name that MPI_T_*_get_info returns."), stage: after, run: getIndex},
	{Rule: promise("get-index-unknown", "MPI-3.1, 14.3.6 to 14.3.8", "MPI_T_*_get_index returns MPI_T_ERR_INVALID_NAME for a name that nothing has."), stage: after, run: getIndexUnknown},
	{Rule: promise("info-identical", "MPI-3.1, 14.3.6 to 14.3.8", "Repeated calls of MPI_T_*_get_info for the same variable return the same information."), stage: after, run: infoIdentical},
	{Rule: promise("info-constants", "MPI-3.1, Tables 14.2, 14.3, 14.5 and section 14.3.7", "Verbosity, binding, scope and class are constants of the standard."), stage: after, run: infoConstants},
	{Rule: promise("datatypes", "MPI-3.1, Table 14.4", "The datatype of a variable is one of those that the standard lists for its version."), stage: after, run: datatypes},
	{Rule: promise("numbers-never-shrink", "MPI-3.1, 14.3.6 to 14.3.8", "The numbers of variables, categories, event types and sources are not negative and only grow, as nothing is deleted once it was added."), stage: before, run: neverShrink},
	{Rule: promise("indices-kept", "MPI-3.1, 14.3.6 to 14.3.8", "An index never changes: MPI_Init does not give it to another variable or category."), stage: before, run: indicesKept},
}}

func uniqueNames(m *mpi, l *list) {
	if c, n := m.count(l); c.ok() && n.v == 0 {
		m.notApplicable("no %s is listed", l.what)
	}
	seen := map[string]int{}
	m.entries(l, func(e *entry) {
		key := fmt.Sprint(e.label(), e.pvar.Class)
		first, twice := seen[key]
		if !twice {
			seen[key] = e.index
			return
		}
		other := m.entry(l, first)
		kept := fmt.Sprintf("strcmp(%s, %s) != 0", e.name.c, other.name.c)
		if l.prefix == "MPI_T_pvar" {
			kept += fmt.Sprintf(" || %s != %s", e.names[1], other.names[1])
		}
		m.expect(false, kept, "one "+l.what+" of this name", fmt.Sprintf("the indices %d and %d have it", first, e.index))
	})
	if m.items == 0 {
		m.notApplicable("no %s is listed", l.what)
	}
}

func namesNotEmpty(m *mpi) {
	for _, l := range lists(m) {
		m.entries(l, func(e *entry) {
			if e.label() == "" {
				m.rename(fmt.Sprintf("%s %d", l.what, e.index))
			}
			m.expect(e.label() != "", e.name.c+"[0] != 0", "a name of at least one character", "an empty name")
		})
	}
}

func getIndex(m *mpi) {
	for _, l := range lists(m) {
		m.entries(l, func(e *entry) {
			c, index := m.indexOf(l, e.label(), e)
			if c.rc == binding.ErrNotProvided {
				m.notApplicable("the library is older than MPI-3.1: it has no %s_get_index", l.prefix)
				return
			}
			m.expect(c.ok() && int(index.v) == e.index, fmt.Sprintf("%s == MPI_SUCCESS && %s == %d", c.c, index.c, e.index),
				fmt.Sprintf("%s_get_index returns index %d", l.prefix, e.index), fmt.Sprintf("%s, index %v", codeName(c.rc), index))
		})
	}
}

func infoIdentical(m *mpi) {
	for _, l := range lists(m) {
		m.entries(l, func(e *entry) {
			m.sameInfo(e, m.entry(l, e.index), "the same information as in the first call")
		})
	}
}

// sameInfo expects that two calls of get_info return the same.
func (m *mpi) sameInfo(e, again *entry, expected string) {
	labels, kept := differences(e, again)
	for _, s := range [][2]*text{{e.name, again.name}, {e.desc, again.desc}} {
		if s[0].String() != s[1].String() {
			labels = append(labels, strings.TrimRight(s[0].c, "0123456789"))
		}
		kept = append(kept, fmt.Sprintf("strcmp(%s, %s) == 0", s[0].c, s[1].c))
	}
	if e.cEnum != "" && e.enum != again.enum {
		labels = append(labels, "enumtype")
	}
	if e.cEnum != "" {
		kept = append(kept, e.cEnum+" == "+again.cEnum)
	}
	m.expect(len(labels) == 0 && again.ok(), joinAnd(append(kept, again.c+" == MPI_SUCCESS")), expected,
		codeName(again.rc)+", different "+strings.Join(labels, ", "))
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

func prefixed(prefix string, names []string) (out []string) {
	for _, n := range names {
		out = append(out, prefix+n)
	}
	return out
}

func infoConstants(m *mpi) {
	for _, l := range []*list{cvars(m), pvars(m)} {
		m.entries(l, func(e *entry) {
			for k, label := range e.labels {
				known, ok := constants[label]
				if !ok {
					continue
				}
				most := int32(len(known))
				if label == "bind" {
					most++ // MPI-4's MPI_T_BIND_MPI_SESSION
				}
				m.expect(e.ints[k] >= 1 && e.ints[k] <= most, isOneOf(e.names[k], known), label+" is a constant of the standard", fmt.Sprintf("%s is %s", label, unknown(e.ints[k])))
			}
		})
	}
}

// unknown is a number of the library that is in no table.
func unknown(n int32) string {
	if n >= 0x40000000 {
		return fmt.Sprint(n - 0x40000000)
	}
	return fmt.Sprint(n)
}

func isOneOf(c string, names []string) string {
	words := make([]string, len(names))
	for k, n := range names {
		words[k] = c + " == " + n
	}
	return strings.Join(words, " || ")
}

// datatypes are those of Table 14.4; MPI-4.1 adds the sized ones.
func datatypes(m *mpi) {
	known := []string{"MPI_INT", "MPI_UNSIGNED", "MPI_UNSIGNED_LONG", "MPI_UNSIGNED_LONG_LONG", "MPI_COUNT", "MPI_CHAR", "MPI_DOUBLE"}
	if m.standard >= "4.1" {
		known = append(known, "MPI_INT32_T", "MPI_INT64_T", "MPI_UINT32_T", "MPI_UINT64_T")
	}
	for _, l := range []*list{cvars(m), pvars(m)} {
		m.entries(l, func(e *entry) {
			for k, label := range e.labels {
				if label == "datatype" {
					m.expect(e.ints[k] >= 1 && int(e.ints[k]) <= len(known), isOneOf(e.names[k], known), "a datatype of Table 14.4", typeName(e.ints[k]))
				}
			}
		})
	}
}

func neverShrink(m *mpi) {
	var was []*num
	all := append(lists(m), eventLists(m)...)
	for _, l := range all {
		_, n := m.number(l)
		was = append(was, n)
	}
	m.initMPI()
	for k, l := range all {
		if !m.item("%s_get_num", l.prefix) {
			continue
		}
		var now *num
		for range 3 {
			var c code
			c, now = m.number(l)
			m.succeeds(c)
			if !m.expect(now.v >= 0, now.c+" >= 0", "a number that is not negative", now.String()) ||
				!m.expect(now.v >= was[k].v, now.c+" >= "+was[k].c, fmt.Sprintf("at least %d, the number before", was[k].v), fmt.Sprint(now.v)) {
				break
			}
			was[k] = now
		}
	}
}

func indicesKept(m *mpi) {
	type was struct {
		index      int
		name, item string
	}
	var old [3][]was
	all := lists(m)
	for k, l := range all {
		_, n := m.count(l)
		for i := range int(n.v) {
			if e := m.quietly(func() *entry { return m.entry(l, i) }); e.ok() {
				old[k] = append(old[k], was{i, e.label(), l.item(e)})
			}
		}
	}
	m.initMPI()
	for k, l := range all {
		for _, was := range old[k] {
			if !m.item("%s", was.item) {
				continue
			}
			now := m.entry(l, was.index)
			if !now.ok() {
				m.absent() // it is inactive
				continue
			}
			m.expect(now.label() == was.name, fmt.Sprintf("strcmp(%s, %s) == 0", now.name.c, check.Quote(was.name)),
				fmt.Sprintf("index %d still is %s", was.index, was.name), now.label())
		}
	}
}
