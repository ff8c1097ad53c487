//go:build cgo && linux

package rules

import (
	"slices"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
)

const (
	noListed = "no control variable is listed"
	noCvars  = "no control variable of this kind can be read"
)

var cvarRules = section{subject: "cvars", none: noCvars, rules: []rule{
	{Rule: promise("cvar-opens", "MPI-3.1, 14.3.6", "Each control variable that is listed can be opened and read, or its calls return an error."), none: noListed, run: cvarsOpen},
	{Rule: lenient("cvar-reads", "MPI-3.1, 14.3.6", "Each control variable that is listed and can be opened can be read.", "a variable that has become inactive returns an error (14.3.6)"), none: noListed, run: cvarReads},
	{Rule: promise("cvar-count", "MPI-3.1, 14.3.6", "MPI_T_cvar_handle_alloc returns the number of elements, at least 1."), none: noListed, run: eachEntry(cvarCount, cvars)},
	{Rule: promise("cvar-string-end", "MPI-3.1, 14.3.5", "The value of a variable of type MPI_CHAR ends with a null character within its count."), run: eachCvar(isText, cvarStringEnd)},
	{Rule: promise("cvar-no-overrun", "MPI-3.1, 14.3.6", "MPI_T_cvar_read writes as many elements as the count says, and not more."), run: eachCvar(anyVariable, noOverrun)},
	{Rule: promise("cvar-handle-null", "MPI-3.1, 14.3.6", "MPI_T_cvar_handle_free sets the handle to MPI_T_CVAR_HANDLE_NULL."), run: eachCvar(anyVariable, handleNull)},
	{Rule: promise("cvar-handle-kept", "MPI-3.1, 14.3.4 and 14.3.6", "A handle from before MPI_Init is valid after it, until it is freed, unless the variable has become inactive."), stage: before, none: "no control variable can be read before MPI_Init", run: cvarHandleKept},
	{Rule: promise("cvar-constant", "MPI-3.1, Table 14.5", "The value of a variable of scope CONSTANT is constant: it is the same before MPI_Init and after MPI_Finalize."), stage: before, none: "no control variable that can be read before MPI_Init is constant", run: cvarConstant},
	{Rule: promise("object-ignored", "MPI-3.1, 14.3.6 and 14.3.7", "MPI_T_*_handle_alloc ignores obj_handle for a variable that is not bound to an object."), none: "no variable that can be opened is without an object", run: objectIgnored},
}}

var writeRules = section{subject: "writes", none: noCvars, rules: []rule{
	{Rule: promise("write-readonly", "MPI-3.1, Table 14.5", "A write of a variable of scope CONSTANT or READONLY returns MPI_T_ERR_CVAR_SET_NEVER or MPI_T_ERR_CVAR_SET_NOT_NOW."), run: eachCvar(fixed, rewrites(binding.ErrCvarSetNever, binding.ErrCvarSetNotNow))},
	{Rule: promise("write-outcome", "MPI-3.1, 14.3.6", "A write of a variable's own value succeeds, or returns MPI_T_ERR_CVAR_SET_NOT_NOW or MPI_T_ERR_CVAR_SET_NEVER."), run: eachCvar(unfixed, rewrites(0, binding.ErrCvarSetNotNow, binding.ErrCvarSetNever))},
	{Rule: promise("write-never", "MPI-3.1, Table 14.6", "MPI_T_ERR_CVAR_SET_NEVER is final: later writes do not succeed."), stage: before, none: "no write returned MPI_T_ERR_CVAR_SET_NEVER before MPI_Init", run: writeNever},
	{Rule: promise("write-arrives", "MPI-3.1, 14.3.6", "After a write that succeeded, a read returns the value that was written, in all elements. Text is written only if the variable took its own text."), run: eachCvar(changeable, writeArrives)},
}}

// cvarsOpen opens and reads what children survived; what they did not is noted from their end.
func cvarsOpen(m *mpi) {
	for _, v := range m.probe(cvars(m)) {
		if !m.item("%s", v.name) {
			continue
		}
		switch {
		case v.died():
			m.crashes(v, func() {
				if o := m.open(v); !strings.Contains(v.fault, "handle_alloc") {
					o.readInto(m.value(v.typ, 4096))
				}
			})
		case failedIn(v.fault, "handle_alloc") && v.object == binding.NoObject:
			m.expect(m.open(v).is(0, binding.ErrInvalidIndex, binding.ErrOutOfHandles, binding.ErrMemory))
		}
	}
}

func cvarReads(m *mpi) {
	for _, v := range m.probe(cvars(m)) {
		if (failedIn(v.fault, "read") || v.fault == "") && m.item("%s", v.name) {
			if o := m.open(v); o.ok() && o.counts() {
				m.succeeds(o.read().code)
			}
		}
	}
}

func cvarCount(e *entry) {
	if e.bound() == catalog.BindNoObject {
		o := e.open(variable{entry: e})
		e.expect(either(o.fails(), o.count.ge(1).as("a count of at least 1")))
	}
}

func cvarStringEnd(o *opened) {
	if buf := o.readFilled(); buf.ok() {
		o.expect(buf.ended(int(o.count.v)))
	}
}

func isText(v variable) bool { return v.typ == catalog.TypeChar }

// readFilled is read with a buffer that shows what is written.
func (o *opened) readFilled() *buffer {
	if !o.counts() {
		return unreadable
	}
	buf := o.mpi.value(o.typ, int(o.count.v))
	o.fill(buf)
	return o.readInto(buf)
}

// noOverrun expects that a read leaves alone what is after the last element.
func noOverrun(o *opened) {
	if buf := o.readFilled(); buf.ok() {
		o.expect(buf.intact(o.size(), 16).as("%d elements of %s", o.count.v, typeName(int32(o.typ))))
	}
}

func handleNull(o *opened) { o.expect(o.free().is(0), o.h.isNull()) }

// rewrite writes a variable's own value. It returns false if the value cannot be read.
func (o *opened) rewrite() (code, bool) {
	buf := o.read()
	if !buf.ok() {
		return code{}, false
	}
	return o.write(buf), true
}

func fixed(v variable) bool {
	return v.value("scope") == int32(catalog.ScopeConstant) || v.value("scope") == int32(catalog.ScopeReadonly)
}

func unfixed(v variable) bool { return !fixed(v) }

// rewrites expects a return code from a write of a variable's own value.
func rewrites(want ...binding.Error) func(o *opened) {
	return func(o *opened) {
		if c, ok := o.rewrite(); ok {
			o.expect(c.is(want...))
		}
	}
}

// writeNever looks for a variable that is never settable before MPI_Init, and settable after it. Those of a fixed scope come last.
func writeNever(m *mpi) {
	var never, last []variable
	for _, v := range m.openableCvars() {
		m.quietly(func() {
			if o := m.open(v); o.ok() {
				switch c, _ := o.rewrite(); {
				case c.rc != binding.ErrCvarSetNever:
				case fixed(v):
					last = append(last, v)
				default:
					never = append(never, v)
				}
				o.free()
			}
		})
	}
	never = append(never, last...)
	refused := map[string]code{}
	for _, v := range never[:min(20, len(never))] {
		if o := m.open(v); o.ok() {
			refused[v.name], _ = o.rewrite()
		}
	}
	m.initMPI()
	still := m.openableCvars()
	for _, was := range never[:min(20, len(never))] {
		k := slices.IndexFunc(still, func(v variable) bool { return v.name == was.name })
		if k < 0 || !m.item("%s", was.name) {
			continue
		}
		if o := m.open(still[k]); o.ok() {
			if c, ok := o.rewrite(); ok {
				before := cond{c: refused[was.name].c + " != MPI_T_ERR_CVAR_SET_NEVER"}
				m.expect(either(before, c.fails().as("no success, as MPI_T_ERR_CVAR_SET_NEVER was returned before MPI_Init")))
			}
		}
	}
}
