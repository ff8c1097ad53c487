package profile

import (
	"fmt"

	"mpitx/recording"
)

// jobs finds the numbers of processes of other jobs of the run: those that its processes have spawned, and those that have spawned
// them. A process knows the former by the number of its job, the latter by their ranks in the communicator that spawned them.
type jobs struct {
	spawns map[end]string         // the spawning, by who took part and which of its jobs it was
	first  map[string]int         // the number of the first spawned process
	ranks  map[string]map[int]int // who spawned them, by rank in the communicator
}

// end is a process's job.
type end struct {
	rank *recording.Rank
	job  int
}

// readJobs reads who has spawned whom. It reads the tables only if there were spawned processes.
func readJobs(run *recording.Run) *jobs {
	j := &jobs{map[end]string{}, map[string]int{}, map[string]map[int]int{}}
	byNumber, any := map[int]*recording.Rank{}, false
	for _, r := range run.Ranks {
		byNumber[r.Rank] = r
		any = any || r.Spawned.First > 0
	}
	if !any {
		return j
	}
	type key struct {
		rank *recording.Rank
		id   uint64
	}
	groups, counts := map[key]uint64{}, map[string]int{}
	for found := range run.Rows(recording.Options{Table: func(t *recording.Table) bool { return t.Name == tableObjects }}) {
		r := found.Table.Rank
		fields, err := fieldsOf(found.Table)
		if err != nil {
			return j // the profile's reader reports it
		}
		row := &row{Row: found, fields: fields}
		groups[key{r, row.count("id")}] = row.count("group")
		if job := row.number("job"); job > 0 {
			j.add(r, job, groups[key{r, row.count("parent")}], row.number("rank"), counts)
		}
	}
	for _, r := range run.Ranks {
		if s := r.Spawned; s.First > 0 {
			j.first[j.spawns[end{byNumber[s.Spawner], s.Job}]] = s.First
		}
	}
	return j
}

// add adds a job that a process has helped to spawn. MPI_Comm_spawn is collective: the nth job of a group is the same in all of it.
func (j *jobs) add(r *recording.Rank, job int, group uint64, rank int, counts map[string]int) {
	name := fmt.Sprint(r.Rank, " alone ", job)
	if group != 0 {
		of := fmt.Sprint(r.Rank, " ", group)
		counts[of]++
		name = fmt.Sprint(group, " ", counts[of])
	}
	j.spawns[end{r, job}] = name
	if j.ranks[name] == nil {
		j.ranks[name] = map[int]int{}
	}
	j.ranks[name][rank] = r.Rank
}

// find returns the number in the run of a process that another one has exchanged messages with; false if it is not known.
func (j *jobs) find(run *recording.Run, r *recording.Rank, job, rank int) (int, bool) {
	switch {
	case rank < 0:
		return 0, false
	case job == 0:
		return r.Spawned.First + rank, true
	case job > 0:
		first, ok := j.first[j.spawns[end{r, job}]]
		return first + rank, ok
	}
	for _, spawner := range run.Ranks {
		if spawner.Rank == r.Spawned.Spawner && r.Spawned.First > 0 && job == parentJob {
			found, ok := j.ranks[j.spawns[end{spawner, r.Spawned.Job}]][rank]
			return found, ok
		}
	}
	return 0, false
}

const parentJob = -1
