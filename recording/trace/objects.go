package trace

import (
	"fmt"
	"maps"
	"slices"

	"mpitx/recording"
)

const maxParents = 64 // a damaged run may say that an object is its own ancestor

var kinds = []string{"communicator", "window", "file"}

const kindFile = 2

// row is a row of the table "objects".
type row struct {
	object *Object
	key    string // kind, group and order; "": the group is unknown
	parent uint32
	group  uint64
	side   uint64 // 0: not an intercommunicator
	job    int    // that it leads to; 0: none
	rank   int    // of the process in its group
}

// intercommunicator is a function whose groups give it different parents: their local communicators.
const intercommunicator = "MPI_Intercomm_create"

// Objects reads the objects of all ranks by the ranks' own numbers. Objects of two processes are the same if kind, group and order
// are equal and their parents are the same; of files, which have no group, the name instead. Intercommunicators of the same groups are the same if they are the nth of a process.
func Objects(run *recording.Run) map[*recording.Rank]map[uint32]*Object {
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
		one := &row{object: o, parent: uint32(r.number("parent")), group: r.number("group"), side: r.number("side"), job: int(r.signed("job")), rank: int(r.signed("rank"))}
		if one.group != 0 {
			one.key = fmt.Sprint(kind, " ", one.group, " ", r.number("order"))
		}
		if kind == kindFile && one.parent != 0 { // files have no group: they are opened in the order of their communicator's collectives
			one.key = fmt.Sprint(kind, " ", o.Name, " ", r.number("order"))
		}
		all[rank][uint32(r.number("id"))] = one
	}
	same, objects := map[string]*Object{}, map[*recording.Rank]map[uint32]*Object{}
	for _, rank := range run.Ranks {
		objects[rank] = map[uint32]*Object{}
		nth := map[uint64]int{}                                  // intercommunicators by group
		for _, id := range slices.Sorted(maps.Keys(all[rank])) { // numbers, and so flows, are the same in each reading
			one := all[rank][id]
			if one.object.MadeBy == intercommunicator && one.group != 0 {
				one.parent, one.key = 0, fmt.Sprint("inter ", one.group, " ", nth[one.group])
				nth[one.group]++
			}
			objects[rank][id] = one.object
			if parent := all[rank][one.parent]; one.object.Kind == kinds[kindFile] && parent != nil {
				one.object.Size = parent.object.Size
			}
			key, ok := keyOf(all[rank], one, 0)
			switch {
			case !ok:
			case same[key] == nil:
				same[key] = one.object
				one.object.number = uint32(len(same))
			default:
				objects[rank][id] = same[key]
			}
			o := objects[rank][id]
			if one.side != 0 {
				if o.sides == nil {
					o.sides = map[int]uint64{}
				}
				o.sides[rank.Rank] = one.side
			}
			if o.ranks == nil {
				o.ranks = map[int]int{}
			}
			o.ranks[rank.Rank] = one.rank
		}
	}
	nameApart(run.Ranks, objects)
	joinJobs(run.Ranks, all, len(same))
	return objects
}

// parents is the function that gives a spawned process the intercommunicator with those that have spawned it.
const parents = "MPI_Comm_get_parent"

// joinJobs finds the intercommunicators through which processes have spawned others. All that spawn together make it of one communicator, in one order.
// The job's processes know the number of the root, and which of its jobs they are. numbers is how many
// objects have numbers.
func joinJobs(ranks []*recording.Rank, all map[*recording.Rank]map[uint32]*row, numbers int) {
	type spawn struct{ root, job int }
	wholes, spawns := map[string]*Object{}, map[spawn]*Object{}
	join := func(rank *recording.Rank, one *row, whole *Object) {
		one.object.whole, whole.sides[rank.Rank], whole.ranks[rank.Rank] = whole, one.side, one.rank
	}
	for _, rank := range ranks {
		nth := map[string]int{}
		for _, id := range slices.Sorted(maps.Keys(all[rank])) {
			one := all[rank][id]
			parent := all[rank][one.parent]
			if one.job <= 0 || one.side == 0 || parent == nil {
				continue
			}
			if key, ok := keyOf(all[rank], parent, 0); ok {
				n := nth[key]
				nth[key]++
				key = fmt.Sprint(key, " ", n)
				if wholes[key] == nil {
					wholes[key] = &Object{Kind: one.object.Kind, Name: one.object.Name, MadeBy: one.object.MadeBy, Size: one.object.Size, sides: map[int]uint64{}, ranks: map[int]int{}, across: map[uint64]map[int]int{},
						number: uint32(numbers + len(wholes) + 1)}
				}
				join(rank, one, wholes[key])
				spawns[spawn{rank.Rank, one.job}] = wholes[key]
			}
		}
	}
	for _, rank := range ranks {
		whole := spawns[spawn{rank.Spawned.Spawner, rank.Spawned.Job}]
		for _, one := range all[rank] {
			if whole != nil && rank.Spawned.First > 0 && one.object.MadeBy == parents && one.side != 0 {
				join(rank, one, whole)
			}
		}
	}
	for _, whole := range wholes {
		for _, side := range whole.sides {
			if whole.across[side] != nil {
				continue
			}
			whole.across[side] = map[int]int{}
			for other, n := range whole.ranks {
				if whole.sides[other] != side {
					whole.across[side][n] = other
				}
			}
		}
	}
}

// nameApart gives a number, from 2, to further communicators and windows that a rank has with the same name. Objects that no rank has
// both of, as the groups of MPI_Comm_split, may have the same name. The name of a file is its path.
func nameApart(ranks []*recording.Rank, objects map[*recording.Rank]map[uint32]*Object) {
	type use struct {
		object *Object
		ranks  []*recording.Rank
	}
	uses := map[*Object]*use{}
	var all []*use
	for _, rank := range ranks {
		for _, id := range slices.Sorted(maps.Keys(objects[rank])) {
			o := objects[rank][id]
			if uses[o] == nil {
				uses[o] = &use{object: o}
				all = append(all, uses[o])
			}
			uses[o].ranks = append(uses[o].ranks, rank)
		}
	}
	taken := map[*recording.Rank]map[string]int{} // the highest number of a name
	for _, rank := range ranks {
		taken[rank] = map[string]int{}
	}
	for _, u := range all {
		name, n := u.object.String(), 0
		if u.object.Kind != kinds[kindFile] {
			for _, rank := range u.ranks {
				n = max(n, taken[rank][name])
			}
			for _, rank := range u.ranks {
				taken[rank][name] = n + 1
			}
		}
		if u.object.text = name; n > 0 {
			u.object.text = fmt.Sprintf("%s #%d", name, n+1)
		}
	}
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
