//go:build cgo && linux

package rules

import (
	"slices"
	"strings"

	"mpitx/binding"
)

// nullOut passes NULL for each OUT parameter, and for all of them. The strings come last, as MPI_T_*_get_info may be asked for lengths only.
func nullOut(m *mpi) {
	for k, l := range lists(m) {
		words := strings.Fields(l.arguments)
		for _, e := range m.samples(l) {
			var texts []int
			for at, word := range words {
				switch word {
				case "name_len", "desc_len": // INOUT
				case "name", "desc":
					texts = append(texts, at)
				default:
					m.infoWithout(e, k, words, 1<<at)
				}
			}
			for _, at := range texts {
				m.infoWithout(e, k, words, 1<<at)
			}
			m.infoWithout(e, k, words, 1<<len(words)-1)
		}
	}
}

// samples are the first entry of a list, and the first that has an enumeration.
func (m *mpi) samples(l *list) (some []*entry) {
	enum := false
	for e := range m.listed(l) {
		if len(some) == 0 || e.hasEnum() && !enum {
			some, enum = append(some, e), enum || e.hasEnum()
		}
	}
	return some
}

// infoWithout calls get_info with NULL for the arguments that are bits of without. The lists have the numbers of mpitx's tables.
func (m *mpi) infoWithout(e *entry, k int, words []string, without uint32) {
	var nulls []string
	for at, word := range words {
		if without>>at&1 != 0 {
			nulls = append(nulls, word)
		}
	}
	if !m.item("%s_get_info(%d) (NULL for %s)", e.prefix, e.index, strings.Join(nulls, " ")) {
		return
	}
	args, with := []arg{lit("%d", e.index)}, &entry{nameAndDescription: *m.strings(wholeName, wholeDesc)}
	for _, word := range words {
		a := lit("NULL")
		if !slices.Contains(nulls, word) {
			a = lit("%s", m.infoArgument(with, word).c)
		}
		args = append(args, a)
	}
	list := []int32{binding.ListCvars, binding.ListPvars, binding.ListCategories}[k]
	m.succeeds(m.call(e.prefix+"_get_info", func() binding.Error { return m.raw.InfoWithout(list, int32(e.index), without) }, args...))
}

// objectIgnored opens variables that are not bound to an object with an address that must not be followed. A library that follows it
// does so for most variables.
func objectIgnored(m *mpi) {
	unbound := func(v variable) bool { return v.unbound() }
	for _, v := range append(spread(m.openableCvars(), 8, unbound), spread(m.openablePvars(), 8, unbound)...) {
		if m.item("%s", v.name) {
			v.object = binding.Nowhere
			o := m.open(v)
			if m.succeeds(o.code) {
				o.free()
			}
			if o.s != nil {
				m.freeSession(o.s)
			}
		}
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
			n := named("errors", m.raw.ErrorCalls()-before)
			m.expect(n.is(0).as("no call of an error handler of MPI").but("%s, and %v calls", codeName(c.rc), n))
		}
	}
	for _, l := range lists(m) {
		silent(l.prefix+"_get_index", func() code { return m.noSuchName(l) })
	}
	for _, v := range spread(m.openableCvars(), 8, fixed) {
		silent(v.name, func() code {
			o := m.open(v)
			if o.ok() {
				c, _ := o.rewrite()
				return c
			}
			return o.code
		})
	}
	for _, v := range spread(m.openablePvars(), 8, anyVariable) {
		silent(v.name, func() code {
			o := m.open(v)
			switch {
			case o.ok() && continuous(v):
				return o.start()
			case o.ok() && v.value("atomic") == 0:
				return o.readReset().code
			}
			return o.code
		})
	}
	m.finalizeTool()
	silent("MPI_T_finalize", m.finalizeTool)
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
