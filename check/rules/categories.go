//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"

	"mpitx/binding"
)

var categoryRules = section{"categories", []rule{
	{Rule: promise("category-members", "MPI-3.1, 14.3.8", "The member lists of a category have as many elements as MPI_T_category_get_info announces, and elements past them are not modified."), stage: after, run: categoryMembers},
	{Rule: promise("category-short-list", "MPI-3.1, 14.3.8", "A shorter array receives as many members as it has elements, and not more."), stage: after, run: categoryShortList},
	{Rule: promise("category-indices", "MPI-3.1, 14.3.8", "The members of a category are indices of variables and categories."), stage: after, run: categoryIndices},
	{Rule: promise("category-no-cycles", "MPI-3.1, 14.3.8", "No category contains itself, directly or through others."), stage: after, run: categoryCycles},
	{Rule: promise("category-changed", "MPI-3.1, 14.3.8", "The stamp of MPI_T_category_changed stays the same while no category changes."), stage: after, run: categoryStamp},
	{Rule: promise("category-changed-by-init", "MPI-3.1, 14.3.8", "If MPI_Init adds categories or members, the stamp changes."), stage: before, run: categoryStampOfInit},
	{Rule: promise("category-order-kept", "MPI-3.1, 14.3.8", "Members are not removed from a category, and their order does not change."), stage: before, run: categoryOrder},
	{Rule: promise("category-changed-rises", "MPI-3.1, 14.3.8", "The stamp of MPI_T_category_changed never falls."), stage: before, run: categoryStampRises},
	{Rule: promise("category-members-once", "MPI-3.1, 14.3.8", "The members of a category are a set: its lists have each of them once."), stage: after, run: categoryMembersOnce},
	{Rule: promise("category-events", "MPI_T_category_get_num_events(3) and MPI_T_category_get_events(3)", "The list of a category's event types has as many elements as announced, or as the array has, and they are indices of event types."),
		stage: after, needs: "MPI_T_category_get_events", run: categoryEvents},
}}

// members are the lists of a category; the numbers of the first three are in get_info.
var members = []struct {
	routine string
	field   int // of get_info
	call    func(m *mpi, index, length int32, into []int32) binding.Error
}{
	{"MPI_T_category_get_cvars", 0, func(m *mpi, i, n int32, into []int32) binding.Error { return m.raw.CategoryCvars(i, n, into) }},
	{"MPI_T_category_get_pvars", 1, func(m *mpi, i, n int32, into []int32) binding.Error { return m.raw.CategoryPvars(i, n, into) }},
	{"MPI_T_category_get_categories", 2, func(m *mpi, i, n int32, into []int32) binding.Error { return m.raw.CategoryCategories(i, n, into) }},
	{"MPI_T_category_get_events", eventMembers, func(m *mpi, i, n int32, into []int32) binding.Error { return m.raw.CategoryEvents(i, n, into) }},
}

const eventMembers = 3 // of members

// members calls one of the routines with an array that is larger than the length by 4 elements, which are -42.
func (m *mpi) members(kind int, index int, length int32) (code, []int32, string) {
	into := make([]int32, length+4)
	for k := range into {
		into[k] = untouched
	}
	c := m.fresh("indices")
	m.line("int %s[%d];", c, len(into))
	m.line("for (int i = 0; i < %d; i++) %s[i] = %d;", len(into), c, untouched)
	rc := m.call(members[kind].routine, func() binding.Error { return members[kind].call(m, int32(index), length, into) },
		lit("%d", index), lit("%d", length), arg{c: c, show: func() string { return fmt.Sprintf("%s = %d", c, into[:length][:min(8, length)]) }})
	return rc, into, c
}

// eachMembers calls f for each list of each category, in an item.
func eachMembers(m *mpi, f func(e *entry, kind int, n int32)) {
	m.entries(categories(m), func(e *entry) {
		for kind := range eventMembers {
			if n := e.ints[kind]; m.expect(n >= 0, e.names[kind]+" >= 0", "a number of members", fmt.Sprint(n)) {
				few(n, "members of "+e.label())
				f(e, kind, n)
			}
		}
	})
	if m.items == 0 {
		m.notApplicable("the library has no categories")
	}
}

func categoryMembers(m *mpi) {
	eachMembers(m, func(e *entry, kind int, n int32) { m.wholeList(e, kind, &num{n, e.names[kind]}) })
}

// wholeList expects that a list has n elements, and that those after them stay as they are.
func (m *mpi) wholeList(e *entry, kind int, n *num) {
	c, got, text := m.members(kind, e.index, n.v+4)
	written, cWritten := 0, m.fresh("written")
	m.line("int %s = 0;", cWritten)
	m.line("while (%s < %d && %s[%s] != %d) %s++;", cWritten, len(got), text, cWritten, untouched, cWritten)
	for written < len(got) && got[written] != untouched {
		written++
	}
	m.expect(c.ok() && written == int(n.v), fmt.Sprintf("%s == MPI_SUCCESS && %s == %s", c.c, cWritten, n.c), fmt.Sprintf("%d elements", n.v), fmt.Sprintf("%s, %d elements", codeName(c.rc), written))
}

func categoryShortList(m *mpi) { eachMembers(m, m.shortList) }

// shortList expects that an array of n-1 elements is filled, and not more.
func (m *mpi) shortList(e *entry, kind int, n int32) {
	if n < 2 {
		return
	}
	c, got, text := m.members(kind, e.index, n-1)
	m.expect(c.ok() && got[n-1] == untouched && got[n-2] != untouched, fmt.Sprintf("%s == MPI_SUCCESS && %s[%d] == %d && %s[%d] != %d", c.c, text, n-1, untouched, text, n-2, untouched),
		fmt.Sprintf("%d elements", n-1), fmt.Sprintf("%s, the last two: %d, %d", codeName(c.rc), got[n-2], got[n-1]))
}

func categoryIndices(m *mpi) {
	var most [3]*num
	for k, l := range lists(m) {
		_, most[k] = m.count(l)
	}
	eachMembers(m, func(e *entry, kind int, n int32) { m.listOfIndices(e, kind, n, most[kind]) })
}

// listOfIndices expects that the elements of a list are indices below a number.
func (m *mpi) listOfIndices(e *entry, kind int, n int32, most *num) {
	_, got, text := m.members(kind, e.index, n)
	for k, index := range got[:n] {
		if index != untouched {
			m.expect(index >= 0 && index < most.v, fmt.Sprintf("%s[%d] == %d || (%s[%d] >= 0 && %s[%d] < %s)", text, k, untouched, text, k, text, k, most.c),
				fmt.Sprintf("an index below %d", most.v), fmt.Sprint(index))
		}
	}
}

func categoryEvents(m *mpi) {
	_, most := m.count(eventLists(m)[0])
	m.entries(categories(m), func(e *entry) {
		n := m.num("num_events", untouched)
		c := m.call("MPI_T_category_get_num_events", func() binding.Error { return m.raw.CategoryNumEvents(int32(e.index), n.p()) }, lit("%d", e.index), n.out())
		if m.succeeds(c) && m.expect(n.v >= 0, n.c+" >= 0", "a number of event types", fmt.Sprint(n.v)) {
			few(n.v, "event types of "+e.label())
			m.wholeList(e, eventMembers, n)
			m.shortList(e, eventMembers, n.v)
			m.listOfIndices(e, eventMembers, n.v, most)
		}
	})
	if m.items == 0 {
		m.notApplicable("the library has no categories")
	}
}

func categoryCycles(m *mpi) {
	type category struct {
		n        int32
		children []int32
	}
	var all []category
	l := categories(m)
	_, num := m.count(l)
	for k := range int(num.v) {
		var one category
		m.quietly(func() *entry {
			e := m.entry(l, k)
			if e.ok() && e.ints[2] > 0 {
				few(e.ints[2], "categories of "+e.label())
				if c, got, _ := m.members(2, k, e.ints[2]); c.ok() {
					one = category{e.ints[2], got[:e.ints[2]]}
				}
			}
			return e
		})
		all = append(all, one)
	}
	for k := range all {
		if !m.item("category %d", k) {
			continue
		}
		e := m.entry(l, k)
		if !e.ok() {
			continue
		}
		m.rename(e.label())
		// A way from the category back to itself, by depth.
		var way func(at int32, path []int32) []int32
		seen := map[int32]bool{}
		way = func(at int32, path []int32) []int32 {
			for _, child := range all[at].children {
				if child == int32(k) {
					return append(path, at)
				}
				if child >= 0 && int(child) < len(all) && !seen[child] {
					seen[child] = true
					if found := way(child, append(path, at)); found != nil {
						return found
					}
				}
			}
			return nil
		}
		if loop := way(int32(k), nil); loop != nil {
			kept := "0"
			for i, at := range loop {
				_, _, text := m.members(2, int(at), all[at].n)
				next := loop[(i+1)%len(loop)]
				has := m.fresh("has")
				m.line("int %s = 0;", has)
				m.line("for (int i = 0; i < %d; i++) %s |= %s[i] == %d;", all[at].n, has, text, next)
				kept += " || !" + has
			}
			m.expect(false, kept, "a category that does not contain itself", fmt.Sprintf("the categories %d contain each other", loop))
		}
	}
	if m.items == 0 {
		m.notApplicable("the library has no categories")
	}
}

func (m *mpi) stamp() (code, *num) {
	n := m.num("stamp", untouched)
	return m.call("MPI_T_category_changed", func() binding.Error { return m.raw.CategoryChanged(n.p()) }, n.out()), n
}

func categoryStamp(m *mpi) {
	if !m.item("MPI_T_category_changed") {
		return
	}
	_, a := m.stamp()
	_, n := m.count(categories(m))
	if n.v > 0 {
		m.entry(categories(m), 0)
	}
	c, b := m.stamp()
	m.expect(c.ok() && a.v == b.v, fmt.Sprintf("%s == MPI_SUCCESS && %s == %s", c.c, a.c, b.c), fmt.Sprintf("the stamp %d again", a.v), fmt.Sprintf("%s, %v", codeName(c.rc), b))
}

func categoryStampRises(m *mpi) {
	_, was := m.stamp()
	m.initMPI()
	if !m.item("MPI_Init") {
		return
	}
	for range 3 {
		c, now := m.stamp()
		if !m.succeeds(c) || !m.expect(now.v >= was.v, now.c+" >= "+was.c, fmt.Sprintf("at least %d, the stamp before", was.v), fmt.Sprint(now.v)) {
			return
		}
		was = now
		m.usable()
	}
}

func categoryMembersOnce(m *mpi) {
	eachMembers(m, func(e *entry, kind int, n int32) {
		c, got, text := m.members(kind, e.index, n)
		if !c.ok() {
			return
		}
		first := map[int32]int{}
		for k, index := range got[:n] {
			if at, twice := first[index]; twice && index != untouched {
				m.expect(false, fmt.Sprintf("%s[%d] != %s[%d]", text, k, text, at), "each member once", fmt.Sprintf("%d at %d and %d", index, at, k))
			}
			first[index] = k
		}
	})
}

// categorySizes are the numbers of members of all categories.
func categorySizes(m *mpi) (sizes [][3]int32) {
	l := categories(m)
	_, n := m.count(l)
	for k := range int(n.v) {
		e := m.quietly(func() *entry { return m.entry(l, k) })
		var one [3]int32
		if e.ok() {
			copy(one[:], e.ints)
		}
		sizes = append(sizes, one)
	}
	return sizes
}

func categoryStampOfInit(m *mpi) {
	_, a := m.stamp()
	was := categorySizes(m)
	m.initMPI()
	if !m.item("MPI_Init") {
		return
	}
	_, b := m.stamp()
	now := categorySizes(m)
	if len(now) <= len(was) && slices.Equal(now, was) {
		m.expect(true, "1", "", "")
		return
	}
	m.expect(a.v != b.v, a.c+" != "+b.c, "another stamp, as categories or members were added", fmt.Sprintf("%d again", b.v))
}

func categoryOrder(m *mpi) {
	l := categories(m)
	_, n := m.count(l)
	type old struct{ lists [3][]int32 }
	var all []old
	for k := range int(n.v) {
		var one old
		m.quietly(func() *entry {
			e := m.entry(l, k)
			for kind := range eventMembers {
				if e.ok() && e.ints[kind] > 0 {
					few(e.ints[kind], "members of "+e.label())
					if c, got, _ := m.members(kind, k, e.ints[kind]); c.ok() {
						one.lists[kind] = got[:e.ints[kind]]
					}
				}
			}
			return e
		})
		all = append(all, one)
	}
	m.initMPI()
	for k, was := range all {
		if !m.item("category %d", k) {
			continue
		}
		e := m.entry(l, k)
		if !e.ok() {
			continue
		}
		m.rename(e.label())
		for kind := range eventMembers {
			n := e.ints[kind]
			if n < 0 {
				continue // category-members finds this
			}
			few(n, "members of "+e.label())
			_, now, text := m.members(kind, k, n)
			at, kept := 0, ""
			for _, index := range was.lists[kind] {
				for at < int(n) && now[at] != index {
					at++
				}
				if at == int(n) {
					m.line("int at = 0, lost = 0;")
					for _, i := range was.lists[kind] {
						m.line("while (at < %d && %s[at] != %d) at++;", n, text, i)
						m.line("lost |= at == %d;", n)
					}
					kept = "!lost"
					break
				}
			}
			m.expect(kept == "", kept, fmt.Sprintf("the members %d in this order", was.lists[kind]), fmt.Sprint(now[:n]))
		}
	}
}
