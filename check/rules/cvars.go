//go:build cgo && linux

package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/check"
)

func quoted(s string) string { return check.Quote(s) }

var cvarRules = section{"cvars", []rule{
	{Rule: promise("cvar-opens", "MPI-3.1, 14.3.6", "Each control variable that is listed can be opened and read, or its calls return an error."), stage: after, run: cvarsOpen},
	{Rule: lenient("cvar-reads", "MPI-3.1, 14.3.6", "Each control variable that is listed and can be opened can be read.", "a variable that has become inactive returns an error (14.3.6)"), stage: after, run: cvarReads},
	{Rule: promise("cvar-count", "MPI-3.1, 14.3.6", "MPI_T_cvar_handle_alloc returns the number of elements, at least 1."), stage: after, run: cvarCount},
	{Rule: promise("cvar-string-end", "MPI-3.1, 14.3.5", "The value of a variable of type MPI_CHAR ends with a null character within its count."), stage: after, run: cvarStringEnd},
	{Rule: promise("cvar-no-overrun", "MPI-3.1, 14.3.6", "MPI_T_cvar_read writes as many elements as the count says, and not more."), stage: after, run: cvarOverrun},
	{Rule: promise("cvar-handle-null", "MPI-3.1, 14.3.6", "MPI_T_cvar_handle_free sets the handle to MPI_T_CVAR_HANDLE_NULL."), stage: after, run: cvarHandleNull},
	{Rule: promise("cvar-handle-kept", "MPI-3.1, 14.3.4 and 14.3.6", "A handle from before MPI_Init is valid after it, until it is freed, unless the variable has become inactive."), stage: before, run: cvarHandleKept},
	{Rule: promise("cvar-constant", "MPI-3.1, Table 14.5", "The value of a variable of scope CONSTANT is constant: it is the same before MPI_Init and after MPI_Finalize."), stage: before, run: cvarConstant},
	{Rule: promise("object-ignored", "MPI-3.1, 14.3.6 and 14.3.7", "MPI_T_*_handle_alloc ignores obj_handle for a variable that is not bound to an object."), stage: after, run: objectIgnored},
}}

var writeRules = section{"writes", []rule{
	{Rule: promise("write-readonly", "MPI-3.1, Table 14.5", "A write of a variable of scope CONSTANT or READONLY returns MPI_T_ERR_CVAR_SET_NEVER or MPI_T_ERR_CVAR_SET_NOT_NOW."), stage: after, run: writeReadonly},
	{Rule: promise("write-outcome", "MPI-3.1, 14.3.6", "A write of a variable's own value succeeds, or returns MPI_T_ERR_CVAR_SET_NOT_NOW or MPI_T_ERR_CVAR_SET_NEVER."), stage: after, run: writeOutcome},
	{Rule: promise("write-never", "MPI-3.1, Table 14.6", "MPI_T_ERR_CVAR_SET_NEVER is final: later writes do not succeed."), stage: before, run: writeNever},
	{Rule: promise("write-arrives", "MPI-3.1, 14.3.6", "After a write that succeeded, a read returns the value that was written, in all elements. Text is written only if the variable took its own text."), stage: after, run: writeArrives},
}}

// cvarsOpen opens and reads what children survived; what they did not is noted from their end.
func cvarsOpen(m *mpi) {
	l := cvars(m)
	for _, v := range m.probe(l) {
		if !m.item("%s", v.name) {
			continue
		}
		switch {
		case v.died():
			m.crashes(l, v, func() {
				h, _, _ := m.allocCvar(v.index, v.object)
				if !strings.Contains(v.fault, "handle_alloc") {
					m.readCvar(h, m.value(int32(v.typ), 4096))
				}
			})
		case failedIn(v.fault, "handle_alloc") && v.object == binding.NoObject:
			_, _, c := m.allocCvar(v.index, v.object)
			m.wants(c, 0, binding.ErrInvalidIndex, binding.ErrOutOfHandles, binding.ErrMemory)
		}
	}
}

// eachCvar opens each control variable that can be read.
func (m *mpi) eachCvar(which func(variable) bool, f func(v variable, h *handle, count *num)) {
	for _, v := range m.openableCvars() {
		if which(v) && m.item("%s", v.name) {
			if h, count, c := m.allocCvar(v.index, v.object); c.ok() {
				f(v, h, count)
			} else {
				m.absent()
			}
		}
	}
	if m.items == 0 {
		m.notApplicable("no control variable of this kind can be read")
	}
}

func anyCvar(variable) bool { return true }

func cvarReads(m *mpi) {
	for _, v := range m.probe(cvars(m)) {
		if failedIn(v.fault, "read") || v.fault == "" {
			if m.item("%s", v.name) {
				if h, count, c := m.allocCvar(v.index, v.object); c.ok() && count.v < 1<<20 {
					m.succeeds(m.readCvar(h, m.value(int32(v.typ), int(count.v))))
				}
			}
		}
	}
}

func cvarCount(m *mpi) {
	l := cvars(m)
	m.entries(l, func(e *entry) {
		if e.cvar.Bind != int32(catalog.BindNoObject) {
			return
		}
		_, count, c := m.allocCvar(e.index, binding.NoObject)
		m.expect(!c.ok() || count.v >= 1, fmt.Sprintf("%s != MPI_SUCCESS || %s >= 1", c.c, count.c), "a count of at least 1", shown(count.c, count.String()))
	})
}

func cvarStringEnd(m *mpi) {
	m.eachCvar(func(v variable) bool { return v.typ == catalog.TypeChar }, func(v variable, h *handle, count *num) {
		if count.v < 1 || count.v > 1<<20 {
			return
		}
		buf := m.value(int32(v.typ), int(count.v))
		m.line("memset(%s, '#', sizeof %s);", buf.c, buf.c)
		copy(buf.b, bytes.Repeat([]byte{'#'}, len(buf.b)))
		if m.readCvar(h, buf).ok() {
			m.expect(bytes.IndexByte(buf.b[:count.v], 0) >= 0, fmt.Sprintf("memchr(%s, 0, (size_t)%s) != NULL", buf.c, count.c), "a null character", excerpt(string(buf.b[:count.v]), 40))
		}
	})
}

func cvarOverrun(m *mpi) {
	m.eachCvar(anyCvar, func(v variable, h *handle, count *num) {
		if count.v < 1 || count.v > 1<<20 {
			return
		}
		m.noOverrun(v.typ, count, func(buf *value) code { return m.readCvar(h, buf) })
	})
}

// noOverrun expects that a read leaves alone what is after the last element.
func (m *mpi) noOverrun(typ catalog.Datatype, count *num, read func(*value) code) {
	size := int(count.v) * typ.Size()
	buf := m.value(int32(typ), int(count.v))
	m.line("memset(%s, '#', sizeof %s);", buf.c, buf.c)
	copy(buf.b, bytes.Repeat([]byte{'#'}, len(buf.b)))
	if !read(buf).ok() {
		return
	}
	rest := buf.b[size : size+16]
	m.expect(bytes.Equal(rest, bytes.Repeat([]byte{'#'}, 16)), fmt.Sprintf("memcmp(%s + %d, \"################\", 16) == 0", buf.c, size),
		fmt.Sprintf("%d elements of %s", count.v, typeName(int32(typ))), fmt.Sprintf("%q after them", rest))
}

func cvarHandleNull(m *mpi) {
	m.eachCvar(anyCvar, func(v variable, h *handle, _ *num) {
		c := m.freeCvar(h)
		m.expect(c.ok() && h.v == 0, fmt.Sprintf("%s == MPI_SUCCESS && %s == MPI_T_CVAR_HANDLE_NULL", c.c, h.c), "MPI_SUCCESS and a null handle", fmt.Sprintf("%s, null: %v", codeName(c.rc), h.v == 0))
	})
}

// rewrite writes a variable's own value.
func (m *mpi) rewrite(v variable, h *handle, count *num) (code, *value, bool) {
	if count.v < 1 || count.v > 1<<20 {
		return code{}, nil, false
	}
	buf := m.value(int32(v.typ), int(count.v))
	if !m.readCvar(h, buf).ok() {
		return code{}, nil, false
	}
	return m.writeCvar(h, buf), buf, true
}

func fixed(v variable) bool {
	return v.cvar.Scope == int32(catalog.ScopeConstant) || v.cvar.Scope == int32(catalog.ScopeReadonly)
}

func fixedLast(v variable) int {
	if fixed(v) {
		return 1
	}
	return 0
}

func writeReadonly(m *mpi) {
	m.eachCvar(fixed, func(v variable, h *handle, count *num) {
		if c, _, ok := m.rewrite(v, h, count); ok {
			m.wants(c, binding.ErrCvarSetNever, binding.ErrCvarSetNotNow)
		}
	})
}

func writeOutcome(m *mpi) {
	m.eachCvar(func(v variable) bool { return !fixed(v) }, func(v variable, h *handle, count *num) {
		if c, _, ok := m.rewrite(v, h, count); ok {
			m.wants(c, 0, binding.ErrCvarSetNotNow, binding.ErrCvarSetNever)
		}
	})
}

// writeNever looks for a variable that is never settable before MPI_Init, and settable after it.
func writeNever(m *mpi) {
	var never []variable
	for _, v := range m.openableCvars() {
		m.quietly(func() *entry {
			if h, count, c := m.allocCvar(v.index, v.object); c.ok() {
				if c, _, ok := m.rewrite(v, h, count); ok && c.rc == binding.ErrCvarSetNever {
					never = append(never, v)
				}
				m.freeCvar(h)
			}
			return nil
		})
	}
	slices.SortStableFunc(never, func(a, b variable) int { return cmp.Compare(fixedLast(a), fixedLast(b)) })
	never = never[:min(20, len(never))]
	refused := make([]code, len(never))
	for k, v := range never {
		if h, count, c := m.allocCvar(v.index, v.object); c.ok() {
			refused[k], _, _ = m.rewrite(v, h, count)
		}
	}
	m.initMPI()
	still := map[string]variable{}
	for _, v := range m.openableCvars() {
		still[v.name] = v
	}
	for k, was := range never {
		v, ok := still[was.name]
		if !ok || !m.item("%s", was.name) {
			continue
		}
		if h, count, c := m.allocCvar(v.index, v.object); c.ok() {
			if c, _, ok := m.rewrite(v, h, count); ok {
				m.expect(!c.ok(), refused[k].c+" != MPI_T_ERR_CVAR_SET_NEVER || "+c.c+" != MPI_SUCCESS", "no success, as MPI_T_ERR_CVAR_SET_NEVER was returned before MPI_Init", codeName(c.rc))
			}
		}
	}
	if m.items == 0 {
		m.notApplicable("no write returned MPI_T_ERR_CVAR_SET_NEVER before MPI_Init")
	}
}
