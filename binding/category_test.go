package binding

import (
	"slices"
	"testing"

	"mpitx/catalog"
)

func TestCategories(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		num := must(m.NumCategories())(t)
		want(t, "categories", num, 14)
		for k := range num {
			info := must(m.CategoryInfo(k))(t)
			want(t, "index", must(m.CategoryIndex(info.Name))(t), k)
			want(t, "control variables of "+info.Name, len(must(m.CategoryCvars(k))(t)), info.NumCvars)
			want(t, "performance variables of "+info.Name, len(must(m.CategoryPvars(k))(t)), info.NumPvars)
			want(t, "categories of "+info.Name, len(must(m.CategoryCategories(k))(t)), info.NumCategories)
		}
		want(t, "demo_tuning", must(m.CategoryInfo(m.category("demo_tuning")))(t),
			CategoryInfo{"demo_tuning", "What to try first; all of it is in other categories as well.", 3, 1, 0})
		names := func(indices []int, name func(int) string) (out []string) {
			for _, k := range indices {
				out = append(out, name(k))
			}
			return out
		}
		cvars := names(must(m.CategoryCvars(m.category("demo_tuning")))(t), func(k int) string { return must(m.CvarInfo(k))(t).Name })
		if !equal(cvars, []string{"demo_eager_limit", "demo_bcast_algorithm", "demo_checkpoint"}) {
			t.Error(cvars)
		}
		pvars := names(must(m.CategoryPvars(m.category("demo_tuning")))(t), func(k int) string { return must(m.PvarInfo(k))(t).Name })
		if !equal(pvars, []string{"demo_bytes_sent"}) {
			t.Error(pvars)
		}
		categories := names(must(m.CategoryCategories(m.category("demo")))(t), func(k int) string { return must(m.CategoryInfo(k))(t).Name })
		if !equal(categories, []string{"demo_transport", "demo_matching", "demo_memory", "demo_collectives"}) {
			t.Error(categories)
		}
		_, err := m.CategoryIndex("demo_nothing")
		wantErr(t, "CategoryIndex", err, ErrInvalidName)
	})
}

func TestStamp(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		first := must(m.CategoryChanged())(t)
		want(t, "nothing has changed", must(m.CategoryChanged())(t), first)
		index := m.category("demo")
		old := must(m.CategoryInfo(index))(t)
		m.initMPI()
		if must(m.CategoryChanged())(t) == first {
			t.Error("the stamp did not change with MPI_Init")
		}
		want(t, "categories", must(m.NumCategories())(t), 15)
		want(t, "categories of demo", must(m.CategoryInfo(index))(t).NumCategories, old.NumCategories+1)
		last := m.category("demo_job")
		if !slices.Contains(must(m.CategoryCategories(index))(t), last) {
			t.Error("demo_job is not in demo")
		}
	})
	t.Run("changing", func(t *testing.T) {
		child{stage: before, faults: "changing-stamp"}.run(t, func(t *testing.T, m *mpi) {
			first := must(m.CategoryChanged())(t)
			if second := must(m.CategoryChanged())(t); second == first {
				t.Error("the stamp did not change")
			}
		})
	})
}

func TestMembersThatGrow(t *testing.T) {
	child{stage: before, faults: "growing-members=demo_memory"}.run(t, func(t *testing.T, m *mpi) {
		index := m.category("demo_memory")
		list := must(m.CategoryCvars(index))(t)
		info := must(m.CategoryInfo(index))(t)
		want(t, "members", len(list), info.NumCvars) // four, then five more
		want(t, "members", len(list), 3+5)
	})
}

func TestBadMembers(t *testing.T) {
	child{stage: before, faults: "bad-member=demo_memory;duplicate-member=demo_job;cyclic-category;self-category=demo_empty"}.run(t, func(t *testing.T, m *mpi) {
		list := must(m.CategoryCvars(m.category("demo_memory")))(t)
		want(t, "a negative index is left out", slices.Min(list) >= 0, true)
		want(t, "others are the caller's", slices.Max(list), 1<<20)
		want(t, "members", len(list), 3+2)
		empty := m.category("demo_empty")
		if got := must(m.CategoryCategories(empty))(t); !equal(got, []int{empty}) {
			t.Error(got)
		}
		deep := m.category("demo_transport_eager_tuning")
		if got := must(m.CategoryCategories(deep))(t); !equal(got, []int{m.category("demo")}) {
			t.Error(got)
		}
	})
}

func TestVariablesThatGrow(t *testing.T) {
	child{stage: before, faults: "grow"}.run(t, func(t *testing.T, m *mpi) {
		first := must(m.NumCvars())(t)
		second := must(m.NumCvars())(t)
		want(t, "one more", second, first+1)
		info := must(m.CvarInfo(second))(t) // it exists by now
		want(t, "type", info.Datatype, catalog.TypeInt)
	})
}
