//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"

	"mpitx/binding"
)

var categoryRules = section{subject: "categories", none: "the library has no categories", rules: []rule{
	{Rule: promise("category-members", "MPI-3.1, 14.3.8", "The member lists of a category have as many elements as MPI_T_category_get_info announces, and elements past them are not modified."), run: eachMembers(wholeList)},
	{Rule: promise("category-short-list", "MPI-3.1, 14.3.8", "A shorter array receives as many members as it has elements, and not more."), run: eachMembers(shortList)},
	{Rule: promise("category-indices", "MPI-3.1, 14.3.8", "The members of a category are indices of variables and categories."), run: categoryIndices},
	{Rule: promise("category-no-cycles", "MPI-3.1, 14.3.8", "No category contains itself, directly or through others."), run: categoryCycles},
	{Rule: promise("category-changed", "MPI-3.1, 14.3.8", "The stamp of MPI_T_category_changed stays the same while no category changes."), item: "MPI_T_category_changed", run: categoryStamp},
	{Rule: promise("category-changed-by-init", "MPI-3.1, 14.3.8", "If MPI_Init adds categories or members, the stamp changes."), stage: before, run: categoryStampOfInit},
	{Rule: promise("category-order-kept", "MPI-3.1, 14.3.8", "Members are not removed from a category, and their order does not change."), stage: before, run: categoryOrder},
	{Rule: promise("category-changed-rises", "MPI-3.1, 14.3.8", "The stamp of MPI_T_category_changed never falls."), stage: before, run: categoryStampRises},
	{Rule: promise("category-members-once", "MPI-3.1, 14.3.8", "The members of a category are a set: its lists have each of them once."), run: eachMembers(membersOnce)},
	{Rule: promise("category-events", "MPI_T_category_get_num_events(3) and MPI_T_category_get_events(3)", "The list of a category's event types has as many elements as announced, or as the array has, and they are indices of event types."), needs: "MPI_T_category_get_events", run: categoryEvents},
}}

// members are the lists of a category; the numbers of the first three are in get_info.
var members = []struct {
	routine string
	call    func(r binding.Raw, index, length int32, into []int32) binding.Error
}{
	{"MPI_T_category_get_cvars", binding.Raw.CategoryCvars},
	{"MPI_T_category_get_pvars", binding.Raw.CategoryPvars},
	{"MPI_T_category_get_categories", binding.Raw.CategoryCategories},
	{"MPI_T_category_get_events", binding.Raw.CategoryEvents},
}

const categoryMembers, eventMembers = 2, 3 // of members

// members calls one of the routines with an array that is larger than the length by 4 elements, which are -42.
func (m *mpi) members(kind int, index int, length int32) *array[int32] {
	into := &array[int32]{b: slices.Repeat([]int32{untouched}, int(length)+4), c: m.fresh("indices")}
	m.line("int %s[%d];", into.c, len(into.b))
	m.line("for (int i = 0; i < %d; i++) %s[i] = %d;", len(into.b), into.c, untouched)
	into.code = m.call(members[kind].routine, func() binding.Error { return members[kind].call(m.raw, int32(index), length, into.b) },
		lit("%d", index), lit("%d", length), arg{c: into.c, show: func() string { return fmt.Sprintf("%s = %d", into.c, into.b[:min(8, length)]) }})
	return into
}

// announced is the number of members in get_info. A number that is negative is none.
func (e *entry) announced(kind int) int32 {
	n := max(0, e.nums[kind].v)
	few(n, "members of "+e.label())
	return n
}

// eachMembers is a rule about each list of each category.
func eachMembers(f func(e *entry, kind int, n *num)) func(*mpi) {
	return eachEntry(func(e *entry) {
		for kind, n := range e.nums {
			if e.expect(n.ge(0).as("a number of members")) {
				e.announced(kind)
				f(e, kind, n)
			}
		}
	}, categories)
}

// wholeList expects that a list has n elements, and that those after them stay as they are.
func wholeList(e *entry, kind int, n *num) {
	list := e.members(kind, e.index, n.v+4)
	written := named(e.fresh("written"), int32(slices.Index(append(list.b, untouched), untouched)))
	e.line("int %s = 0;", written.c)
	e.line("while (%s < %d && %s[%s] != %d) %s++;", written.c, len(list.b), list.c, written.c, untouched, written.c)
	e.expect(list.is(0), written.is(n).as("%d elements", n.v).but("%v elements", written))
}

// shortList expects that an array of n-1 elements is filled, and not more.
func shortList(e *entry, kind int, n *num) {
	if n.v >= 2 {
		list, last := e.members(kind, e.index, n.v-1), int(n.v-1)
		e.expect(list.is(0), list.at(last-1).isnt(untouched).as("%d elements", last), list.at(last).is(untouched).as("%d elements", last))
	}
}

// listOfIndices expects that the elements of a list are indices below a number.
func listOfIndices(e *entry, kind int, n, most *num) {
	list := e.members(kind, e.index, n.v)
	for k := range int(n.v) {
		index := list.at(k)
		e.expect(either(index.is(untouched), every(index.ge(0), index.below(most)).as("an index below %v", most)))
	}
}

func categoryIndices(m *mpi) {
	var most []*num
	for _, l := range lists(m) {
		most = append(most, m.count(l))
	}
	eachMembers(func(e *entry, kind int, n *num) { listOfIndices(e, kind, n, most[kind]) })(m)
}

func categoryEvents(m *mpi) {
	most := m.count(eventLists(m)[0])
	m.entries(categories(m), func(e *entry) {
		n := m.ask("MPI_T_category_get_num_events", "num_events", func(n *int32) binding.Error { return m.raw.CategoryNumEvents(int32(e.index), n) }, lit("%d", e.index))
		if m.expect(n.code.is(0), n.ge(0).as("a number of event types")) {
			few(n.v, "event types of "+e.label())
			wholeList(e, eventMembers, n)
			shortList(e, eventMembers, n)
			listOfIndices(e, eventMembers, n, most)
		}
	})
}

// everyCategory returns what a category is, for all indices, without a trace in programs: those that do not exist have no numbers.
func (m *mpi) everyCategory(f func(e *entry)) {
	l := categories(m)
	for k := range int(m.count(l).v) {
		m.quietly(func() { f(m.entry(l, k)) })
	}
}

// membersOf returns a list of a category; nil if there is none.
func (m *mpi) membersOf(e *entry, kind int) []int32 {
	if n := e.announced(kind); e.ok() && n > 0 {
		if list := m.members(kind, e.index, n); list.ok() {
			return list.b[:n]
		}
	}
	return nil
}

// eachCategory calls f for each category of a number, in an item.
func (m *mpi) eachCategory(n int, f func(e *entry)) {
	for k := range n {
		if m.item("category %d", k) {
			if e := m.entry(categories(m), k); e.ok() {
				m.rename(e.label())
				f(e)
			}
		}
	}
}

func categoryCycles(m *mpi) {
	var children [][]int32
	m.everyCategory(func(e *entry) { children = append(children, m.membersOf(e, categoryMembers)) })
	m.eachCategory(len(children), func(e *entry) {
		loop := loopOf(children, e.index)
		if loop == nil {
			return
		}
		cycle := []cond{{c: "0"}}
		for i, at := range loop {
			list := m.members(categoryMembers, at, int32(len(children[at])))
			has := named(m.fresh("has"), 1)
			m.line("int %s = 0;", has.c)
			m.line("for (int i = 0; i < %d; i++) %s |= %s[i] == %d;", len(children[at]), has.c, list.c, loop[(i+1)%len(loop)])
			cycle = append(cycle, has.is(0))
		}
		m.expect(either(cycle...).as("a category that does not contain itself").but("the categories %d contain each other", loop))
	})
}

// loopOf is a way from a category back to itself, by depth.
func loopOf(children [][]int32, from int) []int {
	seen := map[int32]bool{}
	var way func(at int, path []int) []int
	way = func(at int, path []int) []int {
		path = append(path, at)
		for _, child := range children[at] {
			if int(child) == from {
				return path
			}
			if child >= 0 && int(child) < len(children) && !seen[child] {
				seen[child] = true
				if found := way(int(child), path); found != nil {
					return found
				}
			}
		}
		return nil
	}
	return way(from, nil)
}

func (m *mpi) stamp() *num { return m.ask("MPI_T_category_changed", "stamp", m.raw.CategoryChanged) }

func categoryStamp(m *mpi) {
	a := m.stamp()
	if l := categories(m); m.count(l).v > 0 {
		m.entry(l, 0)
	}
	b := m.stamp()
	m.expect(b.code.is(0), b.is(a).as("the stamp %v again", a))
}

func categoryStampRises(m *mpi) {
	was := m.stamp()
	m.initMPI()
	if !m.item("MPI_Init") {
		return
	}
	for range 3 {
		now := m.stamp()
		if !m.expect(now.code.is(0), now.ge(was)) {
			return
		}
		was = now
		m.usable()
	}
}

func membersOnce(e *entry, kind int, n *num) {
	list := e.members(kind, e.index, n.v)
	if !list.ok() {
		return
	}
	first := map[int32]int{}
	for k, index := range list.b[:n.v] {
		if at, twice := first[index]; twice && index != untouched {
			e.expect(list.at(k).isnt(list.at(at)).as("each member once").but("%d at %d and %d", index, at, k))
		}
		first[index] = k
	}
}

func categoryStampOfInit(m *mpi) {
	sizes := func() (all []string) {
		m.everyCategory(func(e *entry) { all = append(all, fmt.Sprint(e.nums)) })
		return all
	}
	a, was := m.stamp(), sizes()
	m.initMPI()
	if !m.item("MPI_Init") {
		return
	}
	b, now := m.stamp(), sizes()
	if !slices.Equal(now, was) {
		m.expect(b.isnt(a).as("another stamp, as categories or members were added").but("%v again", b))
	}
}

func categoryOrder(m *mpi) {
	var old [][eventMembers][]int32
	m.everyCategory(func(e *entry) {
		var one [eventMembers][]int32
		for kind := range one {
			one[kind] = m.membersOf(e, kind)
		}
		old = append(old, one)
	})
	m.initMPI()
	m.eachCategory(len(old), func(e *entry) {
		for kind, was := range old[e.index] {
			if e.nums[kind].v < 0 {
				continue // category-members finds this
			}
			n := e.announced(kind)
			now := m.members(kind, e.index, n)
			at, lost := 0, named("lost", 0)
			for _, index := range was {
				if at += slices.Index(append(now.b[at:n:n], index), index); at == int(n) {
					lost.v = 1
				}
			}
			if lost.v == 1 {
				m.line("int at = 0, lost = 0;")
				for _, i := range was {
					m.line("while (at < %d && %s[at] != %d) at++;", n, now.c, i)
					m.line("lost |= at == %d;", n)
				}
			}
			m.expect(lost.is(0).as("the members %d in this order", was).but("%d", now.b[:n]))
		}
	})
}
