//go:build cgo && linux

package rules

import (
	"mpitx/binding"
	"mpitx/catalog"
)

var enumRules = section{subject: "enumerations", none: "no variable has an enumeration", rules: []rule{
	{Rule: promise("enum-not-empty", "MPI-3.1, 14.3.5", "An enumeration has at least one item, and a name of at least one character."), run: eachEnum(enumNotEmpty)},
	{Rule: promise("enum-names-unique", "MPI-3.1, 14.3.5", "The name of an enumeration is unique among enumerations."), run: enumNamesUnique},
	{Rule: promise("enum-items", "MPI-3.1, 14.3.5", "Each item from 0 to num-1 has a value and a name of at least one character, in the same order in every query; names are unique in an enumeration."), run: eachEnum(enumItems)},
	{Rule: promise("enum-values-unique", "MPI-3.1, 14.3.5", "The values of an enumeration's items are different."), run: eachEnum(enumValuesUnique)},
	{Rule: promise("enum-type", "MPI-3.1, 14.3.6 and 14.3.7", "Only variables of type MPI_INT have an enumeration."), none: "no variable is listed", run: eachEntry(enumType, cvars, pvars)},
	{Rule: lenient("enum-current-value", "MPI-3.1, 14.3.5", "The value of a variable with an enumeration is one of its items.", "the standard does not say that each value has a name"), none: "no control variable of type MPI_INT has an enumeration", run: enumCurrentValue},
	{Rule: allowed("enum-item-range", "MPI-3.1, Table 14.6", "MPI_T_enum_get_item returns MPI_T_ERR_INVALID_ITEM for an item out of range."), run: eachEnum(enumItemRange)},
}}

func enumNotEmpty(e *enumeration) {
	n, name := e.getName()
	e.expect(n.code.is(0), n.ge(1).as("at least one item"), name.notEmpty())
}

func enumNamesUnique(m *mpi) {
	seen := map[string]*enumeration{}
	m.enums(func(e *enumeration) {
		_, name := e.getName()
		first := seen[name.String()]
		if first == nil {
			seen[name.String()] = e
			return
		}
		first.again()
		_, other := first.getName()
		m.expect(either(cond{c: e.c + " == " + first.c}, name.differs(other)).as("another name than the enumeration of %s", first.name))
	})
}

func enumItems(e *enumeration) {
	seen := map[string]*buffer{}
	for k := range e.size {
		a, b := e.text("name", wholeName), e.text("name", wholeName)
		v, w := e.getItem(k, a, e.num("len", wholeName)), e.getItem(k, b, e.num("len", wholeName))
		e.expect(v.code.is(0), w.code.is(0), w.is(v), b.equals(a), a.notEmpty())
		if was := seen[a.String()]; was != nil {
			e.expect(a.differs(was).as("a name of its own for each item"))
		}
		seen[a.String()] = a
	}
}

func enumValuesUnique(e *enumeration) {
	seen := map[int32]*num{}
	for k := range e.size {
		v := e.getItem(k, nil, nil)
		if was := seen[v.v]; was != nil {
			e.expect(v.isnt(was).as("a value of its own for each item"))
		}
		seen[v.v] = v
	}
}

func enumType(e *entry) {
	e.expect(either(e.enum.isNull(), e.num("datatype").oneOf([]string{"MPI_INT"})).
		as("MPI_T_ENUM_NULL for a type other than MPI_INT").but("an enumeration for %s", typeName(e.value("datatype"))))
}

// enumCurrentValue reads control variables: performance variables of this kind have their own rules.
func enumCurrentValue(m *mpi) {
	for _, v := range m.openableCvars() {
		if !v.hasEnum() || v.typ != catalog.TypeInt || !m.item("%s", v.name) {
			continue
		}
		e := &enumeration{mpi: m, handle: m.entry(v.list, v.index).enum, name: v.name}
		o := m.open(v)
		if !o.ok() || o.count.v != 1 {
			continue
		}
		buf := o.read()
		if !buf.ok() {
			continue
		}
		value, items := named("*(int *)"+buf.c, int32(buf.first().v)), []cond{{c: "0"}}
		for k := range int(e.getInfo(nil, m.num("len", 0)).v) {
			items = append(items, value.is(e.getItem(k, nil, nil)))
		}
		m.expect(either(items...).as("the value of an item").but("%v", value))
	}
}

func enumItemRange(e *enumeration) {
	for _, k := range []int{e.size, -1} {
		e.expect(e.getItem(k, nil, nil).code.is(binding.ErrInvalidItem, binding.ErrInvalidIndex))
	}
}
