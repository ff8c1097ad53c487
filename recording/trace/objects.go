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
	all := map[*recording.Rank]map[uint32]*row{}
	for r := range rows(run, "objects", nil) {
		rank := r.Table.Rank
		if all[rank] == nil {
			all[rank] = map[uint32]*row{}
		}
		kind := int(r.number("kind"))
		o := &Object{Kind: "object", Name: r.text("name"), MadeBy: r.text("made_by"), Size: int(r.number("size"))}
		if kind < len(kinds) {
			o.Kind = kinds[kind]
		}
		one := &row{object: o, parent: uint32(r.number("parent"))}
		if group := r.number("group"); group != 0 {
			one.key = fmt.Sprint(kind, " ", group, " ", r.number("order"))
		}
		all[rank][uint32(r.number("id"))] = one
	}
	same, objects := map[string]*Object{}, map[*recording.Rank]map[uint32]*Object{}
	for _, rank := range run.Ranks {
		objects[rank] = map[uint32]*Object{}
		for _, id := range slices.Sorted(maps.Keys(all[rank])) { // numbers, and so flows, are the same in each reading
			one := all[rank][id]
			objects[rank][id] = one.object
			key, ok := keyOf(all[rank], one, 0)
			switch {
			case !ok:
			case same[key] == nil:
				same[key] = one.object
				one.object.number = uint32(len(same))
			default:
				objects[rank][id] = same[key]
			}
		}
	}
	return objects
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
