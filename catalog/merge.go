package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Merged is the union of all processes in one stage.
type Merged struct {
	Stage   Stage // of the reference process: rank 0, or the lowest rank that could read the stage
	Library Library
	Ranks   []Rank // of all processes, in rank order

	// The union of the processes' lists. In either stage, After is the reference process's reading (StatusMissing if it does not
	// have the variable), Ranks are the readings that differ from it, and Conflicts are those between ranks.
	Lists
}

// Merge unites the answers of all ranks in one stage. The deltas must have been made from root's Root(), and all processes be
// sorted (Process.Sort). lost maps the ranks without an answer to the reason. Variables are matched by name, performance
// variables by name and class. root is nil if nobody read this stage.
func Merge(root *Process, deltas []*Delta, lost map[int]string) *Merged {
	if root == nil {
		root = &Process{}
	}
	deltas = slices.Clone(deltas)
	slices.SortStableFunc(deltas, func(a, b *Delta) int { return cmp.Compare(a.Rank, b.Rank) })
	m := &merger{ranks: map[int]bool{}}
	m.start(reference(root, deltas))
	if m.ref == root {
		m.addRank(processRank(root, &root.Meta.Library))
	} else {
		m.addRank(processRank(root, &m.ref.Meta.Library))
		m.out.Stage.Error = fmt.Sprintf("rank %d could not be read (%s); these are the readings of rank %d",
			root.Rank, cmp.Or(root.Error, root.Stage.Error, "unknown reason"), m.ref.Rank)
	}
	for _, d := range deltas {
		m.add(d, len(root.Readings))
	}
	for _, rank := range slices.Sorted(maps.Keys(lost)) {
		m.addRank(Rank{Rank: rank, Error: lost[rank]})
	}
	return m.finish()
}

// reference returns the process that the others are compared with: root, or the lowest rank with an answer.
func reference(root *Process, deltas []*Delta) *Process {
	if !root.Stage.Read {
		for _, d := range deltas {
			if d.Whole != nil && d.Whole.Stage.Read {
				return d.Whole
			}
		}
	}
	return root
}

// identity is the key by which variables are matched.
type identity struct {
	kind  Kind
	name  string
	class Class
}

func identify(v *Variable) identity {
	if v.Kind == Pvars {
		return identity{Pvars, v.Name, v.Class}
	}
	return identity{Cvars, v.Name, 0}
}

type merger struct {
	out    Merged
	ref    *Process
	ranks  map[int]bool
	vars   []Variable // control and performance variables
	atRoot []int      // index of vars by index of the reference's readings
	byID   map[identity]int
	seen   []int // by index of vars: the last whole process that had it, counted from 1
	wholes int   // whole processes added so far
}

func (m *merger) start(ref *Process) {
	m.ref = ref
	m.out.Stage, m.out.Library = ref.Stage, ref.Meta.Library
	ref.Meta.setKinds()
	n := min(len(ref.Readings), len(ref.Meta.Cvars)+len(ref.Meta.Pvars))
	readings := slices.Clone(ref.Readings[:n])
	m.vars = make([]Variable, 0, n)
	m.atRoot = make([]int, n)
	m.byID = make(map[identity]int, n)
	for i := range n {
		m.atRoot[i] = m.insert(ref.Rank, ref.Meta.variable(i), &readings[i])
	}
	m.seen = make([]int, len(m.vars))
	m.addGroups(ref)
}

// insert adds a variable to the union. Of two with the same identity in one process the first counts.
func (m *merger) insert(rank int, v *Variable, reading *Reading) int {
	id := identify(v)
	if i, ok := m.byID[id]; ok {
		first := &m.vars[i]
		first.Conflicts = append(first.Conflicts, Conflict{Rank: rank, Field: "name", Here: "listed more than once"})
		return i
	}
	m.byID[id] = len(m.vars)
	m.vars = append(m.vars, Variable{Kind: v.Kind, Name: v.Name, Class: v.Class, Scope: v.Scope, Verbosity: v.Verbosity,
		Type: v.Type, Bind: v.Bind, Enum: v.Enum, Readonly: v.Readonly, Continuous: v.Continuous, Atomic: v.Atomic,
		Description: v.Description, After: reading})
	return len(m.vars) - 1
}

func processRank(p *Process, library *Library) Rank {
	r := Rank{Rank: p.Rank, Host: p.Host, Error: p.Error}
	if !p.Stage.Read {
		r.Error = cmp.Or(r.Error, p.Stage.Error)
	} else if p.Meta.Library != *library {
		r.Library = &p.Meta.Library
	}
	return r
}

// addRank adds a rank. The first answer of a rank counts.
func (m *merger) addRank(r Rank) bool {
	if m.ranks[r.Rank] {
		return false
	}
	m.ranks[r.Rank] = true
	m.out.Ranks = append(m.out.Ranks, r)
	return true
}

func (m *merger) add(d *Delta, rootReadings int) {
	if d.Whole != nil {
		if m.addRank(processRank(d.Whole, &m.out.Library)) && d.Whole != m.ref && d.Whole.Stage.Read {
			m.addWhole(d.Whole)
		}
		return
	}
	r := Rank{Rank: d.Rank, Host: d.Host, Error: d.Error, Library: d.Library}
	if !d.Stage.Read {
		r.Error = cmp.Or(r.Error, d.Stage.Error)
	}
	for i := range d.Changes {
		if n := d.Changes[i].Index; n < 0 || n >= rootReadings || n >= len(m.atRoot) {
			r.Error = cmp.Or(r.Error, ErrDamaged.Error())
			d = &Delta{}
			break
		}
	}
	if !m.addRank(r) {
		return
	}
	for i := range d.Changes {
		m.vars[m.atRoot[d.Changes[i].Index]].addRank(d.Rank, d.Changes[i].Reading)
	}
}

var missing = Reading{Status: StatusMissing}

// addWhole adds a process whose metadata differ from the reference's.
func (m *merger) addWhole(p *Process) {
	p.Meta.setKinds()
	m.wholes++
	classes := map[string]Class{} // of the performance variables that the reference does not have
	for i := range min(len(p.Readings), len(p.Meta.Cvars)+len(p.Meta.Pvars)) {
		v := p.Meta.variable(i)
		at, ok := m.byID[identify(v)]
		if !ok {
			none := missing
			at = m.insert(p.Rank, v, &none)
			m.seen = append(m.seen, 0)
		}
		u := &m.vars[at]
		if m.seen[at] == m.wholes {
			u.Conflicts = append(u.Conflicts, Conflict{Rank: p.Rank, Field: "name", Here: "listed more than once"})
			continue
		}
		m.seen[at] = m.wholes
		u.merge(p.Rank, v)
		u.addRank(p.Rank, p.Readings[i])
		if v.Kind == Pvars && u.After.Status == StatusMissing {
			classes[v.Name] = v.Class
		}
	}
	for at := range m.vars {
		u := &m.vars[at]
		if m.seen[at] == m.wholes || u.After.Status == StatusMissing {
			continue
		}
		u.addRank(p.Rank, missing)
		if c, ok := classes[u.Name]; ok && u.Kind == Pvars {
			u.Conflicts = append(u.Conflicts, Conflict{p.Rank, "class", c.String(), u.Class.String()})
		}
	}
	m.addGroups(p)
	m.addPresence(p)
}

// addGroups unites entries other than variables.
func (m *merger) addGroups(p *Process) {
	for k := range (AllKinds &^ Variables).Table() {
		k.list.merge(&m.out.Lists, &p.Meta.Lists, p.Rank)
	}
}

func (m *merger) finish() *Merged {
	out := &m.out
	slices.SortFunc(out.Ranks, func(a, b Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	cvars := 0
	for i := range m.vars {
		if m.vars[i].Kind == Cvars {
			cvars++
		}
	}
	sortBy(&m.vars, func(a, b *Variable) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.compare(b)) })
	out.Cvars, out.Pvars = m.vars[:cvars:cvars], m.vars[cvars:]
	return out
}

func (v *Variable) merge(rank int, here *Variable) {
	v.Conflicts = appendConflicts(v.Conflicts, rank, here, v)
}

func (k *Category) merge(rank int, here *Category) {
	k.Conflicts = appendCategoryConflicts(k.Conflicts, rank, here, k)
	k.addMembers(here)
}

func (e *Enum) merge(rank int, here *Enum) {
	e.Conflicts = appendEnumConflicts(e.Conflicts, rank, here, e)
}

// addMembers adds the members of another category with the same name.
func (k *Category) addMembers(other *Category) {
	k.Cvars = union(k.Cvars, other.Cvars)
	k.Pvars = union(k.Pvars, other.Pvars)
	k.Categories = union(k.Categories, other.Categories)
	k.EventTypes = union(k.EventTypes, other.EventTypes)
	k.Events = max(k.Events, other.Events)
}

// union returns the members of both lists, sorted and without duplicates.
func union(a, b []string) []string {
	if slices.Equal(a, b) || len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
