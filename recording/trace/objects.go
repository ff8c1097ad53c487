package trace

import (
	"fmt"
	"maps"
	"slices"

	"mpitx/recording"
)

const maxParents = 64 // a damaged run may say that an object is its own ancestor

var kinds = []string{"communicator", "window", "file"}

// row is a row of the table "objects".
type row struct {
	object *Object
	key    string // kind, group and order; "": the group is unknown
	parent uint32
}

// readObjects reads the objects of all ranks by the ranks' own numbers. Objects of two processes are the same if kind, group and order
// are equal and their parents are the same.
func readObjects(run *recording.Run) map[*recording.Rank]map[uint32]*Object {
	rows := map[*recording.Rank]map[uint32]*row{}
	for r := range run.Rows(recording.Options{Table: func(t *recording.Table) bool { return t.Name == "objects" }}) {
		rank := r.Table.Rank
		if rows[rank] == nil {
			rows[rank] = map[uint32]*row{}
		}
		number := func(name string) uint64 {
			for i := range r.Table.Fields {
				if f := &r.Table.Fields[i]; f.Name == name && f.Count == 1 && f.First < len(r.Values) {
					n, _ := r.Values[f.First].Uint64()
					return n
				}
			}
			return 0
		}
		text := func(name string) string {
			for i := range r.Table.Fields {
				if f := &r.Table.Fields[i]; f.Name == name && f.First < len(r.Values) {
					return r.Values[f.First].String()
				}
			}
			return ""
		}
		kind := int(number("kind"))
		o := &Object{Kind: "object", Name: text("name"), MadeBy: text("made_by"), Size: int(number("size"))}
		if kind < len(kinds) {
			o.Kind = kinds[kind]
		}
		one := &row{object: o, parent: uint32(number("parent"))}
		if group := number("group"); group != 0 {
			one.key = fmt.Sprint(kind, " ", group, " ", number("order"))
		}
		rows[rank][uint32(number("id"))] = one
	}
	same, all := map[string]*Object{}, map[*recording.Rank]map[uint32]*Object{}
	for _, rank := range run.Ranks {
		all[rank] = map[uint32]*Object{}
		for _, id := range slices.Sorted(maps.Keys(rows[rank])) { // numbers, and so flows, are the same in each reading
			one := rows[rank][id]
			all[rank][id] = one.object
			key, ok := keyOf(rows[rank], one, 0)
			switch {
			case !ok:
			case same[key] == nil:
				same[key] = one.object
				one.object.number = uint32(len(same))
			default:
				all[rank][id] = same[key]
			}
		}
	}
	return all
}

func keyOf(rows map[uint32]*row, one *row, depth int) (string, bool) {
	if one.key == "" || depth > maxParents {
		return "", false
	}
	if one.parent == 0 {
		return one.key, true
	}
	parent := rows[one.parent]
	if parent == nil {
		return "", false
	}
	key, ok := keyOf(rows, parent, depth+1)
	return key + "\x00" + one.key, ok
}
