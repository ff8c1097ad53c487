//go:build cgo && linux

package rules

import (
	"fmt"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
)

// infoLists are the lists whose get_info has these arguments after the index.
var infoLists = []struct {
	list      int32
	arguments string
}{
	{binding.ListCvars, "name name_len verbosity datatype enumtype desc desc_len bind scope"},
	{binding.ListPvars, "name name_len verbosity var_class datatype enumtype desc desc_len bind readonly continuous atomic"},
	{binding.ListCategories, "name name_len desc desc_len num_cvars num_pvars num_categories"},
}

// nullOut passes NULL for each OUT parameter, and for all of them. The strings come last, as MPI_T_*_get_info may be asked for lengths only.
func nullOut(m *mpi) {
	for k, l := range lists(m) {
		words := strings.Fields(infoLists[k].arguments)
		for _, index := range m.samples(l) {
			var texts []int
			for at, word := range words {
				switch word {
				case "name_len", "desc_len": // INOUT
				case "name", "desc":
					texts = append(texts, at)
				default:
					m.infoWithout(l, k, index, words, 1<<at)
				}
			}
			for _, at := range texts {
				m.infoWithout(l, k, index, words, 1<<at)
			}
			m.infoWithout(l, k, index, words, 1<<len(words)-1)
		}
	}
}

// samples are the first entry of a list, and the first that has an enumeration.
func (m *mpi) samples(l *list) (indices []int) {
	enum := false
	for k := range m.quietCount(l) {
		e := m.quietly(func() *entry { return m.entry(l, k) })
		if e.ok() && (len(indices) == 0 || e.enum != 0 && !enum) {
			indices, enum = append(indices, k), enum || e.enum != 0
		}
	}
	return indices
}

// infoWithout calls get_info with NULL for the arguments that are bits of without.
func (m *mpi) infoWithout(l *list, k, index int, words []string, without uint32) {
	args, nulls := []arg{lit("%d", index)}, []string{}
	for at, word := range words {
		switch {
		case without>>at&1 != 0:
			args, nulls = append(args, lit("NULL")), append(nulls, word)
		case word == "name" || word == "desc":
			args = append(args, lit("%s", word))
		default:
			args = append(args, lit("&%s", word))
		}
	}
	if !m.item("%s_get_info(%d) (NULL for %s)", l.prefix, index, strings.Join(nulls, " ")) {
		return
	}
	m.line("char name[1024], desc[8192]; int name_len = sizeof name, desc_len = sizeof desc; MPI_Datatype datatype; MPI_T_enum enumtype;")
	m.line("int verbosity, var_class, bind, scope, readonly, continuous, atomic, num_cvars, num_pvars, num_categories;")
	m.line("(void)&enumtype, (void)&datatype, (void)&verbosity, (void)&var_class, (void)&bind, (void)&scope, (void)&readonly, (void)&continuous;")
	m.line("(void)&atomic, (void)&num_cvars, (void)&num_pvars, (void)&num_categories, (void)&name_len, (void)&desc_len, (void)name, (void)desc;")
	m.succeeds(m.call(l.prefix+"_get_info", func() binding.Error { return m.raw.InfoWithout(infoLists[k].list, int32(index), without) }, args...))
}

// objectIgnored opens variables that are not bound to an object with an address that must not be followed. A library that follows it
// does so for most variables.
func objectIgnored(m *mpi) {
	unbound := func(v variable) bool { return v.cvar.Bind+v.pvar.Bind == int32(catalog.BindNoObject) }
	for _, v := range spread(m.openableCvars(), 8, unbound) {
		if m.item("%s", v.name) {
			if h, _, c := m.allocCvar(v.index, binding.Nowhere); m.succeeds(c) {
				m.freeCvar(h)
			}
		}
	}
	for _, v := range spread(m.openablePvars(), 8, unbound) {
		if m.item("%s", v.label()) {
			v.object = binding.Nowhere
			s := m.newSession()
			_, _, c := m.allocPvar(s, v)
			m.succeeds(c)
			m.freeSession(s)
		}
	}
	if m.items == 0 {
		m.notApplicable("no variable that can be opened is without an object")
	}
}

// noErrorHandler makes calls that return errors, with arguments that are valid.
func noErrorHandler(m *mpi) {
	if m.raw.WatchErrors() == binding.ErrNotProvided {
		m.notApplicable("the library does not have MPI_Comm_create_errhandler")
		return
	}
	m.line("MPI_Errhandler counting;")
	m.line("MPI_Comm_create_errhandler(count_error, &counting);")
	m.line("MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting), MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);")
	silent := func(item string, call func() code) {
		if m.item("%s", item) {
			before := m.raw.ErrorCalls()
			c := call()
			n := m.raw.ErrorCalls() - before
			m.expect(n == 0, "errors == 0", "no call of an error handler of MPI", fmt.Sprintf("%s, and %d calls", codeName(c.rc), n))
		}
	}
	for _, l := range lists(m) {
		silent(l.prefix+"_get_index", func() code {
			like := &entry{}
			like.pvar.Class = 7
			c, _ := m.indexOf(l, "mpitx_no_such_name", like)
			return c
		})
	}
	for _, v := range spread(m.openableCvars(), 8, fixed) {
		silent(v.name, func() code {
			h, count, c := m.allocCvar(v.index, v.object)
			if c.ok() {
				c, _, _ = m.rewrite(v, h, count)
			}
			return c
		})
	}
	for _, v := range spread(m.openablePvars(), 8, anyPvar) {
		silent(v.label(), func() code {
			s := m.newSession()
			h, _, c := m.allocPvar(s, v)
			switch {
			case c.ok() && continuous(v):
				return m.startPvar(s, h)
			case c.ok() && v.pvar.Atomic == 0:
				return m.readResetPvar(s, h, m.value(v.pvar.Datatype, 1024))
			}
			return c
		})
	}
	m.finalizeTool()
	silent("MPI_T_finalize", func() code { return m.finalizeTool() })
}

// spread returns at most n of those variables that f selects, from all over the list.
func spread(all []variable, n int, f func(variable) bool) (some []variable) {
	var good []variable
	for _, v := range all {
		if f(v) {
			good = append(good, v)
		}
	}
	for k := range min(n, len(good)) {
		some = append(some, good[k*len(good)/min(n, len(good))])
	}
	return some
}
