//go:build cgo && linux

package rules

import (
	"fmt"

	"mpitx/binding"
	"mpitx/catalog"
)

var enumRules = section{"enumerations", []rule{
	{Rule: promise("enum-not-empty", "MPI-3.1, 14.3.5", "An enumeration has at least one item, and a name of at least one character."), stage: after, run: enumNotEmpty},
	{Rule: promise("enum-names-unique", "MPI-3.1, 14.3.5", "The name of an enumeration is unique among enumerations."), stage: after, run: enumNamesUnique},
	{Rule: promise("enum-items", "MPI-3.1, 14.3.5", "Each item from 0 to num-1 has a value and a name of at least one character, in the same order in every query; names are unique in an enumeration."), stage: after, run: enumItems},
	{Rule: promise("enum-values-unique", "MPI-3.1, 14.3.5", "The values of an enumeration's items are different."), stage: after, run: enumValuesUnique},
	{Rule: promise("enum-type", "MPI-3.1, 14.3.6 and 14.3.7", "Only variables of type MPI_INT have an enumeration."), stage: after, run: enumType},
	{Rule: lenient("enum-current-value", "MPI-3.1, 14.3.5", "The value of a variable with an enumeration is one of its items.", "the standard does not say that each value has a name"), stage: after, run: enumCurrentValue},
	{Rule: allowed("enum-item-range", "MPI-3.1, Table 14.6", "MPI_T_enum_get_item returns MPI_T_ERR_INVALID_ITEM for an item out of range."), stage: after, run: enumItemRange},
}}

func enumNotEmpty(m *mpi) {
	enums(m, func(e *enumeration) {
		buf, length := m.text("name", wholeName), m.num("name_len", wholeName)
		c, n := m.enumInfo(e, buf, length)
		m.expect(n.v > 0 && buf.String() != "", fmt.Sprintf("%s == MPI_SUCCESS && %s > 0 && %s[0] != 0", c.c, n.c, buf.c), "at least one item, and a name", fmt.Sprintf("%d items, name %q", n.v, buf.String()))
	})
}

func enumNamesUnique(m *mpi) {
	seen := map[string]*enumeration{}
	enums(m, func(e *enumeration) {
		buf, length := m.text("name", wholeName), m.num("name_len", wholeName)
		m.enumInfo(e, buf, length)
		first := seen[buf.String()]
		if first == nil {
			seen[buf.String()] = e
			return
		}
		h := e.c
		m.again(first)
		other, otherLength := m.text("name", wholeName), m.num("name_len", wholeName)
		m.enumInfo(first, other, otherLength)
		m.expect(false, fmt.Sprintf("%s == %s || strcmp(%s, %s) != 0", h, first.c, buf.c, other.c), "another name than the enumeration of "+first.name, fmt.Sprintf("%q for both", buf.String()))
	})
}

func enumItems(m *mpi) {
	enums(m, func(e *enumeration) {
		seen := map[string]*text{}
		for k := range e.num {
			a, b := m.text("name", wholeName), m.text("name", wholeName)
			first, v := m.enumItem(e, k, a, m.num("len", wholeName))
			second, w := m.enumItem(e, k, b, m.num("len", wholeName))
			m.expect(first.ok() && second.ok() && v.v == w.v && a.String() == b.String() && a.String() != "",
				fmt.Sprintf("%s == MPI_SUCCESS && %s == MPI_SUCCESS && %s == %s && strcmp(%s, %s) == 0 && %s[0] != 0", first.c, second.c, v.c, w.c, a.c, b.c, a.c),
				"twice the same value and name", fmt.Sprintf("%s %v %q, then %s %v %q", codeName(first.rc), v, a.String(), codeName(second.rc), w, b.String()))
			if was := seen[a.String()]; was != nil {
				m.expect(false, fmt.Sprintf("strcmp(%s, %s) != 0", was.c, a.c), "a name of its own for each item", fmt.Sprintf("%q again", a.String()))
			}
			seen[a.String()] = a
		}
	})
}

func enumValuesUnique(m *mpi) {
	enums(m, func(e *enumeration) {
		seen := map[int32]*num{}
		for k := range e.num {
			_, v := m.enumItem(e, k, nil, nil)
			if was := seen[v.v]; was != nil {
				m.expect(false, was.c+" != "+v.c, "a value of its own for each item", fmt.Sprintf("%d again", v.v))
			}
			seen[v.v] = v
		}
	})
}

func enumType(m *mpi) {
	for _, l := range []*list{cvars(m), pvars(m)} {
		m.entries(l, func(e *entry) {
			for k, label := range e.labels {
				if label == "datatype" {
					m.expect(e.enum == 0 || e.ints[k] == int32(catalog.TypeInt), fmt.Sprintf("%s == MPI_T_ENUM_NULL || %s == MPI_INT", e.cEnum, e.names[k]),
						"MPI_T_ENUM_NULL for a type other than MPI_INT", "an enumeration for "+typeName(e.ints[k]))
				}
			}
		})
	}
}

// enumCurrentValue reads control variables: performance variables of this kind have their own rules.
func enumCurrentValue(m *mpi) {
	any := false
	for _, v := range m.openableCvars() {
		if v.enum == 0 || v.typ != catalog.TypeInt {
			continue
		}
		any = true
		if !m.item("%s", v.name) {
			continue
		}
		e := m.entry(cvars(m), v.index)
		h, count, c := m.allocCvar(v.index, v.object)
		if !c.ok() || count.v != 1 {
			continue
		}
		buf := m.value(int32(v.typ), 1)
		if c := m.readCvar(h, buf); !c.ok() {
			continue
		}
		it := &enumeration{h: e.enum, c: e.cEnum, name: v.name}
		length := m.num("len", 0)
		_, n := m.enumInfo(it, nil, length)
		found, kept := false, "0"
		for k := range int(n.v) {
			_, value := m.enumItem(it, k, nil, nil)
			found = found || fmt.Sprint(value.v) == buf.at(0)
			kept += fmt.Sprintf(" || *(int *)%s == %s", buf.c, value.c)
		}
		m.expect(found, kept, "the value of an item", buf.at(0))
	}
	if !any {
		m.notApplicable("no control variable of type MPI_INT has an enumeration")
	}
}

func enumItemRange(m *mpi) {
	enums(m, func(e *enumeration) {
		for _, k := range []int{e.num, -1} {
			c, _ := m.enumItem(e, k, nil, nil)
			m.wants(c, binding.ErrInvalidItem, binding.ErrInvalidIndex)
		}
	})
}
